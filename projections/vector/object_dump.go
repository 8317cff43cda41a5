package vector

import (
	"context"
	"encoding/binary"

	"github.com/recountdb/recount/projections/sealed"
)

// capturedObjects is the state of a partition of objects at one moment.
type capturedObjects struct {
	prefix    string
	view      objectView
	tail      objectTail
	spaces    []*objectSpace
	embedders []string
}

func (s *objectShard) capture() *capturedObjects {
	return &capturedObjects{
		prefix: dumpPrefix(s.tp), view: s.view, tail: *s.tail, spaces: s.spaces, embedders: s.embedders,
	}
}

func (c *capturedObjects) name() string { return c.prefix }

func (c *capturedObjects) dump(ctx context.Context, yield func(key, value []byte) error) error {
	put := putter(ctx, c.prefix, yield)
	le := binary.LittleEndian
	var value []byte
	t := &c.tail
	for i, id := range t.id {
		if err := put(id[:], "event/%020d", t.at[i]); err != nil {
			return err
		}
	}
	for i, space := range t.space {
		value = le.AppendUint32(value[:0], space)
		value = append(value, sealed.BytesOf(t.rows.Vector(uint32(i)))...)
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
