package commandview

import (
	"cmp"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// Diff draws two narratives like a text diff: the verdict, then a line for each command of one
// or both.
func Diff(d *render.Drawing, r ask.DiffResponse) {
	var ids []schemas.EventID
	var a, b *ask.Intent
	for _, l := range r.Lines {
		for _, in := range []*ask.Intent{l.A, l.B} {
			if in != nil {
				ids = append(ids, in.ID)
			}
		}
		if l.A != nil && l.A.ID == r.A {
			a = l.A
		}
		if l.B != nil && l.B.ID == r.B {
			b = l.B
		}
	}
	d.IDs = render.Abbreviate(append(ids, r.A, r.B))
	if r.Verdict != "" {
		d.Text("", render.Bold, render.OneLine(r.Verdict))
		d.Print("")
	}
	again := map[string]*ask.Replays{"A": r.ReplaysA, "B": r.ReplaysB}
	for name, in := range map2("A", a, "B", b) {
		if in != nil {
			d.Print(Line(d, name+" ", *in, render.Bold, render.When(in.Time, time.DateTime), where(d, in.Cwd, "")))
			replayed(d, "  ", again[name])
		}
	}
	if len(r.Lines) > 0 {
		d.Print("")
	}
	wide := 0
	for _, s := range d.IDs {
		wide = max(wide, len(s))
	}
	for _, l := range r.Lines {
		diffLine(d, l, wide)
	}
	var counts []string
	for _, way := range []struct{ way, words string }{
		{ask.DiffCommon, "alike"}, {ask.DiffChanged, "changed"}, {ask.DiffOnlyA, "only in A"}, {ask.DiffOnlyB, "only in B"},
	} {
		if n := r.Counts[way.way]; n > 0 {
			counts = append(counts, render.Thousands(n)+" "+way.words)
		}
	}
	if len(counts) > 0 {
		d.Print("", d.Paint(render.Dim, strings.Join(counts, ", ")))
	}
	d.Hint(r.Basis)
}

// map2 yields two named values in order.
func map2(na string, a *ask.Intent, nb string, b *ask.Intent) func(func(string, *ask.Intent) bool) {
	return func(yield func(string, *ask.Intent) bool) {
		if yield(na, a) {
			yield(nb, b)
		}
	}
}

// diffSigns maps a kind of line in a diff to its sign and its colour.
var diffSigns = map[string][2]string{
	ask.DiffCommon: {"=", ""}, ask.DiffChanged: {"~", render.Yellow}, ask.DiffOnlyA: {"-", render.Red}, ask.DiffOnlyB: {"+", render.Green},
}

func diffLine(d *render.Drawing, l ask.DiffLine, wide int) {
	sign := diffSigns[l.Way]
	in, idA, idB := l.B, "", ""
	if l.B != nil {
		idB = d.IDs[l.B.ID]
	}
	if l.A != nil {
		in, idA = l.A, d.IDs[l.A.ID]
	}
	if in == nil {
		return // cannot happen: an answer has no such line
	}
	mark, plain := d.ExitMark(in.ExitCode), render.PlainMark(in.ExitCode)
	if l.A != nil && l.B != nil && render.PlainMark(l.B.ExitCode) != plain {
		mark += "→" + d.ExitMark(l.B.ExitCode)
		plain += "→" + render.PlainMark(l.B.ExitCode)
	}
	taken := 2 + 2*(wide+2) + render.Columns(plain) + 1
	d.Print(d.Paint(sign[1], sign[0]) + " " + d.Paint(render.Dim, render.Pad(idA, wide)+"  "+render.Pad(idB, wide)) + "  " + mark + " " +
		d.Paint(sign[1], d.Fit(render.OneLine(in.Command), taken)))
	lead := strings.Repeat(" ", 2+2*(wide+2))
	for _, c := range l.Changes {
		name := lead + render.Pad(strings.ReplaceAll(c.Field, "_", " "), 12)
		was, is := render.OneLine(cmp.Or(c.A, "none")), render.OneLine(cmp.Or(c.B, "none"))
		if d.Width > 0 {
			was, is = render.CutApart(was, is, max((d.Width-render.Columns(name)-3)/2, render.Narrowest/2))
		}
		d.Print(d.Paint(render.Dim, name) + d.Paint(render.Red, was) + d.Paint(render.Dim, " → ") + d.Paint(render.Green, is))
	}
}
