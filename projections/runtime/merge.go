package runtime

import (
	"bytes"
	"cmp"
	"slices"
)

// Merge adds another sum to s. The examples with the lowest ids are kept, so that the order of
// merging does not matter.
func (s *Sum) Merge(o *Sum) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 {
		s.First, s.Last = o.First, o.Last
	}
	s.Count, s.Errors = s.Count+o.Count, s.Errors+o.Errors
	s.First, s.Last = min(s.First, o.First), max(s.Last, o.Last)
	s.durations = slices.Clone(s.durations)
	s.durations.merge(o.durations)
	all := slices.Concat(s.Examples, o.Examples)
	slices.SortStableFunc(all, func(a, b Example) int {
		return cmp.Or(index(b.Failed)-index(a.Failed), bytes.Compare(a.Trace[:], b.Trace[:]), bytes.Compare(a.Span[:], b.Span[:]),
			a.Position.Compare(b.Position))
	})
	s.Examples = nil
	kept := [2]int{}
	for _, e := range slices.Compact(all) {
		if n := index(e.Failed); kept[n] < maxExamples {
			kept[n]++
			s.Examples = append(s.Examples, e)
		}
	}
}
