package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/code"
)

func (a *app) ownersCmd() *cobra.Command {
	var f codeFlags
	var commits int
	c := &cobra.Command{
		Use:   "owners PATH|SYMBOL",
		Short: "Show who owns a file or a symbol, and who wrote it",
		Long: `Show the owners that CODEOWNERS of the revision gives, with the rule, and who changed
the file in the commits before it, the most often first. Exits with 1 if neither is known.`,
		Example: `  recount owners pkg/kgo/client.go
  recount owners Client.Produce --at v1.18.0`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeSymbols(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if commits < 1 {
				return usagef("--commits %d: want 1 or more", commits)
			}
			return askCode(cmd.Context(), a, &f, code.OwnersQuestion, func(s code.Scope) code.OwnersRequest {
				return code.OwnersRequest{Scope: s, Subject: args[0], Commits: commits}
			}, a.printOwners)
		},
	}
	f.add(c, 0)
	c.Flags().IntVar(&commits, "commits", 5000, "how many commits to look at for authors")
	return c
}

func (a *app) printOwners(r code.OwnersResponse) {
	a.heading(r.Revision)
	a.printf("%s\n", a.paint(bold, plainText(r.File)))
	if r.Rule != nil {
		owners := strings.Join(r.Owners, " ")
		if owners == "" {
			owners = "nobody"
		}
		a.printf("  owned by %s  %s\n", plainText(owners), a.paint(dim, plainText(r.Rule.Pattern+" at "+r.Rule.Place)))
	}
	for _, x := range r.Authors {
		a.printf("  %s  %s\n", plainText(x.Name), a.paint(dim, fmt.Sprintf("%s, the last %s in %.12s", counted(x.Commits, "commit"), day(x.Last), x.Commit)))
	}
	a.printf("%s\n", a.paint(dim, counted(r.Commits, "commit")+" looked at"))
}
