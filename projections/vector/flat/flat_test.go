package flat

import (
	"testing"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/index/indextest"
)

func TestIndex(t *testing.T) {
	for _, generic := range []bool{false, true} {
		set := func(opt index.Options) index.Options { opt.Generic = generic; return opt }
		t.Run(map[bool]string{false: "fastest", true: "generic"}[generic], func(t *testing.T) {
			indextest.Run(t, indextest.Backend{
				New: func(opt index.Options) (index.Index, error) { return New(set(opt)) },
				Load: func(opt index.Options, links []byte, chunks [][]byte) (index.Index, error) {
					return Load(set(opt), links, chunks)
				},
				Recall: 0.99,
			})
		})
	}
}
