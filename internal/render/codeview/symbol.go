package codeview

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// heading prints the revision that an answer is about.
func heading(t *render.Terminal, r code.Revision) {
	t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("%s at %.12s  %s", render.OneLine(r.Repo), r.Commit, render.OneLine(r.Subject))))
}

// Symbol returns a symbol in one line: name, kind and place.
func Symbol(t *render.Terminal, s code.Symbol) string {
	return fmt.Sprintf("%s  %s", t.Paint(render.Bold, render.OneLine(s.Name)), t.Paint(render.Dim, s.Kind+" "+render.OneLine(s.Place())))
}

// Sure returns a confidence as text, "" if it is 0.95 or more.
func Sure(c float64) string {
	if c >= 0.95 {
		return ""
	}
	return fmt.Sprintf("  %.2f", c)
}

// ChangedBy describes a commit that changed code.
func ChangedBy(t *render.Terminal, c *code.Changed) string {
	what := "changed by "
	if c.By == code.ByFile {
		what = "its file changed by "
	}
	return what + render.OneLine(c.Author) + t.Paint(render.Dim, fmt.Sprintf("  %sZ in %.12s  %s", c.Time.UTC().Format(time.DateTime), c.Commit, render.OneLine(c.Subject)))
}
