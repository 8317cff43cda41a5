package python

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// bottleVerbs has the functions and methods of Bottle that register a route.
var bottleVerbs = scope.WordSet("route get post put delete patch")

// bottleApp notes the application that Bottle() makes, or the default one.
func (p *walker) bottleApp(n extract.Ref, module, name string, s state) bool {
	if module != "bottle" || name != "Bottle" && name != "default_app" && name != "app" {
		return false
	}
	p.AddRoute(&recountv1.RouteFact{Group: true, Role: "root", Handler: p.holder(n, s), Framework: "bottle", In: s.in}, n)
	return true
}

// ofBottle reports whether a path names a function of Bottle for its default application: bottle.route, route after
// an import of the name or of all, or default_app().route.
func (p *walker) ofBottle(path string) bool {
	on, name := extract.SplitLast(p.known.Canonical(path))
	switch {
	case on == "bottle" || on == "bottle.default_app()" || on == "bottle.app()":
		return true
	case on == "" && path == name && p.framework == "bottle": // from bottle import *
		return !p.Locals[extract.NameIn{Name: name}] && (bottleVerbs[name] || name == "mount")
	}
	return false
}

// bottleMethods returns the methods that a call of route names, GET if it names none.
func (p *walker) bottleMethods(args extract.Ref) []string {
	list := p.argument(args, -1, "method")
	if of := p.argument(args, 1, ""); list == extract.None && (p.framework == "bottle" || p.Kind(of) == "string" || p.Kind(of) == "list") {
		list = of
	}
	return p.methodsIn(list, "GET")
}

// paths returns the patterns that an argument is, or those of its list.
func (p *walker) paths(n extract.Ref, s state) (all []string) {
	if k := p.Kind(n); k == "list" || k == "tuple" {
		for c := range p.Children(n) {
			if pattern, ok := p.pattern(c, s); ok {
				all = append(all, pattern)
			}
		}
	} else if pattern, ok := p.pattern(n, s); ok {
		all = append(all, pattern)
	}
	return all
}

// bottle reads a call of Bottle, app.route("/x", "GET", handler), app.get("/x", callback=handler), app.mount("/x", other)
// or app.merge(other), and reports whether it is one. One of route may be in a file that imports no framework.
func (r *registration) bottle() bool {
	if r.framework != "bottle" && (r.framework != "" || r.name != "route") {
		return false
	}
	router := r.router
	if r.ofBottle(r.path) {
		router = ""
	} else if router == "" {
		return false
	}
	switch {
	case r.name == "mount" || r.name == "merge":
		pattern, of := "", r.arg(0, "routes")
		if r.name == "mount" {
			prefix := r.arg(0, "prefix")
			of = r.arg(1, "app")
			if r.Kind(of) == "string" { // as Bottle had it once
				prefix, of = of, prefix
			}
			pattern, _ = r.walker.pattern(prefix, r.s)
		}
		if h := r.routePath(of, r.s); h != extract.Unknown {
			r.add(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: pattern, Router: router, Handler: h})
		}
	case bottleVerbs[r.name]:
		of := r.arg(-1, "callback")
		methods := []string{strings.ToUpper(r.name)}
		if r.name == "route" {
			of = extract.FirstRef(of, r.arg(2, ""))
			methods = r.bottleMethods(r.args)
		}
		if of == extract.None {
			return false
		}
		handler, _ := r.handler(of, r.s)
		for _, pattern := range r.paths(r.arg(0, "path"), r.s) {
			if r.framework == "" && !strings.HasPrefix(pattern, "/") {
				continue
			}
			for _, m := range methods {
				r.AddRoute(&recountv1.RouteFact{Method: m, Pattern: pattern, Router: router, Handler: handler, Framework: "bottle", In: r.s.in}, r.call)
			}
		}
	default:
		return false
	}
	return true
}
