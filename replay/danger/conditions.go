package danger

import (
	"net"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// Conditions of the table.

func all(conditions ...func(*call) bool) func(*call) bool {
	return func(c *call) bool {
		for _, f := range conditions {
			if !f(c) {
				return false
			}
		}
		return true
	}
}

func some(conditions ...func(*call) bool) func(*call) bool {
	return func(c *call) bool {
		for _, f := range conditions {
			if f(c) {
				return true
			}
		}
		return false
	}
}

func not(f func(*call) bool) func(*call) bool { return func(c *call) bool { return !f(c) } }

// flag returns the condition that one of some flags, separated by spaces, is given.
func flag(names string) func(*call) bool {
	list := strings.Fields(names)
	return func(c *call) bool { return c.Flag(list...) }
}

// exactly returns the condition that one of some words is given literally: java-like flags, tar's x,
// "delete".
func exactly(words string) func(*call) bool {
	list := " " + words + " "
	return func(c *call) bool {
		for _, a := range c.Args {
			if a.Value != "" && !strings.Contains(a.Value, " ") && strings.Contains(list, " "+a.Value+" ") {
				return true
			}
		}
		return false
	}
}

// matching returns the condition that a word matches a regular expression.
func matching(pattern string) func(*call) bool {
	re := lazyregexp.New(pattern)
	return func(c *call) bool { return c.matches(re) }
}

// matches reports whether a word matches a regular expression.
func (c *call) matches(re *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(c.Args, func(a shell.Word) bool { return re.MatchString(a.Value) })
}

// operands returns the words of a call that are no flags.
func (c *call) operands(valued string) []shell.Word { return shell.Operands(c.Args, valued) }

// removesOutside reports whether rm or a program like it removes something outside the tree, or
// recursively something unknown. Operands that find or a list supplies are judged by where those look.
func removesOutside(c *call) bool {
	recursive := c.Flag("-r", "-R", "--recursive") || c.Name == "shred" || c.Name == "srm"
	words := c.operands("-n -s --iterations --size")
	below := 0
	for _, w := range words {
		if head, rest, ok := strings.Cut(w.Value, "{}"); ok {
			if strings.HasSuffix(head, "/") && !w.Dynamic && !strings.Contains(rest, "..") {
				if c.outside(shell.Word{Value: head}, true) {
					return true
				}
				below++
			}
			continue
		}
		if c.outside(w, recursive) || recursive && c.isTree(w) {
			return true
		}
		if v := strings.TrimSuffix(w.Value, "/"); recursive && (v == ".git" || strings.HasSuffix(v, "/.git")) {
			return true
		}
	}
	if len(words) > 0 && (!c.given() || below == len(words)) {
		return false
	}
	return c.listed() || recursive && c.Fed || c.given() && (c.unlisted() || c.outside(shell.Word{Value: "."}, false))
}

// isTree reports whether a word that goes up names a whole tree of the place, which the narrative did not clone.
func (c *call) isTree(w shell.Word) bool {
	name, ok := shell.Resolve(w, c.Dir, c.place.Home)
	return ok && c.Dir != "" && !c.Abroad && slices.Contains(c.place.Tree, name) && !slices.Contains(c.place.Cloned, name)
}

// unlisted reports whether xargs or parallel supplies words whose source is not in the line.
func (c *call) unlisted() bool {
	if via := slices.DeleteFunc(slices.Clone(c.Via), func(v string) bool { return v == "sudo" || v == "doas" }); len(via) == 0 || via[len(via)-1] != "xargs" && via[len(via)-1] != "parallel" {
		return false
	}
	if slices.ContainsFunc(c.Args, func(w shell.Word) bool { return w.Value == ":::" }) {
		return false // parallel is told them
	}
	return !slices.ContainsFunc(c.line.Calls[:c.at], func(o shell.Call) bool { return listers[o.Name] })
}

// listers has the programs that print names which they find, or which are in the line.
var listers = words("find gfind fd fdfind ls git grep egrep rg ag ack locate mlocate plocate echo printf seq svn hg")

// given reports whether words of a call come from a lister in the same line, through find -exec, xargs, a
// variable or a substitution.
func (c *call) given() bool {
	for _, v := range c.Via {
		if v == "xargs" && !c.placed() || v == "find" || v == "parallel" {
			return true
		}
	}
	for _, w := range c.Args {
		if w.Dynamic {
			return true
		}
	}
	return false
}

// placed reports whether the xargs that runs a call puts what it reads in a place which no word of the call has.
func (c *call) placed() bool {
	for i := c.at - 1; i >= 0; i-- {
		if o := &c.line.Calls[i]; o.Name == "xargs" && o.Wraps {
			place, ok := o.Replaces()
			return ok && place != "" && !c.names(func(s string) bool { return strings.Contains(s, place) })
		}
	}
	return false
}

// givenOutside reports whether a lister supplies a call with names outside the tree.
func (c *call) givenOutside() bool { return c.given() && c.listed() }

// listed reports whether what find, fd, ls or locate lists in the same line is outside the tree.
func (c *call) listed() bool {
	for i := range c.line.Calls {
		o := &call{Call: &c.line.Calls[i], line: c.line, at: i, place: c.place}
		switch o.Name {
		case "find", "gfind":
			for _, w := range findRoots(o.Args) {
				if o.outside(w, true) && !temporary(w.Value) {
					return true
				}
			}
		case "locate", "mlocate", "plocate":
			return true
		case "ls", "fd", "fdfind":
			for _, w := range o.operands("") {
				if (strings.Contains(w.Value, "/") || w.Value == ".." || strings.HasPrefix(w.Value, "~")) && o.outside(w, false) {
					return true
				}
			}
		}
	}
	return false
}

// givenContainers reports whether xargs supplies a call with what docker lists in the same line.
func givenContainers(c *call) bool {
	return c.given() && slices.ContainsFunc(c.line.Calls[:c.at], func(o shell.Call) bool {
		return (o.Name == "docker" || o.Name == "podman") && o.Drained && words("ps images ls container image")[o.Sub()]
	})
}

// findRoots returns the directories that find walks.
func findRoots(args []shell.Word) []shell.Word {
	var roots []shell.Word
	for _, a := range args {
		if strings.HasPrefix(a.Value, "-") && len(a.Value) > 1 {
			if strings.Contains(" -L -H -P ", " "+a.Value+" ") {
				continue
			}
			break
		}
		if a.Value == "(" || a.Value == "!" {
			break
		}
		roots = append(roots, a)
	}
	return roots
}

// deletesOutside reports whether find -delete removes something outside the tree.
func deletesOutside(c *call) bool {
	if !exactly("-delete")(c) {
		return false
	}
	roots := findRoots(c.Args)
	for _, w := range roots {
		if c.outside(w, true) && !temporary(w.Value) {
			return true
		}
		if name, ok := shell.Resolve(w, c.Dir, c.place.Home); ok && slices.Contains(c.place.Tree, name) && !selective(c.Args[len(roots):]) {
			return true
		}
	}
	return false
}

// temporary reports whether a path is a directory for temporary files.
func temporary(name string) bool {
	name = strings.TrimSuffix(name, "/")
	return name == "/tmp" || name == "/var/tmp"
}

// selective reports whether an expression of find selects by more than the kind of file.
func selective(expression []shell.Word) bool {
	for i, w := range expression {
		switch w.Value {
		case "l": // links, whose targets stay
			return i > 0 && expression[i-1].Value == "-type"
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin", "-newer", "-size", "-empty", "-atime", "-ctime", "-inum", "-user", "-perm", "-amin", "-cmin", "-newermt", "-lname", "-samefile", "-links":
			return true
		}
	}
	return false
}

// ofSystem reports whether an operand belongs to the machine; lastOfSystem whether the last does,
// which cp, mv and ln write, and is more than software installed by hand.
func ofSystem(c *call) bool {
	return c.anyOperand("-m --mode --reference -s --size", c.place.ofSystem)
}

// anyOperand reports whether a condition holds for the path of an operand.
func (c *call) anyOperand(valued string, is func(name string) bool) bool {
	return slices.ContainsFunc(c.operands(valued), func(w shell.Word) bool {
		name, ok := shell.Resolve(stem(w), c.Dir, c.place.Home)
		return ok && is(name)
	})
}

func lastOfSystem(c *call) bool {
	words := c.operands("-S -m -o -g --mode")
	if t, ok := c.FlagValue("-t", "--target-directory"); ok && c.Name != "rsync" {
		words = append(words, t)
	}
	if len(words) < 2 {
		return false
	}
	name, ok := shell.Resolve(stem(words[len(words)-1]), c.Dir, c.place.Home)
	return ok && c.place.ofSystem(name) && !software(name) && !(c.Name == "ln" && c.addsLink(name))
}

// addsLink reports whether ln can only make a new name among the machine's programs and data: without -f it
// replaces nothing.
func (c *call) addsLink(name string) bool {
	return !c.Flag("-f", "--force") && below(name, "/usr", "/bin", "/sbin") && !below(name, "/usr/lib", "/usr/lib64")
}

// changesSystem reports whether an operand belongs to the machine and is no software that was installed by hand.
func changesSystem(c *call) bool {
	return c.anyOperand("-m --mode --reference -s --size", func(name string) bool { return c.place.ofSystem(name) && !software(name) })
}

// movesOutside reports whether mv takes something from outside the tree.
func movesOutside(c *call) bool {
	if c.givenOutside() {
		return true
	}
	words := c.operands("-S -t")
	for i, w := range words {
		if i == len(words)-1 && len(words) > 1 {
			return w.Value == "/dev/null"
		}
		if (strings.HasPrefix(w.Value, "/") || strings.HasPrefix(w.Value, "~") || strings.HasPrefix(w.Value, "..")) && c.outside(w, false) {
			return true
		}
	}
	return false
}

// stem returns the part of a path before its first pattern.
func stem(w shell.Word) shell.Word {
	if i := strings.IndexAny(w.Value, "*?["); w.Glob && i > 0 {
		return shell.Word{Value: w.Value[:i], Quoted: w.Quoted}
	}
	return w
}

// flagOfSystem reports whether the value of a flag belongs to the machine and is no software installed by hand.
func flagOfSystem(names string) func(*call) bool {
	list := strings.Fields(names)
	return func(c *call) bool {
		w, ok := c.FlagValue(list...)
		if !ok {
			return false
		}
		name, ok := shell.Resolve(w, c.Dir, c.place.Home)
		return ok && c.place.ofSystem(name) && !software(name)
	}
}

// flagOutside reports whether the value of a flag is outside the tree.
func flagOutside(names string) func(*call) bool {
	list := strings.Fields(names)
	return func(c *call) bool {
		w, ok := c.FlagValue(list...)
		return ok && c.outside(w, true)
	}
}

// credentialsOutside reports whether the file in which a program keeps accounts, its first operand, is outside the tree.
func credentialsOutside(c *call) bool {
	ws := c.operands("-C -r")
	return len(ws) > 0 && c.outside(ws[0], true)
}

// keysOutside reports whether the file or the directory of keys that a flag names is outside the tree. Without a flag
// keytool changes the home directory's file, or with -cacerts Java's.
func keysOutside(c *call) bool {
	if c.Name == "keytool" {
		w, ok := c.FlagValue("-keystore", "-destkeystore")
		return !ok || c.outside(w, true)
	}
	w, ok := c.FlagValue("-d", "-f", "-k", "--keytab")
	for _, format := range [...]string{"sql:", "dbm:", "FILE:"} {
		w.Value = strings.TrimPrefix(w.Value, format)
	}
	return ok && c.outside(w, true)
}

// treeOutside reports whether a recursive change of owners or modes reaches outside the tree.
func treeOutside(c *call) bool {
	words := c.operands("--reference --from")
	if len(words) < 2 {
		return false
	}
	for _, w := range words[1:] {
		if c.outside(w, true) {
			return true
		}
	}
	return false
}

// overwritesDevice reports whether dd writes to a device or outside the tree.
func overwritesDevice(c *call) bool {
	for _, a := range c.Args {
		if v, ok := strings.CutPrefix(a.Value, "of="); ok {
			return v != "/dev/null" && v != "/dev/stdout" && c.outside(shell.Word{Value: v, Dynamic: a.Dynamic, Quoted: a.Quoted}, true)
		}
	}
	return false
}

// toElsewhere reports whether the last operand of rsync, scp and the like is on another machine.
func toElsewhere(c *call) bool {
	words := c.operands("-e -P -i -l -F -o -c -S -J --rsh --exclude --include --filter --port --bwlimit --timeout --files-from")
	if len(words) == 0 {
		return false
	}
	return isRemote(words[len(words)-1].Value)
}

func isRemote(v string) bool {
	if strings.Contains(v, "://") {
		return !loopback(v)
	}
	host, _, ok := strings.Cut(v, ":")
	return ok && host != "" && !strings.ContainsAny(host, "/") && !local(host[strings.LastIndexByte(host, '@')+1:])
}

// foreign reports whether an operand is a URL of another machine, or is unknown.
func (c *call) foreign(valued string) bool {
	words := c.operands(valued)
	if w, ok := c.FlagValue("--url"); ok {
		words = append(words, w)
	}
	words = slices.DeleteFunc(words, func(w shell.Word) bool { return w.Value == "-" }) // its input, as in -sT -
	return len(words) == 0 || slices.ContainsFunc(words, func(w shell.Word) bool { return !c.here(w) })
}

// here reports whether an address is known to be of this machine, also by the variables of its shell. What follows
// its host need not be known. If such a variable is not set in the end, there is no address; of a path, which may
// then be another one (rm -rf $out/*), only what the line itself says counts.
func (c *call) here(w shell.Word) bool {
	if !w.Dynamic || !strings.HasPrefix(w.Value, "$") {
		return loopback(w.Value)
	}
	name, rest := leadingVariable(w.Value)
	values := c.before(name)
	if values == nil {
		values = c.valuesOf(name)
	}
	return name != "" && len(values) > 0 && !slices.ContainsFunc(values, func(v shell.Word) bool { return !loopback(v.Value + rest) })
}

// loopback reports whether a URL, with or without its scheme, has this machine as its host.
func loopback(u string) bool {
	if strings.HasPrefix(u, "sqlite:") || strings.HasPrefix(u, "sqlite3:") {
		return true // a file
	}
	if _, rest, ok := strings.Cut(u, "://"); ok {
		u = rest
	}
	if i := strings.IndexAny(u, "/?#"); i >= 0 {
		u = u[:i]
	}
	return local(u[strings.LastIndexByte(u, '@')+1:])
}

func local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || host == "host.docker.internal" || strings.HasSuffix(host, ".localhost") || host == "" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// isField matches an item of httpie that is part of a body: name=value, name:=json, name@file. Name:value is a
// header, name==value part of the address.
var isField = lazyregexp.New(`^[^:=@]+(:=|@|=([^=]|$))`)

// methodChanges reports whether httpie or a program like it, which take the method as the first word,
// sends one that changes something. With a body, be it from the standard input, it posts.
func methodChanges(c *call) bool {
	words := c.operands("-a --auth -o --output -s --style --session -A --auth-type")
	if len(words) == 0 {
		return false
	}
	m := words[0].Value
	if m == strings.ToUpper(m) && !strings.ContainsAny(m, ".:/") || slices.Contains([]string{"get", "head", "options", "post", "put", "patch", "delete"}, m) && len(words) > 1 {
		m, words = strings.ToUpper(m), words[1:]
	} else {
		m = "GET"
		if c.isFed() && !c.Flag("-I", "--ignore-stdin") && !slices.Contains(c.Via, "xargs") || slices.ContainsFunc(words[1:], func(w shell.Word) bool { return isField.MatchString(w.Value) }) {
			m = "POST"
		}
	}
	return m != "GET" && m != "HEAD" && m != "OPTIONS" && len(words) > 0 && !loopback(words[0].Value) && !strings.HasPrefix(words[0].Value, ":")
}

// runsFetched reports whether an interpreter runs what was fetched from the network: curl … | sh,
// sh -c "$(curl …)", bash <(curl …).
func runsFetched(c *call) bool {
	fetch := func(o *shell.Call) bool {
		return (o.Name == "curl" || o.Name == "wget" || o.Name == "fetch" || o.Name == "aria2c" || o.Name == "http") && !loopbackOnly(o)
	}
	if c.Piped && !c.Inner {
		args := c.operands("")
		if len(args) > 0 && args[0].Value != "-" && !strings.HasPrefix(args[0].Value, "/dev/") && !c.Flag("-s") {
			return false // it runs a file of this machine
		}
		for i := 0; i < c.at; i++ {
			if o := &c.line.Calls[i]; fetch(o) && o.Drained {
				return true
			}
		}
		return false
	}
	dynamic := false
	for _, a := range c.Args {
		dynamic = dynamic || a.Dynamic && (strings.Contains(a.Value, "$(") || strings.Contains(a.Value, "<(") || strings.Contains(a.Value, "`"))
	}
	if !dynamic {
		return false
	}
	for i := range c.line.Calls {
		if o := &c.line.Calls[i]; o.Inner && fetch(o) {
			return true
		}
	}
	return false
}

func loopbackOnly(c *shell.Call) bool {
	for _, a := range c.Args {
		if strings.Contains(a.Value, "://") {
			return loopback(a.Value)
		}
	}
	return false
}

// destroys matches statements of SQL and similar languages that remove data.
var destroys = lazyregexp.New(`(?i)\b(drop\s+(database|table|schema|user|role|index|view|keyspace|collection|measurement|series|bucket|topic|stream|tablespace|graph|space)|truncate\s+(table\s+)?["\x60\[]?\w|delete\s+from\s+[\w."\[\]\x60-]+\s*(;|$|where\s)|alter\s+table\s+\S+\s+(drop|delete)|dropdatabase\s*\(|\.drop\s*\(|deletemany\s*\(\s*\{\s*\}|\.remove\s*\(\s*\{\s*\})`)

// destroying has the words that show, in the name of a file, that its statements remove data.
var destroying = words("drop wipe truncate destroy purge delete reset")

// explained matches statements that are planned and not executed.
var explained = lazyregexp.New(`(?i)\bexplain\s+(query\s+plan\s+)?(delete|update|insert)\s[^;]*`)

// literals matches strings in a statement.
var literals = lazyregexp.New(`'[^']*'`)

var updates = lazyregexp.New(`(?i)^\s*update\s+[\w."\[\]\x60-]+\s+set\s`)

// updatesAll reports whether a statement changes all rows of a table.
func updatesAll(text string) bool {
	for statement := range strings.SplitSeq(text, ";") {
		if updates.MatchString(statement) && !strings.Contains(strings.ToLower(statement), "where") {
			return true
		}
	}
	return false
}

func destroysData(c *call) bool {
	for _, a := range c.Args {
		text := a.Value
		if len(text) > 2 && text[0] == '-' && text[1] != '-' {
			text = text[2:] // of -e'DROP TABLE t'
		}
		if text = literals.ReplaceAllString(explained.ReplaceAllString(text, ""), "''"); destroys.MatchString(text) || updatesAll(text) {
			return true
		}
	}
	tells := func(w shell.Word) bool { // what a file holds is unknown, and its name says enough
		return slices.ContainsFunc(wordParts(path.Base(w.Value)), func(p string) bool { return destroying[p] })
	}
	if w, ok := c.FlagValue("-f", "--file"); ok && tells(w) || c.Fed && slices.ContainsFunc(c.line.Redirects, func(rd shell.Redirect) bool { return rd.Op == "<" && tells(rd.Target) }) {
		return true
	}
	if c.Piped || c.Fed {
		// Statements may be piped into the client or stand in a here-document.
		for i := 0; i < c.at; i++ {
			for _, a := range c.line.Calls[i].Args {
				if (c.line.Calls[i].Name == "echo" || c.line.Calls[i].Name == "printf") && destroys.MatchString(a.Value) {
					return true
				}
			}
		}
		if c.Document != nil {
			return destroys.MatchString(literals.ReplaceAllString(explained.ReplaceAllString(*c.Document, ""), "''"))
		}
		return c.Fed && destroys.MatchString(c.line.Source)
	}
	return false
}

// killsByNumber reports whether kill names a process by its number, which is that of another process when
// a plan runs, or all processes.
func killsByNumber(c *call) bool {
	for i, a := range c.Args {
		v := a.Value
		if v == "-l" || v == "-0" || v == "-L" {
			return false
		}
		if v == "-s" || v == "-n" {
			continue
		}
		if strings.HasPrefix(v, "-") && (i == 0 || v != "-1") {
			continue
		}
		if i > 0 && (c.Args[i-1].Value == "-s" || c.Args[i-1].Value == "-n") {
			continue
		}
		if strings.Trim(v, "0123456789-") == "" && v != "" && v != "0" {
			return true
		}
	}
	// A file of another program has its number.
	for i := range c.line.Calls {
		if o := (&call{Call: &c.line.Calls[i], line: c.line, at: i, place: c.place}); o.Inner && o.Name == "cat" && len(o.Args) == 1 && o.outside(o.Args[0], false) && slices.ContainsFunc(c.Args, func(w shell.Word) bool { return strings.Contains(w.Text, o.Head.Text+" "+o.Args[0].Text) }) {
			return true
		}
	}
	// pgrep or pidof may supply the numbers.
	for i := range c.line.Calls {
		if o := &c.line.Calls[i]; i != c.at && (o.Name == "pgrep" || o.Name == "pidof" || o.Name == "ps" || o.Name == "lsof" || o.Name == "fuser") {
			return true
		}
	}
	return false
}

// changesElsewhere reports whether a command that runs on another machine does more than show something.
func changesElsewhere(c *call) bool { return c.Wraps && !c.runsReaders() }

// shows has the programs that only show something.
var shows = words("ls cat echo pwd uptime uname whoami id hostname date df du free ps top head tail grep wc stat file which env printenv true false cd test [ w who last dmesg journalctl lscpu lsblk ip ifconfig ss netstat ping sort uniq cut awk sed find nproc zcat less more md5sum sha256sum ssh")
