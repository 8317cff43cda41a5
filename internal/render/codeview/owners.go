package codeview

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// Owners prints who owns a file, and who wrote it and its symbols.
func Owners(t *render.Terminal, r code.OwnersResponse) {
	heading(t, r.Revision)
	t.Printf("%s\n", t.Paint(render.Bold, render.OneLine(r.File)))
	if len(r.Rules) > 0 {
		var rules []string
		for _, rule := range r.Rules {
			rules = append(rules, render.OneLine(rule.Pattern+" at "+rule.Place))
		}
		owners := strings.Join(r.Owners, " ")
		if owners == "" {
			owners = "nobody"
		}
		t.Printf("  owned by %s  %s\n", render.OneLine(owners), t.Paint(render.Dim, strings.Join(rules, ", ")))
	}
	for _, x := range r.Authors {
		t.Printf("  %s  %s\n", render.OneLine(x.Name), t.Paint(render.Dim, fmt.Sprintf("%s, the last %s in %.12s", render.Count(x.Commits, "commit"), render.Day(x.Last), x.Commit)))
	}
	for _, x := range r.Symbols {
		t.Printf("%s\n", Symbol(t, x.Symbol))
		if x.Added != nil {
			t.Printf("  added by %s\n", touched(t, *x.Added))
		} else if x.Since != "" {
			t.Printf("  %s\n", t.Paint(render.Dim, fmt.Sprintf("already in %.12s, the oldest commit with a graph", x.Since)))
		}
		if x.Last != nil && (x.Added == nil || *x.Last != *x.Added) {
			t.Printf("  changed by %s\n", touched(t, *x.Last))
		}
		if x.Changes > 2 {
			var names []string
			for _, by := range x.Authors {
				names = append(names, fmt.Sprintf("%s %s", render.OneLine(by.Name), render.Thousands(by.Commits)))
			}
			t.Printf("  %s\n", t.Paint(render.Dim, render.Count(x.Changes, "change")+": "+strings.Join(names, ", ")))
		}
	}
	t.Truncated(r.Truncated, "--limit shows more")
	t.Printf("%s\n", t.Paint(render.Dim, render.Count(r.Commits, "commit")+" looked at"))
}

func touched(term *render.Terminal, t code.Touch) string {
	return render.OneLine(t.Author) + "  " + term.Paint(render.Dim, fmt.Sprintf("%s in %.12s", render.Day(t.Time), t.Commit))
}
