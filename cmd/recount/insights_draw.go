package main

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// drawInsights draws what recurs as four short tables.
func (d *drawing) drawInsights(r commands.InsightsResponse) {
	d.print(count(int(r.Commands), "command", "commands") + " looked at")
	if len(r.Templates) > 0 {
		rows := [][]string{{"RUNS", "FAILED", "SESSIONS", "TEMPLATE", "LAST"}}
		for _, t := range r.Templates {
			failed := thousands(t.Failed)
			if t.Failed > 0 {
				failed += fmt.Sprintf(" (%.0f %%)", 100*t.FailureRate)
			}
			rows = append(rows, []string{thousands(t.Runs), failed, thousands(t.Sessions), oneLine(t.Template), ago(d.now, t.Last)})
		}
		d.table("What is run again and again", rows, 3)
	}
	if len(r.Sequences) > 0 {
		rows := [][]string{{"RUNS", "SESSIONS", "LIFT", "ONE AFTER THE OTHER"}}
		for _, s := range r.Sequences {
			var steps []string
			for _, t := range s.Templates {
				steps = append(steps, oneLine(t))
			}
			rows = append(rows, []string{thousands(s.Runs), thousands(s.Sessions), fmt.Sprintf("%.1f×", s.Lift), strings.Join(steps, " → ")})
		}
		d.table("What is run one after the other", rows, 3)
	}
	if len(r.Failures) > 0 {
		rows := [][]string{{"FAILED", "FIXED", "SESSIONS", "EXIT", "TEMPLATE", "LAST"}}
		for _, f := range r.Failures {
			what := oneLine(f.Template)
			if f.Signature != "" {
				what += ": " + oneLine(f.Signature)
			}
			rows = append(rows, []string{thousands(f.Runs), thousands(f.Fixed), thousands(f.Sessions), fmt.Sprint(f.ExitCode), what, ago(d.now, f.Last)})
		}
		d.table("What fails in the same way", rows, 4)
	}
	if r.After != nil {
		d.ids = abbreviate([]schemas.EventID{r.After.ID})
		d.print("", d.paint(bold, "What usually comes next"), d.command("  after ", *r.After, ""))
	}
	if len(r.Next) > 0 {
		rows := [][]string{{"LIKELY", "TIMES", "COMMAND", "GIVEN"}}
		for _, s := range r.Next {
			rows = append(rows, []string{fmt.Sprintf("%.0f %%", 100*s.Probability), fmt.Sprintf("%s of %s", thousands(s.Times), thousands(s.Of)), oneLine(s.Command), oneLine(s.Given)})
		}
		d.table("", rows, 2)
	} else if r.After != nil {
		d.print("  " + d.paint(dim, "nothing has come after it often enough to say"))
	}
	d.hint(r.Basis)
}

// maxWide is the maximum width of the elastic column if the line has no width limit.
const maxWide = 60

// table draws rows under a title; the first row holds the headings. The column at index elastic is
// cut so that a row fits into the line.
func (d *drawing) table(title string, rows [][]string, elastic int) {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], columns(c))
		}
	}
	if d.width > 0 {
		others := 2
		for i, w := range widths {
			if i != elastic {
				others += min(w, maxWide/2) + 2
				widths[i] = min(w, maxWide/2)
			}
		}
		widths[elastic] = min(widths[elastic], max(d.width-others, narrowest))
	}
	if title != "" {
		d.print("", d.paint(bold, title))
	}
	for n, r := range rows {
		var b strings.Builder
		for i, c := range r {
			b.WriteString("  ")
			if c = cut(c, widths[i]); i < len(r)-1 {
				c = pad(c, widths[i])
			}
			b.WriteString(c)
		}
		if n == 0 {
			d.print(d.paint(dim, b.String()))
		} else {
			d.print(b.String())
		}
	}
}
