package store

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"math"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestDecodeNext checks that a stored next offset decodes to what was encoded, and that other bytes
// are an error.
func TestDecodeNext(t *testing.T) {
	tp := schemas.TopicPartition{Topic: "recount.commands", Partition: 3}
	key := AppendShard([]byte{kindNext}, tp)
	for _, next := range []uint64{0, 1, 300, math.MaxInt64} {
		if got, n, err := decodeNext(key, binary.AppendUvarint(nil, next)); err != nil || got != tp || n != int64(next) {
			t.Errorf("%d: got %v, %d, %v", next, got, n, err)
		}
	}
	for name, kv := range map[string][2][]byte{
		"beyond what an offset can be": {key, binary.AppendUvarint(nil, math.MaxInt64+1)},
		"nothing":                      {key, nil},
		"cut short":                    {key, {0x80}},
		"too long a number":            {key, bytes.Repeat([]byte{0x80}, 11)},
		"bytes behind the number":      {key, {1, 0}},
		"bytes behind the partition":   {append(bytes.Clone(key), 'x'), {1}},
		"no partition":                 {key[:4], {1}},
	} {
		if tp, n, err := decodeNext(kv[0], kv[1]); err == nil {
			t.Errorf("%s: taken for %d of %v", name, n, tp)
		}
	}
}

// TestViewWithinACommit checks that a view that is opened after a commit was stored, but before
// DB.next has changed, has the stored position, as it has the rows.
func TestViewWithinACommit(t *testing.T) {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("state", 0o777); err != nil {
		t.Fatal(err)
	}
	d, err := Open("state", Options{Name: "p", FS: fs, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	tp := schemas.TopicPartition{Topic: "recount.commands"}
	begin := func(next int64) *Txn {
		t.Helper()
		tx, err := d.Begin(t.Context(), schemas.Batch{Topic: tp.Topic, Next: next}, func(*recountv1.Record) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	if err := begin(3).Commit(); err != nil {
		t.Fatal(err)
	}
	// The steps of Commit, up to the store.
	tx := begin(5)
	if err := tx.Set(append([]byte{kindNext}, tx.shard...), binary.AppendUvarint(nil, 5)); err != nil {
		t.Fatal(err)
	}
	d.committing++
	if err := tx.b.commit(); err != nil {
		t.Fatal(err)
	}
	v, err := d.View()
	if err != nil {
		t.Fatal(err)
	}
	if w, err := v.Watermark(); err != nil || w[tp] != 5 {
		t.Errorf("the view is at %d, %v; want 5", w[tp], err)
	}
	v.Close()
	d.next[tp] = 5
	d.committing--
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}
