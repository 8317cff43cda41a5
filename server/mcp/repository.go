package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
)

type repositoryIn struct {
	View string `json:"view,omitempty" enum:"summary,log,routes,communities,graph" default:"summary"`
	scope
	Symbol string `json:"symbol,omitempty" doc:"graph"`
	Depth  int    `json:"depth,omitempty"`
	Edge   string `json:"edge,omitempty"`
	Match  string `json:"match,omitempty" doc:"routes: path"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

func repository(ctx context.Context, c *call, in repositoryIn) (a answer, err error) {
	cursor := in.Cursor
	in.Cursor = ""
	p, err := page("repository", cursor, in.Limit, 30, in)
	if err != nil {
		return a, err
	}
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	at := c.where(ctx, in.scope)
	switch in.View {
	case "log":
		r, err := code.LogQuestion.Ask(ctx, b, code.LogRequest{Scope: at, Limit: p.limit()})
		if err != nil {
			return a, err
		}
		r.Snapshots, a.next = cut(p, r.Snapshots)
		a.add(code.LogQuestion.Path, r, r.Basis, textOf(r))
	case "routes":
		r, err := code.RoutesQuestion.Ask(ctx, b, code.RoutesRequest{Scope: at, Pattern: in.Match, Limit: p.limit()})
		if err != nil {
			return a, err
		}
		r.Routes, a.next = cut(p, r.Routes)
		r.Truncated = 0
		a.add(code.RoutesQuestion.Path, r, r.Basis, textOf(r, "revision"))
	case "communities", "graph":
		return c.graph(ctx, b, at, in, p)
	default:
		r, err := code.ShowQuestion.Ask(ctx, b, code.ShowRequest{Scope: at})
		if err != nil {
			return a, err
		}
		a.add(code.ShowQuestion.Path, r, r.Basis, textOf(r, "roots", "maps"))
	}
	return a, nil
}

// exported is a graph as code.Export writes it.
type exported struct {
	Revision    code.Revision `json:"revision"`
	Communities []community   `json:"communities,omitempty"`
	Nodes       []graphNode   `json:"nodes,omitempty"`
	Edges       []graphEdge   `json:"edges,omitempty"`
	RestsOn     query.Basis   `json:"rests_on"`
}

type community struct {
	ID    int      `json:"id"`
	Label string   `json:"label,omitempty"`
	Size  int      `json:"size"`
	Files int      `json:"files,omitempty"`
	Top   []string `json:"top,omitempty"`
}

type graphNode struct {
	ID string `json:"id"`
	code.Symbol
	Community int `json:"community,omitempty"`
}

type graphEdge struct {
	From       string  `json:"from"`
	To         string  `json:"to"`
	Edge       string  `json:"edge"`
	Confidence float64 `json:"confidence,omitempty"`
	Site       string  `json:"site,omitempty"`
}

// maxGraph is the maximum size of an exported graph that is read here, in bytes.
const maxGraph = 256 << 20

// graph answers from the exported graph: its communities, or the part around a symbol.
func (c *call) graph(ctx context.Context, b gated, at code.Scope, in repositoryIn, p pages) (a answer, err error) {
	r := code.ExportRequest{Scope: at, Symbol: c.path(ctx, in.Symbol), Communities: in.View == "communities"}
	if r.Symbol != "" {
		r.Depth = cmp.Or(in.Depth, 1)
	}
	if in.Edge != "" {
		r.Edges = []string{in.Edge}
	}
	var out limited
	if err := b.export(ctx, r, &out); err != nil {
		return a, err
	}
	var g exported
	if err := json.Unmarshal(out.Bytes(), &g); err != nil {
		return a, fmt.Errorf("read the exported graph: %w", err)
	}
	g.RestsOn.Status = query.StatusOK
	if r.Communities {
		return c.communities(g, p)
	}
	return c.neighbourhood(g, p)
}

func (c *call) communities(g exported, p pages) (a answer, err error) {
	members := map[int][]graphNode{}
	for _, n := range g.Nodes {
		members[n.Community] = append(members[n.Community], n)
	}
	for i := range g.Communities {
		m := &g.Communities[i]
		files := map[string]int{}
		for _, n := range members[m.ID] {
			files[n.File]++
		}
		m.Size, m.Files = len(members[m.ID]), len(files)
		for _, n := range members[m.ID] {
			if n.Exported && n.Kind != "file" && n.Kind != "package" && len(m.Top) < 5 {
				m.Top = append(m.Top, n.Name)
			}
		}
	}
	total := len(g.Communities)
	g.Nodes, g.Edges = nil, nil
	g.Communities, a.next = cut(p, g.Communities)
	a.add("code/export", g, g.RestsOn, fmt.Sprintf("total %d\n", total)+textOf(g, "revision", "rests_on"))
	return a, nil
}

func (c *call) neighbourhood(g exported, p pages) (a answer, err error) {
	names := map[string]string{}
	for _, n := range g.Nodes {
		names[n.ID] = n.Name
	}
	for i, e := range g.Edges {
		g.Edges[i].From, g.Edges[i].To = cmp.Or(names[e.From], e.From), cmp.Or(names[e.To], e.To)
	}
	edges := slices.DeleteFunc(slices.Clone(g.Edges), func(e graphEdge) bool { return e.Edge == "contains" })
	head := fmt.Sprintf("%d symbols, %d edges\n", len(g.Nodes), len(edges))
	g.Nodes, a.next = cut(p, g.Nodes)
	shown := map[string]bool{}
	for _, n := range g.Nodes {
		shown[n.Name] = true
	}
	g.Edges = slices.DeleteFunc(edges, func(e graphEdge) bool { return !shown[e.From] })
	a.add("code/export", g, g.RestsOn, head+textOf(g, "revision", "rests_on", "id", "language", "package"))
	return a, nil
}

// limited is a buffer that refuses more than maxGraph.
type limited struct{ bytes.Buffer }

func (l *limited) Write(b []byte) (int, error) {
	if l.Len()+len(b) > maxGraph {
		return 0, &argumentError{"repository", "the graph is too large for one answer: name a symbol"}
	}
	return l.Buffer.Write(b)
}
