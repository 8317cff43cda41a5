package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/execute"
)

func (a *app) execCmd() *cobra.Command {
	var f recordFlags
	var quiet bool
	c := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARG...]",
		Short: "Run a command and record it with its outcome",
		Long: `Run a command and record it. Its start is appended while it runs, without an exit
code; its end follows as an outcome.observed with exit code, duration and the end
of what it printed. So a crash in between leaves a command whose outcome is
unknown, and loses nothing.

Streams and signals pass through untouched, and exec exits as the command did
(128 plus the signal's number if one ended it, 127 if there is no such command).
If it cannot be recorded, it runs all the same, and the reason is told at the end.
With --json the ids and positions of its events are printed on the standard error.`,
		Example: `  recount exec -- make test
  recount exec --author claude --intent "see whether the fix holds" -- go test ./...
  recount exec -- sh -c 'make && make install'`,
		Args: wantCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := execute.Run(cmd.Context(), a.Connector, f.Details, !quiet, args)
			if err == nil && code != 0 {
				return exitError(code)
			}
			return err
		},
	}
	f.contextFlags(c)
	c.Flags().BoolVar(&quiet, "no-output", false, "do not record what it prints, and leave it the terminal")
	return c
}
