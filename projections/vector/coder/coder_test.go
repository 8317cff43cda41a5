package coder

import (
	"testing"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/index/indextest"
)

func TestIndex(t *testing.T) {
	indextest.Run(t, indextest.Backend{
		New:         func(opt index.Options, v index.Vectors) (index.Index, error) { return New(opt, v) },
		Recall:      0, // the library promises no recall
		Approximate: true,
	})
}

// TestAfterAPanic gives the library input that makes it panic, bypassing the checks that prevent
// this.
func TestAfterAPanic(t *testing.T) {
	vectors := indextest.Vectors(indextest.Clustered, 100, 16, 1, 0)
	kept := &indextest.Kept{}
	x, err := New(index.Options{Dim: 16, ScanBelow: -1}, kept.Vector)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if err := kept.Add(x, v); err != nil {
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
	if err := kept.Add(x, vectors[0]); err != nil || x.Len() != 101 {
		t.Errorf("add after the panic: %v, %d rows", err, x.Len())
	}
}
