package nodeview

import (
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/server/api"
)

// Appended prints where an event is.
func Appended(t *render.Terminal, done api.Appended, spooled bool) {
	where := "at " + done.Position.String()
	if spooled {
		where = "in the spool"
	}
	t.Printf("%s %s", done.ID, t.Paint(render.Dim, where))
	switch {
	case done.Retired:
		t.Printf(" %s", t.Paint(render.Yellow, "(was there before; retention removed it)"))
	case done.Duplicate:
		t.Printf(" %s", t.Paint(render.Yellow, "(was there already)"))
	}
	if done.Redacted > 0 {
		t.Printf(" %s", t.Paint(render.Yellow, "("+render.Count(done.Redacted, "secret")+" redacted)"))
	}
	t.Printf("\n")
}
