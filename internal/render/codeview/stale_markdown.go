package codeview

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// StaleMarkdown returns what is out of date as a Markdown report for an issue or a job's summary,
// with a table for each kind. Text from the code is in code spans.
func StaleMarkdown(r code.StaleResponse) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("### Out of date in %s at %.12s\n", codeSpan(r.Revision.Repo), r.Revision.Commit)
	if r.Base != nil {
		p("\nCompared with %.12s of %s.\n", r.Base.Commit, render.Day(r.Base.Time))
	}
	kind := ""
	for _, x := range r.Findings {
		if x.Finding != kind {
			kind = x.Finding
			p("\n**%s** (%s)\n\n| symbol | where | of | why | confidence |\n|---|---|---|---|---|\n", kind, render.Thousands(r.Counts[kind]))
		}
		of := ""
		if x.Of != "" {
			of = codeSpan(x.Of)
		}
		p("| %s | %s | %s | %s | %.2f |\n", codeSpan(x.Name), codeSpan(x.Site), of, codeSpan(x.Why), x.Confidence)
	}
	if len(r.Findings) == 0 {
		p("\nNothing was found.\n")
	}
	if r.Truncated > 0 {
		p("\n… %s more\n", render.Thousands(r.Truncated))
	}
	if r.Hint != "" {
		p("\n") // start a paragraph
	}
	return b.String()
}
