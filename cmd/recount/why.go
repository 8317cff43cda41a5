package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/internal/render/runtimeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/runtime"
)

// newest returns the newest command that passes the filters; nil if there is none.
func newest(ctx context.Context, b *connect.Backend, f commands.Filters, m query.Moment) (*commands.Hit, error) {
	r, err := commands.FindQuestion.Ask(ctx, b, commands.FindRequest{Filters: f, Limit: 1, Repeats: true, AtLeast: m.AtLeast, AsOf: m.AsOf})
	if err != nil || len(r.Hits) == 0 {
		return nil, err
	}
	return &r.Hits[0], nil
}

// lastFailure returns the default command of a question: the newest that failed in this session,
// else in this directory or below, else anywhere.
func (a *app) lastFailure(ctx context.Context, b *connect.Backend, m query.Moment) (string, error) {
	type place struct {
		where string
		f     commands.Filters
	}
	var places []place
	if s := a.Getenv("RECOUNT_SESSION"); s != "" {
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
	return "", &query.NotFoundError{Ref: "", Hint: "no command has failed; name a command by its id: recount find lists ids"}
}

// ref returns the reference in args, or the last failure.
func (a *app) ref(ctx context.Context, b *connect.Backend, args []string, m query.Moment) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	return a.lastFailure(ctx, b, m)
}

func (a *app) whyCmd() *cobra.Command {
	var w walkFlags
	var limit int
	c := &cobra.Command{
		Use:   "why [ID|TRACE|SPAN]",
		Short: "Show what led to a command or a failing span, with the evidence",
		Long: `Follow edges backwards from a command and show what led to it, as a tree: the command is
the root, and below each command are those that led to it, the best supported first.
Each has the edge to the command above it, with its weight (0 to 1) and its evidence.

ID is an event's id, a prefix of one, or a position such as recount.commands/0/42.
Without it: the newest command that failed in this session ($RECOUNT_SESSION), else in
this directory or below, else anywhere.

If no command's id starts with ID, it may be a trace's id (32 hexadecimal digits), a
failing span's id (16 digits), or TRACE/SPAN: then the commits, edits, commands and
dependencies that most plausibly led to the failure, or made the trace slow, are ranked,
each with its probability and evidence; "unknown" if nothing recorded explains it.

Edges that only mean "ran before" or "has similar text" are not causes; they are
followed only if --kind names them. Lines are cut to the terminal's width, or to 80
columns without a terminal.
Exits with 1 if nothing is known to have led to it.`,
		Example: `  recount why                                   the newest failure here
  recount why 018f3c2
  recount why 018f3c2 --kind temporal --depth 3  what ran before it
  recount why 018f3c2 --as-of 2026-11-20         from what was known then
  recount why 018f3c2 --proof --wide
  recount why 5b8efff798038103d269b633813fc60c   the deepest failing span of a trace
  recount why 018f3c2 --dot | dot -Tsvg > why.svg`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeIDs("fail", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := commands.WhyRequest{Limit: limit}
			var err error
			if limit < 1 || limit > commands.MaxLimit {
				return usage.Errorf("--limit %d: want 1 to %d", limit, commands.MaxLimit)
			}
			if r.Walk, err = w.walk(a); err != nil {
				return err
			}
			if r.Moment, err = w.moment(); err != nil {
				return err
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				if r.Ref, err = a.ref(cmd.Context(), b, args, r.Moment); err != nil {
					return a.unanswered(err)
				}
				resp, err := commands.WhyQuestion.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if mine, err := a.whySpan(cmd.Context(), b, &w, r.Ref, limit, err); mine {
					return err
				}
				if err != nil {
					return a.unanswered(err)
				}
				return w.print(a, resp, resp.Basis, func() diagram.Diagram { return commandview.WhyDiagram(resp) }, func(d *render.Drawing) { commandview.Why(d, resp) })
			})
		},
	}
	c.Flags().IntVarP(&limit, "limit", "n", commands.DefaultCauses, "maximum number of causes")
	w.add(c)
	return c
}

