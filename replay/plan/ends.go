package plan

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/schemas"
)

// maxEnds is the largest number of files that a run compares at its end.
const maxEnds = 4000

// end is a file as it was last seen.
type end struct {
	is         string
	remembered bool // the recorder would have seen that it was removed
}

// ends returns what the recorder saw of files at the end of the narrative, as postconditions. Of a plan with goals only
// what its steps left counts. Nothing is returned where a value is set to another one, which may be in any name.
func (b *builder) ends(params []replay.Parameter) []replay.Postcondition {
	if slices.ContainsFunc(params, func(p replay.Parameter) bool { return p.Given }) {
		return nil
	}
	last, remembers := map[string]end{}, remembered(b.n.Seen)
	for i, a := range b.w.acts {
		if b.s.goal >= 0 && (i > b.s.goal || !b.s.kept[i]) {
			continue
		}
		seen := b.n.Seen[a.ID]
		files, _ := seen.plainFiles()
		for name, e := range last {
			looked := seen.Below != "" && within(name, seen.Below)
			if e.is == absent && seen.mayBringBack(name) || !looked && a.mayChange(name) || looked && !e.remembered && seen.entriesChanged(name) && (a.mayChange(name) || !seen.tells(path.Dir(name), files)) {
				delete(last, name)
			}
		}
		for name, f := range seen.Files {
			if a.Built && !b.s.kept[i] && !a.writesByName(name) {
				delete(last, name) // another build makes what is needed of it
			} else if f.Is != "" && !strings.Contains(name, "/.git/") && !cached(name) {
				last[name] = end{f.Is, remembers[seen.Below] && seen.Sizes[name] <= maxRemembered}
			}
		}
		for _, m := range b.w.moved {
			for name, e := range last {
				if m.act == i && e.is == absent && (m.into == "" || within(name, m.into)) {
					delete(last, name)
				}
			}
		}
	}
	if len(last) > maxEnds {
		return nil
	}
	var out []replay.Postcondition
	for _, name := range slices.Sorted(maps.Keys(last)) {
		p := replay.Postcondition{Kind: replay.PostAbsent, Target: b.m.Path(name)}
		if is := last[name].is; is != absent {
			p.Kind = replay.PostFile
			p.Hash, _, _ = strings.Cut(is, " ")
		}
		out = append(out, p)
	}
	return out
}

// remembered has the directories of which the recorder knew what was in them, so that it saw what was removed. Older
// recorders do not say so: theirs are those of which they knew what a file was.
func remembered(seen map[schemas.EventID]Seen) map[string]bool {
	out := map[string]bool{}
	for _, s := range seen {
		out[s.Below] = out[s.Below] || s.Remembered
		for _, f := range s.Files {
			out[s.Below] = out[s.Below] || f.Was != "" || f.Is == absent
		}
	}
	return out
}

// mayChange reports whether an act may have changed a file, as far as its text tells.
func (a *act) mayChange(name string) bool {
	of := effects.Thing{Kind: effects.Path, Name: name}
	return a.Line == nil || slices.ContainsFunc(a.Opaque, func(dir string) bool { return within(name, dir) }) ||
		slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
			return (isPath(t) || t.Kind == effects.Products) && t.Access != effects.Read && (overlaps(t, of) || within(name, t.Name))
		})
}

// entriesChanged reports whether something was added to or removed from a directory that a file is in.
func (s Seen) entriesChanged(name string) bool {
	return slices.ContainsFunc(s.Directories, func(dir string) bool { return within(name, dir) })
}

// mayBringBack reports whether a directory that a file would be in may have come from elsewhere: those in it that get
// another name stay as they are, so that the recorder does not see their files.
func (s Seen) mayBringBack(name string) bool {
	return slices.ContainsFunc(s.Directories, func(dir string) bool {
		in, below := strings.CutPrefix(name, dir+"/")
		entry, _, deeper := strings.Cut(in, "/")
		if !below || !deeper {
			return false
		}
		for other := range s.Files {
			if within(other, dir+"/"+entry) {
				return false
			}
		}
		return true
	})
}
