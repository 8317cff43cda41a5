package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// contents fills in the hashes that the files of steps had after their last run, in the order of the
// acts. A hash counts only if it is that of the same command in the same directory, and so for all
// that the step needs: with another value set or another path mapped, a file that has the old content
// is not what this plan would make. The last run is the latest replay that changed the real
// directory, or else the recorded one, if nothing about the step is mapped.
//
// A step that may write files that are not known is as it was if all that its replays wrote is: without
// a replay nothing can be said of it. It returns what the last replays left of all files; see settle.
func (b *builder) contents(steps []replay.Step) (settled []replay.Postcondition) {
	last := map[schemas.EventID][]*replays.Did{}
	for i := range b.n.Replayed {
		d := &b.n.Replayed[i]
		last[d.Intent] = append(last[d.Intent], d)
	}
	same := make([]bool, len(steps))
	did := make([][]*replays.Did, len(steps))
	for i, a := range b.w.acts {
		if !b.s.kept[i] {
			continue
		}
		k := b.index[i]
		st := &steps[k]
		for _, d := range last[st.Intent] {
			if d.Cwd == st.Cwd {
				did[k] = append(did[k], d)
			}
		}
		dids := did[k]
		if len(dids) > 0 {
			same[k] = dids[0].Command == st.Command
		} else {
			same[k] = st.Command == a.Command && st.Cwd == a.Cwd
		}
		for _, n := range st.Needs {
			same[k] = same[k] && same[n.On]
		}
		// What runs in the background goes on writing, and the number of a process that has ended is no
		// content that anybody wants to have.
		if !same[k] || st.Background || changes(a) {
			continue
		}
		for p := range st.Post {
			if post := &st.Post[p]; post.Kind == replay.PostFile {
				post.Hash = b.left(a, st, dids, post.Target)
			}
		}
		trees(st, dids)
	}
	for _, k := range b.wide {
		st := &steps[k]
		var more []replay.Postcondition
		ok := same[k] && !st.Background && len(did[k]) > 0
		if ok {
			more, ok = unnamed(st, did[k])
		}
		switch st.Post = append(st.Post, more...); {
		case ok && len(st.Post) == 0 && quiet(st, did[k]):
			st.Post = append(st.Post, replay.Postcondition{Kind: replay.PostQuiet})
		case !ok || len(st.Post) == 0:
			st.Post = append(st.Post, replay.Postcondition{Kind: replay.PostNone})
		}
	}
	touches(steps, did, b.moved)
	return b.settle(steps, same, did)
}

// trees replaces the postconditions about files that turned out to be directories, such as the copy of one,
// by those about what the last replay left in them.
func trees(st *replay.Step, dids []*replays.Did) {
	all, ok := unnamed(st, dids)
	if !ok {
		return
	}
	for i := range st.Post {
		p := &st.Post[i]
		if p.Kind != replay.PostFile || p.Hash != "" {
			continue
		}
		in := slices.DeleteFunc(slices.Clone(all), func(f replay.Postcondition) bool { return !strings.HasPrefix(f.Target, p.Target+"/") })
		if len(in) > 0 {
			p.Kind, p.Updates = replay.PostDirectory, false
			st.Post = append(st.Post, in...)
		}
	}
}

// maxUnnamed bounds the files of one step that are checked without being named by its command.
const maxUnnamed = 256

// unnamed returns what is so of the files that replays of a step wrote and that its command does not
// name, unless they are too many, or are not surely the step's own.
func unnamed(st *replay.Step, dids []*replays.Did) (out []replay.Postcondition, ok bool) {
	seen := map[string]bool{}
	for _, p := range st.Post {
		seen[p.Target] = true
	}
	for _, d := range dids {
		if d.Command != st.Command {
			break
		}
		if !d.Alone {
			return nil, false
		}
		for _, f := range d.Files {
			if seen[f.Path] || strings.Contains(f.Path, "/.git/") || !f.Removed && f.SHA256 == "" {
				continue // a repository's own files change with each look at it
			}
			seen[f.Path] = true
			p := replay.Postcondition{Kind: replay.PostFile, Target: f.Path, Hash: f.SHA256}
			if f.Removed {
				p = replay.Postcondition{Kind: replay.PostAbsent, Target: f.Path}
			}
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b replay.Postcondition) int { return strings.Compare(a.Target, b.Target) })
	return out, len(out) <= maxUnnamed
}

