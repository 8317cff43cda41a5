package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recountdb/recount/query/runtime"
)

// registerRuntime adds the questions about what runs.
func (s *server) registerRuntime(api huma.API) {
	registerRuntimeQuestion(s, api, runtime.TrafficQuestion)
	registerRuntimeQuestion(s, api, runtime.EdgesQuestion)
	registerRuntimeQuestion(s, api, runtime.ServicesQuestion)
	registerRuntimeQuestion(s, api, runtime.DeadRoutesQuestion)
	registerRuntimeQuestion(s, api, runtime.StatsQuestion)
	registerRuntimeQuestion(s, api, runtime.TraceQuestion)
	registerRuntimeQuestion(s, api, runtime.WhyQuestion)
}

// registerRuntimeQuestion adds POST /v1/runtime/name. It reads only.
func registerRuntimeQuestion[Q, R any](s *server, api huma.API, q runtime.Question[Q, R]) {
	id := "runtime"
	for word := range strings.SplitSeq(q.Name, "-") {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	huma.Register(api, huma.Operation{
		OperationID: id, Method: http.MethodPost, Path: "/v1/runtime/" + q.Name, Tags: []string{"runtime"},
		Summary: q.Summary, Description: q.Description + " It reads only; POST because a question has structure.",
		MaxBodyBytes: maxQuestion, Errors: append([]int{400, 401, 406, 413, 504}, aboutOne...),
	}, func(ctx context.Context, in *struct{ Body Q }) (*struct{ Body R }, error) {
		r, err := runtime.Ask(ctx, s.b, q, in.Body)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body R }{r}, nil
	})
}
