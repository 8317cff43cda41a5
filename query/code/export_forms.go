package code

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/recountdb/recount/query"
)

// jsonForm writes one object: the revision, communities, nodes and edges, then the basis of the
// answer.
type jsonForm struct {
	b       *bufio.Writer
	enc     *json.Encoder
	n       int
	inEdges bool
}

type jsonNode struct {
	ID string `json:"id"`
	Symbol
	Community int32 `json:"community,omitempty"`
}

type jsonEdge struct {
	From       string  `json:"from"`
	To         string  `json:"to"`
	Edge       string  `json:"edge"`
	Provenance string  `json:"provenance"`
	Confidence float64 `json:"confidence"`
	Site       string  `json:"site"`
	Sites      uint16  `json:"sites,omitempty"`
}

func (f *jsonForm) begin(r Revision, groups []Community) error {
	f.enc.SetEscapeHTML(false)
	f.b.WriteString(`{"revision":`)
	if err := f.enc.Encode(r); err != nil {
		return err
	}
	if groups != nil {
		f.b.WriteString(`,"communities":`)
		if err := f.enc.Encode(groups); err != nil {
			return err
		}
	}
	_, err := f.b.WriteString(`,"nodes":[`)
	return err
}

func (f *jsonForm) comma() {
	if f.n++; f.n > 1 {
		f.b.WriteByte(',')
	}
}

func (f *jsonForm) node(id string, s Symbol, community int32) error {
	f.comma()
	return f.enc.Encode(jsonNode{id, s, community})
}

func (f *jsonForm) toEdges() {
	if !f.inEdges {
		f.inEdges, f.n = true, 0
		f.b.WriteString(`],"edges":[`)
	}
}

func (f *jsonForm) edge(from, to string, e *edge, site string) error {
	f.toEdges()
	f.comma()
	return f.enc.Encode(jsonEdge{from, to, edgeName(e.kind), provenanceName(e.provenance), confidence(e.confidence), site, e.sites})
}

func (f *jsonForm) end(b query.Basis) error {
	f.toEdges()
	f.b.WriteString(`],"rests_on":`)
	if err := f.enc.Encode(b); err != nil {
		return err
	}
	_, err := f.b.WriteString("}\n")
	return err
}

// dotForm writes Graphviz's language. Communities are colours of its scheme.
type dotForm struct{ b *bufio.Writer }

// dotText quotes a string for DOT, in which only quotes and backslashes are special.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\r", " ").Replace(s) + `"`
}

func (f *dotForm) begin(r Revision, _ []Community) error {
	_, err := fmt.Fprintf(f.b, "digraph code {\n  label=%s;\n  node [shape=box, style=filled, fillcolor=white, colorscheme=set312];\n", dotText(fmt.Sprintf("%s at %s", r.Repo, r.Commit)))
	return err
}

func (f *dotForm) node(id string, s Symbol, community int32) error {
	colour := ""
	if community > 0 {
		colour = fmt.Sprintf(", fillcolor=%d, community=%d", (community-1)%12+1, community)
	}
	_, err := fmt.Fprintf(f.b, "  %s [label=%s, tooltip=%s%s];\n", dotText(id), dotText(s.Name), dotText(s.Kind+" "+s.Place()), colour)
	return err
}

func (f *dotForm) edge(from, to string, e *edge, site string) error {
	_, err := fmt.Fprintf(f.b, "  %s -> %s [label=%s, tooltip=%s];\n", dotText(from), dotText(to), dotText(edgeName(e.kind)), dotText(site))
	return err
}

func (f *dotForm) end(query.Basis) error {
	_, err := f.b.WriteString("}\n")
	return err
}

// graphMLForm writes GraphML (graphml.graphdrawing.org).
type graphMLForm struct{ b *bufio.Writer }

// graphMLKeys are the attributes, as GraphML declares them.
var graphMLKeys = [][3]string{
	{"name", "node", "string"},
	{"kind", "node", "string"},
	{"package", "node", "string"},
	{"file", "node", "string"},
	{"line", "node", "int"},
	{"community", "node", "int"},
	{"edge", "edge", "string"},
	{"provenance", "edge", "string"},
	{"confidence", "edge", "double"},
	{"site", "edge", "string"},
}

// xmlText escapes text for XML.
func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

func (f *graphMLForm) begin(r Revision, _ []Community) error {
	f.b.WriteString(xml.Header + `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n")
	for _, k := range graphMLKeys {
		fmt.Fprintf(f.b, "  <key id=%q for=%q attr.name=%q attr.type=%q/>\n", k[0], k[1], k[0], k[2])
	}
	_, err := fmt.Fprintf(f.b, "  <graph id=\"%s\" edgedefault=\"directed\">\n", xmlText(r.Repo+"@"+r.Commit))
	return err
}

func (f *graphMLForm) data(key, value string) {
	if value != "" {
		fmt.Fprintf(f.b, "<data key=%q>%s</data>", key, xmlText(value))
	}
}

func (f *graphMLForm) node(id string, s Symbol, community int32) error {
	fmt.Fprintf(f.b, "    <node id=\"%s\">", xmlText(id))
	f.data("name", s.Name)
	f.data("kind", s.Kind)
	f.data("package", s.Package)
	f.data("file", s.File)
	if s.Line > 0 {
		f.data("line", strconv.Itoa(int(s.Line)))
	}
	if community > 0 {
		f.data("community", strconv.Itoa(int(community)))
	}
	_, err := f.b.WriteString("</node>\n")
	return err
}

func (f *graphMLForm) edge(from, to string, e *edge, site string) error {
	fmt.Fprintf(f.b, "    <edge source=\"%s\" target=\"%s\">", xmlText(from), xmlText(to))
	f.data("edge", edgeName(e.kind))
	f.data("provenance", provenanceName(e.provenance))
	f.data("confidence", strconv.FormatFloat(confidence(e.confidence), 'g', -1, 64))
	f.data("site", site)
	_, err := f.b.WriteString("</edge>\n")
	return err
}

func (f *graphMLForm) end(query.Basis) error {
	_, err := f.b.WriteString("  </graph>\n</graphml>\n")
	return err
}
