package main

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	a.clearProgress()
	if errors.As(err, &missing) {
		missing.Hint += "; nor does a command's id start so"
	}
	if err != nil {
		return true, a.unanswered(err)
	}
	return true, a.answerRuntime(w.proof, r, r.Basis, func() { a.printWhySpan(r) })
}

func (a *app) printWhySpan(r runtime.SpanWhyResponse) {
	a.printf("%s  %s\n", a.paint(yellow, r.Trace+"/"+r.Span.ID), a.paint(dim, r.Span.Start.Format(time.DateTime)+"Z"))
	for i := range r.Way { // the path is drawn as a line, whatever else the trace holds
		r.Way[i].Depth = i
	}
	forks := forksOf(r.Way)
	for i, s := range r.Way {
		a.printSpan(s, forks[i])
	}
	if s := r.Subject; s != nil && s.Errors > 0 {
		a.printf("%s\n", a.paint(dim, fmt.Sprintf("%s of %s: %s of %s failed, the first at %sZ", oneLine(s.Operation), oneLine(s.Service), thousands(int64(s.Errors)), thousands(int64(s.Count)), s.Since.Format(time.DateTime))))
	}
	for i, c := range r.Causes {
		a.printf("\n%d. %.2f  %s\n", i+1, c.Score, a.causeLine(c))
		for _, e := range c.Evidence {
			a.printf("      %s\n", a.paint(dim, fmt.Sprintf("%+.2f  %s", e.Weight, oneLine(e.Shows))))
		}
	}
	if r.Truncated > 0 {
		a.printf("\n")
	}
	a.truncated(r.Truncated, "--limit shows more")
}

// causeLine describes a cause.
func (a *app) causeLine(c runtime.SpanCause) string {
	at := a.paint(dim, fmt.Sprintf("%sZ", c.Time.UTC().Format(time.DateTime)))
	switch {
	case c.Commit != nil:
		return fmt.Sprintf("%s %s  %s  %s", a.paint(yellow, c.Commit.Commit[:min(12, len(c.Commit.Commit))]), a.paint(bold, oneLine(c.Commit.Subject)), oneLine(c.Commit.Author), at)
	case c.Command != nil:
		return fmt.Sprintf("%s %s %s  %s  %s", a.exitMark(c.Command.ExitCode), a.paint(yellow, c.Command.ID.String()[:13]), a.paint(bold, oneLine(cut(oneLine(c.Command.Command), commandColumns))), oneLine(authorOf(c.Command.Author, c.Command.User)), at)
	case c.Version != nil:
		name := c.Version.Version
		if name == "" {
			name = fmt.Sprintf("%.12s", c.Version.Revision)
		}
		return fmt.Sprintf("version %s  %s", a.paint(bold, oneLine(name)), at)
	}
	return c.Kind
}
