package python

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// place returns the router that a route in a list is registered on and the prefix that calls around it
// give it. ok is false if the list is not one of a router.
func (p *walker) place(n extract.Ref, s state) (router, prefix string, ok bool) {
	made := false
	for at := n; ; {
		up := p.Parent(at)
		switch p.Kind(up) {
		case "list", "tuple", "parenthesized_expression", "argument_list", "keyword_argument", "list_splat", "conditional_expression",
			"list_comprehension", "generator_expression":
		case "binary_operator":
			if p.Text(p.Field(up, "operator")) != "+" {
				return "", "", false
			}
		case "assignment", "augmented_assignment":
			router = p.path(p.Field(up, "left"), s)
			p.list(router, up, s)
			return router, prefix, router != extract.Unknown
		case "return_statement":
			if made || p.Decl(s.in) == nil {
				return "", "", false
			}
			p.list("return", up, s)
			return "return", prefix, true
		case "call":
			callee := p.path(p.Field(up, "function"), s)
			full := p.known.Canonical(callee)
			on, name := extract.SplitLast(callee)
			args := p.Field(up, "arguments")
			switch _, maker := makers[name]; {
			case p.servesRules(up, s):
				return "", prefix, true
			case name == "Rule" && p.framework == "tornado": // Rule(HostMatches("x"), […])
			case full == "django.urls.include" || full == "django.conf.urls.include":
			case full == "django.urls.path" || full == "django.urls.re_path" || full == "django.conf.urls.url":
				before, _ := p.pattern(p.argument(args, 0, "route"), s)
				prefix = strings.TrimPrefix(before, "^") + prefix
			case name == "Mount":
				before, _ := p.pattern(p.argument(args, 0, "path"), s)
				prefix = strings.TrimSuffix(before, "/") + extract.Slashed(prefix)
			case name == "i18n_patterns":
				if p.Text(p.argument(args, -1, "prefix_default_language")) != "False" {
					prefix = "${}" + prefix
				}
			case name == "Host" || name == "format_suffix_patterns":
			case maker:
				made = true
				h := p.holder(up, s)
				if !strings.HasSuffix(h, ")") {
					return h, prefix, true
				}
				if in := p.Parent(p.Parent(up)); p.Text(p.lastName(in)) == "mount" { // app.mount("/x", Starlette(routes=[…]))
					on, _ := extract.SplitLast(p.path(p.Field(in, "function"), s))
					before, known := p.pattern(p.argument(p.Field(in, "arguments"), 0, "path"), s)
					return on, strings.TrimSuffix(before, "/") + extract.Slashed(prefix), known && on != ""
				}
			case name == "append" || name == "extend" || name == "add_routes" || name == "insert":
				if name != "add_routes" { // of a router, which is no list
					p.list(on, up, s)
				}
				return on, prefix, on != ""
			default:
				return "", "", false
			}
		default:
			return "", "", false
		}
		at = up
	}
}

// list notes that a variable holds a list of routes.
func (p *walker) list(name string, at extract.Ref, s state) {
	key := extract.NameIn{In: s.in, Name: name}
	if extract.Root(name) == name && !p.lists[key] {
		p.lists[key] = true
		p.AddRoute(&recountv1.RouteFact{Group: true, Role: "part", Handler: name, Framework: p.framework, In: s.in}, at)
	}
}

