// Package effects says what a command does to what outlives it, and what it rests on: the paths it
// reads, makes, changes and removes, the variables of its shell, repositories, packages, images,
// services, and whether it only looks.
//
// Of is a pure function of the command as recorded: its text, read by package shell, and the
// resources that processors/command found in it. Resources say which words are paths, branches or
// images; the tables here add what a program does with them. Of a program in no table nothing is
// known: it is opaque, which means that it may read everything below its directory and may write
// there.
package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// Access is what a command does with a thing.
type Access uint8

// Kinds of access.
const (
	Read   Access = iota
	Write         // makes it, or replaces all of it
	Update        // changes it, so that what it was before still counts
	Remove
)

// Kinds of things. The first are paths of the machine; those of a repository are named by what
// follows its directory, see Repo.
const (
	Path      = "path"
	Directory = "directory"
	Mode      = "mode"     // the permissions of a path
	Products  = "products" // what builds have made below a directory
	Remote    = "remote"   // of a repository; Value is the path that it has on this machine
	Fetched   = "fetched"  // a remote that is fetched from
	Package   = "package"
	Image     = "image"
	Container = "container"
	Port      = "port"
	Address   = "address" // of what a service keeps
	Entries   = "entries" // the names in a directory
	Job       = "job"
	// Things of a repository.
	Repository = "repository"
	Settings   = "settings"
	Staged     = "staged"
	Commit     = "commit"
	Branch     = "branch"
	Tag        = "tag"
	Bisect     = "bisect"
)

// Tracked is the Value of paths of which only the files go that git has, so not its repository.
const Tracked = "tracked"

// Thing is something that a command reads or changes.
type Thing struct {
	Kind   string
	Name   string
	Access Access
	// Tree includes everything below the path. Glob means that Name is a pattern.
	Tree, Glob bool
	// Partial means that Name is only the beginning of the path, as far as it is known without
	// running the command; Tree is set too.
	Partial bool
	// Repo is the directory in which git was run, for things of a repository.
	Repo string
	// Value is Tracked for paths that git removes; what a symbolic link points to, the mode that a file is given, as
	// written, what a setting of git is set to, or the directory whose files are served on a port.
	Value string
	// Same is the path of which it becomes another name: ln a b.
	Same string
	// Sure is how sure that is, 0 to 1.
	Sure float64
}

// Command is a command as recorded.
type Command struct {
	Text, Shell, Cwd, Home string
	// User is the name of who ran it, as $USER says; "" if that is not known.
	User      string
	Resources []Resource
	// Vars are the values of variables, and Functions the bodies of functions, as far as earlier commands
	// of its session tell.
	Vars, Functions map[string]string
	// Content returns the content of a file, if earlier commands wrote it down. It may be nil.
	Content func(path string) (string, bool)
	// Older returns what a file said before earlier commands edited it, or may have, if Content does not know it. It
	// may be nil.
	Older func(path string) (string, bool)
	// Env are the recorded variables, and Setting returns what earlier commands set of git for a directory, or "". Both
	// may be nil.
	Env     map[string]string
	Setting func(name, dir string) string
	// Quick means that it ended before anybody could have edited a text.
	Quick bool
}

func (c *Command) fish() bool { return path.Base(c.Shell) == "fish" }

// Resource is something that the words of the command name.
type Resource struct {
	Kind, Name  string // path, image, …
	Read, Write bool
}

