package vector

import "github.com/recountdb/recount/schemas"

// ShardStats describes a partition.
type ShardStats struct {
	TP schemas.TopicPartition
	// Spaces is the number of pairs of an audience and an embedder, Rows that of distinct vectors
	// of a space, Runs that of commands or passages of objects with an embedding.
	Spaces, Rows, Runs int
	// Linked is how many rows are in graphs.
	Linked int
	// Files is the number of sealed steps.
	Files int
}

// Stats describes each partition of commands, in order.
func (p *Projection) Stats() []ShardStats { return p.stats(commands) }

func (p *Projection) stats(of *source) (all []ShardStats) {
	p.read(of, func(s *shard) {
		v := &s.view
		if v.next == 0 {
			return
		}
		st := ShardStats{
			TP: v.tp, Spaces: len(s.spaces), Files: len(v.steps),
			Rows: int(v.rows) + len(v.tail.first), Runs: int(v.allRuns()),
		}
		for _, sp := range s.spaces {
			if g := sp.graph.Load(); g != nil {
				st.Linked += g.Len()
			}
		}
		all = append(all, st)
	})
	return all
}
