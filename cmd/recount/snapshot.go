package main

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
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

func (a *app) exportCmd() *cobra.Command {
	var r code.ExportRequest
	var f codeFlags
	c := &cobra.Command{
		Use:   "export [SYMBOL]",
		Short: "Write the code graph for other programs",
		Long: `Write the code graph of a revision as JSON, as Graphviz DOT or as GraphML, which Gephi,
yEd and NetworkX read. With SYMBOL (also a file or a package), write only what is within
--depth edges of it. --communities assigns symbols to communities by their edges (the
Louvain method; the result is the same for the same graph). With more than 20,000
symbols, whole files are assigned.`,
		Example: `  recount export --communities > graph.json
  recount export kgo.Client --format dot | dot -Tsvg > client.svg
  recount export pkg/kgo --depth 2 --edges calls --format graphml --at v1.18.0`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeSymbols(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.JSON && r.Format != code.FormatJSON {
				return usage.Errorf("--json and --format %s: give one of them", r.Format)
			}
			var err error
			if r.Scope, err = f.where(); err != nil {
				return err
			}
			if len(args) == 1 {
				r.Symbol = args[0]
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				out := bufio.NewWriterSize(a.Out, 64<<10)
				err := a.inRepository(cmd.Context(), &r.Repo, func() error { return b.Export(cmd.Context(), r, out) })
				if err != nil {
					return a.unanswered(err)
				}
				a.ClearProgress()
				return out.Flush()
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.scope.Repo, "repo", "", "the repository: its name or the end of it (default that of the working directory, if there are several)")
	fl.StringVar(&f.scope.At, "at", "", "the revision: a branch, a tag, a commit, HEAD~3 (default HEAD)")
	fl.StringVar(&f.atLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	fl.StringVar(&r.Format, "format", code.FormatJSON, "json, dot or graphml")
	fl.IntVar(&r.Depth, "depth", 0, "with SYMBOL: maximum distance from it in edges (default 1)")
	fl.StringSliceVar(&r.Edges, "edges", nil, "only edges of these kinds, and the symbols at their ends; may be repeated")
	fl.Float64Var(&r.MinConfidence, "min-confidence", 0, "only edges with at least this confidence, 0 to 1")
	fl.BoolVar(&r.Tests, "tests", false, "tests, too")
	fl.BoolVar(&r.Communities, "communities", false, "assign symbols to communities")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]cobra.Completion{code.FormatJSON, code.FormatDOT, code.FormatGraphML}, cobra.ShellCompDirectiveNoFileComp))
	return c
}