// whySpan prints what led to a failing span if the reference names no command and has the form of a
// trace's or span's id; otherwise mine is false.
func (a *app) whySpan(ctx context.Context, b *connect.Backend, w *walkFlags, ref string, limit int, asked error) (mine bool, err error) {
	var missing *query.NotFoundError
	if !errors.As(asked, &missing) || !runtime.NamesSpan(ref) {
		return false, nil
	}
	if w.dot || w.mermaid || w.asOf != "" {
		return true, usage.Errorf("--dot, --mermaid and --as-of: only for commands, but %q names a span", ref)
	}
	r, err := runtime.WhyQuestion.Ask(ctx, b, runtime.SpanWhyRequest{Window: runtime.Window{At: time.Now().UTC()}, Ref: ref, Limit: limit})
	a.ClearProgress()
	if errors.As(err, &missing) {
		missing.Hint += "; and no command's id starts with it"
	}
	if err != nil {
		return true, a.unanswered(err)
	}
	return true, a.answerRuntime(w.proof, r, r.Basis, func() { runtimeview.Why(a.Terminal, r) })
}

func (a *app) stitchCmd() *cobra.Command {
	var w walkFlags
	c := &cobra.Command{
		Use:   "stitch [ID]",
		Short: "Show the narrative around a command",
		Long: `Follow edges in both directions from a command and show the commands around it, from
the oldest to the newest. Each session is a lane; ◆ marks the given command. A command's
edges to earlier ones are printed below it with their evidence, except that it follows
the previous command in its lane.

ID and its default are as in why.
Exits with 1 if there is nothing around it.`,
		Example: `  recount stitch 018f3c2
  recount stitch 018f3c2 --depth 2 --kind causal,dependency,fixes
  recount stitch 018f3c2 --mermaid > narrative.mmd`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeIDs("", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r commands.StitchRequest
			var err error
			if r.Walk, err = w.walk(a); err != nil {
				return err
			}
			if r.Moment, err = w.moment(); err != nil {
				return err
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				if r.Ref, err = a.ref(cmd.Context(), b, args, r.Moment); err != nil {
					return a.unanswered(err)
				}
				resp, err := commands.StitchQuestion.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				return w.print(a, resp, resp.Basis, func() diagram.Diagram { return commandview.StitchDiagram(resp) }, func(d *render.Drawing) { commandview.Stitch(d, resp) })
			})
		},
	}
	w.add(c)
	return c
}

func (a *app) insightsCmd() *cobra.Command {
	var filters verbs.Filters
	var m momentFlags
	var r commands.InsightsRequest
	var wide bool
	c := &cobra.Command{
		Use:   "insights",
		Short: "Show recurring templates, sequences and failures, and what comes next",
		Long: `Among the commands that pass the filters, count templates that recur, sequences of
templates, and failures of the same kind with how often they were fixed. Also suggest
what usually comes after the newest of these commands, or after --after. recount stats
counts commands by time, program, directory and author.
Exits with 1 if nothing recurs.`,
		Example: `  recount insights --here --since 30d
  recount insights --after 018f3c2 --limit 3
  recount insights --exit fail --proof`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now()
			var err error
			if r.Filters, err = filters.Filters(now); err != nil {
				return err
			}
			if r.Moment, err = m.moment(); err != nil {
				return err
			}
			if r.Limit < 1 || r.Limit > commands.MaxLimit {
				return usage.Errorf("--limit %d: want 1 to %d", r.Limit, commands.MaxLimit)
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				resp, err := commands.InsightsQuestion.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				if a.JSON {
					err = a.PrintJSON(resp)
				} else {
					commandview.Insights(a.NewDrawing(wide, now), resp)
					if m.proof {
						a.PrintProof(resp.Proof, resp.Watermark.String())
					}
				}
				if err == nil && resp.Status == query.StatusEmpty {
					err = exitError(exitNothing)
				}
				return err
			})
		},
	}
	c.Flags().IntVarP(&r.Limit, "limit", "n", commands.DefaultLimit, "maximum number of entries in each list")
	c.Flags().StringVar(&r.After, "after", "", "suggest what comes after this command: its id, a prefix of the id, or its position")
	c.Flags().BoolVar(&wide, "wide", false, "do not cut long lines")
	filters.Add(c)
	m.add(c)
	_ = c.RegisterFlagCompletionFunc("after", a.completeIDs("", 1))
	return c
}
