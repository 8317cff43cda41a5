package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/runtime"
)

func (a *app) runtimeTraceCmd() *cobra.Command {
	var f windowFlags
	var failing, attributes bool
	c := &cobra.Command{
		Use:   "trace ID",
		Short: "Show a trace as a tree, with the code behind each span and who changed it last",
		Long: `Read a trace's spans from the log and show them as a tree: how long each took, how it
ended, the code that handles it, the last commit before it that changed that code, and
below the tree the deploy before the trace, of each service. What an agent did (gen_ai
attributes) is shown. A span whose parent never came stands at the top, and says so; a
cycle is cut above its earliest span. Exits with 1 if the trace is not known.`,
		Example: `  recount runtime trace 5b8efff798038103d269b633813fc60c
  recount runtime trace 5b8efff798038103d269b633813fc60c --failing
  recount runtime trace 5b8efff798038103d269b633813fc60c --attributes --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return askRuntime(cmd.Context(), a, &f, runtime.TraceQuestion, func(w runtime.Window) runtime.TraceRequest {
				return runtime.TraceRequest{Window: w, Trace: args[0], Failing: failing, Attributes: attributes, Limit: f.limit}
			}, a.printTrace)
		},
	}
	f.add(c, runtime.DefaultSpans)
	c.Flags().BoolVar(&failing, "failing", false, "only the failing spans and those above them")
	c.Flags().BoolVar(&attributes, "attributes", false, "all attributes of the spans")
	return c
}

func (a *app) printTrace(r runtime.TraceResponse) {
	failed := ""
	if r.Failed > 0 {
		failed = fmt.Sprintf(", %d failed", r.Failed)
	}
	a.printf("%s  %s\n", a.paint(yellow, r.Trace), a.paint(dim, fmt.Sprintf("%sZ, %s in %s%s", r.Start.Format(time.DateTime), counted(r.Total, "span"), lasted(r.Duration), failed)))
	forks := forksOf(r.Spans)
	for i, s := range r.Spans {
		a.printSpan(s, forks[i])
	}
	a.truncated(r.Cut, "--limit shows more")
	for _, d := range r.Deploys {
		why := d.About
		if why == "" {
			why = "the newest deploy"
		}
		a.printf("%s  %s %s  %s\n", a.paint(cyan, oneLine(d.Service)), a.exitMark(d.Command.ExitCode), oneLine(cut(oneLine(d.Command.Command), commandColumns)),
			a.paint(dim, fmt.Sprintf("%s, %s the trace, by %s", oneLine(why), before(d.Command.Time, r.Start), oneLine(authorOf(d.Command.Author, d.Command.User)))))
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

func (a *app) printSpan(s runtime.TraceSpan, f fork) {
	mark := a.paint(green, "✓")
	if s.Failed {
		mark = a.paint(red, "✗"+s.Status)
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
	a.printf("%s%s %s %s%s  %s\n", a.paint(dim, f.first), mark, a.paint(cyan, oneLine(s.Service)), side, a.paint(bold, oneLine(name)), a.paint(dim, strings.Join(notes, ", ")))
	line := func(s string) { a.printf("%s%s\n", a.paint(dim, f.rest), s) }
	if s.Message != "" {
		line(a.paint(red, oneLine(s.Message)))
	}
	if s.Code != nil {
		line(a.handled(s.Code))
	}
	if s.Changed != nil {
		line(a.changedBy(s.Changed))
	}
	for _, k := range slices.Sorted(maps.Keys(s.Attribute)) {
		line(a.paint(dim, oneLine(k)+" = "+oneLine(cut(oneLine(s.Attribute[k]), maxWide))))
	}
}

// changedBy describes a commit that changed code.
func (a *app) changedBy(c *code.Changed) string {
	what := "changed by "
	if c.By == code.ByFile {
		what = "its file changed by "
	}
	return what + oneLine(c.Author) + a.paint(dim, fmt.Sprintf("  %sZ in %.12s  %s", c.Time.UTC().Format(time.DateTime), c.Commit, oneLine(c.Subject)))
}
