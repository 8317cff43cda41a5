// Package waits is an example of a projection: for each kind of command, how often it
// ran, how often it failed and how long it took in all. Waits.Longest answers "what do I
// spend my time waiting for?".
//
// It stores one row for each template of a command ("go test <path>") and partition:
//
//	0x10 Shard template    runs, failures, nanoseconds, each an uvarint
//
// Package store adds the rest: the next offset of each partition, and the ids of the
// events seen, in the same atomic write. What the rows hold depends on the events alone,
// not on how they were batched, and no row belongs to two partitions; that is what makes
// a rebuild give the same bytes (waits_test.go).
package waits

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	name    = "waits"
	kindRow = store.FirstKind
)

// Kind is what a node needs to keep the projection: add it to the list in
// server/node/kinds.go. Raise Version when Apply stores something else, and every node
// rebuilds the state from the log.
var Kind = projections.Definition{Name: name, Version: 1, Topics: []string{schemas.TopicCommands}, Open: func(dir string) (projections.Projection, error) {
	return Open(dir, store.Options{})
}}

// Waits is the open projection. Next, Watermark, Dump, Flush and Close are the store's.
type Waits struct{ *store.DB }

// Open opens or creates the projection in dir.
func Open(dir string, o store.Options) (*Waits, error) {
	o.Name = name
	db, err := store.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &Waits{db}, nil
}

// Row is what is known of one kind of command.
type Row struct {
	Template       string
	Runs, Failures uint64
	Took           time.Duration
}

// Apply adds the commands of a batch to their rows. Begin leaves out what was applied
// before; Commit stores rows and offset together, so a crash leaves both or neither.
func (w *Waits) Apply(ctx context.Context, b schemas.Batch) error {
	t, err := w.Begin(ctx, b, func(r *recountv1.Record) bool { return r.GetIntent() != nil })
	if err != nil || t == nil {
		return err
	}
	rows := map[string]Row{} // of this batch, since Get sees only earlier ones
	for _, r := range t.New {
		in := r.GetIntent()
		row := rows[in.Template]
		row.Runs++
		if in.GetExitCode() != 0 {
			row.Failures++
		}
		row.Took += time.Duration(max(in.DurationNano, 0))
		rows[in.Template] = row
	}
	err = t.Do(func() error {
		for template, row := range rows {
			key := append(append([]byte{kindRow}, t.Shard()...), template...)
			value, ok, err := t.Get(key)
			if err != nil {
				return err
			}
			if ok {
				before, err := decode(value)
				if err != nil {
					return w.Damaged(err)
				}
				row.add(before)
			}
			if err := t.Set(key, row.encode()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Discard()
		return err
	}
	return t.Commit()
}

// Longest returns the rows that took longest in all, at most limit, and the watermark
// that they rest on.
func (w *Waits) Longest(limit int) ([]Row, schemas.Watermark, error) {
	v, err := w.View()
	if err != nil {
		return nil, nil, err
	}
	defer v.Close()
	it, err := v.Iter([]byte{kindRow}, []byte{kindRow + 1})
	if err != nil {
		return nil, nil, err
	}
	defer it.Close()
	sums := map[string]Row{} // over the partitions
	for ok := it.First(); ok; ok = it.Next() {
		_, template, ok := store.ParseShard(it.Key()[1:])
		row, err := decode(it.Value())
		if !ok || err != nil {
			return nil, nil, v.Damaged(fmt.Errorf("row %q: %w", it.Key(), err))
		}
		row.add(sums[string(template)])
		row.Template = string(template)
		sums[row.Template] = row
	}
	if err := it.Error(); err != nil {
		return nil, nil, v.Explain(err)
	}
	all := make([]Row, 0, len(sums))
	for _, row := range sums {
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Template, b.Template))
	})
	mark, err := v.Watermark()
	return all[:min(limit, len(all))], mark, err
}

func (r *Row) add(o Row) {
	r.Runs += o.Runs
	r.Failures += o.Failures
	r.Took += o.Took
}

func (r *Row) encode() []byte {
	b := binary.AppendUvarint(nil, r.Runs)
	b = binary.AppendUvarint(b, r.Failures)
	return binary.AppendUvarint(b, uint64(r.Took))
}

func decode(b []byte) (Row, error) {
	var v [3]uint64
	for i := range v {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return Row{}, fmt.Errorf("a row of %d numbers, want 3", i)
		}
		v[i], b = n, b[size:]
	}
	return Row{Runs: v[0], Failures: v[1], Took: time.Duration(v[2])}, nil
}
