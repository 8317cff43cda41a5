package code

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// RoutesRequest asks for the routes of a revision.
type RoutesRequest struct {
	Scope
	Pattern string `json:"pattern,omitempty" maxLength:"4096" example:"/orders/42" doc:"Only routes whose path contains this, or that a request for this path could reach. It may begin with a method: POST /orders."`
	Method  string `json:"method,omitempty" maxLength:"32" example:"POST" doc:"Only routes for this method or for any method."`
	Tests   bool   `json:"tests,omitempty" doc:"Include routes of tests."`
	Limit   int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of routes."`
}

// RoutesResponse is the answer of routes.
type RoutesResponse struct {
	query.Basis
	Revision  Revision `json:"revision" doc:"The revision that was queried."`
	Routes    []Route  `json:"routes" nullable:"false" doc:"The routes by path, then by method."`
	Total     int      `json:"total" example:"12" doc:"Total number of routes."`
	Truncated int      `json:"truncated" example:"0" doc:"The number of them left out of the list."`
}

// Route is a path that is served.
type Route struct {
	Method    string    `json:"method" example:"POST" doc:"The method; ANY if the route serves every method."`
	Path      string    `json:"path" example:"/orders/{id}" doc:"The path in the framework's syntax, with the prefixes of its groups."`
	Framework string    `json:"framework,omitempty" example:"chi" doc:"The framework."`
	File      string    `json:"file" example:"web/routes.go" doc:"The file that registers it."`
	Line      uint32    `json:"line,omitempty" example:"31" doc:"The line."`
	Handlers  []Handler `json:"handlers" nullable:"false" doc:"The handlers; empty if they could not be resolved."`
	// Middleware lists the decorators of the handlers. Middleware installed in other ways is not
	// known.
	Middleware []string `json:"middleware,omitempty" example:"auth.login_required" doc:"The decorators of its handlers, except the route's own. Middleware that is set up in other ways is not known."`
}

// Place returns FILE:LINE.
func (r Route) Place() string { return place(r.File, r.Line) }

// Handler is a symbol that serves a route.
type Handler struct {
	Symbol
	Outside    bool    `json:"outside,omitempty" doc:"It is outside the repository: it has a package and a name, but no place."`
	Provenance string  `json:"provenance" example:"types_resolved" doc:"How the handler was found."`
	Confidence float64 `json:"confidence" example:"0.98" doc:"Confidence, 0 to 1."`
}

func (r RoutesRequest) check() error {
	if len(r.Pattern) > query.MaxName {
		return checkSubject("pattern", r.Pattern)
	}
	if strings.ContainsFunc(r.Method, func(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') }) {
		return &query.RequestError{Field: "method", Value: r.Method, Reason: "want a method, as in POST"}
	}
	return cmp.Or(r.Scope.check(), checkLimit(r.Limit))
}

// Routes lists the routes of a revision.
func Routes(ctx context.Context, s Sources, r RoutesRequest) (RoutesResponse, error) {
	var resp RoutesResponse
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	snap, g, err := a.snapshotGraph(r.Scope)
	if err != nil {
		return resp, err
	}
	nodes, err := snap.Nodes()
	if err != nil {
		return resp, err
	}
	method, pattern := r.Method, r.Pattern
	if m, rest, ok := strings.Cut(pattern, " "); ok && method == "" && !strings.Contains(m, "/") {
		method, pattern = m, strings.TrimSpace(rest)
	}
	w := &world{graphs: []*Graph{g}}
	all, seen := []Route{}, 0
	for i := range g.nodes {
		n := int32(i)
		if g.kind(n) != recountv1.SymbolKind_SYMBOL_KIND_ROUTE {
			continue
		}
		seen++
		full, err := nodeIn(nodes, g.keys[n])
		if err != nil {
			return resp, err
		}
		route := routeOf(g, n, full)
		if !wantedMethod(route.Method, method) || !wantedPath(route.Path, pattern) {
			continue
		}
		test := g.nodes[n].test
		route.Handlers, route.Middleware = w.handlers(n, &test)
		if !test || r.Tests {
			all = append(all, route)
		}
	}
	slices.SortStableFunc(all, func(x, y Route) int { return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Method, y.Method)) })
	a.Step(query.Step{Operator: "routes", Inputs: map[string]string{"method": method, "pattern": pattern}, Counts: map[string]int64{"routes": int64(seen), "matching": int64(len(all))}})
	a.RecordTime("routes")
	resp.Revision, resp.Total = revisionAt(snap), len(all)
	resp.Truncated = cut(&all, cmp.Or(r.Limit, DefaultLimit))
	resp.Routes = all
	hint := ""
	if resp.Total == 0 {
		hint = "no route is known at this revision"
		if seen > 0 {
			hint = "no route matches"
		}
	}
	var filters []query.AppliedFilter
	for _, f := range [][2]string{{"method", method}, {"pattern", pattern}} {
		if f[1] != "" {
			filters = append(filters, query.AppliedFilter{Field: f[0], Op: "matches", Value: f[1]})
		}
	}
	resp.Basis = a.basis(resp.Total == 0, hint, filters...)
	return resp, nil
}

