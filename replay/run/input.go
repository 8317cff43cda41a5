package run

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// inputChanged reports whether a step that this one reads files of has run in this run and left others than
// its last replay did. A file that came out as it was last time is no change, nor is what a service wrote, such as
// its log, that this step may only have spoken to.
func (r *runner) inputChanged(s *replay.Step) bool {
	for _, n := range s.Needs {
		staged := n.Kind == replay.NeedCommit && strings.HasPrefix(n.What, "/") // by its path
		if n.Kind != replay.NeedFile && n.Kind != replay.NeedDirectory && !staged || r.isService(s, n) {
			continue
		}
		o := r.outcomeOf(n.On)
		if o == nil || o.Status != Done {
			continue
		}
		if staged {
			return true // there may be a commit with the same message of what was staged before
		}
		before := &r.plan.Steps[n.On]
		if slices.ContainsFunc(o.Files, func(f File) bool { return sandbox.Within(n.What, f.Path) && isOther(before, f, o.Isolation) }) {
			return true
		}
	}
	return false
}

// isOther reports whether a file that a step has just left differs from what its last replay left. Where that
// is not known, a file counts that the view of the directory shows as changed; without a view every output is
// listed, changed or not, so none counts.
func isOther(s *replay.Step, f File, isolation string) bool {
	for _, p := range s.Post {
		switch {
		case p.Target != f.Path:
		case p.Kind == replay.PostAbsent:
			return f.Kind != sandbox.Removed
		case p.Kind == replay.PostFile && p.Hash != "":
			return !strings.EqualFold(p.Hash, f.Hash)
		}
	}
	return isolation != string(sandbox.IsolationNone)
}
