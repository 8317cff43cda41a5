package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/wire"
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
	p, err := page("repository", &in.Cursor, in.Limit, 30, &in)
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
		a.add(code.LogQuestion.Path, r, r.Basis)
	case "routes":
		r, err := code.RoutesQuestion.Ask(ctx, b, code.RoutesRequest{Scope: at, Pattern: in.Match, Limit: p.limit()})
		if err != nil {
			return a, err
		}
		r.Routes, a.next = cut(p, r.Routes)
		r.Truncated = 0
		a.add(code.RoutesQuestion.Path, r, r.Basis)
	case "communities", "graph":
		return c.graph(ctx, b, at, in, p)
	default:
		r, err := code.ShowQuestion.Ask(ctx, b, code.ShowRequest{Scope: at})
		if err != nil {
			return a, err
		}
		a.add(code.ShowQuestion.Path, r, r.Basis)
	}
	return a, nil
}

// communityFacts are what a community has beside its label and size.
type communityFacts struct {
	code.Community
	Files int      `json:"files,omitempty"`
	Top   []string `json:"top,omitempty"`
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
	var g code.Exported
	if err := json.Unmarshal(out.Bytes(), &g); err != nil {
		return a, fmt.Errorf("read the exported graph: %w", err)
	}
	g.RestsOn.Status = query.StatusOK
	if r.Communities {
		return c.communities(g, p)
	}
	return c.neighbourhood(g, p)
}

func (c *call) communities(g code.Exported, p pages) (a answer, err error) {
	members := map[int][]code.ExportedNode{}
	for _, n := range g.Nodes {
		members[n.Community] = append(members[n.Community], n)
	}
	var all []communityFacts
	for _, m := range g.Communities {
		m.Size = len(members[m.ID])
		x := communityFacts{Community: m}
		files := map[string]bool{}
		for _, n := range members[m.ID] {
			files[n.File] = true
			if n.Exported && n.Kind != "file" && n.Kind != "package" && len(x.Top) < 5 {
				x.Top = append(x.Top, n.Name)
			}
		}
		x.Files = len(files)
		all = append(all, x)
	}
	told := struct {
		Total       int              `json:"total"`
		Communities []communityFacts `json:"communities"`
	}{Total: len(all)}
	told.Communities, a.next = cut(p, all)
	a.add("code/export", told, g.RestsOn)
	return a, nil
}

func (c *call) neighbourhood(g code.Exported, p pages) (a answer, err error) {
	names := map[string]string{}
	for _, n := range g.Nodes {
		names[n.ID] = n.Name
	}
	// What a file or a type contains is seen from names and places.
	edges := slices.DeleteFunc(slices.Clone(g.Edges), func(e code.ExportedEdge) bool { return e.Edge == "contains" })
	total := []wire.Scalar{{Name: "symbols", Value: strconv.Itoa(len(g.Nodes))}, {Name: "edges", Value: strconv.Itoa(len(edges))}}
	g.Nodes, a.next = cut(p, g.Nodes)
	shown := map[string]bool{}
	for _, n := range g.Nodes {
		shown[n.ID] = true
	}
	g.Edges = slices.DeleteFunc(edges, func(e code.ExportedEdge) bool { return !shown[e.From] })
	for i, e := range g.Edges {
		if !shown[e.To] { // it is on another page
			g.Edges[i].To = cmp.Or(names[e.To], e.To)
		}
	}
	told := wire.OfAny("graph", g)
	told.Scalars = append(told.Scalars, total...)
	a.addPayload("code/export", g, g.RestsOn, told)
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
