package codeview

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// changeSigns maps a kind of change to the sign at the start of its line and its colour.
var changeSigns = map[string][2]string{
	"removed": {"-", render.Red}, "signature": {"!", render.Yellow}, "body": {"~", render.Yellow}, "renamed": {"=", render.Cyan}, "moved": {">", render.Cyan}, "added": {"+", render.Green},
}

// Diff prints the differences of two revisions: symbols, edges, whom it concerns and what it reaches.
func Diff(t *render.Terminal, r code.GraphDiffResponse) {
	t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("%s from %.12s to %.12s  %s", render.OneLine(r.Revision.Repo), r.Base.Commit, r.Revision.Commit, render.OneLine(r.Revision.Subject))))
	t.Printf("%s\n", diffSummary(r))
	for _, s := range r.Symbols {
		sign := changeSigns[s.Change]
		t.Printf("%s %s", t.Paint(sign[1], sign[0]), Symbol(t, s.Symbol))
		if s.Before != nil && (s.Change == "moved" || s.Change == "renamed") {
			t.Printf("%s", t.Paint(render.Dim, "  from "+render.OneLine(strings.TrimSpace(s.Before.Name+" "+s.Before.Place()))+similar(s)))
		}
		t.Printf("\n")
		if d := s.Difference; s.Change == "signature" && d != nil {
			t.Printf("    %s\n    %s\n", t.Paint(render.Red, render.OneLine(d.Before)), t.Paint(render.Green, render.OneLine(d.After)))
		}
	}
	if len(r.Edges) > 0 {
		t.Printf("\n%s\n", t.Paint(render.Cyan, "edges"))
	}
	for _, e := range r.Edges {
		sign := changeSigns[e.Change]
		t.Printf("%s %s %s %s  %s%s\n", t.Paint(sign[1], sign[0]), render.OneLine(e.From), t.Paint(render.Dim, e.Edge), render.OneLine(e.To), t.Paint(render.Dim, render.OneLine(e.Site)), Sure(e.Confidence))
	}
	concerned(t, r)
	impactDelta(t, r.Impact)
	t.Truncated(r.Truncated, "--limit shows more")
	if r.Hint != "" {
		t.Printf("%s\n", t.Paint(render.Dim, render.OneLine(r.Hint)))
	}
}

// similar says how similar the text is to before, if that is known.
func similar(s code.SymbolChange) string {
	if s.Similarity == 0 {
		return ""
	}
	return fmt.Sprintf(", %.2f similar", s.Similarity)
}

// diffSummary returns the counts of differences in one line.
func diffSummary(r code.GraphDiffResponse) string {
	var parts []string
	for _, c := range []struct{ count, what string }{
		{"removed", "%s removed"},
		{"signature", "%s with another signature"},
		{"body", "%s with another body"},
		{"renamed", "%s renamed"},
		{"moved", "%s moved"},
		{"added", "%s added"},
	} {
		if n := r.Counts[c.count]; n > 0 {
			parts = append(parts, fmt.Sprintf(c.what, render.Count(n, "symbol")))
		}
	}
	if n, m := r.Counts["edges_added"], r.Counts["edges_removed"]; n+m > 0 {
		parts = append(parts, fmt.Sprintf("edges +%s −%s", render.Thousands(n), render.Thousands(m)))
	}
	parts = append(parts, "in "+render.Count(r.Counts["files"], "file"))
	return strings.Join(parts, ", ")
}

func concerned(t *render.Terminal, r code.GraphDiffResponse) {
	for i, d := range r.Dependencies {
		if i == 0 {
			t.Printf("\n%s\n", t.Paint(render.Cyan, "depends on"))
		}
		sign := changeSigns[d.Change]
		where := render.OneLine(d.Site)
		if d.Repo != "" {
			where += ", of " + render.OneLine(d.Repo)
		}
		t.Printf("%s %s  %s\n", t.Paint(sign[1], sign[0]), render.OneLine(d.Package), t.Paint(render.Dim, where))
	}
	for i, u := range r.Elsewhere {
		if i == 0 {
			t.Printf("\n%s\n", t.Paint(render.Cyan, "used in other repositories"))
		}
		t.Printf("  %s %s  %s%s\n", render.OneLine(u.Of), u.Change, t.Paint(render.Dim, fmt.Sprintf("%s by %s in %s at %s", u.Edge, render.OneLine(u.Symbol.Name), render.OneLine(u.Symbol.Repo), render.OneLine(u.Site))), Sure(u.Confidence))
	}
	for i, o := range r.Owners {
		if i == 0 {
			t.Printf("\n%s\n", t.Paint(render.Cyan, "owners"))
		}
		name := o.Owner
		if name == "" {
			name = "(nobody)"
		}
		t.Printf("  %s  %s\n", render.OneLine(name), t.Paint(render.Dim, render.Count(o.Count, "file")+": "+render.OneLine(strings.Join(o.Files, ", "))))
	}
}

func impactDelta(t *render.Terminal, d *code.ImpactDelta) {
	if d == nil {
		return
	}
	t.Printf("\n%s\n", t.Paint(render.Cyan, "reaches"))
	t.Printf("  %s, and %s; before %s, and %s\n", render.Count(d.After.Symbols, "symbol"), render.Count(d.After.Tests, "test"), render.Count(d.Before.Symbols, "symbol"), render.Count(d.Before.Tests, "test"))
	for _, s := range d.Symbols {
		if s.Before != s.After {
			t.Printf("  %s  %s\n", render.OneLine(s.Name), t.Paint(render.Dim, fmt.Sprintf("%s, before %s", render.Thousands(s.After), render.Thousands(s.Before))))
		}
	}
	for i, s := range d.Untested {
		if i == 0 {
			t.Printf("%s\n", t.Paint(render.Yellow, "no test reaches"))
		}
		t.Printf("  %s\n", Symbol(t, s))
	}
}
