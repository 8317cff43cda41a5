package flat

import (
	"errors"
	"testing"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/index/indextest"
	"github.com/recountdb/recount/projections/vector/rows"
)

// FuzzLoad calls Load with damaged links and arbitrary chunks. Load rejects them or returns an
// index that works.
func FuzzLoad(f *testing.F) {
	opt := index.Options{Dim: 8, M: 4, EfConstruction: 20, ScanBelow: -1}
	vectors := integers(90, 8)
	for _, n := range []int{0, 1, 2, 40, 80} {
		x, err := New(opt)
		if err != nil {
			f.Fatal(err)
		}
		for i, v := range vectors[:n] {
			if i%10 == 3 {
				v = vectors[3] // a twin
			}
			if err := x.Add(v); err != nil {
				f.Fatal(err)
			}
		}
		if n > 5 {
			if err := errors.Join(x.Delete(1), x.Delete(5)); err != nil {
				f.Fatal(err)
			}
		}
		var chunk []byte
		if n > 0 {
			chunk = indextest.Chunks(x)[0][:200]
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
			if x, err = Load(opt, links, chunks); err == nil {
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
