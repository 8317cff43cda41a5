package plan

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas"
)

// observer knows what was seen of the commands of a narrative. If services wrote nothing as long as they ran, the
// world is made a second time, with that.
type observer struct {
	all  []commands.Scanned
	seen map[schemas.EventID]Seen
	// beside tells what the narrative has to do with places beside a directory that was looked at.
	beside map[string]nearness
	// own tells whether a directory that was looked at has a repository of its own.
	own map[string]bool
	// clean are the acts in the background during which nothing changed but what the acts beside them name.
	clean map[schemas.EventID]bool
	// links are the symbolic links that were there before the narrative, as far as what was seen shows them, with where
	// they lead to; "" if that is not known.
	links map[string]string
	// remembers has the directories of which the recorder knew what was in them.
	remembers map[string]bool
	// anew has the files that commands made anew each time, see madeAnew.
	anew map[schemas.EventID][]string
	// prompt tells that services wrote what they were asked to while they were asked, and at no other time.
	prompt bool
}

// alone returns, of what was seen, that of which no other command can have done a part: none ran at the same
// time, and each that began before the look ended was seen to change other files.
func alone(all []commands.Scanned, seen map[schemas.EventID]Seen) map[schemas.EventID]Seen {
	out := map[schemas.EventID]Seen{}
	for i, c := range all {
		s, ok := seen[c.ID]
		if !ok {
			continue
		}
		others := slices.ContainsFunc(all[i+1:], func(o commands.Scanned) bool {
			if !o.Time.Before(s.LookedAt) {
				return false
			}
			after, looked := seen[o.ID]
			return !looked || !s.apart(after)
		}) ||
			slices.ContainsFunc(all[:i], func(o commands.Scanned) bool {
				return o.Duration != nil && o.Time.Add(time.Duration(*o.Duration)).After(c.Time)
			})
		if others {
			continue
		}
		if slices.ContainsFunc(all[:i], func(o commands.Scanned) bool { return seen[o.ID].LookedAt.After(c.Time) }) {
			s = s.unsure()
		}
		out[c.ID] = s
	}
	return out
}

// created returns what was seen, with the files that were not there before. A recorder that listens to a shell knows what
// is in a directory from its first look on, as long as it looks after each command.
func created(all []commands.Scanned, seen map[schemas.EventID]Seen) map[schemas.EventID]Seen {
	remembers := remembered(seen)
	out := maps.Clone(seen)
	last := map[string]string{} // where the last look after a command of a session was
	for _, c := range all {
		s := seen[c.ID]
		if len(s.New) > 0 && last[c.Session] == s.Below && remembers[s.Below] {
			files := maps.Clone(s.Files)
			for _, name := range s.New {
				files[name] = SeenFile{absent, files[name].Is}
			}
			s.Files = files
			out[c.ID] = s
		}
		last[c.Session] = s.Below
	}
	return out
}

// unsure returns what was seen of a command that began before the look at an earlier one had ended: of a file that is
// the same before and after it that look may have read what this command had made of it already.
func (s Seen) unsure() Seen {
	files := map[string]SeenFile{}
	for name, f := range s.Files {
		if f.Was == f.Is {
			f.Was = ""
		}
		files[name] = f
	}
	s.Files = files
	return s
}

// apart reports whether two looks at the same directory have nothing in common.
func (s Seen) apart(o Seen) bool {
	for name := range s.Files {
		if _, both := o.Files[name]; both {
			return false
		}
	}
	return s.Below == o.Below && !slices.ContainsFunc(s.Directories, func(dir string) bool { return slices.Contains(o.Directories, dir) })
}

// observe tells an act what was seen of it, unless something in the background may have done it.
func (o *observer) observe(w *world, a *act) {
	s, ok := o.seen[a.ID]
	if !ok {
		return
	}
	a.around = &s
	if a.busy = o.busy(w, a.Session); a.busy {
		if o.prompt && a.asks() && len(s.Files)+len(s.Directories)+len(a.Sets)+len(a.Unsets) == 0 {
			a.declined()
		}
		return
	}
	if _, known := o.beside[s.Below]; !known {
		o.beside[s.Below] = near(o.all, a.home, s.Below)
	}
	a.observe(s, o.beside[s.Below], o.clean[a.ID], o.repository(s.Below))
	a.makesAnew(o.anew[a.ID])
}

