package flat

import (
	"bytes"
	"slices"
	"testing"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/index/indextest"
	"github.com/recountdb/recount/projections/vector/kernel"
)

const testDim = 32

// chunksOf returns copies of the chunks of an index, as a file would store them.
func chunksOf(x *Index) (chunks [][]byte) {
	for i := 0; i*kernel.BlockRows < x.Len(); i++ {
		chunks = append(chunks, slices.Clone(x.Chunk(i)))
	}
	return chunks
}

// TestLoad checks that a loaded index is what was stored, and that adding rows to it gives what was
// never stored.
func TestLoad(t *testing.T) {
	vectors := indextest.Vectors(indextest.LowRank, 2*kernel.BlockRows+20, testDim, 9, 0)
	vectors[kernel.BlockRows+3] = vectors[5] // a duplicate
	opt := index.Options{Dim: testDim, ScanBelow: -1, EfConstruction: 20, M: 8}
	whole, kept := build(t, opt, vectors)
	for _, n := range []int{0, 1, kernel.BlockRows - 1, kernel.BlockRows, 2*kernel.BlockRows + 1} {
		x, _ := build(t, opt, vectors[:n])
		y, err := Load(opt, x.AppendLinks(nil), chunksOf(x), kept.Vector)
		if err != nil {
			t.Fatalf("%d rows: %v", n, err)
		}
		if y.Len() != n || !bytes.Equal(y.AppendLinks(nil), x.AppendLinks(nil)) {
			t.Errorf("%d rows: a loaded index is not what was stored", n)
		}
		for _, v := range vectors[n:] {
			if err := y.Add(v); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(y.AppendLinks(nil), whole.AppendLinks(nil)) || !slices.EqualFunc(chunksOf(y), chunksOf(whole), bytes.Equal) {
			t.Errorf("stored at %d rows and continued: not what was never stored", n)
		}
		a, _ := y.Search(vectors[7], 10, 0, nil)
		b, _ := whole.Search(vectors[7], 10, 0, nil)
		if !slices.Equal(a, b) {
			t.Errorf("stored at %d rows: found %v, want %v", n, a, b)
		}
	}
	x, _ := build(t, opt, vectors[:10])
	links, chunks := x.AppendLinks(nil), chunksOf(x)
	for name, load := range map[string]func() (*Index, error){
		"no links":          func() (*Index, error) { return Load(opt, nil, chunks, kept.Vector) },
		"no chunks":         func() (*Index, error) { return Load(opt, links, nil, kept.Vector) },
		"a short chunk":     func() (*Index, error) { return Load(opt, links, [][]byte{chunks[0][:100]}, kept.Vector) },
		"bytes behind":      func() (*Index, error) { return Load(opt, append(slices.Clip(links), 0), chunks, kept.Vector) },
		"another dimension": func() (*Index, error) { return Load(index.Options{Dim: testDim + 1}, links, chunks, kept.Vector) },
	} {
		if _, err := load(); err == nil {
			t.Errorf("loaded with %s", name)
		}
	}
}

// TestMap checks that mapping full chunks changes nothing, while rows are added too.
func TestMap(t *testing.T) {
	vectors := indextest.Vectors(indextest.Clustered, 2*kernel.BlockRows+1, testDim, 10, 0)
	x, kept := build(t, index.Options{Dim: testDim, EfConstruction: 10, M: 4}, vectors)
	if len(x.Chunk(0)) == 0 || x.Chunk(-1) != nil || x.Chunk(3) != nil {
		t.Error("chunks are not those of the rows")
	}
	chunks := chunksOf(x)
	before, _ := x.Search(vectors[3], 10, 0, nil)
	for i := range 2 {
		if err := x.Map(i, chunks[i]); err != nil {
			t.Fatal(err)
		}
		if &x.Chunk(i)[0] != &chunks[i][0] {
			t.Errorf("chunk %d is not in the memory given", i)
		}
	}
	if after, err := x.Search(vectors[3], 10, 0, nil); err != nil || !slices.Equal(after, before) {
		t.Errorf("mapping chunks changed an answer: %v, %v, want %v", after, err, before)
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
		if err := kept.Add(x, v); err != nil {
			t.Fatal(err)
		}
	}
}
