package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/code"
)

func (a *app) ownersCmd() *cobra.Command {
	var f codeFlags
	var commits int
	var symbols bool
	c := &cobra.Command{
		Use:   "owners PATH|SYMBOL",
		Short: "Show who owns a file or a symbol, and who wrote it",
		Long: `Show the owners that CODEOWNERS of the revision gives, with the rule, and who changed
the file in the commits before it, the most often first. Of a symbol it says besides who
added it and who changed it last, also before it moved from another file; with --symbols
so of every symbol of a file. That is read of the snapshots, which know nothing of the
time before the oldest. Exits with 1 if nothing is known.`,
		Example: `  recount owners pkg/kgo/client.go
  recount owners Client.Produce --at v1.18.0
  recount owners pkg/kgo/client.go --symbols`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeSymbols(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if commits < 1 {
				return usage.Errorf("--commits %d: want 1 or more", commits)
			}
			return askCode(cmd.Context(), a, &f, code.OwnersQuestion, func(s code.Scope) code.OwnersRequest {
				return code.OwnersRequest{Scope: s, Subject: args[0], Commits: commits, Symbols: symbols}
			}, func(r code.OwnersResponse) { codeview.Owners(a.Terminal, r) })
		},
	}
	f.add(c, 0)
	c.Flags().IntVar(&commits, "commits", 5000, "how many commits to look at for authors")
	c.Flags().BoolVar(&symbols, "symbols", false, "of a file: who added and who changed last each of its symbols")
	return c
}