// Effects are what a command does.
type Effects struct {
	Line *shell.Line // nil if the command could not be parsed
	// Err says why it could not be.
	Err    error
	Things []Thing
	// Shown are things that it reads only to display them, which matters where what it displays was asked for.
	Shown []Thing
	// Opaque are the directories below which it may read and write anything, and Built whether it
	// is a program that builds, whose products are files of unknown names.
	Opaque []string
	// Reads are directories below which it may read anything.
	Reads []string
	// NamesReads means that a program in Opaque reads nothing but what it names: its whole text is in the command.
	NamesReads bool
	Built      bool
	// Product is the same for two commands that build the same, empty if that is not known.
	Product string
	// Remakes means that each file which it builds, or which is built to be checked, is made from others alone, whatever
	// was there before.
	Remakes bool
	// Sets and Unsets are what it changes in its shell: NAME, NAME(), alias NAME, option, or *.
	Sets, Unsets []string
	Values       map[string]string // of variables in Sets, where they are known
	Functions    map[string]string // the bodies of functions in Sets, where they are known
	Uses         []string
	// Passing are those in Sets that a function set on its way, so that they matter only if a later
	// command uses them.
	Passing []string
	// Followed are the functions and scripts, by the names of their calls, whose text was looked into. Ends is the
	// subcommand of git with which the last of them ends, if it does.
	Followed []string
	Ends     string
	// Texts are the files whose content it writes down, by path.
	Texts map[string]string
	// Known means that each of its programs is in a table, so that no variable but those in Uses
	// and the ones that all programs read can matter.
	Known bool
	// Looks means that it changes nothing that outlives it, Checks that it runs tests or the like,
	// Navigates that it only changes the directory, Waits that it waits for something, and Joins that
	// this is what its shell runs in the background.
	Looks, Checks, Navigates, Waits, Joins bool
	// Shows means that each program of it that may change something was asked to display something, as far as its
	// words tell: it changes nothing if it was seen to change nothing.
	Shows bool
	// Elsewhere means that it writes to a place of which nothing is known: $dir/f.
	Elsewhere bool
	// Mentions are the paths that words of its calls may name, whole or behind a colon or the like: file:pass.txt. It
	// may read those of them that an earlier command wrote.
	Mentions []string
	// Runs is the path of a program that it runs without arguments, to see what it prints.
	Runs string
	// Interactive is the program that needs a terminal.
	Interactive string
	// Background means that it leaves a process running.
	Background bool
	// Own means that it is a verb of Recount.
	Own bool
}

// Of returns the effects of a command.
func Of(c Command) Effects {
	l, err := shell.ReadIn(c.Text, c.Shell, c.Cwd, c.Home, func(l *shell.Line, w shell.Word) shell.Word {
		return newFinder(l, c).soFar(w)
	})
	if err != nil {
		e := Effects{Err: err}
		e.opaque(c.Cwd)
		for _, r := range c.Resources {
			e.resource(r)
		}
		return e
	}
	f := newFinder(l, c)
	f.all()
	for _, r := range c.Resources {
		if rest, ok := strings.CutPrefix(r.Name, "~"); ok && r.Kind == Path {
			if r.Name = c.Home + rest; c.Home == "" {
				continue
			}
		}
		f.recorded(r)
	}
	f.Mentions = slices.DeleteFunc(f.Mentions, func(name string) bool { return f.elsewhere[name] })
	f.judge()
	return f.Effects
}

// finder collects the effects of one command.
type finder struct {
	Effects
	c  Command
	at int // of the call in the line
	// within are the functions and scripts around this place, args the words that the innermost one
	// was given, and branch whether it may run without what is being looked at.
	within []string
	args   []shell.Word
	branch bool
	// maybe tells that this place may not run, and made has what the line wrote as a whole, with the call.
	maybe bool
	made  map[string]int
	// unsure are variables that the line sets to what is not known, or more than once.
	unsure map[string]bool
	// bound is the variable of a loop with the value that is looked at.
	bound map[string]string
	// elsewhere are paths that words only seem to name, since their program changes its directory.
	elsewhere map[string]bool
	// acts counts calls that change something or may, sees those that only look.
	acts, sees, goes, checks int
	// kept means that what is printed at this place is kept, whatever its own line does with it.
	kept bool
	// strange means that a program was called that no table has.
	strange bool
	// does means that something was called, or written to, of which no word tells that it only shows something.
	does bool
	// mixed means that beside builders it calls other programs that may write anything.
	mixed bool
	// cumulates means that a builder adds to what it left before: packages, settings.
	cumulates bool
}

// Knows reports whether a table says what a call does, or what kind of program it calls.
func Knows(c *shell.Call) bool {
	f := newFinder(&shell.Line{Calls: []shell.Call{*c}}, Command{Cwd: c.Dir})
	f.judgeCall(c)
	return !f.strange
}

