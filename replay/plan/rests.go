package plan

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// rests finds the earlier acts that an act depends on.
func (w *world) rests(a *act) {
	for _, t := range a.Things {
		switch t.Access {
		case effects.Read:
			if !a.showsOwn(t.Name) {
				w.read(a, t)
			}
		case effects.Update:
			if !slices.Contains(a.anew, t.Name) {
				w.read(a, t)
			}
			w.parents(a, t)
		case effects.Write:
			w.parents(a, t)
			if t.Kind == effects.Repository {
				continue
			}
			// What was removed here before has to be gone.
			for _, o := range w.exact[key(t)] {
				if o.thing.Access == effects.Remove {
					a.needs(dep{o.act, replay.NeedOrder, t.Name, 0.6, true})
				}
			}
		case effects.Remove:
			// Removals matter to what was made, not the other way round.
		}
	}
	for _, name := range a.Mentions {
		w.mentioned(a, name)
	}
	for _, dir := range a.Opaque {
		w.readTree(a, dir)
	}
	for _, dir := range a.Reads {
		w.readTree(a, dir)
	}
	if strings.HasPrefix(a.Cwd, "/") {
		w.directory(a, path.Clean(a.Cwd), replay.NeedWorkingDir)
	}
	w.environment(a)
	w.places(a)
	w.startups(a)
	w.addresses(a)
	// A possible dependency is listed only if no other dependency leads to the same act: the slice is
	// the same, and a plan of a thousand builds stays small.
	for _, d := range a.deps {
		w.reaches(a, d)
	}
	for _, on := range slices.Backward(slices.Sorted(maps.Keys(a.maybe))) {
		if d := a.maybe[on]; d.on != a.at && !a.above.has(d.on) {
			a.needs(d)
			w.reaches(a, d)
		}
	}
	a.maybe = nil
}

// mentioned takes a path that a word of an act may name for read, if an earlier act wrote a file there, and if
// nothing else is known about it.
func (w *world) mentioned(a *act, name string) {
	there := slices.ContainsFunc(w.exact["path\x00\x00"+name], func(o *write) bool {
		return o.gone < 0 && o.thing.Kind == effects.Path && o.thing.Access != effects.Remove && o.thing.Sure > 0.5
	})
	if there && !slices.ContainsFunc(a.Things, func(t effects.Thing) bool { return isPath(t) && t.Name == name }) {
		w.read(a, effects.Thing{Kind: effects.Path, Name: name, Access: effects.Read, Sure: 0.6})
	}
}

// reaches adds the act of a dependency, and all that it depends on, to a.above.
func (w *world) reaches(a *act, d dep) {
	if d.removes || d.kind == replay.NeedOrder || d.on == a.at {
		return
	}
	a.above.add(d.on)
	a.above.join(w.acts[d.on].above)
}

// mayNeed adds a possible dependency. Of several on the same act the first by kind and name is kept,
// whatever the order in which they are found.
func (a *act) mayNeed(d dep) {
	if a.maybe == nil {
		a.maybe = map[int]dep{}
	}
	if o, ok := a.maybe[d.on]; !ok || cmp.Or(cmp.Compare(d.kind, o.kind), cmp.Compare(d.what, o.what), cmp.Compare(o.sure, d.sure)) < 0 {
		a.maybe[d.on] = d
	}
}

func (a *act) needs(d dep) {
	if d.on == a.at {
		return
	}
	for i := range a.deps {
		if o := &a.deps[i]; o.on == d.on && o.kind == d.kind && o.what == d.what {
			o.sure = max(o.sure, d.sure)
			return
		}
	}
	a.deps = append(a.deps, d)
}

