package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/code"
)

func (a *app) staleCmd() *cobra.Command {
	var f codeFlags
	var r code.StaleRequest
	var markdown bool
	c := &cobra.Command{
		Use:   "stale",
		Short: "Show code that seems to be out of date",
		Long: `Show code that seems to be out of date, each finding with its confidence:

  gone    unresolved references with the name of a removed symbol
  doc     documentation of symbols that names a removed symbol
  unused  functions and methods that nothing uses, that other files cannot name by the
          language's rules, and that no runtime, interface or decorator calls
  aged    symbols that did not change although what they call did

All but unused compare with the newest commit that is --days older, or with --since.
Findings that rest on a name alone, or that an unresolved reference could refute, have
a lower confidence; --min-confidence 0 shows all. Exits with 1 if there are none.`,
		Example: `  recount stale
  recount stale --kind unused --path pkg/kgo/
  recount stale --kind gone,doc --since v1.18.0 --json
  recount stale --markdown >> "$GITHUB_STEP_SUMMARY"`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			show := func(r code.StaleResponse) { codeview.Stale(a.Terminal, r) }
			if markdown {
				if a.JSON || f.proof {
					return usage.Errorf("--markdown: not allowed with --json or --proof")
				}
				show = func(r code.StaleResponse) { a.Printf("%s", codeview.StaleMarkdown(r)) }
			}
			return askCode(cmd.Context(), a, &f, code.StaleQuestion, func(s code.Scope) code.StaleRequest {
				r.Scope, r.Limit = s, f.limit
				if r.Since != "" && !cmd.Flags().Changed("days") {
					r.Days = 0
				}
				// Zero in a flag is a value: in a request it would mean the default.
				if r.MinConfidence == 0 {
					r.MinConfidence = 1e-9
				}
				return r
			}, show)
		},
	}
	f.add(c, code.DefaultLimit)
	fl := c.Flags()
	fl.StringSliceVar(&r.Kinds, "kind", nil, "only findings of these kinds: gone, doc, unused, aged; may be repeated")
	fl.IntVar(&r.Days, "days", 90, "days between the compared revision and the revision's commit")
	fl.StringVar(&r.Since, "since", "", "the revision to compare with, instead of --days")
	fl.BoolVar(&markdown, "markdown", false, "print Markdown, for a report")
	fl.StringVar(&r.Path, "path", "", "only below this path")
	fl.Float64Var(&r.MinConfidence, "min-confidence", 0.5, "only findings with at least this confidence, 0 to 1")
	return c
}
