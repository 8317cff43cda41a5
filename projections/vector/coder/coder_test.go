package coder

import (
	"errors"
	"testing"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/index/indextest"
)

func TestIndex(t *testing.T) {
	indextest.Run(t, indextest.Backend{
		New: func(opt index.Options) (index.Index, error) { return New(opt) },
		Load: func(opt index.Options, links []byte, chunks [][]byte) (index.Index, error) {
			return Load(opt, links, chunks)
		},
		Recall:      0, // the library promises no recall
		Approximate: true,
	})
}

// TestAfterAPanic gives the library input that makes it panic, bypassing the checks that prevent
// this.
func TestAfterAPanic(t *testing.T) {
	vectors := indextest.Vectors(indextest.Clustered, 100, 16, 1, 0)
	x, err := New(index.Options{Dim: 16, ScanBelow: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if err := x.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	x.insert(100, make([]float32, 3)) // another dimension
	if x.graph != nil {
		t.Fatal("the library did not panic: this test shows nothing")
	}
	got, err := x.Search(vectors[7], 3, 0, nil)
	if want := indextest.Exact(vectors, vectors[7], 3, nil); err != nil || len(got) != 3 || got[0] != want[0] || got[2] != want[2] {
		t.Errorf("after the panic: %v, %v, want %v", got, err, want)
	}
	if err := x.Add(vectors[0]); err != nil || x.Len() != 101 {
		t.Errorf("add after the panic: %v, %d rows", err, x.Len())
	}
}

func TestLoadRefuses(t *testing.T) {
	x, err := New(index.Options{Dim: 16})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range indextest.Vectors(indextest.Uniform, 3, 16, 1, 0) {
		if err := x.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Delete(1); err != nil {
		t.Fatal(err)
	}
	good, chunks := x.AppendLinks(nil), indextest.Chunks(x)
	zero := [][]byte{make([]byte, len(chunks[0]))}
	for name, load := range map[string]func() error{
		"bytes behind": func() error { _, err := Load(x.opt, append(good[:len(good):len(good)], 0), chunks); return err },
		"cut short":    func() error { _, err := Load(x.opt, good[:len(good)-1], chunks); return err },
		"zero vectors": func() error { _, err := Load(x.opt, good, zero); return err },
	} {
		if err := load(); !errors.Is(err, index.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
