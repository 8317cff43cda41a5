package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/hitview"
	"github.com/recountdb/recount/internal/render/lookview"
	"github.com/recountdb/recount/internal/render/sessionview"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/look"
	"github.com/recountdb/recount/query/sessions"
	"github.com/recountdb/recount/server/httpapi"
)

func (a *app) findCmd() *cobra.Command { return verbs.Find(a.Terminal, finder{a}) }

func (a *app) statsCmd() *cobra.Command { return verbs.Stats(a.Terminal, finder{a}) }

// finder answers the verbs find and stats.
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

// Stats asks the server, or the data directory.
func (f finder) Stats(ctx context.Context, r commands.StatisticsRequest) (resp commands.StatisticsResponse, err error) {
	err = f.WithBackend(ctx, func(b *connect.Backend) (err error) {
		resp, err = commands.StatsQuestion.Ask(ctx, b, r)
		f.ClearProgress()
		return err
	})
	return resp, err
}

// Follow prints commands as they come, with --json one per line.
func (f finder) Follow(ctx context.Context, r verbs.Followed) error {
	q := commands.FollowRequest{Filters: r.Filters, From: r.From, Limit: r.Limit, Beat: httpapi.DefaultBeat}
	if r.Filters.Exit != "" && r.Filters.Exit != "unknown" {
		f.Note("--exit misses commands whose outcome comes later, such as those of exec and of agents' hooks")
	}
	enc := render.JSON(f.Out)
	err := f.WithBackend(ctx, func(b *connect.Backend) error {
		return b.Follow(ctx, q, func(step commands.Followed) error {
			switch {
			case step.Command == nil:
				return nil
			case f.JSON:
				return enc.Encode(step.Command)
			}
			hitview.Hit(f.Terminal, commands.Hit{Intent: step.Command.Intent}, time.Now(), false)
			return nil
		})
	})
	if errors.Is(err, context.Canceled) {
		return nil // ctrl-c is the normal end of following
	}
	return f.unanswered(err)
}

func (a *app) lookCmd() *cobra.Command {
	var r look.Request
	var filters verbs.Filters
	var m verbs.MomentFlags
	c := &cobra.Command{
		Use:   "look WORDS...",
		Short: "Search commands, code, services and agents' memory at once",
		Long: `Search everything at once: commands, symbols of the code, operations of services, and
what agents said and did. The hits of all kinds are in one list, the best first, each
with a score from 0 to 1. A hit that is marked with = has enough of the words to be
what is meant; one marked with ~ has only some of them.

With filters, kinds that cannot satisfy them are left out: --session, --workspace and
--author leave commands and agents, --since and --until also services, all others
commands. find, symbols, runtime traffic and ask search one kind and show more of it.
Exits with 1 if nothing is found.`,
		Example: `  recount look remove old images
  recount look where are tokens checked --kind code
  recount look checkout --kind runtime --kind agents
  recount look failing migration --since 2d --json | jq '.hits[0]'`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now()
			r.Text = strings.Join(args, " ")
			at, err := m.Moment(now)
			if err != nil {
				return err
			}
			r.AsOf, r.AtLeast = at.AsOf, at.AtLeast
			if r.Filters, err = filters.Filters(now); err != nil {
				return err
			}
			if r.Limit <= 0 { // zero in a flag is no default
				return usage.Errorf("--limit %d: want 1 or more", r.Limit)
			}
			if _, err := r.Normal(); err != nil {
				return usage.Wrap(err)
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				resp, err := look.Question.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				return a.printAnswer(resp, resp.Basis, m.Proof, func() { lookview.Hits(a.Terminal, resp, now) })
			})
		},
	}
	filters.Add(c)
	c.Flags().StringSliceVar(&r.Kinds, "kind", nil, "only hits of these kinds: "+strings.Join(look.Kinds(), ", ")+"; may be repeated")
	c.Flags().IntVarP(&r.Limit, "limit", "n", look.DefaultLimit, "maximum number of hits")
	m.Add(c)
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(look.Kinds(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) sessionsCmd() *cobra.Command {
	var r sessions.Request
	var since, until string
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of people and agents, the newest first",
		Long: `List the sessions of people's shells and of agents, the newest first: whose they are,
how many commands ran and how much the agent said and did, and what they are about
(the first message of a person, else the newest command). Exits with 1 if there are
none.`,
		Example: `  recount sessions --since 2d
  recount sessions --author claude --workspace /src/app
  recount open session "$(recount sessions -n 1 --json | jq -r '.sessions[0].session')"`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now()
			var err error
			for _, f := range []struct {
				name, text string
				into       *time.Time
			}{{"since", since, &r.Since}, {"until", until, &r.Until}} {
				if *f.into, err = timespec.Parse(now, f.text); err != nil {
					return usage.Errorf("--%s %q: %w", f.name, f.text, err)
				}
			}
			if r.Limit <= 0 { // zero in a flag is no default
				return usage.Errorf("--limit %d: want 1 or more", r.Limit)
			}
			if _, err := r.Normal(); err != nil {
				return usage.Wrap(err)
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				resp, err := sessions.Question.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				return a.printAnswer(resp, resp.Basis, false, func() { sessionview.Sessions(a.Terminal, resp, now) })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&since, "since", "", "only what happened at this time or later: 2h, 3d, 2026-11-20, or RFC 3339")
	f.StringVar(&until, "until", "", "only what happened before this time")
	f.StringVar(&r.Author, "author", "", "only sessions of this person or agent")
	f.StringVar(&r.Workspace, "workspace", "", "only what happened in this workspace")
	f.StringVar(&r.Kind, "kind", "", "commands (only sessions with commands) or agents (only those of agents)")
	f.IntVarP(&r.Limit, "limit", "n", 20, "maximum number of sessions")
	f.StringVar(&r.After, "after", "", "the next page: the value that the previous page names at its end")
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions([]string{sessions.KindCommands, sessions.KindAgents}, cobra.ShellCompDirectiveNoFileComp))
	return c
}
