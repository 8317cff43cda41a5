package diagram

import (
	"fmt"
	"strings"
)

// Diagram is an answer as input of a drawing program: boxes, some of them in groups, and arrows.
type Diagram struct {
	Groups []Group
	Arrows []Arrow
}

// Group is boxes that belong together.
type Group struct {
	Title string // "" for boxes outside of any group
	Boxes []Box
}

// Box is a box of a diagram.
type Box struct {
	Key    string // letters and digits only
	Lines  []string
	Failed bool
	Root   bool
}

// Arrow leads from one box to another.
type Arrow struct {
	From, To, Label string
	// Dashed arrows mean similarity, others causation.
	Dashed bool
}

// Dot returns the diagram in Graphviz' language.
func (d Diagram) Dot() string {
	var b strings.Builder
	b.WriteString("digraph narrative {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n  edge [fontname=\"monospace\", fontsize=10];\n")
	for i, g := range d.Groups {
		lead := "  "
		if g.Title != "" {
			fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%s;\n", i, dotString(g.Title))
			lead = "    "
		}
		for _, x := range g.Boxes {
			attrs := ""
			if x.Failed {
				attrs += ", color=red"
			}
			if x.Root {
				attrs += ", penwidth=3"
			}
			fmt.Fprintf(&b, "%s%s [label=%s%s];\n", lead, x.Key, dotString(x.Lines...), attrs)
		}
		if g.Title != "" {
			b.WriteString("  }\n")
		}
	}
	for _, a := range d.Arrows {
		attrs := ""
		if a.Dashed {
			attrs = ", style=dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s];\n", a.From, a.To, dotString(a.Label), attrs)
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

// Mermaid returns the diagram as a Mermaid flowchart.
func (d Diagram) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TB\n")
	var failed, roots []string
	for i, g := range d.Groups {
		lead := "  "
		if g.Title != "" {
			fmt.Fprintf(&b, "  subgraph g%d[%s]\n", i, mermaidString(g.Title))
			lead = "    "
		}
		for _, x := range g.Boxes {
			fmt.Fprintf(&b, "%s%s[%s]\n", lead, x.Key, mermaidString(x.Lines...))
			if x.Failed {
				failed = append(failed, x.Key)
			}
			if x.Root {
				roots = append(roots, x.Key)
			}
		}
		if g.Title != "" {
			b.WriteString("  end\n")
		}
	}
	for _, a := range d.Arrows {
		arrow := "-->"
		if a.Dashed {
			arrow = "-.->"
		}
		if a.Label != "" {
			arrow += "|" + mermaidString(a.Label) + "|"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", a.From, arrow, a.To)
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
