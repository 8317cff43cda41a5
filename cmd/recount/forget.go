package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/internal/usage"
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
			r.Author = a.Getenv("USER")
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
	}
	if err == nil && done.Events == 0 {
		return exitError(exitNothing)
	}
	return err
}
