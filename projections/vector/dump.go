package vector

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/recountdb/recount/projections/sealed"
)

// Dump implements projections.Projection. Keys are text, with numbers padded with zeros so that
// keys sort as the numbers do:
//
//	TOPIC/PARTITION/event/OFFSET            an event in no sealed step: its id
//	TOPIC/PARTITION/row/ROW                 a row in no sealed step: its space, its vector, and of
//	                                        commands its content and similar rows
//	TOPIC/PARTITION/run/OFFSET/OBJECT/PART  a run in no sealed step: its row
//	TOPIC/PARTITION/space/SPACE             the audience and the embedder
//	TOPIC/PARTITION/step/SEQUENCE           SHA-256 over the file, every byte of it
//
// Links, checkpoints and the next offset are not part of the state.
func (p *Projection) Dump(ctx context.Context, yield func(key, value []byte) error) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	all := p.capture()
	slices.SortFunc(all, func(a, b *captured) int { return cmp.Compare(a.prefix, b.prefix) })
	for _, c := range all {
		if err := c.dump(ctx, yield); err != nil {
			return err
		}
	}
	return nil
}

// captured is a shard's state at one moment, independent of later changes.
type captured struct {
	prefix    string
	linked    bool
	view      view
	tail      tail
	spaces    []*space
	embedders []string
}

// capture returns one state of all shards.
func (p *Projection) capture() (all []*captured) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	shards := p.sorted(nil)
	for _, s := range shards {
		s.write.Lock()
	}
	for _, s := range shards {
		if s.view.next > 0 {
			all = append(all, &captured{
				prefix: fmt.Sprintf("%s/%010d/", s.tp.Topic, s.tp.Partition), linked: s.linked,
				view: s.view, tail: *s.tail, spaces: s.spaces, embedders: s.embedders,
			})
		}
		s.write.Unlock()
	}
	return all
}

func (c *captured) dump(ctx context.Context, yield func(key, value []byte) error) error {
	le := binary.LittleEndian
	var key, value []byte
	put := func(value []byte, format string, args ...any) error {
		key = fmt.Appendf(append(key[:0], c.prefix...), format, args...)
		if err := ctx.Err(); err != nil {
			return err
		}
		return yield(key, value)
	}
	t := &c.tail
	for i, id := range t.id {
		if err := put(id[:], "event/%020d", t.at[i]); err != nil {
			return err
		}
	}
	for i, space := range t.space {
		value = append(le.AppendUint32(value[:0], space), sealed.BytesOf(t.vectors[i])...)
		if c.linked {
			value = le.AppendUint64(value, t.content[i])
			value = append(value, sealed.BytesOf(t.like[i*SimilarK:(i+1)*SimilarK])...)
			value = append(value, sealed.BytesOf(t.cosines[i*SimilarK:(i+1)*SimilarK])...)
		}
		if err := put(value, "row/%010d", int(c.view.rows)+i); err != nil {
			return err
		}
	}
	for i, off := range t.offset {
		value = le.AppendUint32(value[:0], t.row[i])
		if err := put(value, "run/%020d/%010d/%010d", off, t.index[i], t.part[i]); err != nil {
			return err
		}
	}
	for i, sp := range c.spaces {
		value = append(append(value[:0], sp.audience[:]...), c.embedders[sp.embedder]...)
		if err := put(value, "space/%010d", i); err != nil {
			return err
		}
	}
	for seq, st := range c.view.steps {
		h := st.hash()
		if err := put(h[:], "step/%08d", seq); err != nil {
			return err
		}
	}
	return nil
}
