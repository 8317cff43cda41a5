package prolly

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// model is the expected content of a map.
type model map[string]string

func (m model) entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(Entry{[]byte(k), []byte(m[k])}, nil) {
				return
			}
		}
	}
}

func (m model) apply(edits []Edit) {
	for _, e := range edits {
		if e.Delete {
			delete(m, string(e.Key))
		} else {
			m[string(e.Key)] = string(e.Value)
		}
	}
}

func build(t testing.TB, d *DB, m model) Hash {
	t.Helper()
	root, err := d.Build(m.entries())
	check(t, err)
	return root
}

// newDB returns a DB without a cache and its store.
func newDB() (*DB, *Memory) {
	s := NewMemory()
	return New(s, Options{CacheBytes: -1}), s
}

// numbered yields n entries of about 100 bytes with keys similar to those of edges: two truncated
// hashes, with runs that share the first.
func numbered(n int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		var key [40]byte
		var value [60]byte
		for i := range n {
			if i%7 == 0 {
				// The keys ascend, and are random after the first bytes.
				binary.BigEndian.PutUint64(key[:], uint64(i)<<40|r.Uint64()>>24)
				binary.BigEndian.PutUint64(key[8:], r.Uint64())
			}
			binary.BigEndian.PutUint32(key[20:], uint32(i%7))
			binary.BigEndian.PutUint64(key[24:], r.Uint64())
			binary.BigEndian.PutUint64(key[32:], r.Uint64())
			copy(value[:], fmt.Sprintf("calls internal/some/file%d.go:%d:%d confidence 0.97 ", i/1000, i%1000, i%80))
			if !yield(Entry{key[:], value[:]}, nil) {
				return
			}
		}
	}
}

// randomEdits returns n random edits of `space` different keys.
func randomEdits(r *rand.Rand, n, space int) []Edit {
	edits := make([]Edit, n)
	for i := range edits {
		edits[i] = Edit{Key: fmt.Appendf(nil, "key %06d", r.IntN(space)), Value: fmt.Appendf(nil, "value %d", r.IntN(1000))}
		switch r.IntN(20) {
		case 0, 1, 2, 3, 4, 5, 6, 7:
			edits[i].Delete, edits[i].Value = true, nil
		case 8:
			edits[i].Value = bytes.Repeat([]byte{'x'}, r.IntN(MaxValue+1))
		case 9:
			edits[i].Value = nil
		}
	}
	return edits
}

// sweeper is a Store that can list and delete chunks.
type sweeper interface {
	Store
	Refs() iter.Seq2[Ref, error]
	Delete([]Ref) error
}

// sweep deletes the chunks that are not marked and returns their number.
func sweep(t testing.TB, m *Marks, s sweeper) int {
	t.Helper()
	var gone []Ref
	for r, err := range s.Refs() {
		check(t, err)
		if !m.Has(r.Hash) {
			gone = append(gone, r)
		}
	}
	check(t, s.Delete(gone))
	return len(gone)
}
