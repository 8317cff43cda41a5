package commandview

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// boxKey returns the key of a command's box in a diagram.
func boxKey(prefix string, id schemas.EventID) string {
	return prefix + strings.ReplaceAll(id.String(), "-", "")
}

func box(prefix string, in ask.Intent, id string, root bool) diagram.Box {
	return diagram.Box{
		Key: boxKey(prefix, in.ID), Failed: in.ExitCode != nil && *in.ExitCode != 0, Root: root,
		Lines: []string{render.PlainMark(in.ExitCode) + " " + render.Cut(render.OneLine(in.Command), render.MaxWide), id + "  " + in.Time.UTC().Format(time.DateTime) + "Z"},
	}
}

func arrows(edges []ask.Edge) []diagram.Arrow {
	var out []diagram.Arrow
	for _, e := range edges {
		out = append(out, diagram.Arrow{From: boxKey("n", e.From), To: boxKey("n", e.To), Label: fmt.Sprintf("%s %.2f", e.Kind, e.Weight), Dashed: e.Kind == "similar"})
	}
	return out
}

// WhyDiagram returns what led to a command as a diagram.
func WhyDiagram(r ask.WhyResponse) diagram.Diagram {
	ids := []schemas.EventID{r.Root.ID}
	for _, c := range r.Causes {
		ids = append(ids, c.ID)
	}
	short := render.Abbreviate(ids)
	g := diagram.Group{Boxes: []diagram.Box{box("n", r.Root, short[r.Root.ID], true)}}
	for _, c := range r.Causes {
		g.Boxes = append(g.Boxes, box("n", c.Intent, short[c.ID], false))
	}
	return diagram.Diagram{Groups: []diagram.Group{g}, Arrows: known(g, arrows(r.Edges))}
}

// StitchDiagram returns the narrative around a command as a diagram with a group for each session.
func StitchDiagram(r ask.StitchResponse) diagram.Diagram {
	var ids []schemas.EventID
	for _, n := range r.Nodes {
		ids = append(ids, n.ID)
	}
	short := render.Abbreviate(ids)
	var d diagram.Diagram
	at := map[string]int{}
	all := diagram.Group{}
	for _, n := range r.Nodes {
		lane := laneOf(n.Intent)
		i, ok := at[lane]
		if !ok {
			i = len(d.Groups)
			at[lane] = i
			d.Groups = append(d.Groups, diagram.Group{Title: render.OneLine(lane)})
		}
		b := box("n", n.Intent, short[n.ID], n.ID == r.Root)
		d.Groups[i].Boxes = append(d.Groups[i].Boxes, b)
		all.Boxes = append(all.Boxes, b)
	}
	d.Arrows = known(all, arrows(r.Edges))
	return d
}

// known omits arrows to boxes that are not drawn, because a limit cut them off.
func known(g diagram.Group, arrows []diagram.Arrow) []diagram.Arrow {
	keys := map[string]bool{}
	for _, b := range g.Boxes {
		keys[b.Key] = true
	}
	var out []diagram.Arrow
	for _, a := range arrows {
		if keys[a.From] && keys[a.To] {
			out = append(out, a)
		}
	}
	return out
}

// DiffDiagram returns two narratives as a diagram with a group for each.
func DiffDiagram(r ask.DiffResponse) diagram.Diagram {
	var ids []schemas.EventID
	for _, l := range r.Lines {
		for _, in := range []*ask.Intent{l.A, l.B} {
			if in != nil {
				ids = append(ids, in.ID)
			}
		}
	}
	short := render.Abbreviate(ids)
	a, b := diagram.Group{Title: "A"}, diagram.Group{Title: "B"}
	var d diagram.Diagram
	add := func(g *diagram.Group, prefix string, in *ask.Intent, root schemas.EventID) {
		if in == nil {
			return
		}
		next := box(prefix, *in, short[in.ID], in.ID == root)
		if n := len(g.Boxes); n > 0 {
			d.Arrows = append(d.Arrows, diagram.Arrow{From: g.Boxes[n-1].Key, To: next.Key})
		}
		g.Boxes = append(g.Boxes, next)
	}
	for _, l := range r.Lines {
		add(&a, "a", l.A, r.A)
		add(&b, "b", l.B, r.B)
		if l.A != nil && l.B != nil {
			var fields []string
			for _, c := range l.Changes {
				fields = append(fields, strings.ReplaceAll(c.Field, "_", " "))
			}
			d.Arrows = append(d.Arrows, diagram.Arrow{From: boxKey("a", l.A.ID), To: boxKey("b", l.B.ID), Label: strings.Join(fields, ", "), Dashed: true})
		}
	}
	d.Groups = []diagram.Group{a, b}
	return d
}