// read adds dependencies on the acts that wrote the thing that an act reads.
func (w *world) read(a *act, t effects.Thing) {
	w.afterBacks(a, t)
	if t.Kind == effects.Entries {
		w.listed(a, t.Name)
		return
	}
	if t.Kind == effects.Port {
		for _, o := range w.exact[key(t)] {
			if o.gone < 0 && o.thing.Value != "" {
				w.readTree(a, o.thing.Value) // a client may fetch any file that is served
			}
		}
	}
	found := false
	from := -1 // acts before this one no longer count
	add := func(o *write, sure float64) {
		found = true
		a.needs(dep{o.act, kindOf(o.thing), name(o.thing), sure, false})
	}
	if t.Tree || t.Glob || t.Name == "*" {
		for _, list := range w.exact {
			for _, o := range list {
				switch {
				case o.gone >= 0 || !covers(t, o.thing):
				case o.thing.Access == effects.Remove:
					w.afterRemoval(a, o)
				default:
					found = true
					a.mayNeed(dep{o.act, kindOf(o.thing), name(o.thing), min(t.Sure, o.thing.Sure, 0.9), false})
				}
			}
		}
	} else {
		list := w.exact[key(t)]
		for i := len(list) - 1; i >= 0; i-- {
			o := list[i]
			if o.gone >= 0 && o.removed {
				continue // it was taken back, so that what was there before is there again
			}
			if o.thing.Access == effects.Remove {
				from = o.act
				break
			}
			if o.gone < 0 {
				add(o, min(t.Sure, o.thing.Sure))
			}
			// An act that changed it read it too, and so depends on those before.
			if o.gone < 0 && o.thing.Access == effects.Update || o.thing.Access == effects.Write && o.thing.Kind != effects.Directory {
				from = o.act
				break
			}
		}
	}
	for i := len(w.wide) - 1; i >= 0; i-- {
		o := w.wide[i]
		if o.act <= from {
			break
		}
		if o.gone < 0 && overlaps(o.thing, t) {
			if found = true; t.Tree || t.Name == "*" {
				a.mayNeed(dep{o.act, kindOf(o.thing), name(o.thing), min(t.Sure, o.thing.Sure, 0.7), false})
			} else {
				add(o, min(t.Sure, o.thing.Sure, 0.7))
			}
			if o.thing.Access == effects.Write && o.thing.Tree && covers(o.thing, t) && !t.Tree {
				break
			}
		}
	}
	if isPath(t) {
		if w.directory(a, path.Dir(t.Name), replay.NeedDirectory) {
			// The directory was made by an act, so nothing older is in it.
		} else if !found && !t.Tree && !t.Glob && t.Access == effects.Read && !a.failed && t.Sure > 0.8 {
			defer func() {
				if _, known := w.seen[t.Name]; !known {
					w.seen[t.Name] = a.at
				}
			}()
		}
		if !found {
			w.unexplained(a, t)
		}
	}
	if t.Kind == effects.Port {
		// The service answers only once the commands that wait for it have run.
		s := w.shell(a.Session)
		if !found {
			w.mayListen(a, t)
		}
		if found || len(s.jobs) > 0 {
			for _, o := range w.exact["job\x00"+a.Session+"\x00&"] {
				if o.gone < 0 {
					a.needs(dep{o.act, replay.NeedService, name(t), 0.7, false})
				}
			}
		}
	}
}

func name(t effects.Thing) string {
	if t.Kind == effects.Job {
		return "background"
	}
	if t.Kind == effects.Port {
		return "port " + t.Name
	}
	return t.Name
}

// unexplained adds possible dependencies for a path that no act is known to have written. Candidates
// are programs whose writes are unknown, then runs of built programs, then acts that failed.
func (w *world) unexplained(a *act, t effects.Thing) {
	if !t.Tree && !t.Glob && within(a.Cwd, t.Name) {
		return // the act runs in this directory, so it existed
	}
	found := false
	for _, weak := range [...]bool{false, true} {
		for i := len(w.opaque) - 1; i >= 0 && !(weak && found); i-- {
			o := w.opaque[i]
			b := w.acts[o.act]
			if o.gone >= 0 || b.weak != weak || !within(t.Name, o.thing.Name) || !t.Glob && !b.wrote(t.Name) {
				continue
			}
			if first, known := w.seen[t.Name]; known && first <= o.act && !(b.Built && w.builtBefore(t.Name, first)) {
				continue
			}
			found = true
			a.needs(dep{o.act, replay.NeedFile, t.Name, 0.5, false})
			if b.Built && b.seen != nil && b.seen.has(t.Name) && remakes(b.Line) {
				break // it made the file anew, whatever earlier runs left
			}
		}
	}
	// A directory that is only filled is made by that: a failed act before it does not matter, nor one that was seen to
	// leave nothing there.
	if at, ok := w.failed[key(t)]; ok && w.acts[at].wrote(t.Name) && !found && !a.failed && w.acts[at].Command != a.Command && t.Sure > 0.8 && !(t.Tree && t.Access == effects.Update) && !w.removedAfter(at, t) {
		a.needs(dep{at, replay.NeedFile, t.Name, 0.4, false})
	}
}

