package httpapi

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/recountdb/recount/server/api"
)

func (s *server) registerRetain(h huma.API) {
	registerWork(s, h, "retain", "Give up old spans, commands or agents' events",
		"Appends records.retired, deletes what stands before it from the log, and rebuilds the projections that read the topic from what is left. Of spans the sums stay, by the hour (spans.summarised); of commands and agents' events the ids (ids.retired), so that they are not appended again. There is no way back. Ask with dry_run first. The answer is a line of JSON for each step of progress, and the last line holds the report or the problem.",
		func(ctx context.Context, r api.RetainRequest, p func(api.Progress)) (api.RetainReport, error) {
			return s.b.Retain(ctx, r, p)
		})
}

// Retain calls POST /v1/retain.
func (c *Client) Retain(ctx context.Context, q api.RetainRequest, progress func(api.Progress)) (api.RetainReport, error) {
	return work[api.RetainReport](ctx, c, "/v1/retain", q, progress)
}
