package shell

import (
	"regexp"
	"slices"
	"strings"
)

// wrapper describes a program that runs the command in its last words.
type wrapper struct {
	valued string // flags that take a value as the next word
	skip   int    // operands before the command
	abroad bool   // it runs elsewhere
	assign bool   // NAME=value may stand before the command
}

// wrappers are the programs, or programs with a subcommand, that run another command.
var wrappers = map[string]wrapper{
	"sudo":     {valued: "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --chdir", assign: true},
	"doas":     {valued: "-u -C"},
	"env":      {valued: "-u -C -S --unset --chdir", assign: true},
	"nice":     {valued: "-n --adjustment"},
	"ionice":   {valued: "-c -n -p"},
	"nohup":    {},
	"setsid":   {},
	"stdbuf":   {valued: "-i -o -e"},
	"time":     {valued: "-f -o"},
	"gtime":    {valued: "-f -o"},
	"timeout":  {valued: "-k -s --signal --kill-after", skip: 1},
	"gtimeout": {valued: "-k -s --signal --kill-after", skip: 1},
	"command":  {}, "builtin": {}, "exec": {valued: "-a"},
	"xargs":          {valued: "-I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --replace --max-lines --arg-file"},
	"parallel":       {valued: "-j -a -S --jobs --arg-file --delay --retries -n -N"},
	"watch":          {valued: "-n --interval"},
	"strace":         {valued: "-o -e -p -s -u"},
	"ltrace":         {valued: "-o -e -p -s -u"},
	"valgrind":       {},
	"flock":          {valued: "-w -E --timeout", skip: 1},
	"chroot":         {valued: "--userspec --groups", skip: 1, abroad: true},
	"unshare":        {valued: "-S -G --setuid --setgid --root --wd"},
	"nsenter":        {valued: "-t --target -S -G"},
	"firejail":       {},
	"bwrap":          {valued: "--unsetenv --chdir"},
	"systemd-run":    {valued: "-u -p --unit --property --on-active --on-calendar"},
	"busybox":        {},
	"toybox":         {},
	"xvfb-run":       {valued: "-n -s -e -f"},
	"dbus-run":       {},
	"caffeinate":     {valued: "-t -w"},
	"ssh":            {valued: "-b -c -D -E -e -F -i -J -L -l -m -O -o -p -Q -R -S -W -w", skip: 1, abroad: true},
	"rsh":            {skip: 1, abroad: true},
	"docker run":     {valued: dockerRun, skip: 1, abroad: true},
	"podman run":     {valued: dockerRun, skip: 1, abroad: true},
	"docker exec":    {valued: dockerExec, skip: 1, abroad: true},
	"podman exec":    {valued: dockerExec, skip: 1, abroad: true},
	"kubectl exec":   {valued: "-c -n --container --namespace --context", skip: 1, abroad: true},
	"poetry run":     {},
	"pipenv run":     {},
	"uv run":         {valued: "--with --python -p"},
	"bundle exec":    {},
	"npx":            {valued: "-p --package -c"},
	"bunx":           {},
	"recount exec":   {valued: "--session --cwd --author --intent --workspace --shell --env --parent --id --git-head --data-dir --server"},
	"aws-vault exec": {valued: "-d --duration", skip: 1},
	"op run":         {valued: "--env-file"},
	"dotenv run":     {valued: "-f"},
}

const (
	dockerRun  = "-e --env -v --volume -p --publish --name -w --workdir -u --user --network --net -h --hostname --entrypoint -m --memory --cpus --env-file -l --label --mount --restart --platform --add-host --link --device --cap-add --cap-drop --security-opt --ulimit --log-driver --log-opt --dns --ip --pid --ipc --gpus --shm-size --tmpfs --volumes-from --cidfile --pull --expose -a --attach"
	dockerExec = "-e --env -w --workdir -u --user --env-file --detach-keys"
)

