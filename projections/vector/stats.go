package vector

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/recountdb/recount/schemas"
)

// ShardStats describes a shard.
type ShardStats struct {
	TP schemas.TopicPartition
	// Rows is the number of distinct vectors, Runs that of intents with an embedding.
	Rows, Runs int
	// Files is the number of sealed files: steps, chunks of vectors, and the newest step's links.
	Files int
}

// Stats describes each shard, in order.
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

// ObjectShardStats describes a partition of agents' events.
type ObjectShardStats struct {
	TP schemas.TopicPartition
	// Spaces is the number of pairs of an audience and an embedder, Rows that of distinct vectors
	// of a space, Runs that of passages of objects.
	Spaces, Rows, Runs int
	// Linked is how many rows are in graphs.
	Linked int
	// Files is the number of sealed steps.
	Files int
}

// ObjectStats describes each partition of agents' events, in order.
func (p *Projection) ObjectStats() []ObjectShardStats {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var all []ObjectShardStats
	for _, s := range p.sortedObjects() {
		s.mu.RLock()
		v, spaces := s.view, s.spaces
		s.mu.RUnlock()
		st := ObjectShardStats{
			TP: v.tp, Spaces: len(spaces), Files: len(v.steps),
			Rows: int(v.rows) + len(v.tail.first), Runs: int(v.runs) + len(v.tail.offset),
		}
		for _, sp := range spaces {
			if g := sp.graph.Load(); g != nil {
				st.Linked += g.Len()
			}
		}
		all = append(all, st)
	}
	return all
}

// Verify checks every byte of the sealed files and returns all damage found.
func (p *Projection) Verify(ctx context.Context) ([]*CorruptError, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var damage []*CorruptError
	files, links, err := p.files()
	defer closeAll(links)
	var unreadable *CorruptError
	if errors.As(err, &unreadable) {
		damage = append(damage, unreadable)
	} else if err != nil {
		return nil, err
	}
	for _, f := range append(files, links...) {
		if err := ctx.Err(); err != nil {
			return damage, err
		}
		if err := f.verify(); err != nil {
			damage = append(damage, err)
		}
	}
	return damage, nil
}

// files returns the files of one state: the mapped ones, and links, which the caller must close.
// err is that of the last links that could not be opened.
func (p *Projection) files() (mapped, links []*file, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, s := range p.sorted() {
		s.write.Lock()
		mapped = append(mapped, s.steps...)
		for _, sp := range s.spaces {
			mapped = append(mapped, sp.chunks...)
		}
		if n := len(s.steps); n > 0 {
			f, ferr := s.open(filepath.Join(s.dir, linksName(n-1)), kindLinks, uint64(n-1))
			if ferr != nil {
				err = ferr
			} else {
				links = append(links, f)
			}
		}
		s.write.Unlock()
	}
	for _, s := range p.sortedObjects() {
		s.mu.RLock()
		for _, st := range s.view.steps {
			mapped = append(mapped, st.file)
		}
		p.links.mu.Lock()
		for _, sp := range s.spaces {
			mapped = append(mapped, sp.link.codes...)
		}
		p.links.mu.Unlock()
		s.mu.RUnlock()
	}
	return mapped, links, err
}
