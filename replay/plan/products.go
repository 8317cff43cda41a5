package plan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// removesProducts marks builds as gone of whose files none is left, and the files that a builder was seen to remove.
func (w *world) removesProducts(a *act) {
	if a.seen == nil {
		return
	}
	var removed []string
	for name, f := range a.seen.Files {
		if f.Is == absent {
			removed = append(removed, name)
		}
	}
	for _, o := range w.opaque {
		if len(removed) == 0 || o.gone >= 0 || len(o.left) == 0 {
			continue
		}
		for _, name := range removed {
			delete(o.left, name)
		}
		if len(o.left) == 0 && !installs(w.acts[o.act]) { // what it installed elsewhere stays
			o.gone, o.removed = a.at, true
		}
	}
	cleans := a.Built && len(a.Opaque) > 0 || slices.ContainsFunc(a.Things, func(t effects.Thing) bool { return t.Kind == effects.Products && t.Access == effects.Remove })
	for _, name := range removed {
		for _, o := range w.exact["path\x00\x00"+name] {
			if cleans && o.gone < 0 && o.act != a.at && o.thing.Access != effects.Remove {
				o.gone, o.removed = a.at, true
			}
		}
	}
}

// remakesProducts marks the files that checks were seen to build as replaced by a build that was seen to make them again.
func (w *world) remakesProducts(a *act) {
	if a.seen == nil || !a.Built {
		return
	}
	for _, b := range w.acts[:a.at] {
		for _, o := range b.writes {
			if o.gone < 0 && a.seen.has(o.thing.Name) && a.makesAgain(b, o.thing) {
				o.gone = a.at
			}
		}
	}
}

// products returns the files that a build was seen to write, nil if that is not known.
func (a *act) products() map[string]bool {
	if a.seen == nil || !a.Built {
		return nil
	}
	files, _ := a.seen.plainFiles()
	made := map[string]bool{}
	for _, name := range files {
		if !cached(name) && a.seen.Files[name].Is != absent {
			made[name] = true
		}
	}
	if len(made) == 0 {
		return nil
	}
	return made
}

// rebuilds reports whether a build was seen to write again all that is left of an earlier one.
func (w *world) rebuilds(a *act, o *write) bool {
	if a.seen == nil || len(o.left) == 0 || !a.Remakes && (a.Line == nil || !sameMaker(a.Line, w.acts[o.act].Line)) {
		return false
	}
	for name := range o.left {
		if !a.seen.has(name) {
			return false
		}
	}
	return true
}

// compiled reports whether a file that a build was seen to leave is one that compilers and linkers make.
func (s *Seen) compiled(name string) bool {
	_, mode, _ := strings.Cut(s.Files[name].Is, " ")
	return objects.MatchString(name) || strings.ContainsAny(mode, "1357")
}

// objects matches what compilers and linkers make for the next step of a build.
var objects = regexp.MustCompile(`\.(o|lo|obj|d|a|la|so(\.\d+)*|gch|class|pyc)$`)

// parts matches those of them that are linked into others.
var parts = regexp.MustCompile(`\.(o|lo|obj|d|gch)$`)

// makesAgain reports whether a file that a run of make, or the like, was seen to write is one that another run in the
// same directory makes where it is not there.
func (a *act) makesAgain(b *act, t effects.Thing) bool {
	if t.Kind != effects.Path || t.Access != effects.Update || a.Line == nil || b.Line == nil || b.seen == nil || !b.seen.has(t.Name) {
		return false
	}
	return a.makesWithout(b, t.Name) && sameMaker(a.Line, b.Line)
}

// makesWithout reports whether a build makes a file that an earlier one was seen to leave where it is not there. make
// install may only copy libraries and programs, but no parts of them.
func (a *act) makesWithout(b *act, name string) bool {
	return a.seen != nil && a.seen.has(name) || b.seen.compiled(name) && (!installs(a) || parts.MatchString(name))
}

// sameMaker reports whether two lines run the same of make and the like, in the same directory.
func sameMaker(a, b *shell.Line) bool {
	return slices.ContainsFunc(a.Calls, func(x shell.Call) bool {
		return effects.Remakes(&x) && slices.ContainsFunc(b.Calls, func(y shell.Call) bool { return x.Name == y.Name && x.Dir == y.Dir })
	})
}

// remakes reports whether a line runs make, or the like.
func remakes(l *shell.Line) bool {
	return l != nil && slices.ContainsFunc(l.Calls, func(c shell.Call) bool { return effects.Remakes(&c) })
}

// fillsAgain reports whether all that an earlier run of make, or the like, was seen to leave is made again by another
// run in the same directory where it is not there.
func (a *act) fillsAgain(b *act) bool {
	if a.Line == nil || b.Line == nil || !b.Built || b.seen == nil || a.seen == nil || !sameMaker(a.Line, b.Line) {
		return false
	}
	files, _ := b.seen.plainFiles()
	return !slices.ContainsFunc(files, func(name string) bool {
		return b.seen.has(name) && !a.makesWithout(b, name) && !b.writesByName(name)
	})
}
