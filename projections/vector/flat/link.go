package flat

import "slices"

// choose takes from candidates, nearest first, those that a row of this scale
// is to be linked to: at most m, each nearer to the row than to any other that
// was taken, or as near; then, if they are fewer than m, the nearest of the
// rest. (Malkov, Yashunin, algorithm 4, with kept pruned connections.)
//
// "As near" counts, else copies of one vector would be linked to one another
// and to nothing else.
func (x *Index) choose(v *view, s *scratch, candidates []key, scale float32, m int, links []uint32) []uint32 {
	links = links[:0]
	s.order = s.order[:0] // those left out
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

// nearerToOne says whether a row's score with any of others is above limit.
func (x *Index) nearerToOne(v *view, s *scratch, row uint32, others []uint32, limit float32) bool {
	const step = 8 // mostly one of the first few says so
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

// linkBack links row to the new one on a layer. If it has no link to spare, it
// gives up the farthest that is nearer to a nearer one of its links than to the
// row itself, or, if there is none, the farthest: of its links and the new one.
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
