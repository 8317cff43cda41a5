package code

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// These are the formats of an export.
const (
	FormatJSON    = "json"
	FormatDOT     = "dot"
	FormatGraphML = "graphml"
)

// ExportRequest asks for a graph, or a part of it, in a format of other programs.
type ExportRequest struct {
	Scope
	Format        string   `json:"format,omitempty" enum:"json,dot,graphml" default:"json" example:"graphml" doc:"json; dot for Graphviz; graphml for Gephi, yEd and NetworkX."`
	Symbol        string   `json:"symbol,omitempty" maxLength:"4096" example:"kgo.Client" doc:"Only the part of the graph around this symbol, file or package, including what it declares."`
	Depth         int      `json:"depth,omitempty" minimum:"1" maximum:"64" example:"2" doc:"With symbol: the maximum distance from it in edges; default 1."`
	Edges         []string `json:"edges,omitempty" example:"calls" doc:"Only edges of these kinds, and the symbols at their ends."`
	MinConfidence float64  `json:"min_confidence,omitempty" minimum:"0" maximum:"1" example:"0.8" doc:"Only edges with at least this confidence."`
	Tests         bool     `json:"tests,omitempty" doc:"Include tests."`
	Communities   bool     `json:"communities,omitempty" doc:"Assign symbols to communities by their edges (the Louvain method with a fixed seed). With more than 20,000 symbols, whole files are assigned."`
}

func (r ExportRequest) check() error {
	if f := cmp.Or(r.Format, FormatJSON); !slices.Contains([]string{FormatJSON, FormatDOT, FormatGraphML}, f) {
		return &query.RequestError{Field: "format", Value: fmt.Sprintf("%q", r.Format), Reason: "want json, dot or graphml"}
	}
	for _, e := range r.Edges {
		if _, err := parseEdge(e); err != nil {
			return &query.RequestError{Field: "edges", Value: fmt.Sprintf("%q", e), Reason: "want kinds of edges, as in calls"}
		}
	}
	switch {
	case len(r.Symbol) > query.MaxName:
		return checkSubject("symbol", r.Symbol)
	case r.Depth < 0 || r.Depth > MaxDepth:
		return &query.RequestError{Field: "depth", Value: r.Depth, Reason: fmt.Sprintf("want 1 to %d", MaxDepth)}
	case r.Depth > 0 && r.Symbol == "":
		return &query.RequestError{Field: "depth", Value: r.Depth, Reason: "want a symbol with it"}
	}
	return cmp.Or(r.Scope.check(), checkConfidence(r.MinConfidence))
}

// Export writes a graph incrementally: its memory use depends on the graph but not on the size of
// the output. The same snapshot and request give the same bytes, except for the timing and
// watermark in JSON.
func Export(ctx context.Context, s Sources, r ExportRequest, w io.Writer) error {
	a, err := s.open(ctx, r)
	if err != nil {
		return err
	}
	defer a.Close()
	snap, g, err := a.snapshotGraph(r.Scope)
	if err != nil {
		return err
	}
	p := &part{g: g, w: &world{graphs: []*Graph{g}}, kinds: ^kinds(0), least: permille(r.MinConfidence), tests: r.Tests}
	if len(r.Edges) > 0 {
		p.kinds = 0
		for _, name := range r.Edges {
			k, _ := parseEdge(name)
			p.kinds |= kindsOf(k)
		}
	}
	if err := p.choose(a, r); err != nil {
		return err
	}
	if r.Communities {
		p.communities()
		a.RecordTime("communities")
	}
	a.Step(query.Step{Operator: "export", Inputs: map[string]string{"format": cmp.Or(r.Format, FormatJSON), "symbol": r.Symbol}, Counts: map[string]int64{"symbols": int64(p.count), "communities": int64(len(p.groups))}})
	b := bufio.NewWriterSize(w, 64<<10)
	var f form
	switch cmp.Or(r.Format, FormatJSON) {
	case FormatDOT:
		f = &dotForm{b}
	case FormatGraphML:
		f = &graphMLForm{b}
	default:
		f = &jsonForm{b: b, enc: json.NewEncoder(b)}
	}
	if err := p.write(ctx, f, revisionAt(snap), a.basis(p.count == 0, "")); err != nil {
		return err
	}
	return b.Flush()
}

