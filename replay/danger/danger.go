// Package danger finds what is dangerous about a command: what can destroy data, reach other people
// or other machines, or cannot be taken back.
//
// The rules are one table, in table.go, with its parts by theme in closed.go, services.go, machines.go, publishing.go and
// migrations.go. Find reads a command as its shell does, through sudo, env,
// xargs, find -exec, sh -c and the like, and never by searching its text, so that
// `echo "rm -rf /"` is no danger and `sudo sh -c 'rm -rf /'` is. Before that, unfold.go puts what the line itself says
// in the place of variables, loops, functions, aliases and texts that a shell is told or fed. TestGrid has what is
// dangerous in each form in which a shell may be told to run it.
//
// A table never has all programs. Unknown says which ones of a command no table has, so that somebody can be
// asked before they reach a network.
package danger

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/replay/shell"
)

// Finding is one dangerous thing that a command does.
type Finding struct {
	Kind string `json:"kind" enum:"remove,disk,system,history,cluster,infrastructure,publish,mail,send,remote,permissions,power,process,database,containers,code" example:"remove" doc:"What it endangers."`
	What string `json:"what" example:"rm -rf /var/lib/app" doc:"The part of the command that does it."`
	Why  string `json:"why" example:"it removes files outside the tree" doc:"What it does, as a sentence."`
	// Unless and Whole are set by plans alone.
	Unless string `json:"unless,omitempty" example:"/home/bob/app" doc:"A repository that the plan begins. It is only dangerous where that is there before the run."`
	Open   bool   `json:"open,omitempty" doc:"Words alone say so, and what they say reaches others; or it ends processes, of which a sandbox has its own. It is only dangerous where the network is open, or there is no sandbox."`
	Whole  bool   `json:"whole,omitempty" doc:"What it removes is known by variables that steps before it set. It is only dangerous if steps are left out of the run."`
	// Clean is the working tree whose changes git discards, Remotes the repository from which it pushes to a remote
	// of which its line does not say where it is.
	// Branches are those that git removes in Clean, Files those whose changes it discards, if not all.
	Files    []string `json:"files,omitempty" doc:"Files of clean, as the command names them. It is only dangerous where one of them has changes before the run which are not committed."`
	Branches []string `json:"branches,omitempty" doc:"Branches of clean. It is only dangerous where one of them is there before the run, whatever else that has."`
	Clean    string   `json:"clean,omitempty" example:"/home/bob/app" doc:"A working tree of git. It is only dangerous where that has changes before the run which are not committed, or a stash."`
	Remotes  string   `json:"remotes,omitempty" example:"/home/bob/app" doc:"A repository. It is only dangerous if one of its remotes is outside of the directory that the run may change."`
}

// Place is where a command runs.
type Place struct {
	// Cwd is its directory, Home the home directory of its user.
	Cwd, Home string
	// Tree are the directories that it may change as it likes. Empty means Cwd. The directories
	// for temporary files belong to them always.
	Tree []string
	// Own are the functions and scripts of the narrative: their names and words say nothing about danger.
	Own []string
	// Remotes has git remotes by name, with where each is on this machine: a path or an address; "" if it
	// is another one.
	Remotes map[string]string
	// Built are programs that the narrative itself makes, by name.
	Built []string
	// Vars are the variables of its shell whose values are known before it runs. They tell of addresses alone.
	// Lasting means that no later command of the narrative sets them, so that a function sees them too when it is called.
	// Paths means that they tell of paths, too.
	Vars           map[string]string
	Lasting, Paths bool
	// Cloned are the repositories that the narrative itself cloned: copies, which it may remove as a whole. Begun are
	// those that it cloned or began, whose history is its own, and Branches the branches that it made in the one in
	// which it runs.
	Cloned, Begun, Branches []string

	// Functions and Aliases are those that earlier lines of its shell declared, by name, with what they do, and Values
	// what variables may have from them, blanks and all: they can only add to what is dangerous.
	Functions, Aliases, Values map[string]string

	depth int  // how deep commands are nested in words, see inside
	plain bool // the line is in its plain form
	// judge returns the rules about a call. Conditions of the table, which rulesOf reads, reach it here.
	judge func(*call) []rule
}

