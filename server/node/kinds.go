package node

import (
	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/graph"
	"github.com/recountdb/recount/projections/graph/code"
	"github.com/recountdb/recount/projections/graph/objects"
	runtimegraph "github.com/recountdb/recount/projections/graph/runtime"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/projections/vector"
)

// kinds are the projections that a node keeps: adding one is a line here.
func (c Config) kinds() []projections.Kind {
	return []projections.Kind{
		segment.Kind(segment.Options{Logger: c.Logger, SealRows: c.sealRows}),
		lexical.Kind,
		graph.Kind,
		vector.Kind(c.vectorOptions()),
		code.Kind(code.Options{Store: store.Options{Logger: c.Logger}, Language: source.NameOf, Facts: source.Extractors()}),
		runtimegraph.Kind,
		objects.Kind,
	}
}
