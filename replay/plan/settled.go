package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// maxSettled is the largest number of files that are compared with what the last replays left.
const maxSettled = 4000

// settle sets Settled on the steps that an earlier replay ran in the same form. Such a step is done if the
// directory is as the last replays left it, even if its own files are gone: a later step may have replaced
// them, a commit may have been squashed, a loop may have had nothing left to do. settle returns what the
// last replays left, as postconditions. What the run would end need not start for its files.
//
// Only steps that could reach nothing but the directory are settled, because files are no evidence of
// anything else. same[k] is set if step k, and every step that it needs, is the one that was replayed.
func (b *builder) settle(steps []replay.Step, same []bool, did [][]*replays.Did) []replay.Postcondition {
	// What runs in the background is over where a later step ends it, and since a sandbox ends all that a run has
	// started. One that answers at a port may have been asked for only for that.
	unsteady, over := map[schemas.EventID]bool{}, map[schemas.EventID]bool{}
	ends := map[int]bool{} // the steps that end a service
	for k := range steps {
		if by := steps[k].EndedBy; by != nil {
			ends[*by] = true
		}
	}
	some := false
	for i, a := range b.w.acts {
		if !b.s.kept[i] {
			continue
		}
		k := b.index[i]
		st := &steps[k]
		unsteady[st.Intent] = st.Background || changes(a)
		over[st.Intent] = st.EndedBy != nil || st.Background && !(st.Listens() && asked(st))
		if ends[k] && same[k] && len(did[k]) > 0 && len(st.Post) == 1 && st.Post[0].Kind == replay.PostNone && quiet(st, did[k]) {
			st.Post[0].Kind = replay.PostQuiet // it has to run if what it ends does
			continue
		}
		if !same[k] || len(did[k]) == 0 || !over[st.Intent] && (st.Background || changes(a) && len(did[k][0].Files) > 0) {
			continue
		}
		st.Settled = did[k][0].Within && did[k][0].Whole && (len(did[k][0].Files) > 0 || !asked(st))
		some = some || st.Settled
	}
	if !some {
		return nil
	}
	left := map[string]*replay.Postcondition{}
	for i := range b.n.Replayed { // the latest run comes first, the steps of a run in order
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
				case over[d.Intent] && !f.Removed && !passing(f.Path) && !cached(f.Path):
					left[f.Path] = &replay.Postcondition{Kind: replay.PostFile, Target: f.Path} // with whatever content
				case unsteady[d.Intent] || passing(f.Path) || cached(f.Path):
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

// asked reports whether a step is itself a goal, so that it has to run even if it only prints.
func asked(st *replay.Step) bool {
	return slices.ContainsFunc(st.Why, func(r replay.Reason) bool { return r.Kind == "goal" || r.Kind == "asked" })
}

// passing reports whether a file below .git changes with almost every command of git and so proves
// nothing: the index, logs, notes of operations, objects. What is staged has postconditions of its own.
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
