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
		Short: "Show the owners and authors of a file or a symbol",
		Long: `Show the owners by the revision's CODEOWNERS, with the rule, and the authors of the
file's changes in earlier commits, by number of commits. For a symbol, also show who
added it and who changed it last, including before it moved from another file;
--symbols does so for every symbol of a file. This comes from the snapshots and is not
known for the time before the oldest one. Exits with 1 if nothing is known.`,
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
	c.Flags().IntVar(&commits, "commits", 5000, "number of commits to search for authors")
	c.Flags().BoolVar(&symbols, "symbols", false, "for a file: show who added and who last changed each of its symbols")
	return c
}
