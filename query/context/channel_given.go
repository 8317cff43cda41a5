package context

import "math"

// byTwins ranks files by how alike their names and those of the given files are.
func (x *corpus) byTwins(given []int32) map[int32]float64 {
	score := map[int32]float64{}
	for _, g := range given {
		for i := range x.files {
			if int32(i) == g {
				continue
			}
			if s := nameSimilarity(&x.files[g], &x.files[i]); s > 0 {
				score[int32(i)] = max(score[int32(i)], s)
			}
		}
	}
	return score
}

// byFolder ranks files by how near they lie to the given ones.
func (x *corpus) byFolder(given []int32) map[int32]float64 {
	score := map[int32]float64{}
	for _, g := range given {
		for i := range x.files {
			if int32(i) == g || x.files[i].noise {
				continue
			}
			if s := near(&x.files[g], &x.files[i]); s > 0.3 {
				score[int32(i)] = max(score[int32(i)], s)
			}
		}
	}
	return score
}

// byEdges ranks files by the edges that join them with the given ones.
func (x *corpus) byEdges(given []int32) map[int32]float64 {
	score := map[int32]float64{}
	for _, g := range given {
		for _, l := range x.graph.at(g) {
			score[l.to] += float64(l.weight) / math.Sqrt(1+math.Log1p(x.graph.sum[l.to]))
		}
	}
	for _, g := range given {
		delete(score, g)
	}
	return score
}

// byWalk ranks files by a random walk that restarts at the seeds.
func (x *corpus) byWalk(seeds map[int32]float64) map[int32]float64 {
	score := map[int32]float64{}
	for i, s := range x.graph.walk(seeds, 0.4, 4) {
		if s > 1e-5 {
			score[int32(i)] = s / math.Sqrt(1+math.Log1p(x.graph.sum[i]))
		}
	}
	return score
}
