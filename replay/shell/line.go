package shell

import (
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Line is a command line.
type Line struct {
	Source string
	File   *syntax.File
	// Calls are the simple commands in source order. A command that wraps another one (sudo make)
	// is followed by that one.
	Calls []Call
	// Assigned are the variables that the line sets in its own shell: A=1, export A=1, read A.
	Assigned []Variable
	// Looped are the variables of its loops, which keep their last values: for A in, select A in, for ((A=1;…)).
	Looped []string
	// Uses are the variables that its words expand, without those of for loops. Loops are those, with
	// the words that each goes over.
	Uses  []string
	Loops map[string][]Word
	// Functions are the functions that it declares, and Bodies what the named ones do, as written.
	Functions []string
	Bodies    map[string]string
	// Texts are the files whose whole content it writes down.
	Texts []Text
	// Redirects are those to and from files, of all commands.
	Redirects []Redirect
	// Connects are the hosts that redirections to /dev/tcp and /dev/udp connect to.
	Connects []string
	// Sockets are the ports of those of this machine, that the line itself connects to.
	Sockets []Word
	// Devices are those, other than disks and terminals, that redirections write to: /dev/ttyUSB0, /dev/st0.
	Devices []string
	// Descriptors reports whether it writes to files that an earlier line has opened: >&3.
	Descriptors bool
	// Opens reports whether exec opens or closes descriptors in it that it does not close or open itself: exec 3> log.
	Opens bool
	// Process reports whether it uses the number of its shell's process: $$.
	Process bool
	// Background reports whether the line leaves something running in the background.
	Background bool
	// Dir is the directory in which it leaves its shell, "" if that is not known.
	Dir string

	cwd, home string
	fish      bool
	value     func(l *Line, w Word) Word
}

// Call is a simple command.
type Call struct {
	// Name is the program without its directory, "" if it is not known before the line runs.
	Name string
	// Head is the program as written, and Args the words after it.
	Head Word
	Args []Word
	// Assigns are the variables set for this command alone.
	Assigns []Variable
	// Dir is the directory it runs in, "" if that is not known.
	Dir string
	// Via are the names of the commands that run this one, the outermost first: sudo, xargs.
	Via []string
	// Abroad means that it runs in a container or on another machine.
	Abroad bool
	// Inner means that it is in a substitution, so that its output is a part of the line.
	Inner bool
	// Apart means that it is in a subshell, whose state does not last.
	Apart bool
	// Background means that the line does not wait for it.
	Background bool
	// Piped means that it reads the output of another command; Fed that it reads a file or a
	// document; Drained that its output goes to another command or to a file.
	Piped, Fed, Drained bool
	// Kept means that its output goes to a file or into the line, rather than to another command alone.
	Kept bool
	// Deferred means that it is in the body of a function, which may not run at all; Maybe that it
	// stands in a branch, so that the line may run without it.
	Deferred, Maybe bool
	// Document is what a here-document feeds it, as far as that is known without running the line.
	Document *string
	// Wraps means that its last words are the next call.
	Wraps bool
}

// Word is one word of a command.
type Word struct {
	// Text is the word as written, Value what the program gets. Of a dynamic word Value has its
	// expansions as written.
	Text, Value string
	// Dynamic means that it has an expansion, Glob that it has a pattern, Quoted that a part is
	// quoted.
	Dynamic, Glob, Quoted bool
	// Node is its syntax; nil for a word that was read inside another one (sh -c '…').
	Node *syntax.Word
}

// Variable is an assignment.
type Variable struct {
	Name string
	// Value is meaningless if Unknown.
	Value Word
	// List are the items that an array is given.
	List     []Word
	Unknown  bool
	Exported bool
	Appends  bool // to the value that it has
	// Local means that a function keeps it for itself; Maybe that it stands in a branch; Apart that a subshell sets it.
	Local, Maybe, Apart bool
	// Before is how many of the line's calls begin before it is set.
	Before int
}

// Redirect is a redirection to or from a file.
type Redirect struct {
	Op     string
	Target Word
	// Dir is the directory it is relative to, "" if that is not known.
	Dir    string
	Abroad bool
	// Deferred and Maybe are as for calls.
	Deferred, Maybe bool
	// Before is how many of the line's calls begin before it is opened.
	Before int
}

// Writes reports whether it writes its target; Appends whether what was there stays.
func (r Redirect) Writes() bool  { return strings.Contains(r.Op, ">") }
func (r Redirect) Appends() bool { return strings.Contains(r.Op, ">>") || r.Op == "<>" }

// Read reads a command line that ran in a directory. The error says why its syntax is not known.
func Read(text, shell, cwd string) (*Line, error) { return ReadIn(text, shell, cwd, "", nil) }

// ReadIn is Read where more is known: the home directory, and by value what a word is, with the variables that the line
// has set so far. The line then goes where cd says, and of case it has the branch that is taken.
func ReadIn(text, shell, cwd, home string, value func(l *Line, w Word) Word) (*Line, error) {
	file, err := Parse(text, shell)
	if err != nil {
		return nil, fmt.Errorf("parse command: %w", err)
	}
	l := &Line{Source: text, File: file, Loops: map[string][]Word{}, cwd: cwd, home: home, fish: isFish(shell), value: value}
	r := reader{line: l, dir: cwd, home: home, value: value, loops: l.Loops, seen: map[string]bool{}, open: map[string]bool{}}
	r.stmts(file.Stmts)
	l.Dir, l.Opens = r.dir, l.Opens || len(r.open) > 0
	return l, nil
}

// Again reads another text in the place of the line: in its directory, with what is known there.
func (l *Line) Again(text string) (*Line, error) {
	return ReadIn(text, "bash", l.cwd, l.home, l.value)
}

// Program returns the name of a call with its subcommand, if it has one: "git commit".
func (c *Call) Program() string {
	if sub := c.Sub(); sub != "" {
		return c.Name + " " + sub
	}
	return c.Name
}

// Sub returns the first argument that is no flag and no value of a flag that stands before the
// subcommand, "" if there is none or if it is dynamic.
func (c *Call) Sub() string {
	if i := c.subAt(); i >= 0 && !c.Args[i].Dynamic {
		return c.Args[i].Value
	}
	return ""
}

// After returns the words after the subcommand.
func (c *Call) After() []Word {
	if i := c.subAt(); i >= 0 {
		return c.Args[i+1:]
	}
	return nil
}

// beforeSub are flags with a value that stand between a program and its subcommand.
var beforeSub = map[string]string{
	"git":     "-C -c --git-dir --work-tree --namespace",
	"docker":  "-H --host -c --context --config -l --log-level",
	"podman":  "-c --connection --url --root --runroot --log-level",
	"kubectl": "-n --namespace --context --kubeconfig --cluster --user -s --server",
	"helm":    "-n --namespace --kube-context --kubeconfig",
	"npm":     "--prefix -C --registry -w --workspace",
	"yarn":    "--cwd", "pnpm": "-C --dir --filter -F",
	"pip": "--log --proxy --python", "cargo": "-C --config --color -Z", "go": "-C",
	"aws": "--profile --region --output --endpoint-url", "gcloud": "--project --account --zone --region",
	"flask":     "-A --app -e --env-file",
	"terraform": "", "systemctl": "-H -M -t -p", "gh": "-R --repo",
}

func (c *Call) subAt() int {
	takes := " " + beforeSub[c.Name] + " "
	for i := 0; i < len(c.Args); i++ {
		w := c.Args[i]
		if !strings.HasPrefix(w.Value, "-") || w.Value == "-" {
			return i
		}
		if strings.Contains(takes, " "+w.Value+" ") {
			i++
		}
	}
	return -1
}

// Flag reports whether one of some flags is given: long ones as a word or before "=", but not if that is
// followed by "false", short ones also in a cluster (-rf has -r and -f).
func (c *Call) Flag(names ...string) bool {
	i, found := c.flag(names...)
	return found && !strings.HasSuffix(c.Args[i].Value, "=false")
}

// FlagValue returns the value of a flag: of --name=value, --name value, -nvalue or, of a program
// that bundles its flags, -abn value.
func (c *Call) FlagValue(names ...string) (Word, bool) {
	i, found := c.flag(names...)
	if !found {
		return Word{}, false
	}
	w := c.Args[i]
	for _, name := range names {
		if w.Value == name {
			if i+1 < len(c.Args) {
				return c.Args[i+1], true
			}
			return Word{}, false
		}
		if v, ok := strings.CutPrefix(w.Value, name+"="); ok {
			return Word{Text: w.Text, Value: v, Dynamic: w.Dynamic, Glob: w.Glob, Quoted: w.Quoted}, true
		}
	}
	for _, name := range names {
		if v, ok := strings.CutPrefix(w.Value, name); ok && len(name) == 2 && v != "" {
			return Word{Text: w.Text, Value: v, Dynamic: w.Dynamic, Glob: w.Glob, Quoted: w.Quoted}, true
		}
	}
	for _, name := range names {
		if len(name) == 2 && bundling[c.Name] && w.Value[len(w.Value)-1] == name[1] && i+1 < len(c.Args) {
			return c.Args[i+1], true // -sX DELETE
		}
	}
	return Word{}, false
}

// bundling has programs whose flags of one hyphen are letters: several may be in one word, the last with its value.
var bundling = map[string]bool{
	"curl": true, "wget": true, "psql": true, "mysql": true, "mariadb": true, "mysqldump": true, "pg_dump": true, "redis-cli": true,
	"ssh": true, "rsync": true, "tar": true, "sed": true, "sudo": true, "docker": true, "podman": true, "kubectl": true,
	"git": true, "gh": true, "glab": true, "make": true, "gmake": true,
}

// flag returns where one of some flags is: written by itself or with its value, or else among others in one word.
func (c *Call) flag(names ...string) (int, bool) {
	cluster := -1
	for i, w := range c.Args {
		v := w.Value
		if v == "--" {
			break
		}
		if len(v) < 2 || v[0] != '-' {
			continue
		}
		for _, name := range names {
			short := len(name) == 2 && name[1] != '-'
			switch {
			case v == name, strings.HasPrefix(v, name+"=") && len(name) > 2, short && bundling[c.Name] && strings.HasPrefix(v, name):
				return i, true
			case cluster < 0 && short && v[1] != '-' && isCluster(v[1:]) && strings.IndexByte(v[1:], name[1]) >= 0:
				cluster = i
			}
		}
	}
	return max(cluster, 0), cluster >= 0
}

func isCluster(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i] | 0x20; (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

// Operands returns the words that are neither flags nor values of the given flags, separated by
// spaces.
func Operands(words []Word, valued string) []Word {
	var out []Word
	takes := " " + valued + " "
	for i := 0; i < len(words); i++ {
		v := words[i].Value
		switch {
		case v == "--":
			return append(out, words[i+1:]...)
		case len(v) > 1 && v[0] == '-' && !words[i].Glob:
			if strings.Contains(takes, " "+v+" ") {
				i++
			}
		default:
			out = append(out, words[i])
		}
	}
	return out
}

// Resolve returns the absolute path that a word names in a directory, and false if that is not
// known. home is the home directory, "" if it is not known.
func Resolve(w Word, dir, home string) (string, bool) {
	p, dynamic := w.Value, w.Dynamic
	for _, v := range [...][2]string{{"$HOME", home}, {"${HOME}", home}, {"$PWD", dir}, {"${PWD}", dir}, {"$(pwd)", dir}, {"`pwd`", dir}} {
		if rest, ok := strings.CutPrefix(p, v[0]); ok && (rest == "" || rest[0] == '/') && v[1] != "" {
			p, dynamic = v[1]+rest, strings.ContainsAny(rest, "$`")
		}
	}
	switch {
	case p == "" || dynamic || w.Glob || strings.ContainsAny(p, "\x00\n"):
		return "", false
	case p[0] == '/':
		return path.Clean(p), true
	case (p == "~" || strings.HasPrefix(p, "~/")) && !w.Quoted:
		if home == "" {
			return "", false
		}
		return path.Join(home, p[1:]), true
	case p[0] == '~' && !w.Quoted:
		return "", false
	case dir == "" || dir[0] != '/':
		return "", false
	}
	return path.Join(dir, p), true
}