// removedAfter reports whether a later act than at removed a path, so that what at may have left there is gone.
func (w *world) removedAfter(at int, t effects.Thing) bool {
	return slices.ContainsFunc(w.acts[at+1:], func(b *act) bool {
		return slices.ContainsFunc(b.writes, func(o *write) bool {
			return o.thing.Access == effects.Remove && isPath(o.thing) && covers(o.thing, t)
		})
	})
}

// builtBefore reports whether a path was the product of a build before the act that read it first, so
// that a later build only makes it again.
func (w *world) builtBefore(name string, first int) bool {
	return slices.ContainsFunc(w.opaque, func(o *write) bool {
		return o.act < first && w.acts[o.act].Built && within(name, o.thing.Name)
	})
}

// readTree adds possible dependencies on everything written below a directory, for a program that may
// read any of it.
func (w *world) readTree(a *act, dir string) {
	all := effects.Thing{Kind: effects.Path, Name: dir, Tree: true}
	w.afterBacks(a, all)
	for _, o := range w.below(dir) {
		if onlyGo(a) && onlyGo(w.acts[o.act]) || a.needsNot(o.thing.Name) || a.empties(o.thing.Name) || a.replaces(o.thing.Name) || a.makesAgain(w.acts[o.act], o.thing) {
			continue // go reads sources, and not the programs that it made
		}
		a.mayNeed(dep{o.act, kindOf(o.thing), o.thing.Name, min(o.thing.Sure, 0.6), false})
	}
	for _, o := range w.wide {
		if o.gone < 0 && isPath(o.thing) && overlaps(all, o.thing) {
			a.mayNeed(dep{o.act, replay.NeedDirectory, o.thing.Name, 0.5, false})
		}
	}
	for _, o := range w.opaque {
		if a.Built && (o.thing.Repo == product(a) || w.rebuilds(a, o) || a.fillsAgain(w.acts[o.act])) {
			continue // a build that runs again needs nothing of its earlier run, nor what makes all of its files again
		}
		if b := w.acts[o.act]; b.seen != nil && within(dir, b.seen.Below) && !within(o.thing.Name, b.seen.Below) {
			continue // what it wrote here was seen
		}
		if o.gone < 0 && !w.acts[o.act].weak && (within(dir, o.thing.Name) || within(o.thing.Name, dir)) {
			a.mayNeed(dep{o.act, replay.NeedDirectory, o.thing.Name, 0.5, false})
		}
	}
	for _, list := range [...]string{"package"} {
		for k, os := range w.exact {
			if strings.HasPrefix(k, list+"\x00") {
				for _, o := range os {
					if o.gone < 0 && o.thing.Access != effects.Remove {
						a.mayNeed(dep{o.act, replay.NeedPackage, o.thing.Name, 0.5, false})
					}
				}
			}
		}
	}
}

// empties reports whether an act is one call whose output goes to a file, which is empty before the call begins.
func (a *act) empties(name string) bool {
	return a.Line != nil && len(a.Line.Calls) == 1 && slices.ContainsFunc(a.Line.Redirects, func(r shell.Redirect) bool { return r.Op == ">" && !r.Maybe }) &&
		slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
			return t.Kind == effects.Path && t.Access == effects.Write && t.Name == name
		})
}

// replaces reports whether an act, all of whose programs are known, writes a file anew and is not told to read it.
func (a *act) replaces(name string) bool {
	named := func(access effects.Access) func(effects.Thing) bool {
		return func(t effects.Thing) bool {
			return t.Kind == effects.Path && t.Access == access && t.Name == name && !t.Tree && !t.Glob && t.Sure >= 0.9
		}
	}
	return a.Known && len(a.Opaque) == 0 && slices.ContainsFunc(a.Things, named(effects.Write)) && !slices.ContainsFunc(a.Things, named(effects.Read))
}

// onlyGo reports whether an act is one call of the tools of Go that builds, or makes sources.
func onlyGo(a *act) bool {
	return a.Built && a.Line != nil && !slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool {
		return c.Name != "go" || c.Sub() != "build" && c.Sub() != "generate"
	})
}

