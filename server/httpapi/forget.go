package httpapi

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/recountdb/recount/server/api"
)

func (s *server) registerForget(h huma.API) {
	registerWork(s, h, "forget", "Erase what events held, for good",
		"Appends events.erased, replaces the events in the log's files, and makes the projections that hold them anew. There is no way back. Ask with dry_run first. From when events.erased is on the log, no answer shows what it erases; where rebuilding takes longer than some seconds, the report says what remains. The answer is a line of JSON for each step of progress, and the last line holds the report or the problem.",
		func(ctx context.Context, r api.ForgetRequest, p func(api.Progress)) (api.ForgetReport, error) {
			return s.b.Forget(ctx, r, p)
		})
}

// Forget calls POST /v1/forget.
func (c *Client) Forget(ctx context.Context, q api.ForgetRequest, progress func(api.Progress)) (api.ForgetReport, error) {
	return work[api.ForgetReport](ctx, c, "/v1/forget", q, progress)
}
