package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/code"
)

func (a *app) snapshotCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "snapshot",
		Short: "List the snapshots of the code, or show one",
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
			}, func(r code.LogResponse) { codeview.Snapshots(a.Terminal, r) })
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
		return usage.Errorf("%s and --at %s: give one of them", args[0], f.scope.At)
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
			}, func(r code.SnapshotResponse) { codeview.Snapshot(a.Terminal, r) })
		},
	}
	f.add(c, 0)
	return c
}