// below returns the writes below a directory that are still there.
func (w *world) below(dir string) (all []*write) {
	for k, list := range w.exact {
		rest, ok := strings.CutPrefix(k, "path\x00\x00")
		if !ok || !within(rest, dir) {
			continue
		}
		for _, o := range list {
			if o.gone < 0 && o.thing.Access != effects.Remove {
				all = append(all, o)
			}
		}
	}
	return all
}

// parents adds dependencies on the acts that made the directories above a written path.
func (w *world) parents(a *act, t effects.Thing) {
	if isPath(t) && !t.Glob && !(t.Sure == 0.5 && w.isFile(path.Dir(t.Name))) {
		w.directory(a, path.Dir(t.Name), replay.NeedDirectory)
	}
	if t.Glob {
		w.directory(a, path.Dir(path.Dir(t.Name)+"/x"), replay.NeedDirectory)
	}
}

// isFile reports whether a path is a file that an act wrote, so that cp a b does not write b/a.
func (w *world) isFile(name string) bool {
	for _, o := range slices.Backward(w.exact["path\x00\x00"+name]) {
		switch t := o.thing; {
		case t.Access == effects.Remove || t.Kind == effects.Directory || t.Tree:
			return false
		case t.Access == effects.Write && t.Sure > 0.9 && t.Value == "":
			return true
		}
	}
	return false
}

// directory adds dependencies on the acts that made a directory and those above it, and reports whether
// there are any.
func (w *world) directory(a *act, dir, kind string) (made bool) {
	for ; len(dir) > 1; dir = path.Dir(dir) {
		list := w.exact["path\x00\x00"+dir]
		for i := len(list) - 1; i >= 0; i-- {
			o := list[i]
			if o.gone < 0 && o.thing.Access == effects.Write {
				made = true
				a.needs(dep{o.act, kind, dir, 0.9, false})
				break
			}
		}
		for _, o := range w.wide {
			if o.gone < 0 && isPath(o.thing) && o.thing.Tree && o.thing.Name == dir && o.thing.Access == effects.Write && o.act != a.at {
				made = true
				a.needs(dep{o.act, kind, dir, 0.8, false})
			}
		}
	}
	return made
}

// addresses adds dependencies on services whose address is in a variable that the act uses:
// export URL=http://127.0.0.1:8000/.
func (w *world) addresses(a *act) {
	s := w.shells[a.Session]
	if s == nil {
		return
	}
	for _, d := range slices.Clone(a.deps) {
		if d.kind != replay.NeedEnvironment || d.removes {
			continue
		}
		if port := effects.PortIn(s.values[d.what]); port != "" {
			w.read(a, effects.Thing{Kind: effects.Port, Name: port, Access: effects.Read, Sure: 0.6})
		}
	}
}

// environment adds dependencies on the acts that set the variables, functions and options which an act
// uses.
func (w *world) environment(a *act) {
	s := w.shells[a.Session]
	if s == nil || a.Session == "" {
		return
	}
	need := func(name string, sure float64) {
		on, unset := s.removed[name]
		for _, on := range s.setters[name] {
			if on != a.at && !(unset && w.acts[s.removed[name]].unsets(name)) {
				a.needs(dep{on, replay.NeedEnvironment, name, sure, false})
			}
		}
		if unset {
			a.needs(dep{on, replay.NeedEnvironment, name, sure, true})
		}
	}
	for _, n := range a.Uses {
		w.looped(a, n)
		need(n, 0.95)
		if n == "!" {
			for _, o := range w.exact["job\x00"+a.Session+"\x00&"] {
				if o.gone < 0 && o.thing.Access == effects.Write {
					a.needs(dep{o.act, replay.NeedService, "background", 0.9, false})
				}
			}
		}
	}
	need("*", 0.5)
	need("option", 0.5)
	free := len(s.setters["*"]) > 0 && callsUnknown(a) // of a function that a file declares
	for n := range s.setters {
		switch {
		case strings.HasSuffix(n, "()") || strings.HasPrefix(n, "alias ") || n == "*" || n == "option":
		case free, effects.Always(n):
			need(n, 0.6)
		case !slices.Contains(a.Sets, n) && w.exported(s.setters[n], n) && mentions(a.Command, n): // jq 'env.SINCE', awk 'ENVIRON["SINCE"]'
			need(n, 0.7)
		case (!a.Known || a.Checks || a.observed) && w.exported(s.setters[n], n):
			need(n, 0.5)
		}
	}
}

