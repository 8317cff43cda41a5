package runtimeview

import (
	"fmt"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/runtime"
)

// Traffic prints what services are asked for.
func Traffic(t *render.Terminal, r runtime.TrafficResponse) {
	for _, x := range r.Operations {
		if x.Folded > 0 {
			t.Printf("%s %s  %s\n", t.Paint(render.Cyan, render.OneLine(x.Service)), t.Paint(render.Bold, fmt.Sprintf("%s: %s of %s", x.Operation, render.Count(x.Folded, "operation"), x.Kind)), measured(t, x.Measure))
		} else {
			t.Printf("%s %s  %s\n", t.Paint(render.Cyan, render.OneLine(x.Service)), t.Paint(render.Bold, render.OneLine(x.Operation)), measured(t, x.Measure))
			t.Printf("    %s\n", handled(t, x.Code))
		}
		t.Printf("    %s\n", lastSeen(t, x.Measure))
	}
	if r.Folded > 0 {
		t.Printf("%s\n", t.Paint(render.Dim, render.Count(r.Folded, "operation")+" of services with very many are summed up as \"other\"; name a part of an operation to search them"))
	}
	t.Truncated(r.Truncated, "--limit shows more")
}
