package mcp

import (
	"context"
	"io"

	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
)

// gated asks a backend what the principal of the context may ask, by the same table as the HTTP API
// (package access). Without a principal in the context everything passes: then the backend is the
// caller's own.
type gated struct{ b api.Backend }

func (g gated) allow(ctx context.Context, operation string) error {
	p, known := access.FromContext(ctx)
	if !known {
		return nil
	}
	if refusal := access.Allow(p, operation); refusal != nil {
		return &refusedError{refusal.Why}
	}
	return nil
}

// Answer implements question.Answerer.
func (g gated) Answer(ctx context.Context, path string, request, response any) error {
	if err := g.allow(ctx, "POST /v1/"+path); err != nil {
		return err
	}
	return g.b.Answer(ctx, path, request, response)
}

// show returns one command.
func (g gated) show(ctx context.Context, ref string) (commands.ShowResponse, error) {
	if err := g.allow(ctx, "GET /v1/intents/{id}"); err != nil {
		return commands.ShowResponse{}, err
	}
	return g.b.Show(ctx, ref)
}

// export writes a graph.
func (g gated) export(ctx context.Context, r code.ExportRequest, w io.Writer) error {
	if err := g.allow(ctx, "POST /v1/code/export"); err != nil {
		return err
	}
	return g.b.Export(ctx, r, w)
}

// append appends events as the principal may by an operation.
func (g gated) append(ctx context.Context, operation string, events []schemas.Event) ([]api.Appended, error) {
	if err := g.allow(ctx, operation); err != nil {
		return nil, err
	}
	if p, known := access.FromContext(ctx); known {
		for i, e := range events {
			var err error
			if events[i], err = access.CheckOwnership(p, e); err != nil {
				return nil, err
			}
		}
	}
	return g.b.Append(ctx, events)
}