// listed reads the routes in lists: Django's path("x/", view), Starlette's Route("/x", view),
// aiohttp's web.get("/x", view), and what includes other lists.
func (r *registration) listed() {
	full := r.known.Canonical(r.path)
	module, name := extract.SplitLast(full)
	key, of, methods, role := "path", r.arg(1, "view"), []string{"ANY"}, "view"
	switch {
	case full == "django.urls.path" || full == "django.urls.re_path" || full == "django.conf.urls.url":
		key = "route"
	case module == "starlette.routing" && (name == "Route" || name == "WebSocketRoute"):
		of = r.arg(1, "endpoint")
		if methods = r.methods(r.args, -1, "GET"); name == "WebSocketRoute" {
			methods, role = []string{"WEBSOCKET"}, ""
		}
	case module == "starlette.routing" && (name == "Mount" || name == "Host"):
		of = r.arg(1, "app")
		of = extract.FirstRef(of, r.arg(-1, "routes"))
		if router, prefix, ok := r.place(r.call, r.s); ok && r.Kind(of) != "list" {
			pattern, _ := r.pattern(0, "path")
			if name == "Host" {
				pattern = ""
			}
			if r.static(of) {
				r.framework = "starlette"
				r.add(&recountv1.RouteFact{Method: "GET", Pattern: prefix + strings.TrimSuffix(pattern, "/") + "/{path:path}", Router: router, Handler: extract.Unknown})
				return
			}
			r.mount(router, prefix+pattern, of, "starlette", r.call, r.s)
		}
		return
	case module == "aiohttp.web":
		of, role = r.arg(1, "handler"), ""
		switch name {
		case "get", "post", "put", "delete", "patch", "head", "options":
			methods = []string{strings.ToUpper(name)}
		case "view":
			role = "view"
		case "route":
			m, _ := r.literal(r.arg(0, "method"))
			methods = []string{verbOf(m)}
			text, _ := r.pattern(1, "path")
			if router, prefix, ok := r.place(r.call, r.s); ok {
				r.route(methods[0], prefix+text, router, r.arg(2, "handler"), "")
			}
			return
		default:
			return
		}
	default:
		return
	}
	pattern, ok := r.pattern(0, key)
	if full == "django.conf.urls.url" && !ok {
		pattern, ok = r.pattern(-1, "regex")
	}
	if !ok || of == extract.None {
		return
	}
	router, prefix, ok := r.place(r.call, r.s)
	if !ok {
		router = extract.Unknown
	}
	if key == "route" {
		included := r.included(of, r.s)
		pattern = strings.TrimPrefix(pattern, "^")
		if name != "path" && included == extract.None {
			pattern = strings.TrimSuffix(strings.TrimSuffix(pattern, "$"), `\Z`)
		}
		if included != extract.None {
			r.include(r.call, included, router, prefix+pattern, r.s)
			return
		}
	}
	if module, by := extract.SplitLast(r.known.Canonical(r.walker.path(r.Field(of, "function"), r.s))); required[by] != "" && module == "django.views.decorators.http" {
		methods = strings.Split(required[by], ",") // require_POST(view)
	}
	if class, _ := r.handler(of, r.s); key == "route" {
		if full := r.known.Canonical(r.walker.path(r.Field(of, "function"), r.s)); full == "rest_framework.schemas.get_schema_view" {
			methods = []string{"GET"}
		}
		if serves := scope.DjangoView(extract.SplitLast(r.known.Canonical(class))); len(serves) > 0 {
			methods = serves
		}
	}
	for _, m := range methods {
		r.route(m, prefix+pattern, router, of, role)
	}
}

// included returns what include(…) includes, no node if a view is no such call.
func (p *walker) included(view extract.Ref, s state) extract.Ref {
	if p.Kind(view) != "call" {
		return extract.None
	}
	switch p.known.Canonical(p.path(p.Field(view, "function"), s)) {
	case "django.urls.include", "django.conf.urls.include":
	default:
		return extract.None
	}
	of := p.argument(p.Field(view, "arguments"), 0, "arg")
	if p.Kind(of) == "tuple" {
		of = p.Child(of, 0)
	}
	return of
}

// include reads path("x/", include(…)). Routes in a list that is written in place find their prefix
// by themselves.
func (p *walker) include(n, of extract.Ref, router, pattern string, s state) {
	if p.Kind(of) == "list" {
		return
	}
	g := &recountv1.RouteFact{Group: true, Method: "ANY", Pattern: pattern, Router: router, Framework: "django", In: s.in}
	if module, ok := p.literal(of); ok {
		g.Handler = p.InlineImport(s.in, module, of) + ".urlpatterns"
	} else if g.Handler = p.path(of, s); g.Handler == extract.Unknown {
		return
	}
	p.AddRoute(g, n)
}