// Find returns what is dangerous about a command line, in source order, each kind of a call once.
func Find(l *shell.Line, at Place) []Finding {
	if len(at.Tree) == 0 && at.Cwd != "" {
		at.Tree = []string{at.Cwd}
	}
	at.judge = rulesOf
	l = unfold(l, at)
	at.plain = true
	var found []Finding
	add := func(f Finding) {
		if !slices.ContainsFunc(found, func(o Finding) bool { return o.Kind == f.Kind && o.What == f.What }) {
			found = append(found, f)
		}
	}
	for i := range l.Calls {
		c := &call{Call: &l.Calls[i], line: l, at: i, place: at}
		for _, r := range rulesOf(c) {
			if r.when != nil && !r.when(c) || r.kind == "history" && c.ownHistory() {
				continue
			}
			add(Finding{Kind: r.kind, What: c.text(), Why: r.why, Open: guesses[r.why] && elsewhere[r.kind] || ends[r.why], Branches: c.removesBranches(), Files: c.discardsFiles(), Clean: c.discardsIn(), Remotes: c.pushesFrom()})
		}
		for _, f := range c.inside() {
			add(f)
		}
	}
	for _, rd := range l.Redirects {
		if !rd.Writes() {
			continue
		}
		if rd.Abroad {
			if c := mounting(l, rd, at); c != nil {
				add(Finding{Kind: "system", What: c.text(), Why: "it writes a file that belongs to the machine"})
			}
			continue
		}
		if why, kind := redirected(rd, at); why != "" {
			found = append(found, Finding{Kind: kind, What: rd.Op + " " + rd.Target.Text, Why: why})
		}
	}
	for _, host := range l.Connects {
		if !local(host) {
			add(Finding{Kind: "send", What: "/dev/tcp/" + host, Why: "it talks to another machine"})
		}
	}
	for _, device := range l.Devices {
		found = append(found, Finding{Kind: "send", What: "> " + device, Why: "it commands a device"})
	}
	if bomb(l) {
		found = append(found, Finding{Kind: "process", What: l.Source, Why: "it starts copies of itself without end"})
	}
	return found
}

// rule is one line of the table.
type rule struct {
	kind string
	// programs are names, or names with a subcommand: "rm,git push,docker compose push".
	programs string
	// when, if not nil, restricts the rule.
	when func(*call) bool
	why  string
}

// rulesOf returns the rules about a call: those about its program, or else what its words say.
func rulesOf(c *call) []rule {
	if c.Name == "" || c.onlySays() || slices.Contains(c.Via, "parallel") && slices.ContainsFunc(c.line.Calls[:c.at], func(o shell.Call) bool { return o.Name == "parallel" && o.Flag("--dry-run") }) {
		return nil
	}
	rules := c.ruled()
	if len(rules) == 0 && c.dropsSchema() {
		return []rule{{kind: "database", why: "its words say that it drops a schema, or takes it back"}}
	}
	return rules
}

// ruled returns the rules about the program of a call, those about its subcommand first. Where the table and
// what is closed do not have the program, the general rules hold besides those by theme.
func (c *call) ruled() []rule {
	themed := c.holding(themes())
	rules := c.holdable(index())
	if len(rules) == 0 {
		if len(themed) > 0 {
			return themed
		}
		return general(c)
	}
	asks, here := c.asks(), c.staysHere()
	rules = append(c.holding(index()), themed...)
	if len(rules) == 0 && !asks && !here && !c.Wraps && !c.localCluster() && !textPrograms[c.Name] && !files[c.Name] && !ownPrograms[c.Name] && !harmless(c) {
		if kind := c.strongly(); kind != "" {
			return []rule{{kind: kind, why: irrevocable}}
		}
	}
	return rules
}

// holdable returns the rules that an index has about the program and the subcommand of a call; holding those
// whose condition holds.
func (c *call) holdable(byName map[string][]rule) []rule {
	name := c.tabled()
	rules := byName[name]
	args := c.Args
	for {
		sub := shell.Call{Name: c.Name, Args: args}
		after := sub.After()
		if sub.Sub() == "" {
			return rules
		}
		rules = append(slices.Clone(rules), byName[name+" "+sub.Sub()]...)
		if words := shell.Operands(after, ""); len(words) > 0 {
			rules = append(rules, byName[name+" "+sub.Sub()+" "+words[0].Value]...)
		}
		if len(rules) > len(byName[name]) || !c.mayBeValue(len(c.Args)-len(after)-1) {
			return rules
		}
		args = after
	}
}

