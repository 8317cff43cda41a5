package indextest

import (
	"slices"
	"sync"
	"testing"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
)

// Chunks returns copies of the chunks of an index, as a file would store them.
func Chunks(x index.Index) [][]byte {
	var chunks [][]byte
	for i := 0; i*kernel.BlockRows < x.Len(); i++ {
		chunks = append(chunks, slices.Clone(x.Chunk(i)))
	}
	return chunks
}

func loads(t *testing.T, b Backend) {
	vectors := Vectors(LowRank, 2*kernel.BlockRows+20, dim, 9, 0)
	opt := index.Options{Dim: dim, ScanBelow: -1, EfConstruction: 20, M: 8}
	whole := build(t, b, opt, vectors)
	for _, n := range []int{0, 1, kernel.BlockRows - 1, kernel.BlockRows, 2*kernel.BlockRows + 1} {
		x := build(t, b, opt, vectors[:n])
		if n > 1 {
			if err := x.Delete(1); err != nil {
				t.Fatal(err)
			}
		}
		y, err := b.Load(opt, x.AppendLinks(nil), Chunks(x))
		if err != nil {
			t.Fatalf("%d rows: %v", n, err)
		}
		if y.Len() != n || y.Deleted(1) != x.Deleted(1) {
			t.Errorf("loaded %d rows, want %d; row 1 deleted: %v, want %v", y.Len(), n, y.Deleted(1), x.Deleted(1))
		}
		if n > 0 {
			search(t, y, vectors[0], 10, 0, nil)
		}
		if b.Approximate {
			continue
		}
		if y.Hash() != x.Hash() {
			t.Errorf("%d rows: a loaded index is not what was stored", n)
		}
		for _, v := range vectors[n:] {
			if err := y.Add(v); err != nil {
				t.Fatal(err)
			}
		}
		if n > 1 {
			if err := whole.Delete(1); err != nil {
				t.Fatal(err)
			}
		}
		if y.Hash() != whole.Hash() {
			t.Errorf("stored at %d rows and gone on with: not what was never stored", n)
		}
	}
	x := build(t, b, opt, vectors[:10])
	links, chunks := x.AppendLinks(nil), Chunks(x)
	for name, load := range map[string]func() (index.Index, error){
		"no links":      func() (index.Index, error) { return b.Load(opt, nil, chunks) },
		"no chunks":     func() (index.Index, error) { return b.Load(opt, links, nil) },
		"a short chunk": func() (index.Index, error) { return b.Load(opt, links, [][]byte{chunks[0][:100]}) },
		"another dimension": func() (index.Index, error) {
			return b.Load(index.Options{Dim: dim + 1}, links, chunks)
		},
	} {
		if _, err := load(); err == nil {
			t.Errorf("loaded with %s", name)
		}
	}
}

func maps(t *testing.T, b Backend) {
	vectors := Vectors(Clustered, 2*kernel.BlockRows+1, dim, 10, 0)
	x := build(t, b, index.Options{Dim: dim, EfConstruction: 10, M: 4}, vectors)
	if len(x.Chunk(0)) == 0 || x.Chunk(-1) != nil || x.Chunk(3) != nil {
		t.Error("chunks are not those of the rows")
	}
	before, chunks := x.Hash(), Chunks(x)
	for i := range 2 {
		if err := x.Map(i, chunks[i]); err != nil {
			t.Fatal(err)
		}
		if &x.Chunk(i)[0] != &chunks[i][0] {
			t.Errorf("chunk %d is not in the memory given", i)
		}
	}
	if x.Hash() != before {
		t.Error("mapping chunks changed the index")
	}
	for _, bad := range []struct {
		i     int
		chunk []byte
	}{{-1, chunks[0]}, {2, chunks[2]}, {3, chunks[0]}, {0, nil}, {0, chunks[0][1:]}} {
		if err := x.Map(bad.i, bad.chunk); err == nil {
			t.Errorf("mapped chunk %d to %d bytes", bad.i, len(bad.chunk))
		}
	}
	for _, v := range vectors[:100] { // the chunk that is not full can still grow
		if err := x.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	if n := x.Len(); !slices.Equal(x.Vector(uint32(n-1)), vectors[99]) {
		t.Error("a row added after mapping is not there")
	}
}

// concurrent searches while rows are added, under the race detector. For any interleaving a reader
// finds complete rows only.
func concurrent(t *testing.T, b Backend) {
	vectors := Vectors(Clustered, kernel.BlockRows+50, dim, 11, 0)
	opt := index.Options{Dim: dim, ScanBelow: 64, EfConstruction: 20, M: 8}
	x := build(t, b, opt, vectors[:8])
	done := make(chan struct{})
	var readers sync.WaitGroup
	for r := range 3 {
		readers.Go(func() {
			for i := r; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				q, bound := vectors[i%len(vectors)], uint32(x.Len())
				var keep func(uint32) bool
				if r%2 == 1 {
					keep = func(row uint32) bool { return row < bound }
				}
				got, err := x.Search(q, 10, 0, keep)
				after := uint32(x.Len())
				if err != nil || len(got) == 0 {
					t.Errorf("found %v, %v among %d rows", got, err, bound)
					return
				}
				for _, n := range got {
					if n.Row >= after || keep != nil && n.Row >= bound {
						t.Errorf("found row %d of %d", n.Row, after)
						return
					}
					if n.Score != kernel.Generic().Dot(q, vectors[n.Row]) {
						t.Errorf("row %d has score %v while rows are added", n.Row, n.Score)
						return
					}
				}
			}
		})
	}
	for i, v := range vectors[8:] {
		if _, err := x.AddNear(v, 3); err != nil {
			t.Error(err)
		}
		if i == kernel.BlockRows+20 {
			if err := x.Map(0, slices.Clone(x.Chunk(0))); err != nil {
				t.Error(err)
			}
		}
		if i%100 == 50 {
			_ = x.AppendLinks(nil)
		}
	}
	close(done)
	readers.Wait()
	if !b.Approximate && x.Hash() != build(t, b, opt, vectors).Hash() {
		t.Error("what is built while it is read is not what is built alone")
	}
}
