package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

func (a *app) snapshotCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "snapshot",
		Short: "List the snapshots of the code, and show one",
	}
	c.AddCommand(a.snapshotLogCmd(), a.snapshotShowCmd())
	return c
}

func (a *app) snapshotLogCmd() *cobra.Command {
	var f codeFlags
	c := &cobra.Command{
		Use:   "log [REV]",
		Short: "List a revision and the commits before it, with their snapshots",
		Example: `  recount snapshot log
  recount snapshot log v1.18.0 -n 5 --repo franz-go`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.revision(args); err != nil {
				return err
			}
			return askCode(cmd.Context(), a, &f, code.LogQuestion, func(s code.Scope) code.LogRequest {
				return code.LogRequest{Scope: s, Limit: f.limit}
			}, func(r code.LogResponse) {
				for _, s := range r.Snapshots {
					graph := fmt.Sprintf("%.12s", s.Snapshot.String())
					if s.NoGraph != "" {
						graph = "no graph: " + s.NoGraph
					}
					a.printf("%s %s  %s\n", a.paint(yellow, fmt.Sprintf("%.12s", s.Commit)), oneLine(s.Subject),
						a.paint(dim, fmt.Sprintf("%s %s · %s · %s", day(s.Time), oneLine(s.Author), counted(s.Changed, "file"), oneLine(graph))))
				}
				if r.Truncated {
					a.printf("%s\n", a.paint(dim, "… there are more; --limit shows them"))
				}
			})
		},
	}
	f.add(c, 20)
	return c
}

// revision sets the revision from an argument instead of --at.
func (f *codeFlags) revision(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if f.scope.At != "" {
		return usagef("%s and --at %s: give one of them", args[0], f.scope.At)
	}
	f.scope.At = args[0]
	return nil
}

func (a *app) snapshotShowCmd() *cobra.Command {
	var f codeFlags
	c := &cobra.Command{
		Use:   "show [REV]",
		Short: "Show what the snapshot of a revision holds",
		Example: `  recount snapshot show
  recount snapshot show main~3 --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.revision(args); err != nil {
				return err
			}
			return askCode(cmd.Context(), a, &f, code.ShowQuestion, func(s code.Scope) code.ShowRequest {
				return code.ShowRequest{Scope: s}
			}, a.printSnapshot)
		},
	}
	f.add(c, 0)
	return c
}

func (a *app) printSnapshot(r code.SnapshotResponse) {
	a.printf("%s\n%s\n\n", a.paint(yellow, "commit "+r.Revision.Commit), plainText(schemas.Quoted(r.Message, "    ")))
	a.printf("  repository %s\n", oneLine(r.Revision.Repo))
	a.printf("  author     %s %s\n", oneLine(r.Revision.Author), day(r.Revision.Time))
	a.printf("  snapshot   %s\n", r.Revision.Snapshot)
	a.printf("  event      %s\n", r.Revision.Position)
	for _, c := range []struct {
		name string
		of   code.Counted
	}{{"files", r.Files}, {"symbols", r.Symbols}, {"edges", r.Edges}, {"outside", r.Outside}} {
		a.printf("  %-10s %s\n", c.name, thousands(c.of.Total))
		for _, name := range c.of.Most() {
			a.printf("  %10s   %s\n", thousands(c.of.By[name]), oneLine(name))
		}
	}
	a.printf("  unresolved %s\n", thousands(r.Unresolved))
	for _, p := range r.Partial {
		a.printf("  %s %s\n", a.paint(yellow, "partial"), oneLine(p))
	}
}
