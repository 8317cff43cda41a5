package prolly

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func openPebble(t testing.TB) *pebble.DB {
	t.Helper()
	db, err := pebble.Open("state", &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}})
	check(t, err)
	t.Cleanup(func() { check(t, db.Close()) })
	return db
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(f string, _ ...any) {
	panic(f)
}

// TestStores runs the same operations on every store.
func TestStores(t *testing.T) {
	db := openPebble(t)
	check(t, db.Set([]byte("before"), []byte("x"), pebble.NoSync))
	check(t, db.Set([]byte("pz"), []byte("x"), pebble.NoSync))
	for name, s := range map[string]sweeper{
		"memory": NewMemory(),
		"pebble": newInPebble(db, []byte("p\xff")),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := s.Get(Ref{Hash: Hash{1}}); !errors.Is(err, ErrNotFound) {
				t.Errorf("get what is not there: got %v, want ErrNotFound", err)
			}
			if _, err := New(s, Options{}).Map(Hash{1}); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), Hash{1}.String()) {
				t.Errorf("map that is not there: got %v, want ErrNotFound and the hash", err)
			}
			g := newCodeGraph(2000, true)
			d := New(s, Options{})
			first := build(t, d, g.entries)
			edits := g.commit()
			g.entries.apply(edits)
			second, _, err := d.Apply(first, edits)
			check(t, err)
			d = New(s, Options{CacheBytes: -1})
			_, err = d.Check(t.Context(), first, second)
			check(t, err)
			sameAsBuilt(t, d, second, g.entries)

			marks := d.Marks()
			check(t, marks.Add(t.Context(), second))
			if sweep(t, marks, s) == 0 {
				t.Error("nothing was deleted")
			}
			var left []Ref
			for r, err := range s.Refs() {
				check(t, err)
				left = append(left, r)
			}
			slices.SortFunc(left, Ref.Compare)
			if want := reachable(t, d, second); !slices.Equal(left, want) {
				t.Errorf("after the sweep: got %d chunks, want %d, or other ones", len(left), len(want))
			}
		})
	}
	if _, closer, err := db.Get([]byte("pz")); err != nil {
		t.Errorf("a key behind the prefix: %v", err)
	} else {
		check(t, closer.Close())
	}
}

// TestKeysOfChunks uses places with zero bytes, and places that are prefixes of others.
func TestKeysOfChunks(t *testing.T) {
	k := &Keyed{Prefix: []byte("p\x00")}
	for _, r := range []Ref{{}, {Hash: Hash{1}}, {0, "a", Hash{}}, {0, "a\x00b", Hash{2}}, {7, "a\x00b", Hash{2}}, {0, "a\x00", Hash{}}, {255, strings.Repeat("\x00", 40), Hash{}}} {
		if got, ok := k.Ref(k.Key(r)); !ok || got != r {
			t.Errorf("key %q: got %q, %t, want %q", k.Key(r), got, ok, r)
		}
	}
	for _, key := range []string{"", "p", "p\x00", "p\x00\x00" + strings.Repeat("h", 31), "p\x00a" + strings.Repeat("h", 32), "q\x00\x00" + strings.Repeat("h", 32)} {
		if r, ok := k.Ref([]byte(key)); ok {
			t.Errorf("key %q is taken for that of %q", key, r)
		}
	}
}

// TestStaged makes maps in front of a store, reads them, and writes them to it.
func TestStaged(t *testing.T) {
	base := NewMemory()
	d := New(base, Options{})
	g := newCodeGraph(2000, true)
	first := build(t, d, g.entries)
	was, _ := base.Size()
	staged := NewStaged(base)
	ds := New(staged, Options{CacheBytes: -1})
	root := first
	for range 5 {
		edits := g.commit()
		g.entries.apply(edits)
		var err error
		root, _, err = ds.Apply(root, edits)
		check(t, err)
	}
	sameAsBuilt(t, ds, root, g.entries)
	if is, _ := base.Size(); is != was {
		t.Errorf("the base has %d chunks, before it had %d", is, was)
	}
	if _, err := d.Map(root); !errors.Is(err, ErrNotFound) {
		t.Errorf("read past the stage: got %v, want ErrNotFound", err)
	}
	check(t, base.Put(staged.Chunks()))
	_, err := d.Check(t.Context(), first, root)
	check(t, err)
	readOnly := &Keyed{Find: func([]byte, func([]byte) error) (bool, error) { return false, nil }}
	if _, err := New(readOnly, Options{}).Build(g.entries.entries()); err == nil || !strings.Contains(err.Error(), "reading only") {
		t.Errorf("build in a store for reading: got %v", err)
	}
}

