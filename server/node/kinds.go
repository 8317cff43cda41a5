package node

import (
	"strings"

	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/objects"
	runtimegraph "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/projections/vector"
)

// kinds are the projections that a node keeps: adding one is a line here. The processors
// that make what a projection takes are among its settings, so that a change of one makes
// its state anew.
func (c Config) kinds() []projections.Kind {
	kinds := []projections.Kind{
		segment.Kind(segment.Options{Logger: c.Logger, SealRows: c.sealRows}),
		lexical.Kind,
		narrative.Kind,
		vector.Kind(c.vectorOptions()),
		code.Kind(code.Options{Store: store.Options{Logger: c.Logger}}),
		runtimegraph.Kind,
		objects.Kind,
	}
	for i := range kinds {
		k := &kinds[i]
		k.Params = strings.TrimSpace(k.Params + " " + strings.Join(processors.MakersOf(k.Topics...), " "))
	}
	return kinds
}
