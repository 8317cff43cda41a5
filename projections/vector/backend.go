package vector

import (
	"github.com/recountdb/recount/projections/vector/flat"
	"github.com/recountdb/recount/projections/vector/index"
)

// backend makes indexes.
type backend struct {
	make func(index.Options) (index.Index, error)
	// load makes one of what AppendLinks and Chunk gave.
	load func(o index.Options, links []byte, chunks [][]byte) (index.Index, error)
	// repeatable: its links are a function of the vectors and their order.
	repeatable bool
}

var backends = map[string]backend{
	BackendFlat: {
		make: func(o index.Options) (index.Index, error) { return flat.New(o) },
		load: func(o index.Options, links []byte, chunks [][]byte) (index.Index, error) {
			return flat.Load(o, links, chunks)
		},
		repeatable: true,
	},
}
