package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// diagram is an answer as input of a drawing program: boxes, some of them in groups, and arrows.
type diagram struct {
	groups []diagramGroup
	arrows []diagramArrow
}

type diagramGroup struct {
	title string // "" for boxes outside of any group
	boxes []diagramBox
}

type diagramBox struct {
	key    string // letters and digits only
	lines  []string
	failed bool
	root   bool
}

type diagramArrow struct {
	from, to, label string
	// dashed arrows mean similarity, others causation.
	dashed bool
}

// boxKey returns the key of a command's box in a diagram.
func boxKey(prefix string, id schemas.EventID) string {
	return prefix + strings.ReplaceAll(id.String(), "-", "")
}

func box(prefix string, in commands.Intent, id string, root bool) diagramBox {
	return diagramBox{
		key: boxKey(prefix, in.ID), failed: in.ExitCode != nil && *in.ExitCode != 0, root: root,
		lines: []string{plainMark(in.ExitCode) + " " + cut(oneLine(in.Command), maxWide), id + "  " + in.Time.UTC().Format(time.DateTime) + "Z"},
	}
}

func arrows(edges []commands.Edge) []diagramArrow {
	var out []diagramArrow
	for _, e := range edges {
		out = append(out, diagramArrow{from: boxKey("n", e.From), to: boxKey("n", e.To), label: fmt.Sprintf("%s %.2f", e.Kind, e.Weight), dashed: e.Kind == "similar"})
	}
	return out
}

func whyDiagram(r commands.WhyResponse) diagram {
	ids := []schemas.EventID{r.Root.ID}
	for _, c := range r.Causes {
		ids = append(ids, c.ID)
	}
	short := abbreviate(ids)
	g := diagramGroup{boxes: []diagramBox{box("n", r.Root, short[r.Root.ID], true)}}
	for _, c := range r.Causes {
		g.boxes = append(g.boxes, box("n", c.Intent, short[c.ID], false))
	}
	return diagram{groups: []diagramGroup{g}, arrows: known(g, arrows(r.Edges))}
}

func stitchDiagram(r commands.StitchResponse) diagram {
	var ids []schemas.EventID
	for _, n := range r.Nodes {
		ids = append(ids, n.ID)
	}
	short := abbreviate(ids)
	var d diagram
	at := map[string]int{}
	all := diagramGroup{}
	for _, n := range r.Nodes {
		lane := laneOf(n.Intent)
		i, ok := at[lane]
		if !ok {
			i = len(d.groups)
			at[lane] = i
			d.groups = append(d.groups, diagramGroup{title: oneLine(lane)})
		}
		b := box("n", n.Intent, short[n.ID], n.ID == r.Root)
		d.groups[i].boxes = append(d.groups[i].boxes, b)
		all.boxes = append(all.boxes, b)
	}
	d.arrows = known(all, arrows(r.Edges))
	return d
}

// known omits arrows to boxes that are not drawn, because a limit cut them off.
func known(g diagramGroup, arrows []diagramArrow) []diagramArrow {
	keys := map[string]bool{}
	for _, b := range g.boxes {
		keys[b.key] = true
	}
	var out []diagramArrow
	for _, a := range arrows {
		if keys[a.from] && keys[a.to] {
			out = append(out, a)
		}
	}
	return out
}