// mayBeValue reports whether a word, which stands where a subcommand does, may rather be the value of a flag before it:
// terragrunt --working-dir infra apply.
func (c *call) mayBeValue(at int) bool {
	if at == 0 || ownPrograms[c.Name] && c.Name != "terraform" || words("kubectl helm aws gcloud gh systemctl")[c.Name] {
		return false
	}
	flag := c.Args[at-1].Value
	described, _ := command.Describes(c.Name + " " + c.Args[at].Value)
	return len(flag) > 1 && flag[0] == '-' && !strings.Contains(flag, "=") && !described && asking(c.Args[at]) == ""
}

func (c *call) holding(byName map[string][]rule) []rule {
	asks, here := c.asks(), c.staysHere()
	return slices.DeleteFunc(slices.Clone(c.holdable(byName)), func(r rule) bool {
		return asks && asked[r.kind] || here && elsewhere[r.kind] || r.kind == "cluster" && (c.endpointHere() || c.localCluster()) || r.when != nil && !r.when(c)
	})
}

// tabled returns the name by which the table may have the program of a call: mkfs of mkfs.ext4, python3 of
// python3.12.
func (c *call) tabled() string {
	head, rest, dot := strings.Cut(c.Name, ".")
	if dot && index()[c.Name] == nil && index()[head] != nil && (head == "mkfs" || head == "fsck" || strings.Trim(rest, "0123456789.") == "") {
		return head
	}
	return c.Name
}

// asked has the kinds of rules that do not hold for a call that only asks for information. elsewhere has
// those that do not hold if all addresses in the call are of this machine.
var (
	asked     = words("cluster infrastructure publish send system database remote mail")
	elsewhere = words("infrastructure publish send")
)

// call is a call in its line.
type call struct {
	*shell.Call
	line  *shell.Line
	at    int
	place Place
}

