package python

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Litestar's routes are functions with decorators and classes of them, which serve where an application or a router has
// them in its route_handlers: a function with a decorator is a router here, too, that others mount.

// litestarVerbs has the methods of the decorators of Litestar, "" where they are an argument.
var litestarVerbs = map[string]string{
	"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE", "head": "HEAD", "route": "",
	"websocket": "WEBSOCKET", "websocket_listener": "WEBSOCKET", "websocket_stream": "WEBSOCKET",
}

// litestarHandler reads @get("/x"), @route(["/x", "/y"], http_method=["GET", "POST"]) and the like on the declaration
// in, and reports whether a decorator is one of Litestar.
func (p *walker) litestarHandler(call extract.Ref, in uint32, path string, s state) bool {
	module, name := extract.SplitLast(p.known.Canonical(path))
	verb, ok := litestarVerbs[name]
	if !ok || frameworkOf(module) != "litestar" {
		return false
	}
	d := p.Decl(in)
	if d.Kind == recountv1.SymbolKind_SYMBOL_KIND_CLASS {
		return true
	}
	args := p.Field(call, "arguments")
	methods := []string{verb}
	if verb == "" {
		methods = p.methodsIn(p.argument(args, -1, "http_method"), "ANY")
	}
	router := d.Name
	if s.class {
		router = p.Decl(s.in).Name
		if !slices.ContainsFunc(p.Facts.Routes, func(r *recountv1.RouteFact) bool { return r.Role == scope.PartClassRole && r.In == s.in }) {
			p.AddRoute(&recountv1.RouteFact{Group: true, Role: scope.PartClassRole, Pattern: "${}", Framework: "litestar", In: s.in}, call)
		}
	} else {
		p.AddRoute(&recountv1.RouteFact{Group: true, Role: "part", Handler: d.Name, Framework: "litestar", In: s.in}, call)
	}
	patterns := []string{""}
	if of := p.argument(args, 0, "path"); of != extract.None {
		patterns = p.paths(of, s)
	}
	if !s.test {
		d.Test = false
	}
	for _, pattern := range patterns {
		for _, m := range methods {
			p.AddRoute(&recountv1.RouteFact{Method: m, Pattern: strings.TrimRight(pattern, "/"), Router: router, Framework: "litestar", In: in}, call)
		}
	}
	return true
}

// controller notes the path of a class of handlers, which is the last name in its body that is path. It is not known
// if the class has none and a base of the application may have one.
func (p *walker) controller(n extract.Ref, in uint32, s state) {
	is, own := false, false
	for base := range p.Children(p.Field(n, "superclasses")) {
		module, name := extract.SplitLast(p.known.Canonical(p.basePath(base, s)))
		is = is || p.framework == "litestar" && strings.HasSuffix(name, "Controller")
		own = own || name == "Controller" && frameworkOf(module) == "litestar"
	}
	if !is && !own {
		return
	}
	pattern, said := "", false
	for stmt := range p.Children(p.Field(n, "body")) {
		if set := p.Child(stmt, 0); p.Kind(set) == "assignment" && p.Text(p.Field(set, "left")) == "path" {
			pattern, said = p.pattern(p.Field(set, "right"), s)
			if !said {
				pattern = "${}"
			}
			said = true
		}
	}
	if !said && !own {
		pattern = "${}"
	}
	p.AddRoute(&recountv1.RouteFact{Group: true, Role: scope.PartClassRole, Pattern: strings.TrimRight(pattern, "/"), Framework: "litestar", In: in}, n)
}

// litestarApp notes what Litestar(route_handlers=[…], path="/x") and Router(path="/x", route_handlers=[…]) make, and
// reports whether a call makes one of them.
func (p *walker) litestarApp(n extract.Ref, module, name string, args extract.Ref, s state) bool {
	if frameworkOf(module) != "litestar" || name != "Litestar" && name != "Starlite" && name != "Router" {
		return false
	}
	g := &recountv1.RouteFact{Group: true, Role: "root", Handler: p.holder(n, s), Framework: "litestar", In: s.in}
	list := p.argument(args, 0, "route_handlers")
	if name == "Router" {
		if p.inHandlers(n) { // the router around it serves what it has
			return true
		}
		g.Role, list = "part", p.argument(args, -1, "route_handlers")
	}
	g.Pattern = p.litestarPath(name, args, s)
	p.AddRoute(g, n)
	if strings.HasSuffix(g.Handler, ")") && g.Role == "root" {
		p.handlers("", g.Pattern, list, n, s, 0)
	} else {
		p.handlers(g.Handler, "", list, n, s, 0)
	}
	return true
}

// litestarPath returns the path of an application or a router.
func (p *walker) litestarPath(name string, args extract.Ref, s state) string {
	place := -1
	if name == "Router" {
		place = 0
	}
	of := p.argument(args, place, "path")
	pattern, ok := p.pattern(of, s)
	if !ok && of != extract.None && p.Text(of) != "None" {
		return "${}"
	}
	return strings.TrimRight(pattern, "/")
}

// inHandlers reports whether a call is an element of the list that another has as its route_handlers.
func (p *walker) inHandlers(n extract.Ref) bool {
	list := p.Parent(n)
	if k := p.Kind(list); k != "list" && k != "tuple" {
		return false
	}
	up := p.Parent(list)
	return p.Kind(up) == "keyword_argument" && p.Text(p.Field(up, "name")) == "route_handlers" || p.Kind(up) == "argument_list"
}

// handlers mounts what a list of handlers has on a router, below a pattern.
func (p *walker) handlers(router, pattern string, n, at extract.Ref, s state, depth int) {
	if depth > maxNested || router == extract.Unknown {
		return
	}
	mount := func(h string) {
		if h != extract.Unknown {
			p.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: pattern, Router: router, Handler: h, Framework: "litestar", In: s.in}, at)
		}
	}
	switch p.Kind(n) {
	case "list", "tuple", "set":
		for c := range p.Children(n) {
			switch p.Kind(c) {
			case "list_splat":
				p.handlers(router, pattern, p.Child(c, 0), at, s, depth+1)
			case "call":
				args := p.Field(c, "arguments")
				if module, name := extract.SplitLast(p.known.Canonical(p.path(p.Field(c, "function"), s))); name == "Router" && frameworkOf(module) == "litestar" {
					below := pattern + extract.Slashed(p.litestarPath(name, args, s))
					p.handlers(router, strings.TrimRight(below, "/"), p.argument(args, -1, "route_handlers"), at, s, depth+1)
					continue
				}
				mount(p.path(c, s))
			case "identifier", "attribute":
				mount(p.path(c, s))
			}
		}
	case "binary_operator":
		p.handlers(router, pattern, p.Field(n, "left"), at, s, depth+1)
		p.handlers(router, pattern, p.Field(n, "right"), at, s, depth+1)
	case "parenthesized_expression":
		p.handlers(router, pattern, p.Child(n, 0), at, s, depth+1)
	case "identifier", "attribute", "call":
		if of := p.path(n, s); of != extract.Unknown {
			mount(extract.Element(of, ""))
		}
	}
}