// places adds dependencies on what made a directory, or a part of its path, that an act before put into PATH, if the act
// calls a program that no table has: export PATH=$HOME/opt/tool/bin:$PATH, where ~/opt/tool may be a link.
func (w *world) places(a *act) {
	s := w.shells[a.Session]
	if s == nil || !callsUnknown(a) {
		return
	}
	for _, on := range s.setters["PATH"] {
		setter := w.acts[on]
		if setter.Line == nil {
			continue
		}
		for _, v := range setter.Line.Assigned {
			if v.Name != "PATH" {
				continue
			}
			for _, part := range strings.Split(v.Value.Value, ":") {
				word := shell.Word{Value: part, Dynamic: strings.Contains(part, "$")}
				if dir, ok := shell.Resolve(word, setter.Cwd, setter.home); ok {
					w.needsMakers(a, dir)
				}
			}
		}
	}
}

// needsMakers adds dependencies on the other acts that wrote a path or a directory above it.
func (w *world) needsMakers(a *act, name string) {
	for ; name != "/"; name = path.Dir(name) {
		for _, o := range w.exact["path\x00\x00"+name] {
			if o.gone < 0 && o.thing.Kind == effects.Path && o.thing.Access == effects.Write && o.act != a.at {
				a.needs(dep{o.act, replay.NeedFile, name, 0.8, false})
			}
		}
	}
}

// callsUnknown reports whether an act calls something by its name alone that no table has, which may be a function.
func callsUnknown(a *act) bool {
	return a.Line != nil && slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool { return mayBeFunction(a, c) })
}

func mayBeFunction(a *act, c shell.Call) bool {
	module := len(c.Via) > 0 && strings.HasPrefix(c.Via[len(c.Via)-1], "python") // python -m tally
	return c.Name != "" && c.Head.Value == c.Name && !module && !slices.Contains(a.Followed, c.Name) && !effects.Knows(&c)
}

// startup has the files in a home that interactive shells read.
var startup = []string{".bashrc", ".bash_aliases", ".bash_profile", ".profile", ".zshrc", ".zprofile"}

// startups adds dependencies on the acts that wrote a name which an act calls, and that no act of its session is known
// to have set, into a file that its shell may have read when it began.
func (w *world) startups(a *act) {
	if a.Line == nil || a.home == "" {
		return
	}
	for _, c := range a.Line.Calls {
		s := w.shell(a.Session)
		if !mayBeFunction(a, c) || len(s.setters[c.Name+"()"])+len(s.setters["alias "+c.Name]) > 0 {
			continue
		}
		for _, file := range startup {
			name := path.Join(a.home, file)
			for _, o := range w.exact["path\x00\x00"+name] {
				if o.gone < 0 && o.thing.Access != effects.Remove && o.act != a.at && mentions(w.acts[o.act].Command, c.Name) {
					a.needs(dep{o.act, replay.NeedFile, name, 0.6, false})
				}
			}
		}
	}
}

// unsets reports whether an act is known to have unset a variable of its shell: it is the last that its line did, which
// succeeded. One that was recorded with a value is not meant, nor one that programs have without being told.
func (a *act) unsets(name string) bool {
	if a.Line == nil || len(a.Line.Calls) == 0 || a.ExitCode == nil || *a.ExitCode != 0 || slices.Contains(a.Sets, name) || a.env[name] != "" || effects.Always(name) {
		return false
	}
	c := &a.Line.Calls[len(a.Line.Calls)-1]
	return c.Name == "unset" && !c.Maybe && !c.Apart && !c.Inner && !c.Deferred && !c.Background && !c.Piped && !c.Drained && !c.Abroad &&
		slices.ContainsFunc(shell.Operands(c.Args, ""), func(w shell.Word) bool { return w.Value == name })
}

// mentions reports whether a text has a name as a word.
func mentions(text, name string) bool {
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		after := rest[i+len(name):]
		if (i == 0 || !inName(rest[i-1])) && (after == "" || !inName(after[0])) {
			return true
		}
		rest = after
	}
}

// inName reports whether a byte may stand in the name of a variable.
func inName(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// exported reports whether a variable is exported to programs.
func (w *world) exported(setters []int, name string) bool {
	for _, at := range setters {
		if w.acts[at].Line == nil {
			return true
		}
		for _, v := range w.acts[at].Line.Assigned {
			if v.Name == name && v.Exported {
				return true
			}
		}
	}
	return name == "PATH"
}
