package store

import (
	"encoding/binary"
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestSeen appends events, any of which may be repeated later, to a store that is closed and
// reopened from time to time. With and without a filter a repeated event is found and a new one is
// not.
func TestSeen(t *testing.T) {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("state", 0o777); err != nil {
		t.Fatal(err)
	}
	open := func() *DB {
		d, err := Open("state", Options{Name: "p", FS: fs, MemTableBytes: 64 << 10, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := open()
	offset, fresh := int64(0), uint64(0)
	for round := range 400 {
		b := schemas.Batch{Topic: "recount.agents"}
		first := map[uint64]bool{}
		for i := range 80 {
			// Every third event is a repeated one, recent or old.
			n := fresh
			if i%3 == 0 && fresh > 0 {
				n = uint64(i*7919+round*104729) % fresh
			} else {
				first[fresh] = true
				fresh++
			}
			b.Records = append(b.Records, &recountv1.Record{
				Origin:  &recountv1.Position{Topic: b.Topic, Offset: offset},
				EventId: eventID(n),
			})
			offset++
		}
		b.Next = offset
		tx, err := d.Begin(t.Context(), b, func(*recountv1.Record) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range tx.New {
			n := binary.BigEndian.Uint64(r.EventId)
			if !first[n] {
				t.Fatalf("round %d: event %d is new again", round, n)
			}
			delete(first, n)
		}
		if len(first) > 0 {
			t.Fatalf("round %d: %d new events were taken for old ones", round, len(first))
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		for _, n := range []uint64{0, fresh / 2, fresh - 1, fresh, 1 << 40} {
			at, ok, err := d.Position(schemas.EventID(eventID(n)))
			if err != nil || ok != (n < fresh) || ok && at.Topic != b.Topic {
				t.Fatalf("round %d: position of event %d of %d: got %s, %v, %v", round, n, fresh, at, ok, err)
			}
		}
		if round == 60 {
			wrong := 0
			for n := range uint64(10_000) {
				if !d.seenOf(b.TP()).isNew(schemas.EventID(eventID(fresh + n))) {
					wrong++
				}
			}
			if wrong > 200 {
				t.Errorf("%d of 10000 new events look as if they were there, want less than 200", wrong)
			}
		}
		if round%100 == 60 {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			d = open()
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// eventID returns ids that count upwards, the worst input for a filter.
func eventID(n uint64) []byte {
	id := binary.BigEndian.AppendUint64(nil, n)
	return append(id, "producer"...)
}
