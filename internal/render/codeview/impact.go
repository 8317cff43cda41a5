package codeview

import (
	"fmt"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// maxBare is how many packages are named of which the limit leaves no symbol to show.
const maxBare = 10

// Impact prints what a change can reach, by package, with the tests and the documents apart.
func Impact(t *render.Terminal, r code.ImpactResponse) {
	heading(t, r.Revision)
	for _, s := range r.Changed {
		t.Printf("%s\n", Symbol(t, s))
	}
	t.Truncated(r.ChangedCount-len(r.Changed), "--limit shows more")
	documents := ""
	if r.DocumentCount > 0 {
		documents = "; " + render.Count(r.DocumentCount, "document names it", "documents name it")
	}
	t.Printf("reaches %s in %s, and %s%s\n", render.Count(r.Total, "symbol"), render.Count(len(r.Groups), "package"), render.Count(r.TestCount, "test"), documents)
	apart, bare := "\n", 0
	for i, g := range r.Groups {
		if len(g.Symbols) == 0 {
			if bare++; bare > maxBare {
				symbols := 0
				for _, rest := range r.Groups[i:] {
					symbols += rest.Count
				}
				t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("… and %s with %s; --json has all", render.Count(len(r.Groups)-i, "package"), render.Count(symbols, "symbol"))))
				break
			}
		}
		name := g.Package
		if name == "" {
			name = "(no package)"
		}
		if g.Repo != r.Revision.Repo {
			name += " in " + g.Repo
		}
		t.Printf("%s%s  %s\n", apart, t.Paint(render.Cyan, render.OneLine(name)), t.Paint(render.Dim, fmt.Sprintf("%s, at least %.2f", render.Count(g.Count, "symbol"), g.Least)))
		for _, x := range g.Symbols {
			t.Printf("  %s\n", affected(t, x))
		}
		if len(g.Symbols) == 0 {
			apart = "" // at the limit, the other packages get a line each
		} else if n := g.Count - len(g.Symbols); n > 0 {
			t.Printf("  %s\n", t.Paint(render.Dim, fmt.Sprintf("… %s more", render.Thousands(n))))
		}
	}
	list := func(name string, of []code.Affected) {
		if len(of) > 0 {
			t.Printf("\n%s\n", t.Paint(render.Cyan, name))
		}
		for _, x := range of {
			t.Printf("  %s\n", affected(t, x))
		}
	}
	list("tests", r.Tests)
	list("documents", r.Documents)
	t.Truncated(r.Truncated, "--limit shows more")
}

func affected(t *render.Terminal, x code.Affected) string {
	s := Symbol(t, x.Symbol)
	if x.Distance > 0 {
		s += t.Paint(render.Dim, fmt.Sprintf("  %d away, %s %s", x.Distance, x.Edge, render.OneLine(x.Via)))
	}
	return s + Sure(x.Confidence)
}
