package run

import (
	"slices"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// madeEarlier reports whether an earlier step of this run did what a postcondition of a later one tells. Then
// that the postcondition holds says nothing about the later step, which may make anew what was removed in between:
// mkdir d; rm -r d; mkdir d. What is gone need not be removed again.
func (r *runner) madeEarlier(s *replay.Step, p replay.Postcondition) bool {
	if p.Target == "" || p.Kind == replay.PostAbsent || p.Kind == replay.PostNoBranch || p.Kind == replay.PostNoTag {
		return false
	}
	return slices.ContainsFunc(r.plan.Steps[:s.Index], func(before replay.Step) bool {
		same := func(q replay.Postcondition) bool {
			return q.Kind == p.Kind && q.Target == p.Target && q.Manager == p.Manager && q.Hash == p.Hash
		}
		if !r.ran(before.Index) || !slices.ContainsFunc(before.Post, same) {
			return false
		}
		// A path is the same everywhere; a branch or a commit's message only in one repository.
		return inFiles[p.Kind] || p.Kind == replay.PostFile || before.Cwd == s.Cwd ||
			slices.ContainsFunc(s.Needs, func(n replay.Need) bool { return n.On == before.Index })
	})
}

// leftBelow reports whether an earlier step of this run left a file at or below a path.
func (r *runner) leftBelow(s *replay.Step, path string) bool {
	for i := range s.Index {
		if !r.ran(i) {
			continue
		}
		for _, f := range r.outcomeOf(i).Files {
			if f.Kind != sandbox.Removed && sandbox.Within(path, f.Path) {
				return true
			}
		}
	}
	return false
}

// ran reports whether a step was run by this run, or by the one that it goes on with.
func (r *runner) ran(i int) bool {
	o := r.outcomeOf(i)
	return o != nil && (o.Status == Done || o.Before && r.Past.Ended[i].Status == Done)
}
