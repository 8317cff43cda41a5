package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/query"
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
	f.StringVar(&m.asOf, "as-of", "", "answer from what was known then: a time, or a watermark of an earlier answer")
	f.StringVar(&m.atLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	f.BoolVar(&m.proof, "proof", false, "print how the answer came about")
}

func (m *momentFlags) moment() (r query.Moment, err error) {
	if err := r.AsOf.UnmarshalText([]byte(m.asOf)); err != nil {
		return r, asUsage(err)
	}
	if r.AtLeast, err = schemas.ParseWatermark(m.atLeast); err != nil {
		return r, usagef("--at-least: %w", err)
	}
	return r, nil
}

// drawFlags select how an answer about narratives is printed.
type drawFlags struct {
	wide, dot, mermaid bool
}

func (d *drawFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&d.wide, "wide", false, "cut nothing, however long the lines")
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
	f.IntVar(&w.Depth, "depth", commands.DefaultDepth, fmt.Sprintf("how many edges to go at most, up to %d", commands.MaxDepth))
	f.IntVar(&w.Nodes, "nodes", commands.DefaultNodes, fmt.Sprintf("how many commands at most, up to %d", commands.MaxNodes))
	f.StringSliceVar(&w.Kinds, "kind", nil, "follow only these edges: temporal, retry, fixes, dependency, branch, causal, similar; may be repeated")
	f.Float64Var(&w.MinWeight, "min-weight", 0, "follow only edges of this weight or more, 0 to 1")
	w.momentFlags.add(c)
	w.drawFlags.add(c)
}

// walk returns the walk that the flags describe. Zero is invalid: unlike in a request, it is no
// default.
func (w *walkFlags) walk(a *app) (commands.Walk, error) {
	if (w.dot && w.mermaid) || a.JSON && (w.dot || w.mermaid) {
		return w.Walk, usagef("--json, --dot and --mermaid: give one of them")
	}
	for _, b := range []struct {
		name    string
		n, most int
	}{{"depth", w.Depth, commands.MaxDepth}, {"nodes", w.Nodes, commands.MaxNodes}} {
		if b.n < 1 || b.n > b.most {
			return w.Walk, usagef("--%s %d: want 1 to %d", b.name, b.n, b.most)
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

// newest returns the newest command that passes the filters; nil if there is none.
func newest(ctx context.Context, b *backend, f commands.Filters, m query.Moment) (*commands.Hit, error) {
	r, err := commands.FindQuestion.Ask(ctx, b, commands.FindRequest{Filters: f, Limit: 1, Repeats: true, AtLeast: m.AtLeast, AsOf: m.AsOf})
	if err != nil || len(r.Hits) == 0 {
		return nil, err
	}
	return &r.Hits[0], nil
}

// lastFailure returns the default command of a question: the newest that failed in this session,
// else in this directory or below, else anywhere.
func (a *app) lastFailure(ctx context.Context, b *backend, m query.Moment) (string, error) {
	type place struct {
		where string
		f     commands.Filters
	}
	var places []place
	if s := a.getenv("RECOUNT_SESSION"); s != "" {
		places = append(places, place{"in this session", commands.Filters{Session: s}})
	}
	if dir, err := os.Getwd(); err == nil {
		places = append(places, place{"in this directory", commands.Filters{Cwd: dir}})
	}
	for _, p := range append(places, place{where: "anywhere"}) {
		p.f.Exit = "fail"
		hit, err := newest(ctx, b, p.f, m)
		if err != nil {
			return "", err
		}
		if hit != nil {
			a.Note("the newest failure %s", p.where)
			return hit.ID.String(), nil
		}
	}
	return "", &query.NotFoundError{Ref: "", Hint: "no command has failed; name one by its id: recount find lists them"}
}

// ref returns the reference in args, or the last failure.
func (a *app) ref(ctx context.Context, b *backend, args []string, m query.Moment) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	return a.lastFailure(ctx, b, m)
}

// completeIDs completes ids with those of the newest commands; exit limits them, such as to
// failures for verbs that are mostly about these.
func (a *app) completeIDs(exit string, most int) cobra.CompletionFunc {
	return a.complete(most, func(ctx context.Context, b *backend, _ *cobra.Command, typed string) ([]cobra.Completion, error) {
		r, err := commands.FindQuestion.Ask(ctx, b, commands.FindRequest{Filters: commands.Filters{Exit: exit}, Limit: completionCount, Repeats: true})
		if err != nil {
			return nil, err
		}
		var ids []schemas.EventID
		for _, h := range r.Hits {
			ids = append(ids, h.ID)
		}
		short := render.Abbreviate(ids)
		var out []cobra.Completion
		for _, h := range r.Hits {
			// The typed text may be longer than the abbreviation.
			id := short[h.ID]
			if strings.HasPrefix(h.ID.String(), typed) && len(typed) > len(id) {
				id = h.ID.String()
			}
			if strings.HasPrefix(id, typed) {
				about := fmt.Sprintf("%s %s, %s", render.PlainMark(h.ExitCode), render.Cut(render.OneLine(h.Command), render.CommandColumns), render.Ago(time.Now(), h.Time))
				out = append(out, cobra.CompletionWithDesc(id, about))
			}
		}
		return out, nil
	})
}
