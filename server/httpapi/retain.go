package httpapi

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/recountdb/recount/server/api"
)

func (s *server) registerRetain(h huma.API) {
	registerWork(s, h, "retain", "Remove old spans, commands or agents' events",
		"Appends records.retired, deletes the older events from the log, and rebuilds the projections that read the topic. Hourly sums of spans are kept (spans.summarised), and so are the ids of commands and agents' events (ids.retired), so that an import does not append them again. This cannot be undone: use dry_run first. The answer has one line of JSON for each step of progress; the last line holds the report or the problem.",
		func(ctx context.Context, r api.RetainRequest, p func(api.Progress)) (api.RetainReport, error) {
			return s.b.Retain(ctx, r, p)
		})
}

// Retain calls POST /v1/retain.
func (c *Client) Retain(ctx context.Context, q api.RetainRequest, progress func(api.Progress)) (api.RetainReport, error) {
	return work[api.RetainReport](ctx, c, "/v1/retain", q, progress)
}
