package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recountdb/recount/query/code"
)

// registerCode adds the questions about code.
func (s *server) registerCode(api huma.API) {
	registerCodeQuestion(s, api, code.SymbolsQuestion)
	registerCodeQuestion(s, api, code.CallersQuestion)
	registerCodeQuestion(s, api, code.CalleesQuestion)
	registerCodeQuestion(s, api, code.ImpactQuestion)
	registerCodeQuestion(s, api, code.TestsQuestion)
	registerCodeQuestion(s, api, code.FlowQuestion)
	registerCodeQuestion(s, api, code.ProveQuestion)
	registerCodeQuestion(s, api, code.OwnersQuestion)
	registerCodeQuestion(s, api, code.LogQuestion)
	registerCodeQuestion(s, api, code.ShowQuestion)
	registerCodeQuestion(s, api, code.DiffQuestion)
	registerCodeQuestion(s, api, code.RoutesQuestion)
	registerCodeQuestion(s, api, code.StaleQuestion)
}

// registerCodeQuestion adds POST /v1/code/name. It reads only.
func registerCodeQuestion[Q, R any](s *server, api huma.API, q code.Question[Q, R]) {
	id := "code"
	for word := range strings.SplitSeq(q.Name, "-") {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	huma.Register(api, huma.Operation{
		OperationID: id, Method: http.MethodPost, Path: "/v1/code/" + q.Name, Tags: []string{"code"},
		Summary: q.Summary, Description: q.Description + " It reads only; POST because a question has structure.",
		MaxBodyBytes: maxQuestion, Errors: append([]int{400, 401, 406, 413, 504}, aboutOne...),
	}, func(ctx context.Context, in *struct{ Body Q }) (*struct{ Body R }, error) {
		r, err := code.Ask(ctx, s.b, q, in.Body)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body R }{r}, nil
	})
}
