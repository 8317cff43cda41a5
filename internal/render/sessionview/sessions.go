// Package sessionview draws lists of sessions.
package sessionview

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/shellwords"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/sessions"
)

// Sessions prints a page of sessions for people: two lines for each.
func Sessions(t *render.Terminal, r sessions.Response, now time.Time) {
	for _, s := range r.Sessions {
		who := s.Author
		if s.Host != "" {
			who += "@" + s.Host
		}
		t.Printf("%s  %s  %s\n", t.Paint(render.Yellow, render.OneLine(s.Session)), t.Paint(render.Bold, render.OneLine(render.PlainText(s.About))), t.Paint(render.Dim, render.Ago(now, s.Last)))
		detail := render.OneLine(who)
		if s.Commands > 0 {
			detail += "  " + render.Count(s.Commands, "command")
		}
		if s.Objects > 0 {
			detail += "  " + render.Count(s.Objects, "step")
		}
		if took := s.Last.Sub(s.First); took >= time.Second {
			detail += "  over " + query.Took(took)
		}
		t.Printf("  %s\n", t.Paint(render.Dim, fmt.Sprintf("%s  %s", detail, t.Home(s.Workspace))))
	}
	if len(r.Sessions) == 0 {
		t.Printf("nothing found\n")
	}
	if r.Next != "" {
		t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("%s more: --after %s", render.Thousands(r.Truncated), shellwords.Join([]string{r.Next}))))
	}
	if r.Hint != "" {
		t.Printf("%s\n", t.Paint(render.Dim, render.OneLine(r.Hint)))
	}
}
