package plan

import (
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// contents fills in the hashes that the files of steps had after their last run, in the order of the
// acts. A hash counts only if it is that of the same command in the same directory, and so for all
// that the step needs: with another value set or another path mapped, a file that has the old content
// is not what this plan would make. The last run is the latest replay that changed the real
// directory, or else the recorded one, if nothing about the step is mapped.
func (b *builder) contents(steps []replay.Step) {
	last := map[schemas.EventID][]*replays.Did{}
	for i := range b.n.Replayed {
		d := &b.n.Replayed[i]
		last[d.Intent] = append(last[d.Intent], d)
	}
	same := make([]bool, len(steps))
	for i, a := range b.w.acts {
		if !b.s.kept[i] {
			continue
		}
		k := b.index[i]
		st := &steps[k]
		var dids []*replays.Did
		for _, d := range last[st.Intent] {
			if d.Cwd == st.Cwd {
				dids = append(dids, d)
			}
		}
		if len(dids) > 0 {
			same[k] = dids[0].Command == st.Command
		} else {
			same[k] = st.Command == a.Command && st.Cwd == a.Cwd
		}
		for _, n := range st.Needs {
			same[k] = same[k] && same[n.On]
		}
		// What runs in the background goes on writing.
		if !same[k] || st.Background {
			continue
		}
		for p := range st.Post {
			if post := &st.Post[p]; post.Kind == replay.PostFile {
				post.Hash = b.left(a, st, dids, post.Target)
			}
		}
	}
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
