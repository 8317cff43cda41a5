package httpapi

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/recountdb/recount/query/runtime"
)

// registerRuntime adds the questions about running services.
func (s *server) registerRuntime(h huma.API) {
	register(s, h, runtime.TrafficQuestion)
	registerFailing(s, h, runtime.SeriesQuestion)
	register(s, h, runtime.EdgesQuestion)
	register(s, h, runtime.ServicesQuestion)
	register(s, h, runtime.DeadRoutesQuestion)
	register(s, h, runtime.StatsQuestion)
	register(s, h, runtime.TracesQuestion)
	register(s, h, runtime.TraceQuestion)
	register(s, h, runtime.WhyQuestion)
}