// repository reports whether a directory that was looked at has a repository of its own, since its files were seen to
// change; those of a working tree of another one lie there.
func (o *observer) repository(below string) bool {
	own, known := o.own[below]
	if known {
		return own
	}
	for _, s := range o.seen {
		for name := range s.Files {
			own = own || s.Below == below && strings.HasPrefix(name, below+"/.git/")
		}
	}
	o.own[below] = own
	return own
}

// busy reports whether something that a session started in the background still runs, and may do the writing
// for others.
func (o *observer) busy(w *world, session string) bool {
	return slices.ContainsFunc(w.shell(session).jobs, func(i int) bool {
		return !o.clean[w.acts[i].ID] && slices.ContainsFunc(w.acts[i].writes, func(o *write) bool { return o.thing.Kind == effects.Job && o.gone < 0 })
	})
}

// learn sets clean from a first world. It reports whether a second one would be another.
func (o *observer) learn(w *world) bool {
	o.clean = map[schemas.EventID]bool{}
	for _, a := range w.acts {
		if end := ended(a); end >= 0 && o.beside[o.seen[a.ID].Below] == nothingBeside && !slices.ContainsFunc(w.acts[a.at:end+1], func(b *act) bool { return !o.explained(b) }) {
			o.clean[a.ID] = true
		}
	}
	o.prompt = o.promptly(w)
	return len(o.clean) > 0 || o.prompt || len(o.links) > 0
}

// promptly reports whether services were seen to write files while they were asked for something, and nothing that
// acts do not name changed while they were not.
func (o *observer) promptly(w *world) (some bool) {
	for _, a := range w.acts {
		switch {
		case a.around == nil || !a.busy:
		case a.asks():
			some = some || len(a.around.Files) > 0
		case !o.explained(a):
			return false
		}
	}
	return some
}

// asks reports whether an act asks a service to change something, and does not start one.
func (a *act) asks() bool {
	return !a.Background && slices.ContainsFunc(a.Things, func(t effects.Thing) bool { return t.Kind == effects.Port && t.Access == effects.Update })
}

// declined takes an act for a look that asked a service for something, but was seen to change nothing: it was refused.
func (a *act) declined() {
	for i := range a.Things {
		if t := &a.Things[i]; t.Kind == effects.Port && t.Access == effects.Update {
			t.Access = effects.Read
		}
	}
	a.Things = slices.DeleteFunc(a.Things, func(t effects.Thing) bool { return t.Kind == effects.Address || t.Access != effects.Read })
	a.Opaque, a.Looks, a.observed = nil, true, true
}

// ended returns the act that ended what an act started in the background, -1 if none did.
func ended(a *act) int {
	if !a.Background {
		return -1
	}
	for _, o := range a.writes {
		if o.thing.Kind == effects.Job && o.removed {
			return o.gone
		}
	}
	return -1
}

// explained reports whether all that changed while an act ran is what the act itself names.
func (o *observer) explained(a *act) bool {
	s, ok := o.seen[a.ID]
	if !ok {
		return false
	}
	names := func(name string) bool {
		return slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
			return isPath(t) && t.Access != effects.Read && (covers(t, effects.Thing{Kind: effects.Path, Name: name}) || path.Dir(t.Name) == name)
		})
	}
	for name := range s.Files {
		if !strings.Contains(name, "/.git/") && !cached(name) && !names(name) {
			return false
		}
	}
	return !slices.ContainsFunc(s.Directories, func(dir string) bool {
		return !strings.Contains(dir+"/", "/.git/") && !names(dir)
	})
}

// nearness tells whether the commands of a narrative have to do with places in their user's home directory that are
// beside the directory that was looked at.
type nearness uint8

const (
	nothingBeside nearness = iota
	ranBeside              // commands ran in such a place, and none names one
	namedBeside            // commands name some, each of which they write by name or name to a program that may write it
	unknownBeside          // they name one, or the home directory, which another program may have written
)

