package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

func (a *app) gcCmd() *cobra.Command {
	var f codeFlags
	var days int
	var refs []string
	var dry bool
	c := &cobra.Command{
		Use:   "gc --keep-days DAYS",
		Short: "Remove the code graphs of old commits",
		Long: `Append an event for each repository that removes the graphs of commits older than DAYS,
and the chunks that no other graph uses. Graphs of commits that refs point to are kept,
and so are those of HEAD and the working tree and the newest one; --keep-ref keeps only
the refs that it names. Commits and facts of files are kept, because later commits need
them.

The log keeps all earlier events and grows by this one; a rebuild removes the same
graphs. The only way to get them back is to import the repository under another name.`,
		Example: `  recount gc --keep-days 90 --dry-run
  recount gc --keep-days 365 --keep-ref 'refs/tags/*' --repo shop`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("keep-days") || days < 0 {
				return usage.Errorf("--keep-days: want the number of days to keep graphs for, 0 or more")
			}
			scope, err := f.where()
			if err != nil {
				return err
			}
			now := time.Now().UTC()
			r := code.RetirableRequest{Scope: scope, Before: now.Add(-time.Duration(days) * 24 * time.Hour), KeepRefs: refs}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error { return a.gc(cmd.Context(), b, r, now, dry) })
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.scope.Repo, "repo", "", "the repository: its name, or the end of it (default all)")
	fl.StringVar(&f.atLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	fl.IntVar(&days, "keep-days", 0, "keep the graphs of commits of the last n days")
	fl.StringSliceVar(&refs, "keep-ref", nil, "keep the graph that this ref points to, refs/tags/v1.0.0 or refs/tags/* (default all refs); may be repeated")
	fl.BoolVar(&dry, "dry-run", false, "show what would be removed, and append nothing")
	return c
}

// collected is what gc prints with --json.
type collected struct {
	code.RetirableResponse
	Before time.Time          `json:"before"`
	Events []schemas.Position `json:"events"`
}

func (a *app) gc(ctx context.Context, b *connect.Backend, r code.RetirableRequest, now time.Time, dry bool) error {
	resp, err := code.RetirableQuestion.Ask(ctx, b, r)
	a.ClearProgress()
	if err != nil {
		return a.unanswered(err)
	}
	done := collected{RetirableResponse: resp, Before: r.Before, Events: []schemas.Position{}}
	for _, repo := range resp.Repositories {
		if dry || repo.Retire == 0 {
			continue
		}
		rule := r.Rule(repo.Repo)
		payload, err := schemas.EncodePayload(rule)
		if err != nil {
			return err
		}
		e := schemas.Event{Type: schemas.TypeRetired, Source: recording.Source, Time: now, Key: schemas.KeyOf(rule), ContentType: schemas.ContentJSON, Payload: payload}
		e.ID = e.DeriveID()
		appended, err := b.Append(ctx, []schemas.Event{e})
		if err != nil {
			return err
		}
		done.Events = append(done.Events, appended[0].Position)
	}
	if a.JSON {
		return a.PrintJSON(done)
	}
	codeview.Retired(a.Terminal, resp, done.Events, dry)
	return nil
}
