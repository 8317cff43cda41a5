package vector

import (
	"context"

	"github.com/recountdb/recount/schemas"
)

// ShardStats is what a shard holds.
type ShardStats struct {
	TP schemas.TopicPartition
	// Rows are distinct vectors, Runs the intents that have one.
	Rows, Runs int
	// Files are sealed ones: steps, chunks of vectors, and the newest step's links.
	Files int
}

// Stats says what each shard holds, in order.
func (p *Projection) Stats() []ShardStats {
	var all []ShardStats
	for _, v := range p.snapshot() {
		st := ShardStats{TP: v.tp, Files: v.sealed}
		if v.sealed > 0 {
			st.Files++
		}
		for _, sp := range v.spaces {
			st.Rows += len(sp.key)
			st.Runs += len(sp.offset)
			st.Files += sp.chunksSealed
		}
		all = append(all, st)
	}
	return all
}

// Verify checks every byte of the sealed files, and returns what is damaged.
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

// files are the mapped ones, of one state.
func (p *Projection) files() []*file {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var all []*file
	for _, s := range p.sorted() {
		s.write.Lock()
		all = append(all, s.steps...)
		for _, sp := range s.spaces {
			all = append(all, sp.chunks...)
		}
		s.write.Unlock()
	}
	return all
}
