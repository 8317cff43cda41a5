package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/httpapi"
)

func (a *app) findCmd() *cobra.Command {
	var r commands.FindRequest
	var filters filterFlags
	var asOf, atLeast string
	var proof, follow bool
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
  recount find --program kubectl --category deploy --limit 20
  recount find --follow --exit fail --here            failures here from now on
  recount find "make test" --proof                    how the answer was computed
  recount find tests --json | jq .hits[0].position`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Text = strings.Join(args, " ")
			now := time.Now()
			var err error
			if r.Filters, err = filters.filters(now); err != nil {
				return err
			}
			if err := r.AsOf.UnmarshalText([]byte(asOf)); err != nil {
				return usage.Wrap(err)
			}
			if r.AtLeast, err = schemas.ParseWatermark(atLeast); err != nil {
				return usage.Errorf("--at-least: %w", err)
			}
			if _, err := r.Normal(); err != nil {
				return usage.Wrap(err)
			}
			if follow {
				q := commands.FollowRequest{Filters: r.Filters, Beat: httpapi.DefaultBeat}
				if cmd.Flags().Changed("limit") {
					q.Limit = r.Limit
				}
				if from != "" {
					if q.From, err = schemas.ParseWatermark(from); err != nil {
						return usage.Errorf("--from: %w", err)
					}
				}
				if r.Text != "" || !r.AsOf.IsZero() || len(r.AtLeast) > 0 || r.Repeats || r.Replayed || proof {
					return usage.Errorf("--follow prints each new command: it takes only filters, --limit, --from and --json")
				}
				if q.Filters.Exit != "" && q.Filters.Exit != "unknown" {
					a.Note("--exit misses commands whose outcome comes later, such as those of exec and of agents' hooks")
				}
				return a.WithBackend(cmd.Context(), func(b *connect.Backend) error { return a.follow(cmd.Context(), b, q) })
			}
			if from != "" {
				return usage.Errorf("--from: only with --follow")
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				return a.find(cmd.Context(), b, r, proof, now)
			})
		},
	}
	filters.add(c)
	f := c.Flags()
	f.IntVarP(&r.Limit, "limit", "n", commands.DefaultLimit, fmt.Sprintf("maximum number of hits, up to %d", commands.MaxLimit))
	f.StringVar(&asOf, "as-of", "", "answer from what was known at a time or at the watermark of an earlier answer")
	f.StringVar(&atLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	f.IntVar(&r.EF, "ef", 0, fmt.Sprintf("number of candidates in the vector search, up to %d (default 120)", commands.MaxEF))
	f.BoolVarP(&follow, "follow", "f", false, "print new commands as they become visible")
	f.StringVar(&from, "from", "", "with --follow: begin at these offsets instead of now: TOPIC/PARTITION:NEXT,…; other partitions begin at their start")
	f.BoolVar(&r.Repeats, "repeats", false, "list each run of a command")
	f.BoolVar(&r.Replayed, "replayed", false, "only commands that a replay ran again")
	f.BoolVar(&proof, "proof", false, "print the proof: the steps by which the answer was computed")
	return c
}

func (a *app) find(ctx context.Context, b *connect.Backend, r commands.FindRequest, proof bool, now time.Time) error {
	resp, err := commands.FindQuestion.Ask(ctx, b, r)
	a.ClearProgress()
	if err != nil {
		return err
	}
	if a.JSON {
		if err := a.PrintJSON(resp); err != nil {
			return err
		}
	} else {
		commandview.Hits(a.Terminal, resp, now)
		if proof {
			a.PrintProof(resp.Proof, resp.Watermark.String())
		}
	}
	if resp.Status == query.StatusEmpty {
		return exitError(exitNothing)
	}
	return nil
}

// follow prints commands as they come, with --json one per line.
func (a *app) follow(ctx context.Context, b *connect.Backend, q commands.FollowRequest) error {
	enc := json.NewEncoder(a.Out)
	enc.SetEscapeHTML(false)
	err := b.Follow(ctx, q, func(f commands.Followed) error {
		switch {
		case f.Command == nil:
			return nil
		case a.JSON:
			return enc.Encode(f.Command)
		}
		commandview.Hit(a.Terminal, commands.Hit{Intent: f.Command.Intent}, time.Now())
		return nil
	})
	if errors.Is(err, context.Canceled) {
		return nil // ctrl-c is the normal end of following
	}
	return a.unanswered(err)
}
