package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// momentFlags select the state of the data that a question is answered from.
type momentFlags struct {
	asOf, atLeast string
	proof         bool
}

func (m *momentFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&m.asOf, "as-of", "", "answer from what was known at a time or at the watermark of an earlier answer")
	f.StringVar(&m.atLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	f.BoolVar(&m.proof, "proof", false, "print the proof: the steps by which the answer was computed")
}

func (m *momentFlags) moment() (r query.Moment, err error) {
	if err := r.AsOf.UnmarshalText([]byte(m.asOf)); err != nil {
		return r, usage.Wrap(err)
	}
	if r.AtLeast, err = schemas.ParseWatermark(m.atLeast); err != nil {
		return r, usage.Errorf("--at-least: %w", err)
	}
	return r, nil
}

// drawFlags select how an answer about narratives is printed.
type drawFlags struct {
	wide, dot, mermaid bool
}

func (d *drawFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&d.wide, "wide", false, "do not cut long lines")
	c.Flags().BoolVar(&d.dot, "dot", false, "print a diagram for Graphviz: … --dot | dot -Tsvg")
	c.Flags().BoolVar(&d.mermaid, "mermaid", false, "print a diagram for Mermaid, as Markdown on many sites shows it")
}

// walkFlags limit a walk over the narrative.
type walkFlags struct {
	commands.Walk
	momentFlags
	drawFlags
}

func (w *walkFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&w.Depth, "depth", commands.DefaultDepth, fmt.Sprintf("maximum distance in edges, up to %d", commands.MaxDepth))
	f.IntVar(&w.Nodes, "nodes", commands.DefaultNodes, fmt.Sprintf("maximum number of commands, up to %d", commands.MaxNodes))
	f.StringSliceVar(&w.Kinds, "kind", nil, "follow only edges of these kinds: temporal, retry, fixes, dependency, branch, causal, similar; may be repeated")
	f.Float64Var(&w.MinWeight, "min-weight", 0, "follow only edges with at least this weight, 0 to 1")
	w.momentFlags.add(c)
	w.drawFlags.add(c)
}

// walk returns the walk that the flags describe. Zero is invalid: unlike in a request, it is no
// default.
func (w *walkFlags) walk(a *app) (commands.Walk, error) {
	if (w.dot && w.mermaid) || a.JSON && (w.dot || w.mermaid) {
		return w.Walk, usage.Errorf("--json, --dot and --mermaid: give one of them")
	}
	for _, b := range []struct {
		name    string
		n, most int
	}{{"depth", w.Depth, commands.MaxDepth}, {"nodes", w.Nodes, commands.MaxNodes}} {
		if b.n < 1 || b.n > b.most {
			return w.Walk, usage.Errorf("--%s %d: want 1 to %d", b.name, b.n, b.most)
		}
	}
	return w.Walk, nil
}

// print prints an answer in the requested form, and fails if the answer is empty.
func (w *walkFlags) print(a *app, answer any, b query.Basis, g func() diagram.Diagram, draw func(*render.Drawing)) error {
	switch {
	case a.JSON:
		if err := a.PrintJSON(answer); err != nil {
			return err
		}
	case w.dot:
		a.Printf("%s", g().Dot())
	case w.mermaid:
		a.Printf("%s", g().Mermaid())
	default:
		draw(a.NewDrawing(w.wide, time.Now()))
		if w.proof {
			a.PrintProof(b.Proof, b.Watermark.String())
		}
	}
	if b.Status == query.StatusEmpty {
		return exitError(exitNothing)
	}
	return nil
}

// runtimeFlags add the callers seen at runtime to an answer about code.
type runtimeFlags struct {
	on bool
	w  windowFlags
}

func (f *runtimeFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "runtime", false, "also show services that called it, according to spans")
	f.w.addRange(c)
}

// window returns the time window of the flags, nil if runtime callers are not requested.
func (f *runtimeFlags) window(now time.Time) (*code.RuntimeWindow, error) {
	if !f.on {
		if f.w.since+f.w.from+f.w.to != "" {
			return nil, usage.Errorf("--since, --from and --to: only with --runtime")
		}
		return nil, nil
	}
	w, err := f.w.window(now)
	return &code.RuntimeWindow{From: w.From, To: w.To, At: w.At}, err
}
