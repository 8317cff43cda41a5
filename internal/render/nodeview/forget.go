package nodeview

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/server/api"
)

// Forgettable prints what would be erased.
func Forgettable(term *render.Terminal, r api.ForgetReport) {
	for _, t := range r.Topics {
		term.Printf("%s: %s, %s\n", t.Topic, render.Count(t.Events, "event"), render.Count(int(t.Bytes), "byte"))
	}
	for _, s := range r.Sample {
		term.Printf("  %s %s %s %s\n", term.Paint(render.Yellow, s.Position.String()), s.Time.Local().Format("2006-01-02 15:04:05"),
			term.Paint(render.Cyan, render.OneLine(s.Type)), term.Paint(render.Dim, render.Count(s.Bytes, "byte")))
		if s.With != "" {
			term.Printf("      %s\n", term.Paint(render.Dim, "also erased: "+s.With))
		}
		if s.Text != "" {
			term.Printf("      %s\n", render.OneLine(s.Text))
		}
	}
	if more := r.Events - len(r.Sample); more > 0 {
		term.Printf("  and %s more\n", render.Thousands(more))
	}
	if r.Events == 0 {
		term.Printf("nothing to erase\n")
	}
	beside(term, r)
}

// beside prints what is not erased now.
func beside(t *render.Terminal, r api.ForgetReport) {
	if r.Before > 0 {
		t.Printf("%s erased before\n", render.Count(r.Before, "event"))
	}
	for _, text := range r.Missing {
		t.Printf("not in the log: %s\n", render.OneLine(text))
	}
	if r.Kept > 0 {
		t.Printf("%s of commits match and are kept\n", render.Count(r.Kept, "event"))
	}
	if r.Explanation != "" {
		t.Printf("%s\n", r.Explanation)
	}
}

// Erased prints what was erased.
func Erased(t *render.Terminal, r api.ForgetReport, brief bool) {
	if r.Events == 0 {
		t.Printf("nothing to erase\n")
		beside(t, r)
		return
	}
	t.Printf("%s erased, %s", render.Count(r.Events, "event"), render.Count(int(r.Bytes), "byte"))
	switch {
	case r.Log == "rewritten":
		t.Printf("; gone from the log's files")
	case r.Log == "outside":
		t.Printf("; hidden in the log of brokers that are not Recount's")
	}
	if len(r.Rebuilt) > 0 {
		t.Printf("; rebuilt: %s", strings.Join(r.Rebuilt, ", "))
	}
	t.Printf("\n")
	if len(r.Remaining) > 0 {
		t.Printf("%s\n", t.Paint(render.Yellow, r.Explanation))
		r.Explanation = ""
	}
	if brief || r.Log == "outside" {
		beside(t, r)
	}
	for _, at := range r.Erasures {
		t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("by the event at %s", at)))
	}
	t.Printf("%s\n", t.Paint(render.Dim, "in "+query.Took(time.Duration(r.ElapsedMS)*time.Millisecond)))
}
