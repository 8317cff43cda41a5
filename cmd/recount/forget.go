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
		Short: "Erase what events held, for good",
		Long: `Erase what events held: from the files of the log, and from every projection. Their
places in the log stay, with the time, the id, and the SHA-256 of what stood there. It
is found in the log itself, so that every copy goes, and what tells of it too: the
outcome of a command, and the rejected copy of an event.

No answer shows it from when the erasure is on the log, and the log's files lose it at
once. Projections are rebuilt without it, which takes as long as a rebuild: a server goes
on with that where it takes more than some seconds, and recount status says how far it is.
With --wait, and where no server runs, the command ends when it is done.

It first shows what would go, and asks. There is no way back. What it cannot reach are
backups, copies that Kafka clients have made, and brokers that are not Recount's own.
Of commits, contents of files go; messages, authors and branches stay.

A secret given as --pattern is seen by other users of this machine while the command
runs, and may end up in a shell's history: --pattern-stdin reads it from a line of the
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
					return usage.Errorf("--pattern and --pattern-stdin: want one of them")
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
	f.StringVar(&r.Pattern, "pattern", "", "every event that holds a match of this regular expression")
	f.BoolVar(&stdin, "pattern-stdin", false, "read the pattern from the standard input")
	f.StringSliceVar(&r.Topics, "topic", nil, "only events of these topics: commands, spans, agents, rejected (default all)")
	f.StringVar(&r.Tenant, "tenant", "", "only what agents of this tenant did")
	f.StringVar(&r.Reason, "reason", "", "why; it is stored")
	f.IntVar(&r.Limit, "limit", api.DefaultForgetLimit, "erase nothing if more events than this are found")
	f.BoolVar(&r.DryRun, "dry-run", false, "show what would go, and erase nothing")
	f.BoolVar(&r.Wait, "wait", false, "return only when the files of the projections have lost it, too, however long that takes")
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
			return fmt.Errorf("more than %s events: narrow it, or raise --limit", render.Thousands(r.Limit))
		}
		if err := a.Confirm(fmt.Sprintf("Erase %s for good?", render.Count(found.Events, "event")), read); err != nil {
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
