package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/schemas"
)

// feedbackSource is the source of events that are appended by POST /v1/feedback.
const feedbackSource = "recount-feedback"

// registerFeedback adds POST /v1/feedback, which appends feedback.given.
func (s *server) registerFeedback(h huma.API) {
	huma.Register(h, huma.Operation{
		OperationID: "giveFeedback", Method: http.MethodPost, Path: "/v1/feedback", Tags: []string{"questions"},
		Summary:      "Say what was useful",
		Description:  "Appends feedback.given: symbols, files, events of agents or commands that were useful for a task, or not. Contexts for later tasks with similar words are ranked by it. It counts as soon as the position of the answer is visible (at_least). The token determines tenant and agent.",
		MaxBodyBytes: maxQuestion, Errors: []int{400, 401, 403, 406, 413, 422},
	}, func(ctx context.Context, in *struct{ Body feedback.Given }) (*struct{ Body AppendResponse }, error) {
		e, err := in.Body.Event(feedbackSource)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		events := []schemas.Event{e}
		if err := own(ctx, events); err != nil {
			return nil, s.fail(ctx, err)
		}
		appended, err := s.b.Append(ctx, events)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body AppendResponse }{AppendResponse{appended}}, nil
	})
}
