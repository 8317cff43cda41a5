package codeview

import (
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// Tests prints the tests that reach a change, and the changed symbols that none reaches.
func Tests(t *render.Terminal, r code.TestsResponse) {
	heading(t, r.Revision)
	for _, g := range r.Packages {
		dir := g.Dir
		if g.Repo != r.Revision.Repo {
			dir += " in " + g.Repo
		}
		t.Printf("%s\n", t.Paint(render.Cyan, render.OneLine(dir)))
		for _, x := range g.Tests {
			t.Printf("  %s\n", affected(t, x))
		}
	}
	t.Truncated(r.Truncated, "--limit shows more")
	if len(r.Uncovered) > 0 {
		t.Printf("%s\n", t.Paint(render.Yellow, render.Count(r.UncoveredCount, "symbol")+" that no test reaches"))
	}
	for _, s := range r.Uncovered {
		t.Printf("  %s\n", Symbol(t, s))
	}
}