// quiet reports whether a step was seen to do nothing but print, and nobody asked for that: all its
// replays changed no file and could reach nothing else.
func quiet(st *replay.Step, dids []*replays.Did) bool {
	if len(st.Danger)+len(st.Sets) > 0 || asked(st) {
		return false
	}
	return !slices.ContainsFunc(dids, func(d *replays.Did) bool {
		return d.Command != st.Command || !d.Within || len(d.Files) > 0
	})
}

// changing are variables whose value is another one each time.
var changing = map[string]bool{"!": true, "BASHPID": true, "PPID": true, "RANDOM": true, "SRANDOM": true, "SECONDS": true, "EPOCHSECONDS": true, "EPOCHREALTIME": true}

// changes reports whether what an act writes may be another content each time.
func changes(a *act) bool {
	return strings.Contains(a.Command, "$$") || a.Line != nil && slices.ContainsFunc(a.Line.Uses, func(v string) bool { return changing[v] })
}

// touches adds to postconditions which later step was seen to write the same file. Where that step's
// own postconditions do not tell about it, nothing can be said about a file that no command names.
// The absence of a directory tells about all that was in it, and HEAD about what git wrote.
func touches(steps []replay.Step, did [][]*replays.Did, moved map[int]bool) {
	all := map[string][]touch{}
	for k := range steps {
		mine := map[string]bool{}
		for _, d := range did[k] {
			for _, f := range d.Files {
				mine[f.Path] = moved[k] || slices.ContainsFunc(steps[k].Post, func(p replay.Postcondition) bool {
					return p.Kind == replay.PostAbsent && within(f.Path, p.Target)
				})
			}
		}
		for _, p := range steps[k].Post {
			if p.Kind == replay.PostFile || p.Kind == replay.PostAbsent || p.Kind == replay.PostDirectory {
				mine[p.Target] = true
			}
		}
		for name, tells := range mine {
			all[name] = append(all[name], touch{k, tells})
		}
	}
	made := slices.Sorted(maps.Keys(all))
	for k := range steps {
		st := &steps[k]
		madeAgain(st, all, made)
		st.Post = slices.DeleteFunc(st.Post, func(p replay.Postcondition) bool {
			later := after(all[p.Target], k)
			return later != nil && !later.tells && !slices.Contains(st.Outputs, p.Target) && (p.Kind == replay.PostFile || p.Kind == replay.PostAbsent)
		})
		if len(st.Post) == 0 {
			st.Post = append(st.Post, replay.Postcondition{Kind: replay.PostNone})
		}
		for i := range st.Post {
			p := &st.Post[i]
			if p.Kind != replay.PostFile && p.Kind != replay.PostAbsent {
				continue
			}
			later := after(all[p.Target], k)
			if later != nil && later.tells && (p.ReplacedBy == nil || later.step < *p.ReplacedBy) {
				p.ReplacedBy = &later.step
			}
		}
	}
}

// madeAgain adds to the postconditions of a step that removes directories which later step fills them again.
// made are the names of all, sorted.
func madeAgain(st *replay.Step, all map[string][]touch, made []string) {
	for i := range st.Post {
		p := &st.Post[i]
		if p.Kind != replay.PostAbsent || p.ReplacedBy != nil {
			continue
		}
		from, _ := slices.BinarySearch(made, p.Target+"/")
		for _, name := range made[from:] {
			if !strings.HasPrefix(name, p.Target+"/") {
				break
			}
			if later := after(all[name], st.Index); later != nil && later.tells && (p.ReplacedBy == nil || later.step < *p.ReplacedBy) {
				p.ReplacedBy = &later.step
			}
		}
	}
}

// touch is a step that writes or removes a file; tells is set if one of its postconditions is about it.
type touch struct {
	step  int
	tells bool
}

// after returns the first touch by a later step, nil if there is none.
func after(all []touch, step int) *touch {
	for i := range all {
		if all[i].step > step {
			return &all[i]
		}
	}
	return nil
}

// left returns the hash that the last run of a step left of a file, empty if it is not known.
func (b *builder) left(a *act, st *replay.Step, dids []*replays.Did, target string) string {
	for _, d := range dids {
		if d.Command != st.Command {
			return ""
		}
		for _, f := range d.Files {
			if f.Path == target {
				return f.SHA256
			}
		}
	}
	if st.Command == a.Command && st.Cwd == a.Cwd {
		return b.n.Files[st.Intent][target]
	}
	return ""
}
