package codeview

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// Routes prints routes with their handlers.
func Routes(t *render.Terminal, r code.RoutesResponse) {
	heading(t, r.Revision)
	for _, x := range r.Routes {
		t.Printf("%s %s  %s\n", render.Pad(render.OneLine(x.Method), 6), t.Paint(render.Bold, render.OneLine(x.Path)), t.Paint(render.Dim, strings.TrimSpace(render.OneLine(x.Framework)+" at "+render.OneLine(x.Place()))))
		for _, h := range x.Handlers {
			if h.Outside {
				t.Printf("       %s  %s%s\n", render.OneLine(h.Name), t.Paint(render.Dim, "of "+render.OneLine(h.Package)), Sure(h.Confidence))
				continue
			}
			t.Printf("       %s%s\n", Symbol(t, h.Symbol), Sure(h.Confidence))
		}
		if len(x.Handlers) == 0 {
			t.Printf("       %s\n", t.Paint(render.Dim, "its handler could not be resolved"))
		}
		if len(x.Middleware) > 0 {
			t.Printf("       %s\n", t.Paint(render.Dim, fmt.Sprintf("decorated by %s", render.OneLine(strings.Join(x.Middleware, ", ")))))
		}
	}
	t.Truncated(r.Truncated, "--limit shows more")
}