// MayWrite reports whether a call may write what its words do not say, or is of a program that no table has.
func MayWrite(c *shell.Call, home string) bool {
	f := newFinder(&shell.Line{Calls: []shell.Call{*c}}, Command{Cwd: c.Dir, Home: home})
	f.judgeCall(c)
	return f.strange || f.Built || len(f.Opaque) > 0
}

func newFinder(l *shell.Line, c Command) *finder {
	return &finder{Effects: Effects{Line: l, Known: true, Values: map[string]string{}, Background: l != nil && l.Background}, c: c}
}

// all looks at all that the line does, in its order. What a function would do counts where it is called.
func (f *finder) all() {
	if f.Line.Descriptors {
		f.acts++
		f.opaque(f.c.Cwd)
	}
	f.variables()
	f.texts()
	f.shellState()
	redirects := f.Line.Redirects
	for i := range f.Line.Calls {
		c := &f.Line.Calls[i]
		for len(redirects) > 0 && redirects[0].Before <= i {
			f.redirect(redirects[0])
			redirects = redirects[1:]
		}
		if c.Deferred {
			continue
		}
		f.at, f.branch, f.maybe = i, c.Maybe && len(f.within) > 0, c.Maybe
		f.call(c)
		f.args = shifted(f.args, f.Line.Calls[i:i+1])
		f.Joins = f.Joins || c.Name == "wait" && !c.Inner
		f.Waits = f.Waits || c.Name == "sleep" || c.Name == "wait" || c.Name == "curl" && c.Flag("--retry", "--retry-connrefused", "--retry-all-errors") || c.Name == "wget" && c.Flag("--retry-connrefused")
	}
	for _, rd := range redirects {
		f.redirect(rd)
	}
	f.branch = false
	for _, w := range f.Line.Sockets {
		f.talks(f.expand(w), f.Waits)
	}
	if f.Joins && f.joined() {
		f.Background = false
	}
}

// joined reports whether the line waits for all that it starts.
func (f *finder) joined() bool {
	running, started := false, 0
	for i := range f.Line.Calls {
		switch c := &f.Line.Calls[i]; {
		case c.Background:
			running = true
			started++
		case c.Name == "wait" && !c.Inner && !c.Maybe && !c.Deferred && (len(c.Args) == 0 || started == 1 && len(c.Args) == 1 && c.Args[0].Value == "$!"):
			running = false
		}
	}
	return !running
}

// add adds a thing: what may not happen replaces and removes nothing for sure, and what the line itself has just
// written is not read from before it.
func (f *finder) add(t Thing) {
	if t.Kind == Path && !t.Tree && !t.Glob {
		name := path.Clean(t.Name)
		at, made := f.made[name]
		switch {
		case t.Access == Read && made && at < f.at:
			return
		case t.Access == Write && !f.maybe && len(f.within) == 0 && t.Sure == 0:
			if f.made == nil {
				f.made = map[string]int{}
			}
			f.made[name] = f.at
		}
	}
	if f.branch && t.Access != Read {
		if t.Sure = 0.6; t.Kind != Directory || t.Access == Remove {
			t.Access = Update
		}
	}
	f.Effects.add(t)
}

// add adds a thing, unless it is there already. What is written again after it was removed, or removed after it was
// written again, is there twice: echo a > f; rm f; echo b > f.
func (e *Effects) add(t Thing) {
	if t.Sure == 0 {
		t.Sure = 0.95
	}
	if t.Kind == Path || t.Kind == Directory || t.Kind == Mode {
		if t.Name == "" || shell.IsDevice(t.Name) || strings.HasPrefix(t.Name, "/proc/") {
			return
		}
		t.Name = path.Clean(t.Name)
	}
	paths := map[string]bool{Path: true, Directory: true}
	for _, o := range slices.Backward(e.Things) {
		if o.Name != t.Name || o.Repo != t.Repo {
			continue
		}
		if o.Kind == t.Kind && o.Access == t.Access && o.Tree == t.Tree {
			return
		}
		if paths[t.Kind] && paths[o.Kind] && t.Access != Read && o.Access != Read && (o.Access == Remove) != (t.Access == Remove) {
			break
		}
	}
	e.Things = append(e.Things, t)
}

