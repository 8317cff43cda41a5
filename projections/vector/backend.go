package vector

import (
	"github.com/recountdb/recount/projections/vector/coder"
	"github.com/recountdb/recount/projections/vector/flat"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
)

// backend creates and loads the indexes of one implementation.
type backend struct {
	make func(index.Options) (index.Index, error)
	// load returns an index made of the results of AppendLinks and Chunk.
	load func(o index.Options, links []byte, chunks [][]byte) (index.Index, error)
	// add adds a row and returns its nearest earlier rows. The result must be the same in every
	// run, since it becomes state.
	add func(x index.Index, vec []float32, k int) ([]index.Neighbour, error)
}

var backends = map[string]backend{
	BackendFlat: {
		make: func(o index.Options) (index.Index, error) { return flat.New(o) },
		load: func(o index.Options, links []byte, chunks [][]byte) (index.Index, error) {
			return flat.Load(o, links, chunks)
		},
		add: index.Index.AddNear,
	},
	BackendCoder: {
		make: func(o index.Options) (index.Index, error) { return coder.New(o) },
		load: func(o index.Options, links []byte, chunks [][]byte) (index.Index, error) {
			return coder.Load(o, links, chunks)
		},
		add: addAndCompare,
	},
}

// addAndCompare is the add of an index whose searches differ from run to run: it compares the new
// row with all earlier ones.
func addAndCompare(x index.Index, vec []float32, k int) ([]index.Neighbour, error) {
	n := uint32(x.Len())
	if err := x.Add(vec); err != nil {
		return nil, err
	}
	dot := kernel.Best().Dot
	var best []index.Neighbour
	for row := range n {
		best = append(best, index.Neighbour{Row: row, Score: dot(vec, x.Vector(row))})
		if len(best) == 64*k || row == n-1 {
			index.Sort(best)
			best = best[:min(len(best), k)]
		}
	}
	return best, nil
}
