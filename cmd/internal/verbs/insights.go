package verbs

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/commands/ask"
)

// Insights returns the verb insights, which prints on t what by answers.
func Insights(t *render.Terminal, by Narrator) *cobra.Command {
	var filters Filters
	var m MomentFlags
	var r ask.InsightsRequest
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
			if r.Moment, err = m.Moment(now); err != nil {
				return err
			}
			if r.Limit < 1 || r.Limit > ask.MaxLimit {
				return usage.Errorf("--limit %d: want 1 to %d", r.Limit, ask.MaxLimit)
			}
			return by.Asking(cmd.Context(), func(by Answers) error {
				var resp ask.InsightsResponse
				if err := answer(cmd.Context(), by, "insights", r, &resp); err != nil {
					return err
				}
				return PrintAnswer(t, resp, resp.Basis, m.Proof, func() { commandview.Insights(t.NewDrawing(wide, now), resp) })
			})
		},
	}
	c.Flags().IntVarP(&r.Limit, "limit", "n", ask.DefaultLimit, "maximum number of entries in each list")
	c.Flags().StringVar(&r.After, "after", "", "suggest what comes after this command: its id, a prefix of the id, or its position")
	c.Flags().BoolVar(&wide, "wide", false, "do not cut long lines")
	filters.Add(c)
	m.Add(c)
	return c
}
