package flat

import (
	"slices"
	"testing"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/rows"
)

// FuzzLoad calls Load with damaged links and arbitrary chunks. Load rejects them or returns an
// index that works.
func FuzzLoad(f *testing.F) {
	opt := index.Options{Dim: 8, M: 4, EfConstruction: 20, ScanBelow: -1}
	vectors := integers(90, 8)
	for _, n := range []int{0, 1, 2, 40, 80} {
		rows := slices.Clone(vectors[:n])
		for i := range rows {
			if i%10 == 3 {
				rows[i] = vectors[3] // a duplicate
			}
		}
		x, _ := build(f, opt, rows)
		var chunk []byte
		if n > 0 {
			chunk = x.Chunk(0)[:200]
		}
		f.Add(x.AppendLinks(nil), chunk)
	}
	f.Fuzz(func(t *testing.T, links, data []byte) {
		chunk := make([]byte, rows.ChunkSize(opt.Dim))
		for i := range chunk {
			if len(data) > 0 {
				chunk[i] = data[i%len(data)]
			}
		}
		var x *Index
		for _, chunks := range [][][]byte{nil, {chunk}} {
			var err error
			if x, err = Load(opt, links, chunks, func(row uint32) []float32 { return vectors[row%90] }); err == nil {
				break
			}
		}
		if x == nil {
			return
		}
		n := x.Len()
		if string(x.AppendLinks(nil)) != string(links) {
			t.Error("what was loaded is stored as something else")
		}
		for _, keep := range []func(uint32) bool{nil, func(row uint32) bool { return row%2 == 0 }} {
			if _, err := x.Search(vectors[0], 3, 0, keep); err != nil {
				t.Error(err)
			}
		}
		if _, err := x.AddNear(vectors[89], 3); err != nil || x.Len() != n+1 {
			t.Errorf("add to a loaded index: %v, %d rows of %d", err, x.Len(), n+1)
		}
	})
}
