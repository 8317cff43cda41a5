package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
)

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
what usually comes after the newest of these commands, or after --after.
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
