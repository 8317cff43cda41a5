package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/internal/replaying"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

func (a *app) forgetCmd() *cobra.Command {
	var r api.ForgetRequest
	var yes, stdin bool
	c := &cobra.Command{
		Use:   "forget EVENT…",
		Short: "Erase events permanently",
		Long: `Erase the contents of events from the files of the log and from every projection. Their
positions remain in the log, with the time, the id and the SHA-256 of the erased bytes.
The log itself is searched, so that every copy is erased, and with it what depends on
the event: the outcome of a command, and the rejected copy of an event.

As soon as the erasure is in the log, no answer shows the events, and the log's files
lose them at once. Projections are rebuilt without them. If that takes longer than some
seconds, a server continues in the background, and recount status shows the progress.
With --wait, or without a server, the command returns when everything is done.

The command first shows what it would erase and asks for confirmation. It cannot be
undone. It does not reach backups, copies made by Kafka clients, and brokers that are
not Recount's own. Of commits, only contents of files are erased; messages, authors and
branches are kept.

A secret given with --pattern is visible to other users of this machine while the
command runs, and may end up in the shell's history: --pattern-stdin reads it from the
standard input. The log keeps the pattern's hash, not the pattern. Patterns are RE2.`,
		Example: `  recount forget 018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55
  recount forget recount.commands/0/42 --reason "a customer's data"
  recount forget --session 4f1c --dry-run
  recount forget --pattern-stdin --topic commands --yes < pattern.txt`,
		ValidArgsFunction: a.completeIDs("", 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Events = args
			if stdin {
				if r.Pattern != "" {
					return usage.Errorf("--pattern and --pattern-stdin: give one of them")
				}
				line, err := bufio.NewReader(a.In).ReadString('\n')
				if r.Pattern = strings.TrimRight(line, "\r\n"); r.Pattern == "" {
					return fmt.Errorf("--pattern-stdin: no pattern on the standard input: %w", err)
				}
			}
			ways := 0
			for _, asked := range []bool{len(args) > 0, r.Session != "", r.Pattern != ""} {
				if asked {
					ways++
				}
			}
			if ways != 1 {
				return usage.Errorf("want events by id or position, or --session, or --pattern")
			}
			r.Author = a.user()
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error { return a.forget(cmd.Context(), b, r, yes, stdin) })
		},
	}
	f := c.Flags()
	f.StringVar(&r.Session, "session", "", "every event of this session")
	f.StringVar(&r.Pattern, "pattern", "", "every event that matches this regular expression")
	f.BoolVar(&stdin, "pattern-stdin", false, "read the pattern from the standard input")
	f.StringSliceVar(&r.Topics, "topic", nil, "only events of these topics: commands, spans, agents, rejected (default all)")
	f.StringVar(&r.Tenant, "tenant", "", "only events of this tenant's agents")
	f.StringVar(&r.Reason, "reason", "", "the reason, which is stored")
	f.IntVar(&r.Limit, "limit", api.DefaultForgetLimit, "erase nothing if more events than this are found")
	f.BoolVar(&r.DryRun, "dry-run", false, "show what would be erased, and erase nothing")
	f.BoolVar(&r.Wait, "wait", false, "return only when the projections' files no longer hold the events either, however long that takes")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (a *app) forget(ctx context.Context, b *connect.Backend, r api.ForgetRequest, yes, read bool) error {
	if r.DryRun || !yes {
		look := r
		look.DryRun = true
		found, err := b.Forget(ctx, look, a.Progress())
		a.ClearProgress()
		if err != nil {
			return err
		}
		if r.DryRun && a.JSON {
			return a.PrintJSON(found)
		}
		if !a.JSON {
			nodeview.Forgettable(a.Terminal, found)
		}
		switch {
		case found.Events == 0:
			return exitError(exitNothing)
		case r.DryRun:
			return nil
		case found.TooMany:
			return fmt.Errorf("more than %s events: narrow the selection, or raise --limit", render.Thousands(r.Limit))
		}
		if err := a.Confirm(fmt.Sprintf("Erase %s permanently?", render.Count(found.Events, "event")), read); err != nil {
			return err
		}
	}
	done, err := b.Forget(ctx, r, a.Progress())
	a.ClearProgress()
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(done)
	} else {
		nodeview.Erased(a.Terminal, done, yes)
		if err := a.keptByReplays(done.Events); err != nil {
			return err
		}
	}
	if err == nil && done.Events == 0 {
		return exitError(exitNothing)
	}
	return err
}

// keptByReplays says which replays keep files that may have what was erased.
func (a *app) keptByReplays(erased int) error {
	state, err := a.StateDir("recount-replays")
	if err != nil || erased == 0 {
		return err
	}
	if runs := replaying.Kept(state); len(runs) > 0 {
		a.Printf("files that %s wrote and that were not applied may still have it: %s\n", render.Count(len(runs), "replay"), strings.Join(runs, ", "))
		a.Printf("forget them with recount replay --resume RUN --discard\n")
	}
	return nil
}

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