// scripts are programs with a flag whose value is a command line: sh -c '…'.
var scripts = map[string]string{
	"sh": "-c", "bash": "-c", "dash": "-c", "zsh": "-c", "ksh": "-c", "ash": "-c", "mksh": "-c", "rbash": "-c", "fish": "-c",
	"su": "-c", "runuser": "-c", "script": "-c",
}

// lookup matches a substitution that asks where a program is: $(command -v rm).
var lookup = regexp.MustCompile(`^(?:\$\(|\x60)(?:command -v|which|type -[pP]|builtin command -v) ([\w.+-]+)(?:\)|\x60)$`)

// simple adds a call and, if it runs another command, that one.
func (r *reader) simple(words []Word, assigns []Variable) {
	head := words[0]
	c := Call{Head: head, Args: words[1:], Assigns: assigns}
	if !head.Dynamic && !head.Glob {
		c.Name = nameOf(head.Value)
	} else if where := lookup.FindStringSubmatch(head.Value); where != nil {
		c.Name = where[1]
	}
	at := len(r.line.Calls)
	r.add(c)
	if at == len(r.line.Calls) {
		return
	}
	switch c.Name {
	case "cd", "chdir", "pushd":
		r.goes(c.Name, c.Args)
		return
	case "popd":
		r.goes(c.Name, nil)
		return
	case "read", "mapfile", "readarray", "getopts":
		r.reads(&c)
		return
	case "printf":
		if len(c.Args) > 1 && c.Args[0].Value == "-v" {
			r.sets(c.Args[1].Value)
		}
		return
	case "let":
		for _, a := range c.Args {
			r.sets(strings.TrimLeft(strings.TrimRight(a.Value, "+-"), "+-"))
			name, _, _ := strings.Cut(a.Value, "=")
			r.sets(strings.TrimRight(name, "+-*/%&|^<>"))
		}
		return
	case "eval":
		r.under(at, "eval", false, func() { r.script(words[1:], r.line.fish) })
		return
	case "find", "gfind", "bfs":
		r.executes(at, c.Args)
		return
	case "fd", "fdfind":
		if i := slices.IndexFunc(c.Args, func(w Word) bool { return fdExec[w.Value] }); i >= 0 && i+1 < len(c.Args) {
			r.under(at, "find", false, func() { r.simple(c.Args[i+1:], nil) })
		}
		return
	}
	if strings.HasPrefix(c.Name, "python") || c.Name == "pypy3" || c.Name == "py" {
		// python -m pytest runs the program of that name.
		for i, a := range c.Args {
			if a.Value == "-m" && i+1 < len(c.Args) {
				r.under(at, c.Name, false, func() { r.simple(c.Args[i+1:], nil) })
				return
			}
			if !strings.HasPrefix(a.Value, "-") {
				return
			}
		}
	}
	if flag, ok := scripts[c.Name]; ok {
		if i := r.scriptAt(&c, flag); i >= 0 {
			r.under(at, c.Name, false, func() { r.script(c.Args[i:i+1], c.Name == "fish") })
			return
		}
	}
	w, key := wrappers[c.Name], c.Name
	args := c.Args
	if _, ok := wrappers[c.Name]; !ok {
		key = c.Program()
		if w, ok = wrappers[key]; !ok {
			return
		}
		args = c.After()
	}
	rest, set := w.command(args)
	if len(rest) == 0 {
		return
	}
	own := Call{Args: args[:len(args)-len(rest)]}
	if key == "command" && own.Flag("-v", "-V") || key == "sudo" && own.Flag("-l", "-v", "-k", "-K", "-e") {
		return
	}
	r.under(at, key, w.abroad, func() {
		if len(rest) == 1 && (rest[0].Quoted && strings.ContainsAny(rest[0].Value, " \t\n;|&")) {
			r.script(rest, false) // ssh host 'a && b'
			return
		}
		if key == "ssh" && len(rest) > 1 {
			r.script(rest, false)
			return
		}
		r.simple(rest, set)
	})
}

