package httpapi

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/recountdb/recount/server/api"
)

func (s *server) registerForget(h huma.API) {
	registerWork(s, h, "forget", "Erase events permanently",
		"Appends events.erased, removes the events' bytes from the log's files, and rebuilds the projections that hold them. This cannot be undone: use dry_run first. As soon as events.erased is in the log, no answer shows the erased events; if rebuilding takes longer than some seconds, the report lists what remains. The answer has one line of JSON for each step of progress; the last line holds the report or the problem.",
		func(ctx context.Context, r api.ForgetRequest, p func(api.Progress)) (api.ForgetReport, error) {
			return s.b.Forget(ctx, r, p)
		})
}

// Forget calls POST /v1/forget.
func (c *Client) Forget(ctx context.Context, q api.ForgetRequest, progress func(api.Progress)) (api.ForgetReport, error) {
	return work[api.ForgetReport](ctx, c, "/v1/forget", q, progress)
}