func (e *Effects) opaque(dir string) {
	e.Elsewhere = e.Elsewhere || dir == ""
	if dir != "" && !slices.Contains(e.Opaque, dir) {
		e.Opaque = append(e.Opaque, dir)
	}
}

func (e *Effects) reads(dir string) {
	if dir != "" && !slices.Contains(e.Reads, dir) {
		e.Reads = append(e.Reads, dir)
	}
}

// resource adds a recorded resource as it stands.
func (e *Effects) resource(r Resource) {
	access := Read
	switch {
	case r.Read && r.Write:
		access = Update
	case r.Write:
		access = Write
	}
	switch r.Kind {
	case Path, Package, Image, Container, Port:
		e.add(Thing{Kind: r.Kind, Name: r.Name, Access: access, Sure: 0.9})
	}
}

// recorded adds a recorded resource that no table has judged.
func (f *finder) recorded(r Resource) {
	if r.Kind == "branch" || r.Kind == "url" || r.Kind == "host" {
		return // git's are judged by git.go
	}
	if r.Kind == Path && (strings.Contains(r.Name, "/-") || f.elsewhere[r.Name] || path.Base(r.Name) == "...") {
		return // a flag: -Wl,-soname,lib.so; or packages: ./...
	}
	if r.Kind == Path && f.misplaced(r.Name) {
		return
	}
	if r.Kind == Path && f.acts == 0 && len(f.Opaque) == 0 {
		r.Read, r.Write = true, false // patch --dry-run f
	}
	for _, t := range f.Things {
		if (t.Kind == r.Kind || t.Kind == Directory && r.Kind == Path) && t.Name == r.Name {
			return
		}
		if r.Kind == Path && r.Write && t.Kind == Path && t.Access == Write && path.Dir(t.Name) == r.Name {
			return // the directory that it copies into
		}
	}
	if r.Kind == Path && f.Known && r.Write && !f.unknownWriter() {
		return // a table has judged all programs and does not know of it
	}
	if r.Kind == Path && r.Write && !r.Read && f.compiled(r.Name) {
		f.Things = slices.DeleteFunc(f.Things, func(t Thing) bool {
			return t.Kind == Path && t.Name == r.Name && t.Access == Read && !t.Tree
		})
	}
	f.resource(r)
}

// misplaced reports whether a path is only what words of calls would name that run in another directory: (cd sub && rm f).
func (f *finder) misplaced(name string) (only bool) {
	for i := range f.Line.Calls {
		c := &f.Line.Calls[i]
		for _, w := range c.Args {
			if at, ok := shell.Resolve(w, f.c.Cwd, f.c.Home); !ok || at != name {
				continue
			}
			if there, ok := shell.Resolve(w, c.Dir, f.c.Home); !ok || there == name || c.Dir == "" {
				return false
			}
			only = true
		}
	}
	return only && !slices.ContainsFunc(f.Line.Redirects, func(r shell.Redirect) bool {
		at, ok := shell.Resolve(r.Target, r.Dir, f.c.Home)
		return ok && at == name
	})
}

// compiled reports whether the first call that names a path is one of a compiler, so that what runs it later in the
// line runs what that has made.
func (f *finder) compiled(name string) bool {
	for i := range f.Line.Calls {
		c := &f.Line.Calls[i]
		if slices.ContainsFunc(append([]shell.Word{c.Head}, c.Args...), func(w shell.Word) bool {
			named, ok := shell.Resolve(w, c.Dir, f.c.Home)
			return ok && named == name
		}) {
			return compilers[c.Name] && !c.Maybe
		}
	}
	return false
}

// unknownWriter reports whether a program of the line is known to change nothing but what its
// recorded resources name.
func (f *finder) unknownWriter() bool {
	for i := range f.Line.Calls {
		if byResources[f.Line.Calls[i].Name] || !tabled(f.Line.Calls[i].Name) {
			return true
		}
	}
	return false
}

