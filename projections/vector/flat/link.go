package flat

import "slices"

// choose selects from candidates, nearest first, the links of a row of this scale: at most m, each
// no farther from the row than from any other that was selected; then, if they are fewer than m,
// the nearest of the rest. (Malkov, Yashunin, algorithm 4, with kept pruned connections.)
//
// Ties count as nearer to the row: otherwise copies of one vector would be linked to one another and to
// nothing else.
func (x *Index) choose(v *view, s *scratch, candidates []key, scale float32, m int, links []uint32) []uint32 {
	links = links[:0]
	s.order = s.order[:0] // the candidates left out
	for _, c := range candidates {
		if len(links) == m {
			return links
		}
		if x.nearerToOne(v, s, c.row(), links, c.score()*scale) {
			s.order = append(s.order, c)
			continue
		}
		links = append(links, c.row())
	}
	for _, c := range s.order {
		if len(links) == m {
			break
		}
		links = append(links, c.row())
	}
	return links
}

// nearerToOne reports whether a row's score with any of others is above limit.
func (x *Index) nearerToOne(v *view, s *scratch, row uint32, others []uint32, limit float32) bool {
	const step = 8 // in most cases one of the first few is above the limit
	code, scale := v.rows.Code(row), v.rows.Scale(row)
	for len(others) > 0 {
		some := others[:min(step, len(others))]
		others = others[len(some):]
		scores := s.scores[:len(some)]
		v.kern.Scores(code, v.rows.Blocks, some, scores)
		for _, score := range scores {
			if float32(score*scale) > limit {
				return true
			}
		}
	}
	return false
}

// linkBack links row to the new one on a layer. If all its links are used, it drops one of them or
// the new one: the farthest that is nearer to a nearer link than to the row itself, or, if there is
// none, the farthest.
func (x *Index) linkBack(v *view, s *scratch, row, fresh uint32, layer int) {
	ls, i := v.graph.list(row, layer)
	links := ls.own(i)
	if len(links) < ls.width {
		ls.set(i, len(links), fresh)
		return
	}
	s.batch = append(append(s.batch[:0], links...), fresh)
	s.scores = s.scores[:len(s.batch)]
	v.kern.Scores(v.rows.Code(row), v.rows.Blocks, s.batch, s.scores)
	s.order = s.order[:0]
	for j, other := range s.batch {
		s.order = append(s.order, makeKey(s.scores[j], other))
	}
	scale := v.rows.Scale(row)
	var drop uint32
	for first := true; len(s.order) > 1; first = false {
		farthest := slices.Index(s.order, slices.Max(s.order))
		k := s.order[farthest]
		last := len(s.order) - 1
		s.order[farthest], s.batch[farthest] = s.order[last], s.batch[last]
		s.order, s.batch = s.order[:last], s.batch[:last]
		if first {
			drop = k.row()
		}
		if x.nearerToOne(v, s, k.row(), s.batch, float32(k.score()*scale)) {
			drop = k.row()
			break
		}
	}
	if drop != fresh {
		ls.set(i, slices.Index(links, drop), fresh)
	}
}
