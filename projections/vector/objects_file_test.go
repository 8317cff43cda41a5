package vector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
)

// objectShelf returns a folder with two steps of objects and a checkpoint, and its log.
func objectShelf(t testing.TB) (dir string, opts Options, a *agents) {
	opts = Options{SealRows: 40, Logger: quiet}
	a = newAgents(0, 3)
	p := open(t, t.TempDir(), opts)
	for len(p.ObjectStats()) == 0 || p.ObjectStats()[0].Files < 2 {
		a.some(6)
		a.apply(t, p)
	}
	for range 5 {
		a.some(6)
	}
	a.apply(t, p)
	closeOf(t, p)
	if files := filesOf(t, p.dir); len(files) != 3 {
		t.Fatalf("%d files, want 3", len(files))
	}
	return p.dir, opts, a
}

// TestFlippedBitsOfObjects flips bits all over every file. In a step each is detected when it is
// opened or verified; a changed checkpoint is not used, unless only the padding is other.
func TestFlippedBitsOfObjects(t *testing.T) {
	dir, opts, a := objectShelf(t)
	rng := rand.New(rand.NewPCG(4, 4))
	for name, good := range filesOf(t, dir) {
		path := filepath.Join(dir, sealed.ShardDir(a.TP), name)
		for i := range 60 {
			at := rng.IntN(len(good))
			if i < 20 {
				at = i * headerSize / 20
			}
			if err := os.WriteFile(path, flip(good, at), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := Open(dir, opts)
			switch {
			case err != nil:
				if name == tailName {
					t.Fatalf("%s: byte %d flipped: %v", name, at, err)
				}
				isDamage(t, err, path, at)
				continue
			case name == tailName:
				if p.Next(a.TP) == a.Next && !paddingDiffers(t, path) {
					t.Fatalf("%s: byte %d flipped: used all the same", name, at)
				}
			default:
				damage, err := p.Verify(t.Context())
				if err != nil || len(damage) != 1 || damage[0].Region != "padding" || damage[0].File != path {
					t.Fatalf("%s: byte %d flipped: not noticed: %v %v", name, at, damage, err)
				}
			}
			p.release()
		}
		if err := os.WriteFile(path, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// paddingDiffers reports whether a file is damaged in its padding alone, which nothing reads.
func paddingDiffers(t *testing.T, path string) bool {
	t.Helper()
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	damage := f.verify()
	return damage != nil && damage.Region == "padding"
}

// TestMisplacedObjects checks that a step that is missing, truncated, in another's place or of
// another partition gives an error that names it.
func TestMisplacedObjects(t *testing.T) {
	dir, opts, a := objectShelf(t)
	shard := filepath.Join(dir, sealed.ShardDir(a.TP))
	files := filesOf(t, dir)
	first, second := filepath.Join(shard, stepName(0)), filepath.Join(shard, stepName(1))
	for name, tc := range map[string]struct {
		change func() error
		names  string
	}{
		"first gone":         {func() error { return os.Remove(first) }, first},
		"second cut":         {func() error { return os.Truncate(second, 1000) }, second},
		"second empty":       {func() error { return os.Truncate(second, 0) }, second},
		"first as second":    {func() error { return os.WriteFile(second, files[stepName(0)], 0o644) }, second},
		"checkpoint as step": {func() error { return os.WriteFile(second, files[tailName], 0o644) }, second},
	} {
		if err := tc.change(); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, opts)
		var damage *CorruptError
		if !errors.As(err, &damage) || damage.File != tc.names {
			t.Errorf("%s: got %v, want a CorruptError of %s", name, err, tc.names)
		}
		for name, b := range files {
			if err := os.WriteFile(filepath.Join(shard, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Rename(shard, filepath.Join(dir, "recount.agents-3")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, opts); err == nil {
		t.Error("a folder of another partition was opened")
	}
}

// smallObjectTail returns the bytes of a checkpoint of a few passages.
func smallObjectTail(t testing.TB) ([]byte, Options) {
	opts := Options{SealRows: 12, Logger: quiet}
	a := newAgents(0, 1)
	a.add("test/1", object(audience(0), at(0), at(1)), object(audience(1), at(0)))
	a.add("test/2", object(audience(0), at(0), at(0)))
	a.add("test/1", object(audience(0), at(2)))
	p := open(t, t.TempDir(), opts)
	a.apply(t, p)
	closeOf(t, p)
	return tailOf(t, p.dir), opts
}

// useObjects loads a checkpoint if it is valid, uses it in every way, and seals it.
func useObjects(t *testing.T, b []byte, opts Options) bool {
	t.Helper()
	reseal(b)
	if err := opts.setDefaults(); err != nil {
		t.Fatal(err)
	}
	f := &file{path: "fuzz", data: sealed.Bytes(len(b)), release: func() error { return nil }}
	copy(f.data, b)
	if f.parse() != nil {
		return false
	}
	p := &Projection{opts: opts, shards: map[schemas.TopicPartition]*shard{}}
	tp := schemas.TopicPartition{Topic: "recount.agents"}
	s := p.shard(tp)
	if s.belongs(f, kindTail, 0) != nil {
		return false
	}
	st, err := s.readStep(f)
	if err != nil {
		return false
	}
	next, err := s.takeTail(f)
	if err != nil {
		return false
	}
	s.publish(next)
	p.shards[tp] = s
	ask := func() (all [][]ObjectHit) {
		for i := range 3 {
			q := ObjectQuery{Vector: at(float64(i)), Embedder: "test/1", K: 4, Audiences: []schemas.AudienceID{audience(0).ID(), audience(1).ID()}}
			hits, _ := searchObjects(t, p, q)
			for _, h := range hits {
				q.Only = append(q.Only, h.Ref)
			}
			only, _ := searchObjects(t, p, q)
			q.Only, q.Below = nil, schemas.Watermark{tp: int64(i)}
			below, _ := searchObjects(t, p, q)
			all = append(all, hits, only, below)
		}
		return all
	}
	live := ask()
	if err := p.Dump(t.Context(), func(_, _ []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	// The step that the same content would give.
	delete(p.shards, tp)
	again := p.shard(tp)
	again.useLoaded(st)
	again.publish(st.next)
	if len(st.key) == len(s.tail.key) && st.next == next && sameCodes(st) {
		if diff := gocmp.Diff(ask(), live); diff != "" {
			t.Fatalf("sealed (got - want +): %s", diff)
		}
	} else {
		ask()
	}
	return true
}

// sameCodes reports whether a step's codes and scales are those of its vectors.
func sameCodes(st *step) bool {
	r := rows.New(dim)
	var order []uint32
	for row := range st.key {
		r.Write(st.vector(uint32(row)))
		r.Publish()
		order = append(order, uint32(row))
	}
	codes, scales := columnsOf(r.Table(), order)
	return slices.Equal(st.codes, codes) && slices.Equal(st.scales, scales)
}

// FuzzObjects reads checkpoints in which every checksum is right and anything else may be wrong. An
// accepted one can be used in every way.
func FuzzObjects(f *testing.F) {
	good, opts := smallObjectTail(f)
	f.Add(good, uint32(0), uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, at, value uint32) {
		b = bytes.Clone(b)
		if n := uint32(len(b)); n >= 4 && value != 0 {
			binary.LittleEndian.PutUint32(b[at%(n-3):], value)
		}
		useObjects(t, b, opts)
	})
}

// TestEveryValueOfObjectsWrong does systematically what the fuzzer does at random, once for each
// place that is not a vector.
func TestEveryValueOfObjectsWrong(t *testing.T) {
	good, opts := smallObjectTail(t)
	if !useObjects(t, bytes.Clone(good), opts) {
		t.Fatal("the checkpoint itself is not taken")
	}
	accepted, refused := 0, 0
	for turn, value := range []uint32{1, 2, 0x7fffffff, 0xffffffff} {
		for at := 0; at+4 <= len(good); at += 4 {
			if racing.On && (at/4+turn)%4 != 0 {
				continue // each place once
			}
			if binary.LittleEndian.Uint32(good[at:]) == 0 && at%64 != 0 {
				continue // largely zeros of vectors and of padding
			}
			bad := bytes.Clone(good)
			binary.LittleEndian.PutUint32(bad[at:], value)
			if useObjects(t, bad, opts) {
				accepted++
			} else {
				refused++
			}
		}
	}
	if accepted == 0 || refused == 0 {
		t.Errorf("%d files were accepted, %d refused", accepted, refused)
	}
}