// path adds what a word names. Of a word that is known in part everything below the known part is
// meant.
func (f *finder) path(w shell.Word, dir string, a Access, tree bool) {
	for _, w := range f.items(w) {
		f.onePath(w, dir, a, tree)
	}
}

func (f *finder) onePath(w shell.Word, dir string, a Access, tree bool) {
	name, t, ok := f.named(w, dir)
	if !ok {
		if a == Read {
			f.reads(dir)
		} else {
			f.opaque(dir)
			f.Elsewhere = f.Elsewhere || strings.HasPrefix(w.Value, "$")
		}
		return
	}
	t.Kind, t.Name, t.Access, t.Tree = Path, name, a, t.Tree || tree
	f.add(t)
}

// named returns the path of a word, and a thing that says how much of it is known.
func (f *finder) named(w shell.Word, dir string) (string, Thing, bool) {
	w = f.expand(w)
	if name, ok := shell.Resolve(w, dir, f.c.Home); ok {
		return name, Thing{}, true
	}
	if w.Glob && !w.Dynamic && !strings.ContainsAny(w.Value, "{}\n") {
		if name, ok := shell.Resolve(shell.Word{Value: w.Value, Quoted: w.Quoted}, dir, f.c.Home); ok {
			return name, Thing{Glob: true, Sure: 0.8}, true
		}
	}
	// What is before the first part that is not known, up to a slash.
	head := w.Value
	if i := strings.IndexAny(head, "$`*?[{"); i >= 0 {
		head = head[:i]
	}
	if i := strings.LastIndexByte(head, '/'); i >= 0 {
		if name, ok := shell.Resolve(shell.Word{Value: head[:i+1], Quoted: w.Quoted}, dir, f.c.Home); ok && name != "/" {
			return name, Thing{Tree: true, Partial: true, Sure: 0.6}, true
		}
	}
	return "", Thing{}, false
}

// redirect adds the file of a redirection.
func (f *finder) redirect(rd shell.Redirect) {
	if rd.Abroad || rd.Deferred {
		return
	}
	f.branch, f.maybe = rd.Maybe && len(f.within) > 0, rd.Maybe
	switch {
	case !rd.Writes():
		f.path(rd.Target, rd.Dir, Read, false)
	case rd.Appends():
		f.acts++
		f.does = true
		f.path(rd.Target, rd.Dir, Update, false)
	default:
		f.acts++
		f.does = f.does || !shell.IsDevice(rd.Target.Value)
		f.path(rd.Target, rd.Dir, Write, false)
	}
}

// outward are programs whose effects are elsewhere, or on processes.
var outward = words("docker podman docker-compose ssh kubectl kill pkill killall curl wget http")

// judge draws what follows from all calls together.
func (f *finder) judge() {
	away := slices.ContainsFunc(f.Line.Calls, func(c shell.Call) bool { return outward[c.Name] })
	if f.acts > 0 && !away && len(f.Opaque)+len(f.Sets)+len(f.Unsets) == 0 && !f.Background && !slices.ContainsFunc(f.Things, func(t Thing) bool { return t.Access != Read }) {
		f.opaque(f.c.Cwd) // it does something, and nothing says what
	}
	changes := len(f.Opaque) > 0 || slices.ContainsFunc(f.Sets, func(name string) bool { return name != directories }) || len(f.Unsets) > 0 || f.Background || f.acts > 0
	f.Looks = !changes && (f.sees > 0 || f.goes == 0 && f.checks == 0)
	f.Navigates = !changes && f.goes > 0 && f.sees == 0 && f.checks == 0
	f.Checks = !changes && f.checks > 0
	if f.mixed {
		f.Product = ""
	}
	f.Remakes = (f.Built || f.Checks) && f.Product != "" && !f.cumulates
	f.NamesReads = f.NamesReads && len(f.Opaque) == 1
	f.Shows = f.acts > 0 && !f.does && !f.Background && !f.Line.Descriptors && len(f.Sets)+len(f.Unsets) == 0
}
