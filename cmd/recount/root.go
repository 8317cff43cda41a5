package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/program"
	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
)

// unanswered returns the error of a verb about a command: an unknown reference is a negative
// answer, an ambiguous one is a mistake, reported with what to do.
func (a *app) unanswered(err error) error {
	var missing *query.NotFoundError
	var ambiguous *query.AmbiguousError
	var wrong *query.RequestError
	switch {
	case errors.As(err, &missing):
		a.Tell(err.Error())
		return exitError(exitNothing)
	case errors.As(err, &ambiguous):
		fmt.Fprintf(a.Err, "recount: %q: ambiguous: give more digits of the id\n", ambiguous.Prefix)
		for _, m := range ambiguous.Matches {
			fmt.Fprintf(a.Err, "  %s  %s  %s\n", m.ID, render.When(m.Time, time.DateTime), render.OneLine(m.Command))
		}
		return exitError(exitFailed)
	case errors.As(err, &wrong):
		return usage.Wrap(err)
	}
	return err
}

// The groups of commands in the help, in the order in which a new user needs them.
const (
	groupStart   = "start"
	groupRecord  = "record"
	groupAsk     = "ask"
	groupCode    = "code"
	groupRuntime = "runtime"
	groupTrust   = "trust"
	groupRest    = "rest"
)

func (a *app) root() *cobra.Command {
	cobra.EnableCommandSorting = false // keep the order below
	var version bool                   // --version; cobra's own would link text/template (decision 76)
	root := &cobra.Command{
		Use:   "recount",
		Short: "The memory of engineering work",
		Long: `Recount keeps every command, commit and span in a durable log and answers what happened,
why, and what a change will reach, with the log offsets that support each answer.

A verb uses the server that runs on the data directory (recount up), or else opens the
directory itself. The data directory is --data-dir, by default $RECOUNT_DATA_DIR or
~/.local/share/recount.

A verb exits with 0 on success, with 1 if it found nothing or two states differ, and
with 2 if it failed; recount exec exits as its command did.`,
		Example: `  recount quickstart                      try it on real sample data
  eval "$(recount hook bash)"             record this shell from now on
  recount import history                  import your shell history
  recount find "remove old images"        search commands
  recount why                             show what led to the newest failure here`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				a.Printf("%s\n", verbs.VersionLine(a.Version))
				return nil
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			hint := ""
			if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
				hint = "; did you mean " + strings.Join(s, " or ") + "?"
			}
			return usage.Errorf("unknown verb %q%s", args[0], hint)
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version")
	root.SetHelpCommand(helpCmd())

	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Start:"},
		&cobra.Group{ID: groupRecord, Title: "Record:"},
		&cobra.Group{ID: groupAsk, Title: "Ask:"},
		&cobra.Group{ID: groupCode, Title: "Query code:"},
		&cobra.Group{ID: groupRuntime, Title: "Query running services:"},
		&cobra.Group{ID: groupTrust, Title: "Inspect and verify:"},
		&cobra.Group{ID: groupRest, Title: "Besides:"},
	)
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupStart, a.quickstartCmd(), program.Up(a.Connector, nil), a.openCmd(), a.stopCmd(), a.mcpCmd())
	add(groupRecord, a.hookCmd(), a.importCmd(), a.watchCmd(), a.recordCmd(), a.execCmd(), a.rememberCmd(), a.announceCmd(), a.handoverCmd())
	add(groupAsk, a.openable("look", a.lookCmd()), a.openable("find", a.findCmd()), a.searchCmd(), a.openable("ask", a.evidenceCmd()), a.briefCmd(), a.contextCmd(), a.rememberedCmd(), a.announcedCmd(), a.usedCmd(), a.feedbackCmd(), a.sessionsCmd(), a.openable("show", a.showCmd()), a.openable("why", a.whyCmd()), a.openable("stitch", a.stitchCmd()), a.diffCmd(), a.insightsCmd(), a.statsCmd(), a.replayCmd(), a.replayedCmd(), a.bisectEnvCmd(), a.statusCmd())
	add(groupCode, a.symbolsCmd(), a.openable("callers", a.callersCmd()), a.calleesCmd(), a.openable("impact", a.impactCmd()), a.testsCmd(), a.flowCmd(), a.routesCmd(), a.ownersCmd(), a.staleCmd(), a.exportCmd(), a.snapshotCmd(), a.proveCmd(), a.verifyProofCmd())
	add(groupRuntime, a.runtimeCmd())
	add(groupTrust, a.logCmd(), a.verifyCmd(), a.backupCmd(), a.restoreCmd(), a.fsckCmd(), a.gcCmd(), a.forgetCmd(), a.rebuildCmd())
	add(groupRest, a.spoolCmd(), a.answerCmd(), a.tokenCmd(), a.pipelineCmd(), verbs.Version(a.Terminal, a.Version))
	root.SetHelpCommandGroupID(groupRest)
	root.SetCompletionCommandGroupID(groupRest)
	program.Prepare(root, a.Connector)
	a.completeFlags(root)
	return root
}

// helpCmd is cobra's help command, except that an unknown verb is an error.
func helpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB...]",
		Short: "Help about any verb",
		RunE: func(c *cobra.Command, args []string) error {
			cmd, rest, err := c.Root().Find(args)
			if err != nil || cmd == nil || len(rest) > 0 {
				return usage.Errorf("unknown verb %q", strings.Join(args, " "))
			}
			return cmd.Help()
		},
	}
}

func (a *app) pipelineCmd() *cobra.Command {
	c := program.PipelineUsage()
	c.RunE = func(*cobra.Command, []string) error { return program.Pipeline(a.Connector) }
	return c
}

// printAnswer prints an answer, for people by show. An empty answer ends with exit code 1.
func (a *app) printAnswer(resp any, basis query.Basis, proof bool, show func()) error {
	return verbs.PrintAnswer(a.Terminal, resp, basis, proof, show)
}

// hint prints what an answer advises.
func (a *app) hint(basis query.Basis) {
	if basis.Hint != "" {
		a.Printf("%s\n", a.Paint(render.Dim, render.OneLine(basis.Hint)))
	}
}
