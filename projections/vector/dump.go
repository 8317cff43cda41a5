package vector

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
)

// Dump implements projections.Projection. Keys are text, with numbers padded with zeros so that
// keys sort as the numbers do:
//
//	TOPIC/PARTITION/chunk/SPACE/SEQUENCE  SHA-256 over the vectors of a chunk
//	TOPIC/PARTITION/content/SPACE/ROW     a row in no sealed step: its key, its
//	                                      content, its similar rows
//	TOPIC/PARTITION/links/SPACE           SHA-256 over what the index stores besides
//	                                      vectors: with the backend flat its graph
//	TOPIC/PARTITION/run/OFFSET            a run in no sealed step: its event, space
//	                                      and row
//	TOPIC/PARTITION/space/SPACE           the embedder
//	TOPIC/PARTITION/step/SEQUENCE         SHA-256 over the file, every byte of it
//
// A partition of objects has these:
//
//	TOPIC/PARTITION/event/OFFSET            an event in no sealed step: its id
//	TOPIC/PARTITION/row/ROW                 a row in no sealed step: its space, its vector
//	TOPIC/PARTITION/run/OFFSET/OBJECT/PART  a passage in no sealed step: its row
//	TOPIC/PARTITION/space/SPACE             the audience and the embedder
//	TOPIC/PARTITION/step/SEQUENCE           SHA-256 over the file, every byte of it
//
// Links of objects, checkpoints and the next offset are not part of the state.
func (p *Projection) Dump(ctx context.Context, yield func(key, value []byte) error) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	shards := p.capture()
	slices.SortFunc(shards, func(a, b dumper) int { return cmp.Compare(a.name(), b.name()) })
	for _, c := range shards {
		if err := c.dump(ctx, yield); err != nil {
			return err
		}
	}
	return nil
}

// dumper is a shard's state at one moment.
type dumper interface {
	name() string // the prefix of its keys
	dump(ctx context.Context, yield func(key, value []byte) error) error
}

func dumpPrefix(tp schemas.TopicPartition) string {
	return fmt.Sprintf("%s/%010d/", tp.Topic, tp.Partition)
}

// putter returns a function that yields pairs whose keys begin with prefix. Its format and args
// make the rest of the key.
func putter(ctx context.Context, prefix string, yield func(key, value []byte) error) func(value []byte, format string, args ...any) error {
	var key []byte
	return func(value []byte, format string, args ...any) error {
		key = fmt.Appendf(append(key[:0], prefix...), format, args...)
		if err := ctx.Err(); err != nil {
			return err
		}
		return yield(key, value)
	}
}

// captured is a shard's state at one moment, independent of later changes.
type captured struct {
	prefix string
	steps  []*file
	tail   tail
	spaces []capturedSpace
}

type capturedSpace struct {
	embedder string
	columns
	sealed int
	n      int // rows of the index
	chunks [][]byte
	part   [][]byte
	links  []byte
}

// capture returns one state of all shards. While it runs, which takes as long as copying the links,
// no batch is applied to any.
func (p *Projection) capture() []dumper {
	p.mu.RLock()
	defer p.mu.RUnlock()
	all, objects := p.sorted(), p.sortedObjects()
	for _, s := range all {
		s.write.Lock()
	}
	for _, s := range objects {
		s.write.Lock()
	}
	var out []dumper
	for _, s := range all {
		if s.view.next > 0 {
			out = append(out, s.capture())
		}
		s.write.Unlock()
	}
	for _, s := range objects {
		if s.view.next > 0 {
			out = append(out, s.capture())
		}
		s.write.Unlock()
	}
	return out
}

func (c *captured) name() string { return c.prefix }

func (s *shard) capture() *captured {
	c := &captured{prefix: dumpPrefix(s.tp), steps: slices.Clone(s.steps), tail: s.tail}
	for _, sp := range s.spaces {
		x := capturedSpace{embedder: sp.embedder, columns: sp.columns, sealed: sp.sealed, n: sp.index.Len()}
		for i := range sp.fullChunks() {
			x.chunks = append(x.chunks, sp.index.Chunk(i))
		}
		for _, b := range sp.part() {
			x.part = append(x.part, slices.Clone(b))
		}
		x.links = sp.index.AppendLinks(nil)
		c.spaces = append(c.spaces, x)
	}
	return c
}

func (c *captured) dump(ctx context.Context, yield func(key, value []byte) error) error {
	var value []byte
	at := putter(ctx, c.prefix, yield)
	put := func(format string, args ...any) error { return at(value, format, args...) }
	hash := func(parts ...[]byte) {
		h := sha256.New()
		for _, b := range parts {
			h.Write(b)
		}
		value = h.Sum(value[:0])
	}
	le := binary.LittleEndian
	for i, sp := range c.spaces {
		for seq, b := range sp.chunks {
			hash(b)
			if err := put("chunk/%03d/%08d", i, seq); err != nil {
				return err
			}
		}
		if len(sp.part) > 0 {
			hash(sp.part...)
			if err := put("chunk/%03d/%08d", i, sp.n/rows.PerChunk); err != nil {
				return err
			}
		}
	}
	for i, sp := range c.spaces {
		for row := sp.sealed; row < len(sp.key); row++ {
			value = le.AppendUint64(value[:0], sp.key[row])
			value = le.AppendUint64(value, sp.content[row])
			value = append(value, sealed.BytesOf(sp.simRow[row*SimilarK:(row+1)*SimilarK])...)
			value = append(value, sealed.BytesOf(sp.simCos[row*SimilarK:(row+1)*SimilarK])...)
			if err := put("content/%03d/%010d", i, row); err != nil {
				return err
			}
		}
	}
	for i, sp := range c.spaces {
		hash(sp.links)
		if err := put("links/%03d", i); err != nil {
			return err
		}
	}
	for i, off := range c.tail.offset {
		value = append(value[:0], c.tail.id[i][:]...)
		value = le.AppendUint32(value, c.tail.space[i])
		value = le.AppendUint32(value, c.tail.row[i])
		if err := put("run/%020d", off); err != nil {
			return err
		}
	}
	for i, sp := range c.spaces {
		value = append(value[:0], sp.embedder...)
		if err := put("space/%03d", i); err != nil {
			return err
		}
	}
	for seq, f := range c.steps {
		h := f.hash()
		value = append(value[:0], h[:]...)
		if err := put("step/%08d", seq); err != nil {
			return err
		}
	}
	return nil
}
