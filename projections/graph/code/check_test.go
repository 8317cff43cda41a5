package code

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/projections/graph/prolly"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// What was changed behind the projection's back is found, and named.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	shard := projtest.Shard{TP: schemas.TopicPartition{Topic: "recount.commits"}}
	h := newHistory(rand.New(rand.NewPCG(3, 3)), &shard, "acme/shop")
	for range 10 {
		h.commit()
	}
	key := store.AppendShard(nil, shard.TP)
	for name, test := range map[string]struct {
		prefix []byte
		change func(value []byte) []byte
		want   string
	}{
		"a chunk's byte":      {chunkPrefix(key), func(v []byte) []byte { v[len(v)/2] ^= 1; return v }, "damaged"},
		"a chunk is gone":     {chunkPrefix(key), func([]byte) []byte { return nil }, prolly.ErrNotFound.Error()},
		"a snapshot's parent": {about(key, h.repo, aboutCommit), func(v []byte) []byte { return []byte(strings.Replace(string(v), h.commits[0], h.commits[1], 1)) }, "its commit and maps give"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c, err := Open(dir, toyOptions())
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			tamper(t, dir, test.prefix, test.change)
			if c, err = Open(dir, toyOptions()); err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			v, err := c.View()
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			if _, err := v.Check(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// tamper changes the first value below a prefix that the change makes different;
// nil deletes it.
func tamper(t *testing.T, dir string, prefix []byte, change func([]byte) []byte) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: pebble.FormatTableFormatV6})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: store.PrefixEnd(prefix)})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		was := string(it.Value())
		now := change([]byte(was))
		if string(now) == was {
			continue
		}
		if now == nil {
			err = db.Delete(it.Key(), pebble.Sync)
		} else {
			err = db.Set(it.Key(), now, pebble.Sync)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("nothing to change")
}
