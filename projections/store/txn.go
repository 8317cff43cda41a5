package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// AppendShard appends the key form of a partition to b.
func AppendShard(b []byte, tp schemas.TopicPartition) []byte {
	b = append(b, tp.Topic...)
	b = append(b, 0)
	return binary.BigEndian.AppendUint32(b, uint32(tp.Partition))
}

// ParseShard splits what AppendShard appended off the front of a key.
func ParseShard(b []byte) (tp schemas.TopicPartition, rest []byte, ok bool) {
	i := bytes.IndexByte(b, 0)
	if i <= 0 || len(b) < i+5 {
		return tp, nil, false
	}
	tp = schemas.TopicPartition{Topic: string(b[:i]), Partition: int32(binary.BigEndian.Uint32(b[i+1:]))}
	return tp, b[i+5:], true
}

// ParsePosition reads the position at the end of a key: what AppendShard appended, then the offset.
func ParsePosition(b []byte) (schemas.Position, error) {
	tp, rest, ok := ParseShard(b)
	if !ok || len(rest) != 8 {
		return schemas.Position{}, fmt.Errorf("a key whose event is %x", b)
	}
	return schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: int64(binary.BigEndian.Uint64(rest))}, nil
}

// Txn is a batch being applied. It is used by one goroutine and ends with Commit or Discard.
type Txn struct {
	// New is the records to apply: they lie at or above Next, concern the projection, and their
	// events were not seen before.
	New []*recountv1.Record

	ids   []schemas.EventID // of New, by schemas.SeenAs
	seen  *seen
	d     *DB
	b     batch
	tp    schemas.TopicPartition
	next  int64
	shard []byte
	key   []byte
}

// Begin begins to apply a batch. It leaves out the records below Next, those that do not concern
// the projection and those whose events were seen before. A nil Txn without an error means that the
// whole batch was applied before.
func (d *DB) Begin(ctx context.Context, b schemas.Batch, concerns func(*recountv1.Record) bool) (*Txn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := d.Failed(); err != nil {
		return nil, err
	}
	tp := b.TP()
	if tp.Topic == "" || bytes.IndexByte([]byte(tp.Topic), 0) >= 0 || tp.Partition < 0 {
		return nil, schemas.Fatalf("%s: apply: no such partition can be: topic %q, partition %d", d.name, tp.Topic, tp.Partition)
	}
	from := d.Next(tp)
	if b.Next <= from {
		return nil, nil
	}
	if from == 0 {
		d.begin(tp)
	}
	t := &Txn{d: d, tp: tp, next: b.Next, shard: AppendShard(nil, tp), seen: d.seenOf(tp)}
	if err := t.Do(func() error { return t.collect(b, from, concerns) }); err != nil {
		return nil, err
	}
	t.b = d.db.batch(1<<10 + len(t.New)*512)
	return t, nil
}

// collect fills New and ids.
func (t *Txn) collect(b schemas.Batch, from int64, concerns func(*recountv1.Record) bool) error {
	last := int64(-1)
	inBatch := make(map[schemas.EventID]struct{}, len(b.Records))
	for _, r := range b.Records {
		pos := schemas.PositionOf(r.GetOrigin())
		if pos.TP() != t.tp || pos.Offset <= last || pos.Offset >= b.Next {
			return schemas.Fatalf("%s: apply: record at %s in a batch of %s up to %d, after offset %d", t.d.name, pos, t.tp, b.Next, last)
		}
		last = pos.Offset
		if pos.Offset < from || !concerns(r) {
			continue
		}
		id, err := schemas.SeenAs(r)
		if err != nil {
			return &projections.RecordError{Position: pos, Err: err}
		}
		if _, twice := inBatch[id]; twice {
			continue
		}
		inBatch[id] = struct{}{}
		if !t.seen.isNew(id) {
			_, seen, err := t.Get(t.seenKey(id[:]))
			if err != nil {
				return err
			}
			if seen {
				continue
			}
		}
		t.New, t.ids = append(t.New, r), append(t.ids, id)
	}
	return nil
}

func (t *Txn) seenKey(id []byte) []byte {
	t.key = append(append(append(t.key[:0], kindSeen), t.shard...), id...)
	return t.key
}

// Do runs f, which calls Get and Set, and returns when the store fails even if f does not: Pebble's
// reads wait for locks that a failed write holds for ever. After such an error the caller must no
// longer touch what f uses.
func (t *Txn) Do(f func() error) error { return t.d.guard(f) }

// Shard returns the key form of the batch's partition.
func (t *Txn) Shard() []byte { return t.shard }

// Get returns a copy of the value that earlier batches stored under a key.
func (t *Txn) Get(key []byte) (value []byte, ok bool, err error) {
	v, closer, err := t.d.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, t.d.explain("read", err)
	}
	value = bytes.Clone(v)
	return value, true, t.d.explain("read", closer.Close())
}

// Iter iterates over what earlier batches stored, from lower (included) to upper (excluded). The
// iterator must be closed before Commit or Discard.
func (t *Txn) Iter(lower, upper []byte) (Iterator, error) {
	it, err := t.d.db.iter(lower, upper)
	return it, t.d.explain("read", err)
}

// Explain turns an error of an iterator into one that tells the operator what to do.
func (t *Txn) Explain(err error) error { return t.d.explain("read", err) }

// Set stores a value with the batch.
func (t *Txn) Set(key, value []byte) error { return t.b.set(key, value) }

// Append adds part to the end of a key's value, or sets the value if there is none. It reads
// nothing: reads and compactions concatenate the parts. A key must be either appended to or Set,
// not both.
func (t *Txn) Append(key, part []byte) error { return t.b.merge(key, part) }

// Delete removes a key with the batch.
func (t *Txn) Delete(key []byte) error { return t.b.remove(key) }

// Commit stores everything. A crash leaves all of it or nothing. Next moves when the state is
// readable, so that a caller that sees an offset passed also sees its effect.
func (t *Txn) Commit() error {
	t.seen.add(t.ids)
	// In the order of keys, since Pebble finds the place of a key from that of the one before.
	order := make([]int, len(t.ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return bytes.Compare(t.ids[i][:], t.ids[j][:]) })
	var offset []byte
	for _, i := range order {
		offset = binary.AppendUvarint(offset[:0], uint64(t.New[i].Origin.Offset))
		if err := t.Set(t.seenKey(t.ids[i][:]), offset); err != nil {
			return t.d.explain("write", err)
		}
	}
	key := append([]byte{kindNext}, t.shard...)
	if err := t.Set(key, binary.AppendUvarint(nil, uint64(t.next))); err != nil {
		return t.d.explain("write", err)
	}
	t.d.mu.Lock()
	t.d.committing++
	t.d.mu.Unlock()
	if err := t.d.guard(t.b.commit); err != nil {
		return t.d.explain("write", err) // whether it was stored is unknown: views read the offset from the store
	}
	t.d.mu.Lock()
	t.d.next[t.tp] = t.next
	t.d.committing--
	t.d.mu.Unlock()
	return t.d.explain("write", t.b.Close())
}

// Discard drops what was set.
func (t *Txn) Discard() {
	if t.d.Failed() == nil {
		_ = t.b.Close()
	}
}
