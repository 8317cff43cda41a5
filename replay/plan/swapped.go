package plan

import (
	"slices"

	"github.com/recountdb/recount/replay"
)

// swapped lets no state of the directory prove steps that remove a path and those that put a directory in its place:
// rm -r build; mkdir build. That the directory is there is so before the first, too. Only a file or a link at the path
// itself, which can be told from another one, proves both.
func swapped(steps []replay.Step) {
	unproved := make([]bool, len(steps))
	for k := range steps {
		for _, p := range steps[k].Post {
			if p.Kind != replay.PostAbsent {
				continue
			}
			for j := k + 1; j < len(steps); j++ {
				if slices.ContainsFunc(steps[j].Post, func(q replay.Postcondition) bool { return inPlaceOf(q, p.Target) }) {
					unproved[k], unproved[j] = true, true
				}
			}
		}
	}
	for k := range steps {
		if unproved[k] {
			steps[k].Post = append(steps[k].Post, replay.Postcondition{Kind: replay.PostNone})
		}
	}
}

// inPlaceOf reports whether a postcondition tells that something is at a path again, without telling all of it.
func inPlaceOf(q replay.Postcondition, path string) bool {
	switch q.Kind {
	case replay.PostDirectory:
		return within(q.Target, path)
	case replay.PostFile, replay.PostLink:
		return q.Target != path && within(q.Target, path)
	}
	return false
}
