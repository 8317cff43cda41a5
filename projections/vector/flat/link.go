package flat

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
	if len(others) == 0 {
		return false
	}
	scores := s.scores[:len(others)]
	v.kern.Scores(v.rows.Code(row), v.rows.Blocks, others, scores)
	scale := v.rows.Scale(row)
	for _, score := range scores {
		if float32(score*scale) > limit {
			return true
		}
	}
	return false
}

// linkBack links row to the new one on a layer. If it has no link to spare it
// gives up the farthest that is nearer to a nearer one of its links than to the
// row itself, or, if there is none, the farthest.
func (x *Index) linkBack(v *view, s *scratch, row, fresh uint32, layer int) {
	ls, i := v.graph.list(row, layer)
	if ls.add(i, fresh) {
		return
	}
	s.batch = append(append(s.batch[:0], ls.own(i)...), fresh)
	s.scores = s.scores[:len(s.batch)]
	v.kern.Scores(v.rows.Code(row), v.rows.Blocks, s.batch, s.scores)
	order := s.order[:0]
	for j, other := range s.batch {
		order, _ = insert(order, makeKey(s.scores[j], other), len(s.batch))
	}
	s.order = order
	scale := v.rows.Scale(row)
	s.batch = s.batch[:0]
	for _, k := range order {
		s.batch = append(s.batch, k.row())
	}
	drop := len(order) - 1
	for j := len(order) - 1; j > 0; j-- {
		if x.nearerToOne(v, s, order[j].row(), s.batch[:j], float32(order[j].score()*scale)) {
			drop = j
			break
		}
	}
	ls.replace(i, append(s.batch[:drop], s.batch[drop+1:]...))
}
