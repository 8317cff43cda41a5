package httpapi

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/recountdb/recount/query/runtime"
)

// registerRuntime adds the questions about what runs.
func (s *server) registerRuntime(api huma.API) {
	register(s, api, runtime.TrafficQuestion)
	register(s, api, runtime.EdgesQuestion)
	register(s, api, runtime.ServicesQuestion)
	register(s, api, runtime.DeadRoutesQuestion)
	register(s, api, runtime.StatsQuestion)
	register(s, api, runtime.TraceQuestion)
	register(s, api, runtime.WhyQuestion)
}
