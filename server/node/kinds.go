package node

import (
	"strings"

	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/feedback"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/projections/replays"
	runtimegraph "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/projections/vector"
)

// kinds returns the projections of a node; to add one, add a line here. The parameters of a
// projection include the versions of the processors that make its records, so that a new version
// rebuilds it.
func (c Config) kinds() []projections.Definition {
	kinds := []projections.Definition{
		segment.Kind(segment.Options{Logger: c.Logger, SealRows: c.sealRows}),
		lexical.Kind,
		narrative.Kind,
		vector.Kind(c.vectorOptions()),
		code.Kind(code.Options{Store: store.Options{Logger: c.Logger}}),
		runtimegraph.Kind,
		objects.Kind,
		feedback.Kind,
		replays.Kind,
	}
	for i := range kinds {
		k := &kinds[i]
		k.Params = strings.TrimSpace(k.Params + " " + strings.Join(processors.ProcessorVersions(k.Topics...), " "))
	}
	return kinds
}
