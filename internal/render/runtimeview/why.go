package runtimeview

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/runtime"
)

// Why prints what plausibly led to a failing or slow span, ranked by probability.
func Why(t *render.Terminal, r runtime.SpanWhyResponse) {
	t.Printf("%s  %s\n", t.Paint(render.Yellow, r.Trace+"/"+r.Span.ID), t.Paint(render.Dim, r.Span.Start.Format(time.DateTime)+"Z"))
	for i := range r.Way { // the path is drawn as a line, whatever else the trace holds
		r.Way[i].Depth = i
		if i >= runtime.WayBegin {
			r.Way[i].Depth += r.WayCut
		}
	}
	forks := forksOf(r.Way)
	for i, s := range r.Way {
		if r.WayCut > 0 && i == runtime.WayBegin {
			t.Printf("%s%s\n", t.Paint(render.Dim, forks[i-1].rest), t.Paint(render.Dim, "… "+render.Count(r.WayCut, "more span")))
		}
		span(t, s, forks[i])
	}
	verb := "failed"
	if s := r.Slow; s != nil {
		verb = "were as slow"
		t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("it took %s; usual are %s", query.Took(time.Duration(s.Duration)), query.Took(time.Duration(s.Usual)))))
	}
	if s := r.Subject; s != nil && s.Errors > 0 {
		t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("%s of %s: %s of %s %s, the first at %sZ", render.OneLine(s.Operation), render.OneLine(s.Service), render.Thousands(int64(s.Errors)), render.Thousands(int64(s.Count)), verb, s.Since.Format("2006-01-02 15:04"))))
	}
	if r.Unknown {
		t.Printf("\nunknown: nothing recorded explains this (%.2f)\n", r.Unexplained)
	}
	for i, c := range r.Causes {
		t.Printf("\n%d. %.2f  %s\n", i+1, c.Score, causeLine(t, c))
		for _, e := range c.Evidence {
			if e.Rule != "prior" {
				t.Printf("      %s\n", t.Paint(render.Dim, fmt.Sprintf("%+.2f  %s", e.Weight, render.OneLine(e.Shows))))
			}
		}
	}
	if r.Truncated > 0 {
		t.Printf("\n")
	}
	t.Truncated(r.Truncated, "--limit shows more")
}

// causeLine describes a cause.
func causeLine(t *render.Terminal, c runtime.SpanCause) string {
	at := t.Paint(render.Dim, fmt.Sprintf("%sZ", c.Time.UTC().Format(time.DateTime)))
	switch {
	case c.Commit != nil:
		return fmt.Sprintf("%s %s  %s  %s", t.Paint(render.Yellow, c.Commit.Commit[:min(12, len(c.Commit.Commit))]), t.Paint(render.Bold, render.OneLine(c.Commit.Subject)), render.OneLine(c.Commit.Author), at)
	case c.Command != nil:
		return fmt.Sprintf("%s %s %s  %s  %s", t.ExitMark(c.Command.ExitCode), t.Paint(render.Yellow, c.Command.ID.String()[:13]), t.Paint(render.Bold, render.OneLine(render.Cut(render.OneLine(c.Command.Command), render.CommandColumns))), render.OneLine(authorOf(c.Command.Author, c.Command.User)), at)
	case c.Version != nil:
		name := c.Version.Version
		if name == "" {
			name = fmt.Sprintf("%.12s", c.Version.Revision)
		}
		return fmt.Sprintf("version %s  %s", t.Paint(render.Bold, render.OneLine(name)), at)
	case c.Dependency != nil:
		name := render.OneLine(c.Dependency.Name)
		if c.Dependency.Service != "" && c.Dependency.Service != name {
			name += " (" + render.OneLine(c.Dependency.Service) + ")"
		}
		return fmt.Sprintf("dependency %s  %s", t.Paint(render.Bold, name), at)
	}
	return c.Kind
}
