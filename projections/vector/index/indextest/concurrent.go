package indextest

import (
	"sync"
	"testing"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
)

// Kept keeps the vectors of an index, as its caller must.
type Kept struct {
	mu   sync.RWMutex
	rows [][]float32
}

// Vector returns the vector of a row. It is an index.Vectors.
func (k *Kept) Vector(row uint32) []float32 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.rows[row]
}

// Add adds a vector to an index.
func (k *Kept) Add(x index.Index, vec []float32) error {
	_, err := k.AddNear(x, vec, 0)
	return err
}

// AddNear adds a vector to an index and returns the nearest earlier rows.
func (k *Kept) AddNear(x index.Index, vec []float32, n int) ([]index.Neighbour, error) {
	k.mu.Lock()
	k.rows = append(k.rows[:x.Len()], vec)
	k.mu.Unlock()
	return x.AddNear(vec, n)
}

// concurrent searches while rows are added, under the race detector. For any interleaving a reader
// finds complete rows only.
func concurrent(t *testing.T, b Backend) {
	vectors := Vectors(Clustered, kernel.BlockRows+50, dim, 11, 0)
	opt := index.Options{Dim: dim, ScanBelow: 64, EfConstruction: 20, M: 8}
	x, kept := build(t, b, opt, vectors[:8])
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
	for _, v := range vectors[8:] {
		if _, err := kept.AddNear(x, v, 3); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}