// routeOf returns the route of a node.
func routeOf(g *Graph, n int32, full *recountv1.CodeNode) Route {
	r := Route{File: g.keys[n].Path(), Line: g.nodes[n].line, Framework: full.GetAttributes()["framework"]}
	r.Method, r.Path = full.GetAttributes()["method"], full.GetAttributes()["pattern"]
	if r.Path == "" {
		var ok bool
		if r.Method, r.Path, ok = strings.Cut(g.name(n), " "); !ok {
			r.Method, r.Path = "ANY", g.name(n)
		}
	}
	return r
}

// handlers returns the other ends of a route's edges, and their decorators. It sets test if a test
// serves the route.
func (w *world) handlers(route int32, test *bool) (all []Handler, middleware []string) {
	g := w.graphs[0]
	all = []Handler{}
	add := func(n int32, e *edge) {
		all = append(all, Handler{Symbol: w.symbol(ref{0, n}), Provenance: provenanceName(e.provenance), Confidence: confidence(e.confidence)})
		*test = *test || g.nodes[n].test
		for i := g.out[n]; i < g.out[n+1]; i++ {
			if d := &g.edges[i]; recountv1.EdgeKind(d.kind) == eDecorates && d.line != e.line {
				middleware = append(middleware, g.display(d.to))
			}
		}
		for i := g.outStart[n]; i < g.outStart[n+1]; i++ {
			if d := &g.outside[i]; recountv1.EdgeKind(d.kind) == eDecorates && d.line != e.line {
				s := g.symbols[d.to]
				middleware = append(middleware, strings.Trim(s.pkg+"."+s.name, "."))
			}
		}
	}
	// A resolver may create the edge in either direction.
	for i := g.out[route]; i < g.out[route+1]; i++ {
		if e := &g.edges[i]; recountv1.EdgeKind(e.kind) == eHandles {
			add(e.to, e)
		}
	}
	for _, i := range g.into[g.in[route]:g.in[route+1]] {
		if e := &g.edges[i]; recountv1.EdgeKind(e.kind) == eHandles {
			add(e.from, e)
		}
	}
	for i := g.outStart[route]; i < g.outStart[route+1]; i++ {
		if e := &g.outside[i]; recountv1.EdgeKind(e.kind) == eHandles {
			s := g.symbols[e.to]
			all = append(all, Handler{
				Symbol: Symbol{Name: shortPackage(s.pkg) + "." + s.name, Kind: "function", Language: s.language, Package: s.pkg}, Outside: true,
				Provenance: provenanceName(e.provenance), Confidence: confidence(e.confidence),
			})
		}
	}
	return all, middleware
}

func wantedMethod(has, want string) bool {
	return want == "" || has == "ANY" || strings.EqualFold(want, "ANY") || slices.ContainsFunc(strings.Split(has, ","), func(m string) bool { return strings.EqualFold(strings.TrimSpace(m), want) })
}

// wantedPath reports whether a route's path contains a text, or matches requests for it.
func wantedPath(path, want string) bool {
	return want == "" || strings.Contains(strings.ToLower(path), strings.ToLower(want)) ||
		strings.HasPrefix(want, "/") && takes(path, want)
}

// parameter matches placeholders for a part of a request's path in any framework: {id},
// {id:[0-9]+}, :id, <int:id>, [id], *.
var parameter = regexp.MustCompile(`^(\{.*\}|:.+|<.*>|\[.*\]|\*.*)$`)

// takes reports whether a request for a path could match a route's pattern, by its segments. A
// pattern that ends in a placeholder for the rest ({path...}, [...slug], **, <path:p>) matches
// everything below it.
func takes(pattern, request string) bool {
	has, want := strings.Split(strings.Trim(pattern, "/"), "/"), strings.Split(strings.Trim(request, "/"), "/")
	for i, p := range has {
		rest := strings.Contains(p, "...") || strings.HasPrefix(p, "*") || strings.HasPrefix(p, "<path:")
		if rest && parameter.MatchString(p) && i < len(want) {
			return true
		}
		if i >= len(want) || p != want[i] && !parameter.MatchString(p) {
			return false
		}
	}
	return len(has) == len(want)
}
