// Package replayview draws plans for people.
package replayview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/replay"
)

// Plan prints a plan: its steps with why they are there, what is left out, and what has to be known
// before it is run. open means that the steps may reach more than their directory.
func Plan(d *render.Drawing, p replay.Plan, open bool) {
	told := map[string]bool{}
	d.Print(d.Fit(fmt.Sprintf("%s of %s: %s", render.Count(len(p.Steps), "step"), p.Goal.Kind, render.OneLine(p.Goal.What)), 0))
	cwd := ""
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Cwd != cwd {
			cwd = s.Cwd
			d.Print("", d.Paint(render.Dim, "in "+d.Home(cwd)))
		}
		step(d, s)
		for _, program := range s.Unknown {
			if open && !told[program] {
				told[program] = true
				d.Text("     ", render.Yellow, "unknown: "+replay.UnknownProgram(program))
			}
		}
	}
	if len(p.Left) > 0 {
		d.Print("", "Left out:")
		for _, l := range p.Left {
			line := "  " + render.OneLine(l.Command)
			d.Print(d.Fit(line, 2+render.Columns(l.Why)) + "  " + d.Paint(render.Dim, l.Why))
		}
	}
	list(d, "Missing:", p.Missing, func(m replay.Missing) string { return m.Ref + ": " + m.Text })
	list(d, "Mapped:", p.Mappings, func(m replay.Mapping) string {
		return fmt.Sprintf("%s %s to %s, %s", m.Kind, m.From, m.To, render.Count(m.Uses, "time"))
	})
	list(d, "Parameters (--set NAME=VALUE):", p.Parameters, func(m replay.Parameter) string {
		text := m.Name + "=" + render.OneLine(m.Value)
		switch {
		case m.Set != "":
			text += ", set to " + m.Set
		case m.Given:
			text += ", set to nothing"
		}
		if len(m.Values) > 0 {
			text += ", in other runs " + render.OneLine(strings.Join(m.Values, ", "))
		}
		return text
	})
	list(d, "Environment:", p.Environment, func(m replay.Difference) string {
		from := "before step"
		if m.With == "here" {
			return fmt.Sprintf("%s was %s at step %d, and is %s here", m.Field, orUnset(m.A), m.Step+1, orUnset(m.B))
		}
		return fmt.Sprintf("%s was %s %s %d, and %s from there", m.Field, orUnset(m.A), from, m.Step+1, orUnset(m.B))
	})
	d.Print("", d.Paint(render.Dim, "plan "+p.ID))
}

func orUnset(s string) string {
	if s == "" {
		return "not set"
	}
	return render.OneLine(s)
}

// step prints one step.
func step(d *render.Drawing, s *replay.Step) {
	lines := strings.Split(render.PlainText(s.Command), "\n")
	number := fmt.Sprintf("%3d  ", s.Index+1)
	d.Print(d.Fit(number+lines[0], 0))
	for _, l := range lines[1:] {
		d.Print(d.Fit("     "+l, 0))
	}
	note := func(colour, text string) { d.Text("     ", colour, text) }
	for i, w := range s.Why {
		if i == 2 {
			break
		}
		note(render.Dim, fmt.Sprintf("%s (%s)", w.Text, positions(w)))
	}
	var on []string
	for _, n := range s.Needs {
		if n.Kind == replay.NeedOrder {
			continue
		}
		if text := fmt.Sprint(n.On + 1); !slices.Contains(on, text) {
			on = append(on, text)
		}
	}
	if len(on) > 0 {
		note(render.Dim, "needs "+strings.Join(on, ", "))
	}
	for _, f := range s.Danger {
		if f.Unless == "" {
			note(render.Red, "dangerous: "+f.Why)
		} else {
			note(render.Yellow, "dangerous if "+f.Unless+" is there before: "+f.Why)
		}
	}
	for _, a := range s.Asks {
		note(render.Yellow, "asks: "+a.Text)
	}
}

func positions(w replay.Reason) string {
	var out []string
	for _, p := range w.Evidence {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

func list[T any](d *render.Drawing, title string, all []T, line func(T) string) {
	if len(all) == 0 {
		return
	}
	d.Print("", title)
	for _, v := range all {
		d.Text("  ", "", line(v))
	}
}
