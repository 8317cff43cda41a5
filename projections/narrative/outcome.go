package narrative

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/recountdb/recount/projections/cut"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Outcome reports how a command ended.
type Outcome struct {
	IntentID schemas.EventID
	// EventID and Position identify the event that reports the outcome.
	EventID  schemas.EventID
	Position schemas.Position
	// ObservedUnixNano is when it was observed.
	ObservedUnixNano int64
	// ExitCode is nil if unknown.
	ExitCode *int32
	// DurationNano is -1 if unknown.
	DurationNano int64
	Author       string
	OutputTail   string
}

func appendOutcomeKey(key []byte, id schemas.EventID, observed int64, shard []byte, offset int64) []byte {
	key = append(append(key, kindOutcome), id[:]...)
	key = binary.BigEndian.AppendUint64(key, uint64(observed)^1<<63)
	return binary.BigEndian.AppendUint64(append(key, shard...), uint64(offset))
}

func appendOutcome(b, eventID []byte, o *recountv1.Outcome) []byte {
	b = append(b, eventID...)
	b = binary.AppendUvarint(b, exitBits(o.ExitCode))
	b = binary.AppendVarint(b, o.DurationNano)
	return cut.AppendText(cut.AppendText(b, o.Author), o.OutputTail)
}

// exitBits encodes an exit code: 0 if unknown, else 1 + its zig-zag encoding.
func exitBits(code *int32) uint64 {
	if code == nil {
		return 0
	}
	return 1 + uint64(uint32(*code<<1)^uint32(*code>>31))
}

// decodeOutcome decodes what Apply stored. It never panics, whatever the input.
func decodeOutcome(key, value []byte) (Outcome, error) {
	var o Outcome
	if len(key) < 1+16+8 || key[0] != kindOutcome {
		return o, fmt.Errorf("outcome: key %x", key)
	}
	o.IntentID = schemas.EventID(key[1:17])
	o.ObservedUnixNano = int64(binary.BigEndian.Uint64(key[17:25]) ^ 1<<63)
	tp, rest, ok := store.ParseShard(key[25:])
	if !ok || len(rest) != 8 {
		return o, fmt.Errorf("outcome: key %x", key)
	}
	o.Position = schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: int64(binary.BigEndian.Uint64(rest))}
	c := cut.Of(value)
	copy(o.EventID[:], c.Take(16))
	o.ExitCode = exitOf(&c)
	o.DurationNano = c.Varint()
	o.Author, o.OutputTail = c.Text(), c.Text()
	if err := c.End(); err != nil {
		return o, fmt.Errorf("outcome at %s: %w", o.Position, err)
	}
	return o, nil
}

// Lookup returns the outcome that counts for a command, or false if none was observed. If visible
// is not nil, only outcomes for which it returns true are considered.
func (g *Graph) Lookup(id schemas.EventID, visible func(Outcome) bool) (Outcome, bool, error) {
	v, err := g.View()
	if err != nil {
		return Outcome{}, false, err
	}
	defer v.Close()
	it, err := v.Iter([]byte{kindOutcome}, []byte{kindOutcome + 1})
	if err != nil {
		return Outcome{}, false, err
	}
	defer it.Close()
	return latest(v, it, id, visible)
}

// latest returns the latest visible outcome of a command.
func latest(v *store.View, it store.Iterator, id schemas.EventID, visible func(Outcome) bool) (Outcome, bool, error) {
	var found Outcome
	ok := false
	err := descend(v, it, id, func(o Outcome) bool {
		if visible == nil || visible(o) {
			found, ok = o, true
		}
		return !ok
	})
	return found, ok, err
}

// Outcomes returns all outcomes of a command, the latest first.
func (g *Graph) Outcomes(id schemas.EventID) ([]Outcome, error) {
	v, err := g.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	it, err := v.Iter([]byte{kindOutcome}, []byte{kindOutcome + 1})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var all []Outcome
	err = descend(v, it, id, func(o Outcome) bool {
		all = append(all, o)
		return true
	})
	return all, err
}

// EachOutcome calls fn with every outcome, in the order of the commands' ids and those of one command
// the latest last, until fn returns an error. Reading all of them costs less than looking up many.
func (g *Graph) EachOutcome(fn func(Outcome) error) error {
	v, err := g.View()
	if err != nil {
		return err
	}
	defer v.Close()
	it, err := v.Iter([]byte{kindOutcome}, []byte{kindOutcome + 1})
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		o, err := outcomeAt(v, it)
		if err != nil {
			return err
		}
		if err := fn(o); err != nil {
			return err
		}
	}
	return v.Explain(it.Error())
}

// outcomeAt decodes the outcome at an iterator.
func outcomeAt(v *store.View, it store.Iterator) (Outcome, error) {
	value, err := it.ValueAndErr()
	if err != nil {
		return Outcome{}, v.Explain(err)
	}
	o, err := decodeOutcome(it.Key(), value)
	if err != nil {
		return Outcome{}, v.Damaged(err)
	}
	return o, nil
}

// descend visits the outcomes of a command, the latest first, until visit returns false.
func descend(v *store.View, it store.Iterator, id schemas.EventID, visit func(Outcome) bool) error {
	prefix := append(append(make([]byte, 0, 17), kindOutcome), id[:]...)
	for ok := it.SeekLT(store.PrefixEnd(prefix)); ok && bytes.HasPrefix(it.Key(), prefix); ok = it.Prev() {
		o, err := outcomeAt(v, it)
		if err != nil {
			return err
		}
		if !visit(o) {
			return nil
		}
	}
	return v.Explain(it.Error())
}

// exitOf decodes what exitBits encoded.
func exitOf(c *cut.Reader) *int32 {
	code := c.Uvarint()
	if code > 1+math.MaxUint32 {
		c.Fail(fmt.Errorf("exit code %d", code))
	}
	if code == 0 || c.Err != nil {
		return nil
	}
	u := uint32(code - 1)
	exit := int32(u>>1) ^ -int32(u&1)
	return &exit
}
