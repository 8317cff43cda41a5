package objects

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/recountdb/recount/projections/cut"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// perBlock is the number of rows of the table per stored block.
const perBlock = 128

// stats counts what a shard contains.
type stats struct{ events, objects, edges, audiences, names uint64 }

func (s stats) encode(b []byte) []byte {
	for _, n := range [...]uint64{s.events, s.objects, s.edges, s.audiences, s.names} {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func decodeStats(b []byte) (s stats, err error) {
	c := cut.Of(b)
	for _, n := range [...]*uint64{&s.events, &s.objects, &s.edges, &s.audiences, &s.names} {
		*n = c.Uvarint()
	}
	return s, ended("counts", &c)
}

// ended returns the error of a decoder, with the name of the value.
func ended(what string, c *cut.Reader) error {
	if err := c.End(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// encodeBlock appends block n of the first `rows` rows.
func (t *table) encodeBlock(b []byte, n, rows uint32) []byte {
	var offset, time int64
	for k := n * perBlock; k < rows && k < (n+1)*perBlock; k++ {
		r := t.at(k)
		b = binary.AppendUvarint(b, uint64(r.offset-offset))
		b = binary.AppendUvarint(b, uint64(r.index))
		b = binary.AppendVarint(b, r.time-time) // may wrap around; decoding wraps back
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(r.importance))
		b = append(b, r.typ, r.memory)
		for _, number := range [...]uint32{r.audience, r.workspace, r.agent, r.session} {
			b = binary.AppendUvarint(b, uint64(number))
		}
		offset, time = r.offset, r.time
	}
	return b
}

// decodeBlock adds the rows of a block to the table.
func (t *table) decodeBlock(b []byte) error {
	before := row{offset: -1}
	n := t.n.Load()
	if len(b) == 0 || n%perBlock != 0 {
		return fmt.Errorf("a block of attributes behind object %d, %d bytes", n, len(b))
	}
	if n > 0 {
		before = *t.at(n - 1)
	}
	c := cut.Of(b)
	var offset, time int64
	for i := 0; len(c.Rest) > 0 && c.Err == nil; i++ {
		var r row
		delta := c.Uvarint()
		if delta > math.MaxInt64-uint64(offset) || i == perBlock {
			c.Fail(errors.New("more than can be"))
			break
		}
		offset += int64(delta)
		index := c.Uvarint()
		time += c.Varint()
		r.offset, r.time = offset, time
		if bits := c.Take(4); bits != nil {
			r.importance = math.Float32frombits(binary.LittleEndian.Uint32(bits))
		}
		r.typ, r.memory = c.Byte(), c.Byte()
		for _, f := range [...]struct {
			number *uint32
			of     uint32
		}{{&r.audience, t.audiences.n.Load()}, {&r.workspace, t.names.n.Load()}, {&r.agent, t.names.n.Load()}, {&r.session, t.names.n.Load()}} {
			v := c.Uvarint()
			if v >= uint64(f.of) {
				c.Fail(fmt.Errorf("name %d of %d", v, f.of))
			}
			*f.number = uint32(v)
		}
		if index >= maxObjects || !before.below(offset, uint32(index)) {
			c.Fail(errors.New("out of order"))
		}
		r.index = uint16(index)
		if c.Err == nil {
			t.add(r)
		}
		before = r
	}
	return ended("a block of attributes", &c)
}

func appendAudience(b []byte, a audience) []byte {
	b = binary.AppendUvarint(b, uint64(a.first))
	b = append(cut.AppendText(b, a.Tenant), byte(a.Visibility))
	for _, s := range [...]string{a.Workspace, a.Session, a.Agent} {
		b = cut.AppendText(b, s)
	}
	return b
}

func decodeAudience(b []byte) (a audience, err error) {
	c := cut.Of(b)
	first := c.Uvarint()
	if first > math.MaxInt64 {
		c.Fail(fmt.Errorf("offset %d", first))
	}
	a.first = int64(first)
	a.Tenant = string(c.Bytes())
	a.Visibility = recountv1.Visibility(c.Byte())
	for _, s := range [...]*string{&a.Workspace, &a.Session, &a.Agent} {
		*s = string(c.Bytes())
	}
	a.id = a.Audience.ID()
	return a, ended("audience", &c)
}

// load reads the table from the store unless it is already loaded.
func (t *table) load(db *store.DB) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loaded {
		return nil
	}
	v, err := db.View()
	if err != nil {
		return err
	}
	defer v.Close()
	fresh := newTable(t.tp) // an earlier load may have failed half-way
	if err := fresh.read(v); err != nil {
		return err
	}
	t.n.Store(fresh.n.Load())
	t.chunks.Set(&fresh.chunks)
	t.audiences.take(&fresh.audiences)
	t.names.take(&fresh.names)
	t.postings.mu.Lock()
	t.postings.lists = fresh.postings.lists
	t.postings.mu.Unlock()
	t.links.take(&fresh.links)
	t.tenants, t.stats, t.loaded = fresh.tenants, fresh.stats, true
	return nil
}

func (d *dictionary[T]) take(from *dictionary[T]) {
	d.n.Store(from.n.Load())
	d.chunks.Set(&from.chunks)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.numbers = from.numbers
}

func (t *table) read(v *store.View) error {
	if err := t.eachBlock(v, kindAudience, func(b []byte) error {
		a, err := decodeAudience(b)
		if err == nil {
			t.addAudience(a.Audience, a.id, a.first)
		}
		return err
	}); err != nil {
		return err
	}
	if err := t.eachBlock(v, kindName, func(b []byte) error {
		t.addName(string(b))
		return nil
	}); err != nil {
		return err
	}
	if err := t.eachBlock(v, kindBlock, t.decodeBlock); err != nil {
		return err
	}
	t.links.reserve(int(t.n.Load()))
	if err := t.eachBlock(v, kindLinks, t.decodeLinks); err != nil {
		return err
	}
	if _, err := v.Get(append([]byte{kindStatistic}, t.shard...), func(b []byte) (err error) {
		if t.stats, err = decodeStats(b); err != nil {
			err = v.Damaged(err)
		}
		return err
	}); err != nil {
		return err
	}
	have := t.stats
	have.objects, have.audiences, have.names = uint64(t.n.Load()), uint64(t.audiences.n.Load()), uint64(t.names.n.Load())
	if have != t.stats {
		return v.Damaged(fmt.Errorf("%s: %d objects, %d audiences and %d names, want %d, %d and %d",
			t.tp, have.objects, have.audiences, have.names, t.stats.objects, t.stats.audiences, t.stats.names))
	}
	if n := len(t.links.rows); n != int(have.objects) {
		return v.Damaged(fmt.Errorf("%s: links of %d objects, want %d", t.tp, n, have.objects))
	}
	return nil
}

// eachBlock calls use with the values of one kind, which must be numbered without gaps.
func (t *table) eachBlock(v *store.View, kind byte, use func([]byte) error) error {
	prefix := append([]byte{kind}, t.shard...)
	it, err := v.Iter(prefix, store.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	next := uint32(0)
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			_ = it.Close()
			return v.Explain(err)
		}
		if key := it.Key(); len(key) != len(prefix)+4 || binary.BigEndian.Uint32(key[len(prefix):]) != next {
			err = fmt.Errorf("key %x where number %d should be", key, next)
		} else {
			err = use(value)
		}
		if err != nil {
			_ = it.Close()
			return v.Damaged(fmt.Errorf("%s: %w", t.tp, err))
		}
		next++
	}
	return v.Explain(it.Close())
}

// audienceOf returns the audience of an object.
func audienceOf(o *recountv1.Object) schemas.Audience {
	return schemas.AudienceOf(o.Tenant, o.Workspace, o.Session, o.Agent, o.Visibility)
}