// text returns the call as written, cut to 200 bytes.
func (c *call) text() string {
	words := []string{c.Head.Text}
	for _, a := range c.Args {
		words = append(words, cmp.Or(a.Text, a.Value))
	}
	s := strings.Join(words, " ")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// outside reports whether a word names something outside the tree. A value that is not known before
// the command runs is outside if unknown is true.
func (c *call) outside(w shell.Word, unknown bool) bool {
	if c.Abroad {
		return !c.inOwnContainer() && !c.inOwnRoot()
	}
	if values, ok := c.expanded(w); ok {
		return slices.ContainsFunc(values, func(v shell.Word) bool { return c.outside(v, unknown) })
	}
	if onDrive.MatchString(w.Value) || onDrive.MatchString(w.Text) {
		return true
	}
	dir := cmp.Or(c.Dir, c.wentTo())
	if rest := strings.ReplaceAll(w.Value, "$$", "1"); w.Dynamic && !strings.ContainsAny(rest, "$`") {
		w.Value, w.Dynamic = rest, false // the number of the shell
	}
	p := w
	if w.Glob {
		// Everything that a pattern matches is below the directory before it.
		head := w.Value
		if i := patternAt(head); i >= 0 {
			head = head[:i]
		}
		if i := strings.LastIndexByte(head, '/'); i >= 0 {
			head = head[:i+1]
		} else {
			head = "."
		}
		p = shell.Word{Value: head, Quoted: w.Quoted, Dynamic: strings.ContainsAny(head, "$`")}
	}
	name, ok := shell.Resolve(p, dir, c.place.Home)
	if head, rest := cutDynamic(p); !ok && head != "" && dir != "" {
		// build/$x is below build, unless the rest goes up.
		if name, known := shell.Resolve(shell.Word{Value: head}, dir, c.place.Home); known && !strings.Contains(rest, "..") {
			if c.place.within(name) && !slices.Contains(c.place.Tree, name) {
				return false
			}
			unknown = unknown || c.place.apart(name) // /srv/$x is outside, whatever x is
		}
	}
	if !ok {
		if dir == "" && !w.Dynamic && w.Value != "" && !strings.HasPrefix(w.Value, "/") && !strings.HasPrefix(w.Value, "~") && !strings.Contains(w.Value, "..") {
			return unknown && c.place.Cwd != "" && !c.Deferred // in a directory that is not known
		}
		return unknown
	}
	return !c.place.within(name)
}

// cutDynamic splits a path before its first name that is not known: build and $x of build/$x, build and a$x of build/a$x.
// The head is "" if there is nothing before.
func cutDynamic(w shell.Word) (head, rest string) {
	i := strings.IndexAny(w.Value, "$`")
	if i < 2 || !w.Dynamic {
		return "", ""
	}
	i = max(strings.LastIndexByte(w.Value[:i], '/'), 0)
	return w.Value[:i], w.Value[i:]
}

// patternAt returns where the first pattern in a word begins, -1 if there is none. In ${x:?} there is none.
func patternAt(word string) int {
	for i := 0; i < len(word); i++ {
		if m := expansion.FindStringSubmatch(word[i:]); m != nil {
			i += len(m[0]) - 1
		} else if strings.IndexByte("*?[{", word[i]) >= 0 {
			return i
		}
	}
	return -1
}

// expansion matches an expansion at the beginning of a text, but for one in another.
var expansion = lazyregexp.New(`^(\$\{[^{}]*\}|\$\([^()]*\)|\x60[^\x60]*\x60|\$[?*])`)

// onDrive matches a path of Windows that begins with its drive.
var onDrive = lazyregexp.New(`^[A-Za-z]:([/\\]|$)`)

// within reports whether a path is in the tree or below a directory for temporary files. / and home
// directories themselves never are.
func (p Place) within(name string) bool {
	for _, tmp := range [...]string{"/tmp/", "/var/tmp/", "/dev/shm/"} {
		if strings.HasPrefix(name, tmp) {
			return true
		}
	}
	if name == "/" || name == p.Home || name == "/home" || name == "/root" {
		return false
	}
	for _, dir := range p.Tree {
		if name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}

// apart reports whether nothing below a directory can be in the tree.
func (p Place) apart(dir string) bool {
	dir = strings.TrimSuffix(dir, "/") + "/"
	return !slices.ContainsFunc(append([]string{"/tmp/", "/var/tmp/", "/dev/shm/"}, p.Tree...), func(in string) bool {
		return strings.HasPrefix(in, dir) || strings.HasPrefix(dir, strings.TrimSuffix(in, "/")+"/")
	})
}

// system has the directories that belong to the machine rather than to a user.
var system = []string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/sys", "/proc", "/dev", "/run", "/var/run", "/root", "/var/lib", "/var/log", "/var/spool", "/var/www", "/srv", "/opt", "/System", "/Library"}

// ofSystem reports whether a path outside the tree belongs to the machine.
func (p Place) ofSystem(name string) bool {
	switch name {
	case "/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/full", "/dev/zero":
		return false
	}
	if p.within(name) || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/dev/pts/") {
		return false
	}
	if name == "/" {
		return true
	}
	return below(name, system...)
}

// software reports whether a path is where the administrator of a machine installs software by hand, beside what
// its package manager owns (Filesystem Hierarchy Standard 3.0, sections 3.13 and 4.9). What is made or replaced
// there is a program or its files, which a package manager would install unasked (decision 145).
func software(name string) bool {
	return below(name, "/opt", "/usr/local") && !below(name, "/usr/local/etc")
}

// below reports whether a path is one of some directories or in one.
func below(name string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// redirected returns why a redirection is dangerous, "" if it is not, and the kind of danger.
func redirected(rd shell.Redirect, at Place) (why, kind string) {
	name, ok := shell.Resolve(rd.Target, rd.Dir, at.Home)
	switch {
	case !ok:
		return "", ""
	case strings.HasPrefix(name, "/proc/sysrq-trigger"):
		return "it commands the kernel directly", "power"
	case at.ofSystem(name):
		return "it writes a file that belongs to the machine", "system"
	case strings.Contains(name, "/.ssh/"), strings.HasPrefix(path.Base(name), ".") && strings.HasSuffix(name, "_history"):
		if !at.within(name) {
			return "it writes a file of the user's own security", "system"
		}
	}
	return "", ""
}

// bomb reports whether a function starts itself twice at once, as a fork bomb does.
func bomb(l *shell.Line) bool {
	for _, f := range l.Functions {
		n := 0
		for i := range l.Calls {
			c := &l.Calls[i]
			if c.Deferred && c.Name == f && (c.Piped || c.Drained || c.Background) {
				n++
			}
		}
		if n >= 2 {
			return true
		}
	}
	return false
}
