package verbs

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/statview"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/commands/ask"
)

// Statistician answers stats.
type Statistician interface {
	Stats(ctx context.Context, r ask.StatisticsRequest) (ask.StatisticsResponse, error)
}

// Stats returns the verb stats, which prints on t what by answers.
func Stats(t *render.Terminal, by Statistician) *cobra.Command {
	var r ask.StatisticsRequest
	var filters Filters
	var m MomentFlags
	var wide bool
	c := &cobra.Command{
		Use:   "stats",
		Short: "Show statistics: what was run, when, where, by whom, and how it went",
		Long: `Count the commands that pass the filters: how many, how many failed and how long they
took, by day (or week, month, year), by hour, by program, template and directory, and
by people and agents. The shaded end of a bar, and FAILED, are what failed, of the
commands whose outcome is known. A command that runs several programs counts, with all
of its time, for each. An author other than the account is taken for an agent.

Days and hours are those of this machine's time zone, or of --time-zone.

stats counts all commands by themselves. recount insights looks at their order too, in
the newest million: what recurs in sequences, which failures are alike and how often
they were fixed, and what usually comes next.
Exits with 1 if no command passes the filters.`,
		Example: `  recount stats
  recount stats --since 30d --here
  recount stats --author claude-code --workspace /src/app
  recount stats --program git --limit 30             which git commands
  recount stats --since 2026-01-01 --until 2026-02-01 --exit fail
  recount stats --json | jq '.days[] | [.day, .runs, .failed]'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now()
			var err error
			if r.Filters, err = filters.Filters(now); err != nil {
				return err
			}
			at, err := m.Moment(now)
			if err != nil {
				return err
			}
			r.AsOf, r.AtLeast = at.AsOf, at.AtLeast
			if r.Limit < 1 || r.Limit > ask.MaxLimit {
				return usage.Errorf("--limit %d: want 1 to %d", r.Limit, ask.MaxLimit)
			}
			if r.TimeZone == "" {
				r.TimeZone = timespec.Zone(now)
			}
			if _, err := r.Normal(); err != nil {
				return usage.Wrap(err)
			}
			resp, err := by.Stats(cmd.Context(), r)
			if err != nil {
				return err
			}
			return PrintAnswer(t, resp, resp.Basis, m.Proof, func() { statview.Stats(t.NewDrawing(wide, now), resp) })
		},
	}
	filters.Add(c)
	f := c.Flags()
	f.IntVarP(&r.Limit, "limit", "n", ask.DefaultLimit, fmt.Sprintf("maximum number of names in each list, up to %d", ask.MaxLimit))
	f.StringVar(&r.TimeZone, "time-zone", "", "the time zone of days and hours: Europe/Berlin, UTC, +05:30 (default this machine's)")
	m.Add(c)
	f.BoolVar(&wide, "wide", false, "do not cut long lines")
	return c
}