// TestPutFails checks that the error of a failing store is returned by every operation.
func TestPutFails(t *testing.T) {
	full := errors.New("full")
	s := &failing{Memory: NewMemory(), err: full}
	d := New(s, Options{})
	g := newCodeGraph(20000, true)
	if _, err := d.Build(g.entries.entries()); !errors.Is(err, full) {
		t.Errorf("build: got %v", err)
	}
	s.err = nil
	root := build(t, d, g.entries)
	s.err = full
	edits := g.commit()
	if _, _, err := d.Apply(root, edits); !errors.Is(err, full) {
		t.Errorf("apply: got %v", err)
	}
	s.err = nil
	g.entries.apply(edits)
	root, _, err := d.Apply(root, edits)
	check(t, err)
	sameAsBuilt(t, New(s, Options{}), root, g.entries)
}

type failing struct {
	*Memory
	err error
}

func (f *failing) Put(chunks []Chunk) error {
	if f.err != nil {
		return f.err
	}
	return f.Memory.Put(chunks)
}

// TestReadersTogether runs readers with a cache that is too small for them, and a writer beside
// them. It is meant for the race detector.
func TestReadersTogether(t *testing.T) {
	s := NewMemory()
	d := New(s, Options{CacheBytes: 64 << 10})
	g := newCodeGraph(5000, false)
	root := build(t, d, g.entries)
	want := g.entries
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			m, err := d.Map(root)
			if err != nil {
				t.Error(err)
				return
			}
			for k, v := range want {
				got, ok, err := m.Get([]byte(k))
				if err != nil || !ok || string(got) != v {
					t.Errorf("get %x: got %q, %t, %v, want %q", k, got, ok, err, v)
					return
				}
			}
			if c, p, err := d.Prove(root, []byte("x")); err != nil || Verify(root, c, p) != nil {
				t.Errorf("prove: %v", err)
			}
		})
	}
	next := root
	for range 20 {
		edits := g.commit()
		var err error
		next, _, err = d.Apply(next, edits)
		check(t, err)
		for _, err := range d.Diff(root, next) {
			check(t, err)
		}
	}
	wg.Wait()
}

// inPebble is a Keyed store in a Pebble database, below a prefix.
type inPebble struct {
	Keyed
	db *pebble.DB
}

// newInPebble returns a store below a prefix of a database. The caller closes the database.
func newInPebble(db *pebble.DB, prefix []byte) *inPebble {
	p := &inPebble{Keyed{Prefix: bytes.Clone(prefix)}, db}
	p.Find = func(key []byte, use func([]byte) error) (bool, error) {
		value, closer, err := db.Get(key)
		if errors.Is(err, pebble.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, errors.Join(use(value), closer.Close())
	}
	return p
}

// Put implements Store: all chunks are stored or none.
func (p *inPebble) Put(chunks []Chunk) error {
	b := p.db.NewBatch()
	defer b.Close()
	for _, c := range chunks {
		if err := b.Set(p.Key(c.Ref), c.Stored, nil); err != nil {
			return err
		}
	}
	return b.Commit(pebble.NoSync)
}

// Refs yields the name of every chunk in key order.
func (p *inPebble) Refs() iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		it, err := p.db.NewIter(&pebble.IterOptions{LowerBound: p.Prefix, UpperBound: prefixEnd(p.Prefix)})
		if err != nil {
			yield(Ref{}, err)
			return
		}
		defer it.Close()
		for ok := it.First(); ok; ok = it.Next() {
			r, chunk := p.Ref(it.Key())
			if !chunk {
				yield(Ref{}, fmt.Errorf("key % x is not that of a chunk", it.Key()))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(Ref{}, err)
		}
	}
}

// Delete deletes chunks.
func (p *inPebble) Delete(refs []Ref) error {
	b := p.db.NewBatch()
	defer b.Close()
	for _, r := range refs {
		if err := b.Delete(p.Key(r), nil); err != nil {
			return err
		}
	}
	return b.Commit(pebble.NoSync)
}
