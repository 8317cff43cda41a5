package code

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestCheckFindsWhatIsWrong checks that every kind of damage in the store is found and named.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	shard := projtest.Shard{TP: schemas.TopicPartition{Topic: "recount.commits"}}
	h := newHistory(rand.New(rand.NewPCG(3, 3)), &shard, "acme/shop")
	for range 10 {
		h.commit()
	}
	key := store.AppendShard(nil, shard.TP)
	var lastBlob []byte // of a file of the last commit
	for _, blob := range h.files[h.commits[len(h.commits)-1]] {
		lastBlob, _ = hex.DecodeString(blob)
	}
	lines := linesOf(t, &shard, h, h.commits[0])
	for name, test := range map[string]struct {
		prefix  []byte
		change  func(value []byte) []byte
		want    string
		inChunk bool
	}{
		"a chunk's byte":          {chunkPrefix(key), func(v []byte) []byte { v[len(v)/2] ^= 1; return v }, "damaged", true},
		"a chunk is gone":         {chunkPrefix(key), func([]byte) []byte { return nil }, prolly.ErrNotFound.Error(), true},
		"a snapshot's parent":     {about(key, h.repo, aboutCommit), func(v []byte) []byte { return []byte(strings.Replace(string(v), h.commits[0], h.commits[1], 1)) }, "its commit and maps give", false},
		"a file's facts are gone": {about(key, h.repo, aboutFacts, string(lastBlob)), func([]byte) []byte { return nil }, "no facts of its blob", false},
		"an edge's other direction": {about(key, h.repo, aboutCommit), func(v []byte) []byte {
			s := &recountv1.CodeSnapshot{}
			if err := proto.Unmarshal(v, s); err != nil {
				t.Fatal(err)
			}
			if s.Commit != h.commits[len(h.commits)-1] {
				return v
			}
			s.Maps.In = prolly.Empty[:]
			return hashedAgain(t, s)
		}, "not in the map in", false},
		"lines of another commit": {about(key, h.repo, aboutCommit), func(v []byte) []byte {
			s := &recountv1.CodeSnapshot{}
			if err := proto.Unmarshal(v, s); err != nil {
				t.Fatal(err)
			}
			if s.Commit != h.commits[len(h.commits)-1] {
				return v
			}
			s.Maps.Lines = lines
			return hashedAgain(t, s)
		}, "has lines of", false},
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
			_, faults, err := v.Check(t.Context(), nil)
			if err != nil || len(faults) == 0 || !strings.Contains(faults[0].String(), test.want) {
				t.Fatalf("got %v %v, want %q", faults, err, test.want)
			}
			if f := faults[0]; f.Repository != h.repo || f.Commit == "" || test.inChunk != (f.Chunk != nil) || test.inChunk && f.Map == "" {
				t.Errorf("it does not say where: %+v", f)
			}
		})
	}
}

// linesOf returns the root of a commit's map lines.
func linesOf(t *testing.T, shard *projtest.Shard, h *history, commit string) []byte {
	t.Helper()
	c := open(t)
	if err := c.Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
		t.Fatal(err)
	}
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s, err := v.Snapshot(RepoID{shard.TP, h.repo}, commit)
	if err != nil {
		t.Fatal(err)
	}
	return s.Maps.Lines
}

// hashedAgain returns the hash of a snapshot whose maps were changed.
func hashedAgain(t *testing.T, s *recountv1.CodeSnapshot) []byte {
	t.Helper()
	hash, err := HashOf(s)
	if err != nil {
		t.Fatal(err)
	}
	s.Snapshot = hash[:]
	v, err := marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// tamper changes the first value below a prefix for which change returns something different; nil
// deletes it.
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
