package codeview

import (
	"fmt"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

// Retired prints how many graphs of each repository are given up, by which events.
func Retired(t *render.Terminal, r code.RetirableResponse, events []schemas.Position, dry bool) {
	verb := "removed"
	if dry {
		verb = "to be removed"
	}
	for _, repo := range r.Repositories {
		t.Printf("%s: %s %s, %s kept\n", render.OneLine(repo.Repo), render.Count(repo.Retire, "graph"), verb, render.Thousands(repo.Keep))
	}
	for _, at := range events {
		t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("by the event at %s", at)))
	}
}
