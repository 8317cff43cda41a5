// Package lookview draws hits of all kinds in one list.
package lookview

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/look"
)

// Hits prints the answer of look for people: two lines for each hit.
func Hits(t *render.Terminal, r look.Response, now time.Time) {
	for _, h := range r.Hits {
		mark := "~"
		if h.Sure {
			mark = "="
		}
		t.Printf("%s %s %s\n", t.Paint(render.Dim, mark), t.Paint(render.Yellow, fmt.Sprintf("%-8s", h.Kind)), t.Paint(render.Bold, render.OneLine(render.PlainText(h.Title))))
		t.Printf("  %s\n", t.Paint(render.Dim, strings.Join(append([]string{fmt.Sprintf("%.2f", h.Score)}, details(t, h, now)...), " · ")))
	}
	if len(r.Hits) == 0 {
		t.Printf("nothing found\n")
	}
	if r.Hint != "" {
		t.Printf("%s\n", t.Paint(render.Dim, render.OneLine(r.Hint)))
	}
}

// details returns what is known about a hit besides its title.
func details(t *render.Terminal, h look.Hit, now time.Time) (all []string) {
	add := func(texts ...string) {
		for _, s := range texts {
			if s != "" {
				all = append(all, render.OneLine(render.PlainText(s)))
			}
		}
	}
	switch {
	case h.Command != nil:
		add(h.ID[:13], render.Ago(now, h.Command.Time))
		if code := h.Command.ExitCode; code != nil && *code != 0 {
			add(fmt.Sprintf("exit %d", *code))
		}
		add(t.Home(h.Command.Cwd), h.Command.Author)
	case h.Symbol != nil:
		add(h.Symbol.Kind, h.Symbol.Place(), h.Symbol.Doc)
	case h.Operation != nil:
		o := h.Operation
		add(o.Service, render.Thousands(int(o.Count))+" requests")
		if o.Errors > 0 {
			add(render.Thousands(int(o.Errors)) + " failed")
		}
		if o.Code != nil && o.Code.Symbol != nil {
			add(o.Code.Symbol.Name)
		}
	case h.Object != nil:
		o := h.Object
		add(o.Type, o.Agent, render.Ago(now, o.Time))
		if o.Title != "" {
			add(o.Snippet)
		}
	}
	return all
}