// part is the part of a graph that is exported.
type part struct {
	g     *Graph
	w     *world
	kinds kinds
	least uint16
	tests bool

	in    []bool // by node
	count int
	// of has the community of each node, from 1; 0 for none.
	of     []int32
	groups []Community
}

// Community is a group of symbols that are closely connected by edges.
type Community struct {
	ID    int    `json:"id" example:"1" doc:"The community's number; 1 is the largest community."`
	Size  int    `json:"size" example:"120" doc:"The number of its symbols."`
	Label string `json:"label" example:"pkg/kgo" doc:"The directory that most of its symbols are in."`
}

func (p *part) follows(e *edge) bool {
	return p.kinds.has(e.kind) && e.confidence >= p.least
}

func (p *part) wants(n int32) bool { return p.tests || !p.g.nodes[n].test }

// choose marks the nodes to export.
func (p *part) choose(a *session, r ExportRequest) error {
	p.in = make([]bool, len(p.g.nodes))
	mark := func(n int32) {
		if !p.in[n] && p.wants(n) {
			p.in[n] = true
			p.count++
		}
	}
	if r.Symbol == "" {
		for i := range p.g.nodes {
			mark(int32(i))
		}
		if len(r.Edges) > 0 {
			p.onlyEnds()
		}
		return nil
	}
	roots, err := a.named(p.w, r.Symbol)
	if err != nil {
		return err
	}
	by := rules{along: p.kinds &^ kindsOf(eContains), against: p.kinds &^ kindsOf(eContains), min: p.least}
	for _, x := range p.w.levels(p.w.seeds(roots), &by, cmp.Or(r.Depth, 1)) {
		mark(x.n)
	}
	return nil
}

// onlyEnds removes the nodes without exported edges.
func (p *part) onlyEnds() {
	ends := make([]bool, len(p.in))
	p.count = 0
	for i := range p.g.edges {
		e := &p.g.edges[i]
		if p.follows(e) && p.in[e.from] && p.in[e.to] {
			ends[e.from], ends[e.to] = true, true
		}
	}
	for _, in := range ends {
		if in {
			p.count++
		}
	}
	p.in = ends
}

// form writes one format.
type form interface {
	begin(r Revision, groups []Community) error
	node(id string, s Symbol, community int32) error
	edge(from, to string, e *edge, site string) error
	end(b query.Basis) error
}

func (p *part) write(ctx context.Context, f form, r Revision, b query.Basis) error {
	if err := f.begin(r, p.groups); err != nil {
		return err
	}
	community := func(n int) int32 {
		if p.of == nil {
			return 0
		}
		return p.of[n]
	}
	for i, in := range p.in {
		if i&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if in {
			if err := f.node(nodeID(p.g.keys[i]), p.w.symbol(ref{0, int32(i)}), community(i)); err != nil {
				return err
			}
		}
	}
	for i := range p.g.edges {
		if i&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e := &p.g.edges[i]
		if !p.follows(e) || !p.in[e.from] || !p.in[e.to] {
			continue
		}
		if err := f.edge(nodeID(p.g.keys[e.from]), nodeID(p.g.keys[e.to]), e, place(p.g.keys[e.from].Path(), e.line)); err != nil {
			return err
		}
	}
	return f.end(b)
}

// nodeID returns a unique name of a node in an export: FILE:NAME with its kind.
func nodeID(k schemas.NodeKey) string {
	if k.Chain() == "" {
		return k.Path()
	}
	return k.Path() + ":" + k.Chain() + k.Variant() + " " + strconv.Itoa(int(k.Kind()))
}

// Exported is a graph as Export writes it in JSON.
type Exported struct {
	Revision    Revision       `json:"revision"`
	Communities []Community    `json:"communities,omitempty"`
	Nodes       []ExportedNode `json:"nodes,omitempty"`
	Edges       []ExportedEdge `json:"edges,omitempty"`
	RestsOn     query.Basis    `json:"rests_on"`
}

// ExportedNode is a symbol of an exported graph.
type ExportedNode struct {
	ID string `json:"id"`
	Symbol
	Community int `json:"community,omitempty"`
}

// ExportedEdge is an edge of an exported graph, between the ids of two symbols.
type ExportedEdge struct {
	From       string  `json:"from"`
	To         string  `json:"to"`
	Edge       string  `json:"edge"`
	Provenance string  `json:"provenance,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	Site       string  `json:"site,omitempty"`
	Sites      int     `json:"sites,omitempty"`
}
