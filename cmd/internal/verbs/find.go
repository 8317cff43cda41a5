package verbs

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/hitview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// Finder answers find.
type Finder interface {
	Find(ctx context.Context, r ask.FindRequest) (ask.FindResponse, error)
	// Follow prints commands as they come.
	Follow(ctx context.Context, r Followed) error
}

// Followed is what find --follow is asked: the commands that pass the filters, from offsets on, or
// from now if From is nil. Limit is the number of commands after which it ends, 0 for no limit.
type Followed struct {
	Filters ask.Filters
	From    schemas.Watermark
	Limit   int
}

// Find returns the verb find, which prints on t what by answers.
func Find(t *render.Terminal, by Finder) *cobra.Command {
	var r ask.FindRequest
	var filters Filters
	var m MomentFlags
	var follow bool
	var from string
	c := &cobra.Command{
		Use:   "find [WORDS...]",
		Short: "Find commands by words, meaning and circumstances",
		Long: `Find commands by words that occur in them, by meaning, and by the circumstances that
the flags give. Without words it lists the newest commands.

Commands with the same text are one hit: the newest of the best matching runs.
--repeats lists each run.
Exits with 1 if nothing is found.

--follow instead prints commands as they become visible, until it is interrupted or
--limit is reached. It needs a server and takes no words. --exit is then judged by what
is known when a command becomes visible: for commands of exec and of agents' hooks,
which are recorded when they start, the outcome comes later and is not reported.`,
		Example: `  recount find remove old docker images
  recount find --exit fail --since 2d                 failures since the day before yesterday
  recount find --here make test                       in this directory and below
  recount find --resource deploy.yaml                 commands that read or wrote it
  recount find --wrote ./go.sum                       commands that changed this file
  recount find --program kubectl --category deploy --limit 20
  recount find --follow --exit fail --here            failures here from now on
  recount find "make test" --proof                    how the answer was computed
  recount find tests --json | jq .hits[0].position`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Text = strings.Join(args, " ")
			now := time.Now()
			var err error
			if strings.HasPrefix(r.Wrote, ".") { // ./go.sum, but also .env
				if r.Wrote, err = filepath.Abs(r.Wrote); err != nil {
					return err
				}
			}
			if r.Filters, err = filters.Filters(now); err != nil {
				return err
			}
			at, err := m.Moment(now)
			if err != nil {
				return err
			}
			r.AsOf, r.AtLeast = at.AsOf, at.AtLeast
			if _, err := r.Normal(); err != nil {
				return usage.Wrap(err)
			}
			if follow {
				q := Followed{Filters: r.Filters}
				if cmd.Flags().Changed("limit") {
					q.Limit = r.Limit
				}
				if from != "" {
					if q.From, err = schemas.ParseWatermark(from); err != nil {
						return usage.Errorf("--from: %w", err)
					}
				}
				if r.Text != "" || !r.AsOf.IsZero() || len(r.AtLeast) > 0 || r.Repeats || r.Replayed || r.Wrote != "" || m.Proof {
					return usage.Errorf("--follow prints each new command: it takes only filters, --limit, --from and --json")
				}
				return by.Follow(cmd.Context(), q)
			}
			if from != "" {
				return usage.Errorf("--from: only with --follow")
			}
			resp, err := by.Find(cmd.Context(), r)
			if err != nil {
				return err
			}
			return printHits(t, resp, m.Proof, now)
		},
	}
	filters.Add(c)
	f := c.Flags()
	f.IntVarP(&r.Limit, "limit", "n", ask.DefaultLimit, fmt.Sprintf("maximum number of hits, up to %d", ask.MaxLimit))
	m.Add(c)
	f.IntVar(&r.EF, "ef", 0, fmt.Sprintf("number of candidates in the vector search, up to %d (default 120)", ask.MaxEF))
	f.BoolVarP(&follow, "follow", "f", false, "print new commands as they become visible")
	f.StringVar(&from, "from", "", "with --follow: begin at these offsets instead of now: TOPIC/PARTITION:NEXT,…; other partitions begin at their start")
	f.BoolVar(&r.Repeats, "repeats", false, "list each run of a command")
	f.BoolVar(&r.Replayed, "replayed", false, "only commands that a replay ran again")
	f.StringVar(&r.Wrote, "wrote", "", "wrote, moved or removed this file, as seen by the recorder or else as its text says: a path, or the part of one after a slash")
	return c
}

// printHits prints the answer of find, and fails if it is empty.
func printHits(t *render.Terminal, resp ask.FindResponse, proof bool, now time.Time) error {
	return PrintAnswer(t, resp, query.Basis{Status: resp.Status, Proof: resp.Proof, Watermark: resp.Watermark}, proof, func() { hitview.Hits(t, resp, now, proof) })
}
