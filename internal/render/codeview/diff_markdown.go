package codeview

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// DiffMarkdown returns a diff of code as Markdown for comments on GitHub and GitLab. Names and
// signatures are in code spans, so that they are not interpreted as markup.
func DiffMarkdown(r code.GraphDiffResponse) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("### Code graph: %.12s → %.12s\n\n%s.\n", r.Base.Commit, r.Revision.Commit, diffSummary(r))
	for i, t := range r.Failed {
		if i == 0 {
			p("\n**Over the threshold:**\n\n")
		}
		p("- %s\n", codeSpan(t.String()))
	}
	if len(r.Symbols) > 0 {
		p("\n| | symbol | where |\n|---|---|---|\n")
	}
	for _, s := range r.Symbols {
		what := codeSpan(s.Name)
		if d := s.Difference; s.Change == "signature" && d != nil {
			what += ": " + codeSpan(d.Before) + " → " + codeSpan(d.After)
		}
		if s.Change == "renamed" && s.Before != nil {
			what = codeSpan(s.Before.Name) + " → " + what + similar(s)
		}
		where := codeSpan(s.Place())
		if s.Before != nil && (s.Change == "moved" || s.Change == "renamed") {
			where = codeSpan(s.Before.Place()) + " → " + where
		}
		p("| %s | %s | %s |\n", s.Change, what, where)
	}
	if d := r.Impact; d != nil {
		p("\n**Reaches** %s and %s (before: %s and %s).\n", render.Count(d.After.Symbols, "symbol"), render.Count(d.After.Tests, "test"), render.Count(d.Before.Symbols, "symbol"), render.Count(d.Before.Tests, "test"))
		for i, s := range d.Untested {
			if i == 0 {
				p("\n**No test reaches:**\n\n")
			}
			p("- %s at %s\n", codeSpan(s.Name), codeSpan(s.Place()))
		}
	}
	for i, u := range r.Elsewhere {
		if i == 0 {
			p("\n**Used in other repositories:**\n\n")
		}
		p("- %s (%s) by %s in %s at %s\n", codeSpan(u.Of), u.Change, codeSpan(u.Symbol.Name), codeSpan(u.Symbol.Repo), codeSpan(u.Site))
	}
	for i, d := range r.Dependencies {
		if i == 0 {
			p("\n**Dependencies:**\n\n")
		}
		p("- %s %s at %s\n", d.Change, codeSpan(d.Package), codeSpan(d.Site))
	}
	for i, o := range r.Owners {
		if i == 0 {
			p("\n**Owners:**\n\n")
		}
		name := "nobody"
		if o.Owner != "" {
			name = codeSpan(o.Owner)
		}
		p("- %s: %s\n", name, render.Count(o.Count, "file"))
	}
	if len(r.Edges) > 0 {
		p("\n<details><summary>Edges</summary>\n\n")
		for _, e := range r.Edges {
			p("- %s %s %s %s at %s\n", e.Change, codeSpan(e.From), e.Edge, codeSpan(e.To), codeSpan(e.Site))
		}
		p("\n</details>\n")
	}
	if r.Truncated > 0 {
		p("\n… %s more\n", render.Thousands(r.Truncated))
	}
	return b.String()
}

// codeSpan quotes text so that Markdown shows it unchanged, also in a table.
func codeSpan(s string) string {
	s = strings.ReplaceAll(render.OneLine(s), "|", `\|`)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