// CommandAt returns where the command begins that a call, given with its program, runs in its last words; 0 if it runs none.
func CommandAt(words []Word) int {
	c := Call{Name: nameOf(words[0].Value), Head: words[0], Args: words[1:]}
	args := c.Args
	w, ok := wrappers[c.Name]
	if !ok {
		if w, ok = wrappers[c.Program()]; !ok {
			return 0
		}
		args = c.After()
	}
	rest, _ := w.command(args)
	if len(rest) == 0 {
		return 0
	}
	return len(words) - len(rest)
}

// Replaces returns the text in whose place a call of xargs puts what it reads; ok is false if it appends that.
func (c *Call) Replaces() (place string, ok bool) {
	for i, w := range c.Args {
		switch v := w.Value; {
		case v == "-I" && i+1 < len(c.Args):
			return c.Args[i+1].Value, true
		case v == "-i", v == "--replace":
			return "{}", true
		case strings.HasPrefix(v, "-I"), strings.HasPrefix(v, "-i"):
			return v[2:], true
		case strings.HasPrefix(v, "--replace="):
			return strings.TrimPrefix(v, "--replace="), true
		case v == "--" || v == "" || v[0] != '-' && (i == 0 || !strings.Contains(" "+wrappers["xargs"].valued+" ", " "+c.Args[i-1].Value+" ")):
			return "", false
		}
	}
	return "", false
}

// under runs f for what a call wraps.
func (r *reader) under(at int, name string, abroad bool, f func()) {
	before := len(r.line.Calls)
	via, away := r.via, r.abroad
	r.via, r.abroad = append(slices.Clone(via), name), away || abroad
	f()
	r.via, r.abroad = via, away
	r.line.Calls[at].Wraps = len(r.line.Calls) > before
}

// command returns the words of the wrapped command, and the variables set for it.
func (w wrapper) command(args []Word) (rest []Word, set []Variable) {
	skip := w.skip
	takes := " " + w.valued + " "
	for i := 0; i < len(args); i++ {
		v := args[i].Value
		switch {
		case v == "--":
			if skip == 0 || i+1 == len(args) {
				return args[i+1:], set
			}
		case len(v) > 1 && v[0] == '-':
			if strings.Contains(takes, " "+v+" ") || len(v) > 2 && isCluster(v[1:]) && strings.Contains(takes, " -"+v[len(v)-1:]+" ") && !strings.Contains(takes, " "+v[:2]+" ") {
				i++
			}
		case w.assign && strings.Contains(v, "=") && isName(v[:strings.IndexByte(v, '=')]):
			name, value, _ := strings.Cut(v, "=")
			set = append(set, Variable{Name: name, Value: Word{Value: value, Text: value, Dynamic: args[i].Dynamic}, Unknown: args[i].Dynamic, Exported: true})
		case skip > 0:
			skip--
		default:
			return args[i:], set
		}
	}
	return nil, set
}

// scriptAt returns the index of the argument after -c, also at the end of a cluster (-lc).
func (r *reader) scriptAt(c *Call, flag string) int {
	for i, a := range c.Args {
		v := a.Value
		if v == "--" {
			return -1
		}
		if len(v) < 2 || v[0] != '-' && v[0] != '+' {
			if c.Name == "su" || c.Name == "runuser" {
				continue // su USER -c '…'
			}
			if i > 0 && (strings.HasSuffix(c.Args[i-1].Value, "o") || strings.HasSuffix(c.Args[i-1].Value, "O")) {
				continue // -euo pipefail -c '…'
			}
			return -1
		}
		if (v == flag || v == "--command" || v[1] != '-' && isCluster(v[1:]) && v[len(v)-1] == 'c') && i+1 < len(c.Args) {
			return i + 1
		}
	}
	return -1
}

