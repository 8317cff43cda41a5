package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/recountdb/recount/projections/sealed"
)

// Dump implements projections.Projection. Keys are text:
//
//	TOPIC/PARTITION/segment/SEQUENCE   SHA-256 over the file, every byte of it
//	TOPIC/PARTITION/tail/OFFSET        an unsealed row, all of its fields
//
// with the numbers padded with zeros, so that keys sort as the numbers do. Checkpoints and the next
// offset are not part of the state.
func (p *Projection) Dump(ctx context.Context, yield func(key, value []byte) error) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	prefix := func(s *shardView) string { return fmt.Sprintf("%s/%010d/", s.tp.Topic, s.tp.Partition) }
	shards := p.snapshot()
	slices.SortFunc(shards, func(a, b shardView) int { return cmp.Compare(prefix(&a), prefix(&b)) })
	var key, value []byte
	for i := range shards {
		s := &shards[i]
		for seq, f := range s.files[:s.sealed] {
			if err := ctx.Err(); err != nil {
				return err
			}
			hash := f.hash()
			key = fmt.Appendf(key[:0], "%ssegment/%010d", prefix(s), seq)
			if err := yield(key, hash[:]); err != nil {
				return err
			}
		}
		tail := []*columns{&s.hot}
		for _, f := range s.files[s.sealed:] {
			tail = []*columns{&f.cols, &s.hot} // its content was checked when it was opened
		}
		for _, c := range tail {
			for row := range c.n {
				if row&1023 == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				key = fmt.Appendf(key[:0], "%stail/%020d", prefix(s), c.offset[row])
				value = appendRow(value[:0], c, row)
				if err := yield(key, value); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// appendRow encodes every field of a row: numbers in fixed size, little-endian; texts and lists
// after their length.
func appendRow(b []byte, c *columns, row int) []byte {
	le := binary.LittleEndian
	num := func(n int) { b = le.AppendUint32(b, uint32(n)) }
	text := func(s string) { num(len(s)); b = append(b, s...) }
	flag := func(v *validity) {
		if v.at(row) {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	b = append(b, c.id[row][:]...)
	b = le.AppendUint64(b, uint64(c.time[row]))
	b = le.AppendUint64(b, uint64(c.eventTime[row]))
	for i := range c.text {
		text(c.text[i].at(row))
	}
	for i := range nRowDict {
		text(c.dict[i].at(row))
	}
	b = append(b, byte(c.category[row]))
	b = append(b, sealed.BytesOf(c.confidence[row:row+1])...)
	b = le.AppendUint32(b, c.complexity[row])
	flag(&c.hasExit)
	b = le.AppendUint32(b, uint32(c.exitCode[row]))
	flag(&c.hasDuration)
	b = le.AppendUint64(b, uint64(c.duration[row]))
	b = le.AppendUint64(b, c.contextHash[row])
	b = le.AppendUint64(b, c.contentHash[row])
	b = append(b, c.parent[row][:]...)
	for list := range nList {
		lo, hi := c.span(list, row)
		num(hi - lo)
		for i := lo; i < hi; i++ {
			text(c.dict[listItems[list]].at(i))
			switch list {
			case listResources:
				b = append(b, byte(c.resourceKind[i]), byte(c.resourceAccess[i]))
			case listTokens:
				b = append(b, byte(c.tokenKind[i]))
				b = le.AppendUint32(b, c.tokenOffset[i])
			}
		}
	}
	var room dense
	e := c.embeddingOf(row, &room)
	num(len(e))
	return append(b, sealed.BytesOf(e)...)
}
