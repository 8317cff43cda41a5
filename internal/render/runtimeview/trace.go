package runtimeview

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/query/runtime"
)

// Trace prints a trace as a tree of spans, and the deploys before it.
func Trace(t *render.Terminal, r runtime.TraceResponse) {
	failed := ""
	if r.Failed > 0 {
		failed = fmt.Sprintf(", %d failed", r.Failed)
	}
	t.Printf("%s  %s\n", t.Paint(render.Yellow, r.Trace), t.Paint(render.Dim, fmt.Sprintf("%sZ, %s in %s%s", r.Start.Format(time.DateTime), render.Count(r.Total, "span"), lasted(r.Duration), failed)))
	forks := forksOf(r.Spans)
	for i, s := range r.Spans {
		span(t, s, forks[i])
	}
	t.Truncated(r.Cut, "--limit shows more")
	for _, d := range r.Deploys {
		why := d.About
		if why == "" {
			why = "the newest deploy"
		}
		t.Printf("%s  %s %s  %s\n", t.Paint(render.Cyan, render.OneLine(d.Service)), t.ExitMark(d.Command.ExitCode), render.OneLine(render.Cut(render.OneLine(d.Command.Command), render.CommandColumns)),
			t.Paint(render.Dim, fmt.Sprintf("%s, %s the trace, by %s", render.OneLine(why), render.Before(d.Command.Time, r.Start), render.OneLine(authorOf(d.Command.Author, d.Command.User)))))
	}
}

func authorOf(author, user string) string {
	for _, s := range []string{author, user} {
		if s != "" {
			return s
		}
	}
	return "somebody"
}

// fork holds the prefixes of a span's lines in a tree: of the first line and of the others.
type fork struct{ first, rest string }

// deepestDrawn is the maximum indentation of a tree; deeper spans show their depth as a number.
const deepestDrawn = 24

// forksOf returns the prefixes of a tree's lines from the depths of its spans, in order.
func forksOf(spans []runtime.TraceSpan) []fork {
	out := make([]fork, len(spans))
	more := make([]bool, deepestDrawn+2) // by depth: another span follows below the same parent
	for i := len(spans) - 1; i >= 0; i-- {
		d := min(spans[i].Depth, deepestDrawn)
		if d > 0 {
			var b strings.Builder
			for at := 1; at < d; at++ {
				b.WriteString(map[bool]string{true: "│  ", false: "   "}[more[at]])
			}
			out[i].first = b.String() + map[bool]string{true: "├─ ", false: "└─ "}[more[d]]
			out[i].rest = b.String() + map[bool]string{true: "│  ", false: "   "}[more[d]]
		}
		below := ""
		if i+1 < len(spans) && min(spans[i+1].Depth, deepestDrawn) > d {
			below = "│  "
		} else {
			below = "   "
		}
		out[i].rest += below
		for at := d + 1; at < len(more); at++ {
			more[at] = false
		}
		more[d] = true
	}
	return out
}

func span(t *render.Terminal, s runtime.TraceSpan, f fork) {
	mark := t.Paint(render.Green, "✓")
	if s.Failed {
		mark = t.Paint(render.Red, "✗"+s.Status)
	}
	notes := []string{lasted(s.Duration)}
	if s.Clock {
		notes[0] = "ended before it began"
	}
	if s.Depth > deepestDrawn {
		notes = append(notes, fmt.Sprintf("%d deep", s.Depth))
	}
	if s.Missing {
		notes = append(notes, "its parent "+s.Parent+" never came")
	}
	if s.Cycle {
		notes = append(notes, "its own ancestor")
	}
	name := s.Operation
	if name == "" {
		name = s.Name
	}
	side := ""
	if s.Side == "caller" {
		side = "→ "
	}
	t.Printf("%s%s %s %s%s  %s\n", t.Paint(render.Dim, f.first), mark, t.Paint(render.Cyan, render.OneLine(s.Service)), side, t.Paint(render.Bold, render.OneLine(name)), t.Paint(render.Dim, strings.Join(notes, ", ")))
	line := func(s string) { t.Printf("%s%s\n", t.Paint(render.Dim, f.rest), s) }
	if s.Message != "" {
		line(t.Paint(render.Red, render.OneLine(s.Message)))
	}
	if s.Code != nil {
		line(handled(t, s.Code))
	}
	if s.Changed != nil {
		line(codeview.ChangedBy(t, s.Changed))
	}
	for _, k := range slices.Sorted(maps.Keys(s.Attribute)) {
		line(t.Paint(render.Dim, render.OneLine(k)+" = "+render.OneLine(render.Cut(render.OneLine(s.Attribute[k]), render.MaxWide))))
	}
}
