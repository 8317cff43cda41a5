package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// maxSettled bounds the files that are compared with what the last replays left.
const maxSettled = 4000

// settle marks the steps that a replay did as they are now, so that they are done if the directory is as the
// last replays left it: also a step whose own files another one replaced or removed since, a commit that was
// folded into another, and a loop over what is gone. A service that a later step ends need not start for its files.
// It returns what the last replays left.
//
// Only steps that could reach nothing but the directory count, since files tell nothing of the rest. same
// says of each step that it is the one that was replayed, and so for all that it needs.
func (b *builder) settle(steps []replay.Step, same []bool, did [][]*replays.Did) []replay.Postcondition {
	unsteady, ended := map[schemas.EventID]bool{}, map[schemas.EventID]bool{}
	some := false
	for i, a := range b.w.acts {
		if !b.s.kept[i] {
			continue
		}
		k := b.index[i]
		st := &steps[k]
		unsteady[st.Intent] = st.Background || changes(a)
		ended[st.Intent] = st.EndedBy != nil
		if unsteady[st.Intent] && st.EndedBy == nil || !same[k] || len(did[k]) == 0 {
			continue
		}
		st.Settled = did[k][0].Within && did[k][0].Whole && (len(did[k][0].Files) > 0 || !asked(st))
		some = some || st.Settled
	}
	if !some {
		return nil
	}
	left := map[string]*replay.Postcondition{}
	for i := range b.n.Replayed { // the latest run first, of each its steps in order
		last := b.n.Replayed[i].Run
		if i > 0 && b.n.Replayed[i-1].Run == last {
			continue
		}
		end := i + 1
		for end < len(b.n.Replayed) && b.n.Replayed[end].Run == last {
			end++
		}
		for _, d := range slices.Backward(b.n.Replayed[i:end]) {
			for _, f := range d.Files {
				if _, known := left[f.Path]; known {
					continue
				}
				switch {
				case ended[d.Intent] && !f.Removed && !passing(f.Path):
					left[f.Path] = &replay.Postcondition{Kind: replay.PostFile, Target: f.Path} // with whatever content
				case unsteady[d.Intent] || passing(f.Path):
					left[f.Path] = nil
				case f.Removed:
					left[f.Path] = &replay.Postcondition{Kind: replay.PostAbsent, Target: f.Path}
				default:
					left[f.Path] = &replay.Postcondition{Kind: replay.PostFile, Target: f.Path, Hash: f.SHA256}
				}
			}
		}
	}
	var out []replay.Postcondition
	for _, p := range left {
		if p != nil {
			out = append(out, *p)
		}
	}
	if len(out) > maxSettled {
		for k := range steps {
			steps[k].Settled = false
		}
		return nil
	}
	slices.SortFunc(out, func(x, y replay.Postcondition) int { return strings.Compare(x.Target, y.Target) })
	return out
}

// asked reports whether somebody asked for a step itself, so that one that only prints runs.
func asked(st *replay.Step) bool {
	return slices.ContainsFunc(st.Why, func(r replay.Reason) bool { return r.Kind == "goal" || r.Kind == "asked" })
}

// passing reports whether a file of a repository changes with each look at it, or tells nothing: its index,
// its logs and what git notes on the way. What is staged has postconditions of its own.
func passing(name string) bool {
	_, in, ok := strings.Cut(name, "/.git/")
	if !ok {
		return false
	}
	switch path.Base(in) {
	case "index", "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "AUTO_MERGE", "gc.log":
		return true
	}
	return strings.HasPrefix(in, "logs") || strings.Contains(in, "/logs/") || strings.HasPrefix(in, "objects/")
}
