// Package graph is the projection of what is connected. It starts with the
// outcomes of commands: an `outcome.observed` is joined to its command by id,
// wherever in the log the two stand and whichever came first.
//
// What a caller may rely on:
//
//   - Every outcome is kept with the position of its event, its evidence. The
//     latest one counts: by the time it was observed, then by position. That is
//     the same under every interleaving of partitions.
//   - An outcome of a command that is not (yet) in the log is kept too.
//
// # Keys
//
// Pebble, with the keys of package store and one kind more. Integers in keys are
// big-endian; a time has its sign bit flipped, so that keys ascend with time;
// Shard is as in package store.
//
//	0x10 intent id (16)  observed (int64, ns)  Shard  offset (uint64)
//	     event id (16)
//	     exit code: uvarint, 0 = unknown, else 1 + zig-zag of the code
//	     duration: varint, nanoseconds, -1 = unknown
//	     author, output tail: each a uvarint length and its bytes
package graph

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// Name of the projection.
	Name = "graph"
	// Version of what it stores.
	Version = 1

	kindOutcome = 0x10
)

// Kind is how a node knows this projection.
var Kind = projections.Kind{Name: Name, Version: Version, Open: func(dir string) (projections.Projection, error) {
	return Open(dir, store.Options{})
}}

// Graph is the open projection.
type Graph struct{ *store.DB }

// Open opens or creates the projection in dir.
func Open(dir string, o store.Options) (*Graph, error) {
	o.Name = Name
	db, err := store.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &Graph{db}, nil
}

// Outcome is what became of a command.
type Outcome struct {
	IntentID schemas.EventID
	// EventID and Position are the evidence: the event that says so.
	EventID  schemas.EventID
	Position schemas.Position
	// ObservedUnixNano is when it was observed.
	ObservedUnixNano int64
	// ExitCode is nil where unknown.
	ExitCode *int32
	// DurationNano is -1 where unknown.
	DurationNano int64
	Author       string
	OutputTail   string
}

func concerns(r *recountv1.Record) bool { return r.GetOutcome() != nil }

// Apply stores the outcomes of a batch.
func (g *Graph) Apply(ctx context.Context, b schemas.Batch) error {
	t, err := g.Begin(ctx, b, concerns)
	if err != nil || t == nil {
		return err
	}
	var key, value []byte
	for _, r := range t.New {
		o := r.GetOutcome()
		id, err := schemas.EventIDFromBytes(o.IntentId)
		if err != nil {
			t.Discard()
			return projections.Poison(schemas.PositionOf(r.Origin), "intent's %w", err)
		}
		key = append(append(key[:0], kindOutcome), id[:]...)
		key = binary.BigEndian.AppendUint64(key, uint64(o.ObservedUnixNano)^1<<63)
		key = append(key, t.Shard()...)
		key = binary.BigEndian.AppendUint64(key, uint64(r.Origin.Offset))
		value = appendOutcome(value[:0], r.EventId, o)
		if err := t.Set(key, value); err != nil {
			t.Discard()
			return fmt.Errorf("set outcome: %w", err)
		}
	}
	return t.Commit()
}

func appendOutcome(b, eventID []byte, o *recountv1.Outcome) []byte {
	b = append(b, eventID...)
	code := uint64(0)
	if o.ExitCode != nil {
		code = 1 + uint64(uint32(*o.ExitCode<<1)^uint32(*o.ExitCode>>31))
	}
	b = binary.AppendUvarint(b, code)
	b = binary.AppendVarint(b, o.DurationNano)
	for _, s := range []string{o.Author, o.OutputTail} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

var errShort = errors.New("value cut short")

// decodeOutcome reads what Apply stored. It never panics, whatever it is given.
func decodeOutcome(key, value []byte) (Outcome, error) {
	var o Outcome
	if len(key) < 1+16+8 || key[0] != kindOutcome {
		return o, fmt.Errorf("outcome: key %x", key)
	}
	o.IntentID = schemas.EventID(key[1:17])
	o.ObservedUnixNano = int64(binary.BigEndian.Uint64(key[17:25]) ^ 1<<63)
	tp, rest, ok := store.CutShard(key[25:])
	if !ok || len(rest) != 8 {
		return o, fmt.Errorf("outcome: key %x", key)
	}
	o.Position = schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: int64(binary.BigEndian.Uint64(rest))}

	if len(value) < 16 {
		return o, fmt.Errorf("outcome at %s: %w", o.Position, errShort)
	}
	o.EventID = schemas.EventID(value[:16])
	value = value[16:]
	code, n := binary.Uvarint(value)
	if n <= 0 || code > 1+math.MaxUint32 {
		return o, fmt.Errorf("outcome at %s: exit code: %w", o.Position, errShort)
	}
	value = value[n:]
	if code > 0 {
		u := uint32(code - 1)
		exit := int32(u>>1) ^ -int32(u&1)
		o.ExitCode = &exit
	}
	if o.DurationNano, n = binary.Varint(value); n <= 0 {
		return o, fmt.Errorf("outcome at %s: duration: %w", o.Position, errShort)
	}
	value = value[n:]
	for _, s := range []*string{&o.Author, &o.OutputTail} {
		size, n := binary.Uvarint(value)
		if n <= 0 || size > uint64(len(value)-n) {
			return o, fmt.Errorf("outcome at %s: text: %w", o.Position, errShort)
		}
		*s = string(value[n : n+int(size)])
		value = value[n+int(size):]
	}
	if len(value) > 0 {
		return o, fmt.Errorf("outcome at %s: %d bytes too many", o.Position, len(value))
	}
	return o, nil
}

// Lookup returns the outcome that counts for a command, or false where none was
// observed. A visible that is not nil says which outcomes may be known of.
func (g *Graph) Lookup(id schemas.EventID, visible func(Outcome) bool) (Outcome, bool, error) {
	var found Outcome
	ok := false
	err := g.descend(id, func(o Outcome) bool {
		if visible == nil || visible(o) {
			found, ok = o, true
		}
		return !ok
	})
	return found, ok, err
}

// Outcomes returns all that was observed of a command, the latest first.
func (g *Graph) Outcomes(id schemas.EventID) ([]Outcome, error) {
	var all []Outcome
	err := g.descend(id, func(o Outcome) bool {
		all = append(all, o)
		return true
	})
	return all, err
}

// descend visits the outcomes of a command, the latest first.
func (g *Graph) descend(id schemas.EventID, visit func(Outcome) bool) error {
	v, err := g.View()
	if err != nil {
		return err
	}
	defer v.Close()
	lower := append([]byte{kindOutcome}, id[:]...)
	it, err := v.Iter(lower, store.PrefixEnd(lower))
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.Last(); ok; ok = it.Prev() {
		value, err := it.ValueAndErr()
		if err != nil {
			return v.Explain(err)
		}
		o, err := decodeOutcome(it.Key(), value)
		if err != nil {
			return v.Damaged(err)
		}
		if !visit(o) {
			return nil
		}
	}
	return v.Explain(it.Error())
}
