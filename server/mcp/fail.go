package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
)

// failed returns an error as a result, so that the model sees it, with what to call instead. A
// cancelled call has no result: over a stream it is not answered at all.
func (s *Server) failed(ctx context.Context, tool string, err error) (*sdk.CallToolResult, error) {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil, &jsonrpc.Error{Code: codeCancelled, Message: "the call was cancelled"}
	}
	text := explain(tool, err)
	if text == "" {
		s.log.Error("mcp call failed", "tool", tool, "err", err)
		text = err.Error()
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
}

// explain returns the text of an error that the client can do something about, "" for others.
func explain(tool string, err error) string {
	var (
		argument  *argumentError
		request   *query.RequestError
		missing   *query.NotFoundError
		erased    *query.ErasedError
		ambiguous *query.AmbiguousError
		symbols   *code.AmbiguousNameError
		late      *query.NotVisibleError
		event     *api.EventError
		refused   *refusedError
		own       *access.OwnError
	)
	switch {
	case errors.As(err, &argument):
		return argument.Error()
	case errors.As(err, &refused):
		return refused.Error()
	case errors.As(err, &own):
		return fmt.Sprintf("%s: the token may not write this: %s", tool, own)
	case errors.As(err, &symbols):
		if symbols.OfRepository() {
			return fmt.Sprintf("%s; call %s again with repo", symbols, tool)
		}
		return fmt.Sprintf("%s; call %s again with one of these names, or with FILE:LINE", symbols, tool)
	case errors.As(err, &ambiguous):
		return fmt.Sprintf("%s; call %s again with more digits", ambiguous, tool)
	case errors.As(err, &missing):
		return missing.Error() + "; " + instead(tool, missing)
	case errors.As(err, &erased):
		return erased.Error() + ": its content was removed on purpose; there is nothing else to call"
	case errors.As(err, &late):
		return late.Error() + fmt.Sprintf("; call %s again in a moment", tool)
	case errors.As(err, &request):
		return fmt.Sprintf("%s: %s", tool, request)
	case errors.As(err, &event):
		return fmt.Sprintf("%s: %s", tool, event.Err)
	case errors.Is(err, schemas.ErrPoison):
		return fmt.Sprintf("%s: %s", tool, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("%s: no answer within %s: ask for less (limit, depth, a smaller diff)", tool, query.Took(callTimeout))
	case errors.Is(err, api.ErrBusy), errors.Is(err, api.ErrUnavailable), errors.Is(err, schemas.ErrTransient):
		return fmt.Sprintf("%s; call %s again in a moment", err, tool)
	}
	return ""
}

// instead returns what to call when something was not found.
func instead(tool string, e *query.NotFoundError) string {
	switch e.Kind {
	case query.UnknownRevision:
		return "call repository with view=log to see the known revisions"
	case query.UnknownGraph:
		return "call repository with view=log to see which revisions have one, or import, where there is one, with history (a number of commits)"
	case query.UnknownImport:
		return "call import with the directory of the repository, or give repo"
	}
	if tool == "why" || tool == "commands" {
		return "call commands with some words of the command to find its id"
	}
	return "call symbols with a part of the name or a description to find it"
}

// refusedError is a call that the principal may not make, or that this server does not offer.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }
