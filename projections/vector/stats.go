package vector

import (
	"context"

	"github.com/recountdb/recount/schemas"
)

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

// ObjectStats describes each partition of agents' events, in order.
func (p *Projection) ObjectStats() []ShardStats { return p.stats(objects) }

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

// Verify checks every byte of the sealed files and returns all damage found. Links are checked
// before they are used.
func (p *Projection) Verify(ctx context.Context) ([]*CorruptError, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var damage []*CorruptError
	for _, f := range p.files() {
		if err := ctx.Err(); err != nil {
			return damage, err
		}
		if err := f.verify(); err != nil {
			damage = append(damage, err)
		}
	}
	return damage, nil
}

// files returns the mapped files of one state.
func (p *Projection) files() (mapped []*file) {
	p.read(nil, func(s *shard) {
		for _, st := range s.view.steps {
			mapped = append(mapped, st.file)
		}
		p.links.mu.Lock()
		defer p.links.mu.Unlock()
		for _, sp := range s.spaces {
			mapped = append(mapped, sp.link.codes...)
		}
	})
	return mapped
}
