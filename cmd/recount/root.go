package main

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
		fmt.Fprintf(a.Err, "recount: %s\n", err)
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
		Version: version,
		Example: `  recount quickstart                      try it on real sample data
  eval "$(recount hook bash)"             record this shell from now on
  recount import history                  import your shell history
  recount find "remove old images"        search commands
  recount why                             show what led to the newest failure here`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		// Global flags may come before any verb, also before pipeline, whose own flags belong to
		// Benthos.
		TraverseChildren: true,
		SilenceUsage:     true,
		RunE: func(cmd *cobra.Command, args []string) error {
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
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetIn(a.In)
	root.SuggestionsMinimumDistance = 2
	f := root.PersistentFlags()
	f.StringVar(&a.DataDir, "data-dir", "", "the data directory (default $RECOUNT_DATA_DIR, else the user's data folder)")
	f.StringVar(&a.Config, "config", "", "the config file (default $RECOUNT_CONFIG, else recount/config.yaml in the user's config folder, if it exists)")
	f.StringVar(&a.Server, "server", "", "use the server at this URL instead of the data directory (default $RECOUNT_SERVER; its token is $RECOUNT_TOKEN)")
	f.BoolVar(&a.InsecureHTTP, "insecure-http", false, "send the token to a remote server over http:// too, if the connection is encrypted in another way")
	f.BoolVar(&a.JSON, "json", false, "print JSON")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage.Wrap(plainFlagError(err)) })
	root.SetVersionTemplate("recount {{.Version}} (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")\n")
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
	add(groupStart, a.quickstartCmd(), a.upCmd())
	add(groupRecord, a.hookCmd(), a.importCmd(), a.watchCmd(), a.recordCmd(), a.execCmd())
	add(groupAsk, a.findCmd(), a.evidenceCmd(), a.usedCmd(), a.showCmd(), a.whyCmd(), a.stitchCmd(), a.diffCmd(), a.insightsCmd(), a.statusCmd())
	add(groupCode, a.symbolsCmd(), a.callersCmd(), a.calleesCmd(), a.impactCmd(), a.testsCmd(), a.flowCmd(), a.routesCmd(), a.ownersCmd(), a.staleCmd(), a.exportCmd(), a.snapshotCmd(), a.proveCmd(), a.verifyProofCmd())
	add(groupRuntime, a.runtimeCmd())
	add(groupTrust, a.logCmd(), a.verifyCmd(), a.backupCmd(), a.restoreCmd(), a.fsckCmd(), a.gcCmd(), a.forgetCmd(), a.rebuildCmd())
	add(groupRest, a.spoolCmd(), a.tokenCmd(), a.pipelineCmd(), a.versionCmd())
	root.SetHelpCommandGroupID(groupRest)
	root.SetCompletionCommandGroupID(groupRest)
	strict(root)
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

var conversion = regexp.MustCompile(`strconv\.Parse([A-Z][a-z]+): parsing "(?s:.*)": (.*)$`)

// plainFlagError rewrites a flag's error without the names of Go's functions.
func plainFlagError(err error) error {
	m := conversion.FindStringSubmatchIndex(err.Error())
	if m == nil {
		return err
	}
	text := err.Error()
	want := map[string]string{"Int": "want a whole number", "Uint": "want a whole number of 0 or more", "Float": "want a number", "Bool": "want true or false"}[text[m[2]:m[3]]]
	if strings.Contains(text[m[4]:m[5]], "range") {
		want = "the number is too large"
	}
	return errors.New(text[:m[0]] + want)
}

// strict makes every mistake in arguments a usageError, and makes a group of verbs print its help
// if no verb is given.
func strict(c *cobra.Command) {
	if args := c.Args; args != nil || c.HasParent() && !c.HasSubCommands() {
		if args == nil {
			args = cobra.ArbitraryArgs
		}
		c.Args = func(cmd *cobra.Command, a []string) error {
			// Zero in a flag is invalid: unlike in a request, it is no default.
			if f := cmd.Flags().Lookup("limit"); f != nil && f.Changed && (f.Value.String() == "0" || f.Value.String()[0] == '-') {
				return usage.Errorf("--limit %s: want 1 or more", f.Value)
			}
			if err := args(cmd, a); err != nil {
				return usage.Wrap(err)
			}
			return nil
		}
	}
	if c.HasSubCommands() && c.HasParent() && c.RunE == nil {
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usage.Errorf("%s: unknown verb %q", cmd.CommandPath(), args[0])
		}
	}
	for _, sub := range c.Commands() {
		strict(sub)
	}
}
