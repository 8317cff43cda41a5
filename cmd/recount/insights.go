package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
)

func (a *app) insightsCmd() *cobra.Command {
	var filters filterFlags
	var m momentFlags
	var r commands.InsightsRequest
	var wide bool
	c := &cobra.Command{
		Use:   "insights",
		Short: "Show what recurs: templates, sequences, failures, and what comes next",
		Long: `Count among the commands that pass the filters what is run again and again, what is
run one after the other, what fails in the same way and whether it was mended, and
say what usually comes next after the newest of them, or after --after.
Exits with 1 if nothing recurs.`,
		Example: `  recount insights --here --since 30d
  recount insights --after 018f3c2 --limit 3
  recount insights --exit fail --proof`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now()
			var err error
			if r.Filters, err = filters.filters(now); err != nil {
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
	c.Flags().IntVarP(&r.Limit, "limit", "n", commands.DefaultLimit, "how many of each at most")
	c.Flags().StringVar(&r.After, "after", "", "say what comes next after this command: its id, the start of it, or its position")
	c.Flags().BoolVar(&wide, "wide", false, "cut nothing, however long the lines")
	filters.add(c)
	m.add(c)
	_ = c.RegisterFlagCompletionFunc("after", a.completeIDs("", 1))
	return c
}
