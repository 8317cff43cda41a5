package commandview

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// Insights draws what recurs as four short tables.
func Insights(d *render.Drawing, r ask.InsightsResponse) {
	d.Print(render.Count(int(r.Commands), "command") + " looked at")
	if len(r.Templates) > 0 {
		rows := [][]string{{"RUNS", "FAILED", "SESSIONS", "TEMPLATE", "LAST"}}
		for _, t := range r.Templates {
			failed := render.Thousands(t.Failed)
			if t.Unknown == t.Runs {
				failed = "–"
			} else if t.Failed > 0 {
				failed += fmt.Sprintf(" (%.0f %%)", 100*t.FailureRate)
			}
			rows = append(rows, []string{render.Thousands(t.Runs), failed, render.Thousands(t.Sessions), render.OneLine(t.Template), render.Ago(d.Now, t.Last)})
		}
		d.Table("What is run again and again", rows, 3)
	}
	if len(r.Sequences) > 0 {
		rows := [][]string{{"RUNS", "SESSIONS", "LIFT", "ONE AFTER THE OTHER"}}
		for _, s := range r.Sequences {
			var steps []string
			for _, t := range s.Templates {
				steps = append(steps, render.OneLine(t))
			}
			rows = append(rows, []string{render.Thousands(s.Runs), render.Thousands(s.Sessions), fmt.Sprintf("%.1f×", s.Lift), strings.Join(steps, " → ")})
		}
		d.Table("What is run one after the other", rows, 3)
	}
	if len(r.Failures) > 0 {
		rows := [][]string{{"FAILED", "FIXED", "SESSIONS", "EXIT", "TEMPLATE", "LAST"}}
		for _, f := range r.Failures {
			what := render.OneLine(f.Template)
			if f.Signature != "" {
				what += ": " + render.OneLine(f.Signature)
			}
			rows = append(rows, []string{render.Thousands(f.Runs), render.Thousands(f.Fixed), render.Thousands(f.Sessions), fmt.Sprint(f.ExitCode), what, render.Ago(d.Now, f.Last)})
		}
		d.Table("What fails in the same way", rows, 4)
	}
	if r.After != nil {
		d.IDs = render.Abbreviate([]schemas.EventID{r.After.ID})
		d.Print("", d.Paint(render.Bold, "What usually comes next"), Line(d, "  after ", *r.After, ""))
	}
	if len(r.Next) > 0 {
		rows := [][]string{{"LIKELY", "TIMES", "COMMAND", "GIVEN"}}
		for _, s := range r.Next {
			rows = append(rows, []string{fmt.Sprintf("%.0f %%", 100*s.Probability), fmt.Sprintf("%s of %s", render.Thousands(s.Times), render.Thousands(s.Of)), render.OneLine(s.Command), render.OneLine(s.Given)})
		}
		d.Table("", rows, 2)
	} else if r.After != nil {
		d.Print("  " + d.Paint(render.Dim, "nothing has come after it often enough for a suggestion"))
	}
	d.Hint(r.Basis)
}