// script reads the command line that some words make together, for fish or another shell.
func (r *reader) script(words []Word, fish bool) {
	if r.nested >= maxNested {
		return
	}
	var parts []string
	for _, w := range words {
		parts = append(parts, w.Value)
	}
	text := strings.Join(parts, " ")
	lang := "bash"
	if fish {
		lang = "fish"
	}
	file, err := Parse(text, lang)
	if err != nil {
		return
	}
	inner := reader{
		line: &Line{Source: text, File: file, fish: fish}, dir: r.dir, home: r.home, value: r.value, looping: r.looping, inner: r.inner, deferred: r.deferred, abroad: r.abroad,
		via: r.via, nested: r.nested + 1, loops: r.loops, seen: map[string]bool{}, piped: r.piped, drained: r.drained, kept: r.kept, ground: r.ground,
		maybe: r.maybe, subshell: r.subshell, document: r.document, open: r.open,
	}
	inner.stmts(file.Stmts)
	r.line.Opens = r.line.Opens || inner.line.Opens
	before := len(r.line.Calls)
	for _, c := range inner.line.Calls {
		c.Head.Node = nil
		for i := range c.Args {
			c.Args[i].Node = nil
		}
		if len(r.line.Calls) < MaxCalls {
			r.line.Calls = append(r.line.Calls, c)
		}
	}
	for _, rd := range inner.line.Redirects {
		rd.Target.Node = nil
		rd.Before = min(before+rd.Before, len(r.line.Calls))
		r.line.Redirects = append(r.line.Redirects, rd)
	}
	for _, name := range inner.line.Uses {
		r.use(name)
	}
	if len(r.via) > 0 && r.via[len(r.via)-1] == "eval" {
		for _, v := range inner.line.Assigned {
			v.Before = min(before+v.Before, len(r.line.Calls))
			r.line.Assigned = append(r.line.Assigned, v)
		}
		r.line.Functions = append(r.line.Functions, inner.line.Functions...)
		for name, body := range inner.line.Bodies {
			if r.line.Bodies == nil {
				r.line.Bodies = map[string]string{}
			}
			r.line.Bodies[name] = body
		}
	}
}

// executes reads the commands in the expression of find.
func (r *reader) executes(at int, args []Word) {
	for i := 0; i < len(args); i++ {
		switch args[i].Value {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].Value != ";" && (args[end].Value != "+" || args[end-1].Value != "{}") {
				end++
			}
			if end > i+1 {
				words := args[i+1 : end]
				r.under(at, "find", false, func() { r.simple(words, nil) })
			}
			i = end
		}
	}
}

// fdExec are the flags of fd after which the rest of its words are a command.
var fdExec = map[string]bool{"-x": true, "-X": true, "--exec": true, "--exec-batch": true}

// sets adds a variable that is set to what is not known.
func (r *reader) sets(name string) {
	if isName(name) && r.inner == 0 && !r.deferred && !slices.ContainsFunc(r.line.Assigned, func(v Variable) bool { return v.Name == name }) {
		r.line.Assigned = append(r.line.Assigned, Variable{Name: name, Unknown: true, Maybe: r.maybe, Apart: r.subshell, Before: len(r.line.Calls)})
	}
}

// reads adds the variables that read, mapfile and the like set.
func (r *reader) reads(c *Call) {
	valued := "-d -n -N -p -t -u -i"
	if c.Name == "mapfile" || c.Name == "readarray" {
		valued = "-d -n -O -s -u -C -c"
	}
	for _, w := range Operands(c.Args, valued) {
		if isName(w.Value) && r.inner == 0 {
			r.line.Assigned = append(r.line.Assigned, Variable{Name: w.Value, Unknown: true, Apart: r.subshell, Before: len(r.line.Calls)})
		}
	}
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// nameOf returns the name of a program without its directory and the version that is asked for.
func nameOf(head string) string {
	name := strings.TrimSuffix(head, "/")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i] // npx vercel@latest
	}
	return strings.TrimSuffix(name, ".exe")
}
