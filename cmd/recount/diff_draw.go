package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// drawDiff draws two narratives like a text diff: the verdict, then a line for each command of one
// or both.
func (d *drawing) drawDiff(r commands.DiffResponse) {
	var ids []schemas.EventID
	var a, b *commands.Intent
	for _, l := range r.Lines {
		for _, in := range []*commands.Intent{l.A, l.B} {
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
	d.ids = abbreviate(append(ids, r.A, r.B))
	if r.Verdict != "" {
		d.text("", bold, oneLine(r.Verdict))
		d.print("")
	}
	for name, in := range map2("A", a, "B", b) {
		if in != nil {
			d.print(d.command(name+" ", *in, bold, when(in.Time, time.DateTime), d.where(in.Cwd, "")))
		}
	}
	if len(r.Lines) > 0 {
		d.print("")
	}
	wide := 0
	for _, s := range d.ids {
		wide = max(wide, len(s))
	}
	for _, l := range r.Lines {
		d.diffLine(l, wide)
	}
	var counts []string
	for _, way := range []struct{ way, words string }{
		{commands.DiffCommon, "alike"}, {commands.DiffChanged, "changed"}, {commands.DiffOnlyA, "only in A"}, {commands.DiffOnlyB, "only in B"},
	} {
		if n := r.Counts[way.way]; n > 0 {
			counts = append(counts, thousands(n)+" "+way.words)
		}
	}
	if len(counts) > 0 {
		d.print("", d.paint(dim, strings.Join(counts, ", ")))
	}
	d.hint(r.Basis)
}

// map2 yields two named values in order.
func map2(na string, a *commands.Intent, nb string, b *commands.Intent) func(func(string, *commands.Intent) bool) {
	return func(yield func(string, *commands.Intent) bool) {
		if yield(na, a) {
			yield(nb, b)
		}
	}
}

// diffSigns maps a kind of line in a diff to its sign and its colour.
var diffSigns = map[string][2]string{
	commands.DiffCommon: {"=", ""}, commands.DiffChanged: {"~", yellow}, commands.DiffOnlyA: {"-", red}, commands.DiffOnlyB: {"+", green},
}

func (d *drawing) diffLine(l commands.DiffLine, wide int) {
	sign := diffSigns[l.Way]
	in, idA, idB := l.B, "", ""
	if l.B != nil {
		idB = d.ids[l.B.ID]
	}
	if l.A != nil {
		in, idA = l.A, d.ids[l.A.ID]
	}
	if in == nil {
		return // cannot happen: an answer has no such line
	}
	mark, plain := d.exitMark(in.ExitCode), plainMark(in.ExitCode)
	if l.A != nil && l.B != nil && plainMark(l.B.ExitCode) != plain {
		mark += "→" + d.exitMark(l.B.ExitCode)
		plain += "→" + plainMark(l.B.ExitCode)
	}
	taken := 2 + 2*(wide+2) + columns(plain) + 1
	d.print(d.paint(sign[1], sign[0]) + " " + d.paint(dim, pad(idA, wide)+"  "+pad(idB, wide)) + "  " + mark + " " +
		d.paint(sign[1], d.fit(oneLine(in.Command), taken)))
	lead := strings.Repeat(" ", 2+2*(wide+2))
	for _, c := range l.Changes {
		name := lead + pad(strings.ReplaceAll(c.Field, "_", " "), 12)
		was, is := oneLine(cmp.Or(c.A, "none")), oneLine(cmp.Or(c.B, "none"))
		if d.width > 0 {
			was, is = cutApart(was, is, max((d.width-columns(name)-3)/2, narrowest/2))
		}
		d.print(d.paint(dim, name) + d.paint(red, was) + d.paint(dim, " → ") + d.paint(green, is))
	}
}