func diffDiagram(r commands.DiffResponse) diagram {
	var ids []schemas.EventID
	for _, l := range r.Lines {
		for _, in := range []*commands.Intent{l.A, l.B} {
			if in != nil {
				ids = append(ids, in.ID)
			}
		}
	}
	short := abbreviate(ids)
	a, b := diagramGroup{title: "A"}, diagramGroup{title: "B"}
	var d diagram
	add := func(g *diagramGroup, prefix string, in *commands.Intent, root schemas.EventID) {
		if in == nil {
			return
		}
		next := box(prefix, *in, short[in.ID], in.ID == root)
		if n := len(g.boxes); n > 0 {
			d.arrows = append(d.arrows, diagramArrow{from: g.boxes[n-1].key, to: next.key})
		}
		g.boxes = append(g.boxes, next)
	}
	for _, l := range r.Lines {
		add(&a, "a", l.A, r.A)
		add(&b, "b", l.B, r.B)
		if l.A != nil && l.B != nil {
			var fields []string
			for _, c := range l.Changes {
				fields = append(fields, strings.ReplaceAll(c.Field, "_", " "))
			}
			d.arrows = append(d.arrows, diagramArrow{from: boxKey("a", l.A.ID), to: boxKey("b", l.B.ID), label: strings.Join(fields, ", "), dashed: true})
		}
	}
	d.groups = []diagramGroup{a, b}
	return d
}

// dot returns the diagram in Graphviz' language.
func (d diagram) dot() string {
	var b strings.Builder
	b.WriteString("digraph narrative {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n  edge [fontname=\"monospace\", fontsize=10];\n")
	for i, g := range d.groups {
		lead := "  "
		if g.title != "" {
			fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%s;\n", i, dotString(g.title))
			lead = "    "
		}
		for _, x := range g.boxes {
			attrs := ""
			if x.failed {
				attrs += ", color=red"
			}
			if x.root {
				attrs += ", penwidth=3"
			}
			fmt.Fprintf(&b, "%s%s [label=%s%s];\n", lead, x.key, dotString(x.lines...), attrs)
		}
		if g.title != "" {
			b.WriteString("  }\n")
		}
	}
	for _, a := range d.arrows {
		attrs := ""
		if a.dashed {
			attrs = ", style=dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s];\n", a.from, a.to, dotString(a.label), attrs)
	}
	b.WriteString("}\n")
	return b.String()
}

// dotString returns a quoted string whose label shows the lines. In labels a backslash starts an
// escape and an ampersand an HTML entity.
func dotString(lines ...string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "\n", `\n`)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = escape.Replace(l)
	}
	return `"` + strings.Join(out, `\n`) + `"`
}

// mermaid returns the diagram as a Mermaid flowchart.
func (d diagram) mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TB\n")
	var failed, roots []string
	for i, g := range d.groups {
		lead := "  "
		if g.title != "" {
			fmt.Fprintf(&b, "  subgraph g%d[%s]\n", i, mermaidString(g.title))
			lead = "    "
		}
		for _, x := range g.boxes {
			fmt.Fprintf(&b, "%s%s[%s]\n", lead, x.key, mermaidString(x.lines...))
			if x.failed {
				failed = append(failed, x.key)
			}
			if x.root {
				roots = append(roots, x.key)
			}
		}
		if g.title != "" {
			b.WriteString("  end\n")
		}
	}
	for _, a := range d.arrows {
		arrow := "-->"
		if a.dashed {
			arrow = "-.->"
		}
		if a.label != "" {
			arrow += "|" + mermaidString(a.label) + "|"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", a.from, arrow, a.to)
	}
	for _, class := range []struct {
		name, style string
		keys        []string
	}{{"failed", "stroke:red", failed}, {"root", "stroke-width:3px", roots}} {
		if len(class.keys) > 0 {
			fmt.Fprintf(&b, "  classDef %s %s\n  class %s %s\n", class.name, class.style, strings.Join(class.keys, ","), class.name)
		}
	}
	return b.String()
}

// mermaidString returns a quoted label that shows the lines. Mermaid has no escapes except entity
// codes, and interprets much as markup even between quotes (Markdown after a backtick, HTML,
// directives between %%{ and }%%, comments, what looks like an entity or a style). So all
// characters but letters, digits and those known to be harmless are written as codes.
func mermaidString(lines ...string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, l := range lines {
		if i > 0 {
			b.WriteString("<br/>")
		}
		for _, r := range l {
			switch {
			case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" ._-/=,+@", r), r >= 0xa0:
				b.WriteRune(r)
			default:
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
