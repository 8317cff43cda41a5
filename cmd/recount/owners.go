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
				return usagef("--commits %d: want 1 or more", commits)
			}
			return askCode(cmd.Context(), a, &f, code.OwnersQuestion, func(s code.Scope) code.OwnersRequest {
				return code.OwnersRequest{Scope: s, Subject: args[0], Commits: commits, Symbols: symbols}
			}, a.printOwners)
		},
	}
	f.add(c, 0)
	c.Flags().IntVar(&commits, "commits", 5000, "how many commits to look at for authors")
	c.Flags().BoolVar(&symbols, "symbols", false, "of a file: who added and who changed last each of its symbols")
	return c
}

func (a *app) printOwners(r code.OwnersResponse) {
	a.heading(r.Revision)
	a.printf("%s\n", a.paint(bold, oneLine(r.File)))
	if len(r.Rules) > 0 {
		var rules []string
		for _, rule := range r.Rules {
			rules = append(rules, oneLine(rule.Pattern+" at "+rule.Place))
		}
		owners := strings.Join(r.Owners, " ")
		if owners == "" {
			owners = "nobody"
		}
		a.printf("  owned by %s  %s\n", oneLine(owners), a.paint(dim, strings.Join(rules, ", ")))
	}
	for _, x := range r.Authors {
		a.printf("  %s  %s\n", oneLine(x.Name), a.paint(dim, fmt.Sprintf("%s, the last %s in %.12s", counted(x.Commits, "commit"), day(x.Last), x.Commit)))
	}
	for _, x := range r.Symbols {
		a.printf("%s\n", a.symbolLine(x.Symbol))
		if x.Added != nil {
			a.printf("  added by %s\n", a.touched(*x.Added))
		} else if x.Since != "" {
			a.printf("  %s\n", a.paint(dim, fmt.Sprintf("there already in %.12s, the oldest commit with a graph", x.Since)))
		}
		if x.Last != nil && (x.Added == nil || *x.Last != *x.Added) {
			a.printf("  changed by %s\n", a.touched(*x.Last))
		}
		if x.Changes > 2 {
			var names []string
			for _, by := range x.Authors {
				names = append(names, fmt.Sprintf("%s %s", oneLine(by.Name), thousands(by.Commits)))
			}
			a.printf("  %s\n", a.paint(dim, counted(x.Changes, "change")+": "+strings.Join(names, ", ")))
		}
	}
	a.printf("%s\n", a.paint(dim, counted(r.Commits, "commit")+" looked at"))
}

func (a *app) touched(t code.Touch) string {
	return oneLine(t.Author) + "  " + a.paint(dim, fmt.Sprintf("%s in %.12s", day(t.Time), t.Commit))
}