// near returns what commands have to do with places beside the directory that was looked at.
func near(all []commands.Scanned, home, below string) (n nearness) {
	var named, made, written, told []string // made are directories, told is named to programs that may write it, and what is in it
	byName := true                          // what is named are only files that commands write by name
	for _, c := range all {
		if isBeside(c.Cwd, home, below) {
			n = ranBeside
		}
		var here []string
		for _, name := range homePlaces(searchPath.ReplaceAllString(c.Command, ""), home) {
			if name == home || isBeside(name, home, below) {
				here = append(here, name)
			}
		}
		for _, r := range c.Resources {
			if name := path.Clean(r.Name); r.Kind == "path" && isBeside(name, home, below) {
				here = append(here, name)
			}
		}
		if len(here) == 0 {
			continue
		}
		e := effects.Of(effects.Command{Text: c.Command, Shell: c.Shell, Cwd: c.Cwd, Home: home})
		if len(e.Opaque) > 0 {
			told = append(told, here...)
		}
		if here = mayBeWritten(e.Line, here, home); len(here) == 0 {
			continue
		}
		byName = byName && len(e.Opaque) == 0
		for _, t := range e.Things {
			switch {
			case t.Access == effects.Read || t.Glob || t.Sure < 0.9:
			case t.Kind == effects.Directory:
				here = slices.DeleteFunc(here, func(name string) bool { return name == t.Name })
				if isBeside(t.Name, home, below) {
					made = append(made, t.Name)
				}
			case t.Kind == effects.Path:
				written = append(written, t.Name)
				byName = byName && !t.Tree
			}
		}
		named = append(named, here...)
	}
	known := func(name string, wholly bool) bool {
		return slices.ContainsFunc(written, func(o string) bool { return within(name, o) || !wholly && within(o, name) }) ||
			slices.ContainsFunc(told, func(o string) bool { return within(name, o) || within(o, name) })
	}
	for _, name := range named {
		if byName = byName && slices.Contains(written, name); !known(name, true) {
			return unknownBeside
		}
	}
	for _, name := range made {
		if byName = false; !known(name, false) {
			return unknownBeside
		}
	}
	if len(named)+len(made) > 0 && !byName {
		return namedBeside
	}
	return n
}

// mayBeWritten returns those of some places in a line that programs may write to: not its programs, nor the repositories
// that it tells git to fetch from or push to.
func mayBeWritten(l *shell.Line, places []string, home string) []string {
	if l == nil {
		return places
	}
	only := map[string]bool{}
	for i := range l.Calls {
		c := &l.Calls[i]
		cloned := shell.Word{}
		if ws := shell.Operands(c.After(), "-b -o -u -c --branch --origin --depth --config"); c.Name == "git" && c.Sub() == "clone" && len(ws) > 0 {
			cloned = ws[0]
		}
		for k, w := range append([]shell.Word{c.Head}, c.Args...) {
			if name, ok := shell.Resolve(w, c.Dir, home); ok {
				before, known := only[name]
				only[name] = (before || !known) && (k == 0 || c.Name == "git" && remote[c.Sub()] || w.Text != "" && w.Text == cloned.Text)
			}
		}
	}
	return slices.DeleteFunc(places, func(name string) bool { return only[name] })
}

// remote has the subcommands of git that are told of other repositories.
var remote = map[string]bool{"fetch": true, "pull": true, "push": true, "remote": true, "submodule": true, "ls-remote": true}

// isBeside reports whether a place is in a home directory and not in, or around, the directory that was looked at.
func isBeside(name, home, below string) bool {
	return within(name, home) && !within(name, below) && !within(below, name) && path.Base(name) != "bin"
}

// homePlace matches a place that a command names from the home directory on, and the character behind it.
var homePlace = regexp.MustCompile(`(?:~/|\$HOME\b/?|\$\{HOME\b[^}]*\}/?)([\w./@%+,:=-]*)(\S?)`)

// homePlaces returns the places that a command names from the home directory on. One whose end is not known, as
// in ~/"$x", is the directory before it.
func homePlaces(text, home string) (names []string) {
	for _, m := range homePlace.FindAllStringSubmatch(text, -1) {
		name := m[1]
		if strings.ContainsAny(m[2], "$*?[{`\\") {
			name = name[:strings.LastIndex(name, "/")+1]
		}
		names = append(names, path.Join(home, name))
	}
	return names
}
