package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/hitview"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/server/httpapi"
)

func (a *app) findCmd() *cobra.Command { return verbs.Find(a.Terminal, finder{a}) }

// finder answers the verb find.
type finder struct{ *app }

// Find asks the server, or the data directory.
func (f finder) Find(ctx context.Context, r commands.FindRequest) (resp commands.FindResponse, err error) {
	err = f.WithBackend(ctx, func(b *connect.Backend) (err error) {
		resp, err = commands.FindQuestion.Ask(ctx, b, r)
		f.ClearProgress()
		return err
	})
	return resp, err
}

// Follow prints commands as they come, with --json one per line.
func (f finder) Follow(ctx context.Context, r verbs.Followed) error {
	q := commands.FollowRequest{Filters: r.Filters, From: r.From, Limit: r.Limit, Beat: httpapi.DefaultBeat}
	enc := json.NewEncoder(f.Out)
	enc.SetEscapeHTML(false)
	err := f.WithBackend(ctx, func(b *connect.Backend) error {
		return b.Follow(ctx, q, func(step commands.Followed) error {
			switch {
			case step.Command == nil:
				return nil
			case f.JSON:
				return enc.Encode(step.Command)
			}
			hitview.Hit(f.Terminal, commands.Hit{Intent: step.Command.Intent}, time.Now())
			return nil
		})
	})
	if errors.Is(err, context.Canceled) {
		return nil // ctrl-c is the normal end of following
	}
	return f.unanswered(err)
}
