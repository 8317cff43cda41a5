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
		Long: `Run a command and record it. Its start is appended without an exit code while it runs.
When it ends, an event outcome.observed follows with the exit code, the duration and
the end of the output. A crash in between leaves a command with an unknown outcome and
loses nothing.

Streams and signals pass through unchanged, and exec exits as the command did (128 plus
the signal's number if a signal ended it, 127 if there is no such command). If the
command cannot be recorded, it runs all the same, and the reason is printed at the end.
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
	c.Flags().BoolVar(&quiet, "no-output", false, "do not record its output, and leave the terminal to it")
	return c
}
