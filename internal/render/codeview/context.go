package codeview

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/internal/render"
	packing "github.com/recountdb/recount/query/context"
)

// Context prints what to read for a task: the text whose tokens were counted and, if channels is set,
// what brought each part.
func Context(t *render.Terminal, r packing.Response, channels bool) {
	t.Printf("%s", r.Text())
	if channels {
		t.Printf("\n")
		for _, f := range r.Files {
			t.Printf("%s  %s\n", render.OneLine(f.Path), t.Paint(render.Dim, brought(f.Channels)))
		}
		for _, i := range r.Items {
			t.Printf("%s  %s\n", render.OneLine(i.Name()), t.Paint(render.Dim, brought(i.Channels)))
		}
	}
	t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("%d of %d tokens, %s, %s", r.Tokens, r.Budget, render.OneLine(r.Revision.Repo), render.OneLine(r.Revision.Commit[:min(len(r.Revision.Commit), 12)]))))
}

// brought lists channels with the rank in each.
func brought(all []packing.Channel) string {
	var parts []string
	for _, c := range all {
		parts = append(parts, fmt.Sprintf("%s %d", c.Name, c.Rank))
	}
	return strings.Join(parts, ", ")
}
