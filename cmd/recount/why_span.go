package main

import (
	"context"
	"errors"
	"time"

	"github.com/recountdb/recount/internal/render/runtimeview"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/runtime"
)

// whySpan prints what led to a failing span if the reference names no command and has the form of a
// trace's or span's id; otherwise mine is false.
func (a *app) whySpan(ctx context.Context, b *backend, w *walkFlags, ref string, limit int, asked error) (mine bool, err error) {
	var missing *query.NotFoundError
	if !errors.As(asked, &missing) || !runtime.NamesSpan(ref) {
		return false, nil
	}
	if w.dot || w.mermaid || w.asOf != "" {
		return true, usagef("--dot, --mermaid and --as-of: of commands alone, and %q names a span", ref)
	}
	r, err := runtime.WhyQuestion.Ask(ctx, b, runtime.SpanWhyRequest{Window: runtime.Window{At: time.Now().UTC()}, Ref: ref, Limit: limit})
	a.ClearProgress()
	if errors.As(err, &missing) {
		missing.Hint += "; nor does a command's id start so"
	}
	if err != nil {
		return true, a.unanswered(err)
	}
	return true, a.answerRuntime(w.proof, r, r.Basis, func() { runtimeview.Why(a.Terminal, r) })
}
