package python

import (
	"cmp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// decoratorRoute reads @app.route("/x", methods=…), @router.get("/x") and others on the declaration
// in.
func (p *walker) decoratorRoute(call extract.Ref, in uint32, s state) { p.decorated(call, in, "", s) }

// decorates reads what does as a decorator does: app.get("/x")(handler).
func (p *walker) decorates(n, args extract.Ref, s state) {
	call, of := p.Field(n, "function"), p.Child(args, 0)
	if k := p.Kind(of); p.Kind(call) != "call" || k != "identifier" && k != "attribute" || p.Child(args, 1) != extract.None {
		return
	}
	if handler := p.routePath(of, s); handler != extract.Unknown && p.framework != "" {
		p.decorated(call, s.in, handler, s)
	}
}

// decorated reads the decorator of the declaration in, or of what handler names.
func (p *walker) decorated(call extract.Ref, in uint32, handler string, s state) {
	path := p.path(p.Field(call, "function"), s)
	router, verb := extract.SplitLast(path)
	args := p.Field(call, "arguments")
	add := func(r *recountv1.RouteFact) {
		if r.In, r.Handler = in, handler; handler != "" {
			if r.Group {
				return
			}
		} else if !r.Group && !s.test { // @app.get("/test-db") def test_db(): what serves is no test
			p.Decl(in).Test = false
		}
		r.Framework = cmp.Or(p.framework, r.Framework)
		p.AddRoute(r, call)
	}
	if handler == "" && p.litestarHandler(call, in, path, s) {
		return
	}
	ofBottle := p.ofBottle(path)
	if p.djangoDecorator(args, path, in, handler, add) {
		return
	}
	if ofBottle {
		router = ""
		_, verb = extract.SplitLast(p.known.Canonical(path)) // from bottle import get as read
	} else if router == "" {
		return
	}
	place := 0
	if p.framework == "aiohttp" && verb == "route" { // @routes.route("GET", "/x")
		place = 1
	}
	pattern, ok := p.pattern(extract.FirstRef(p.argument(args, place, "path"), extract.FirstRef(p.argument(args, -1, "rule"), p.argument(args, -1, "uri"))), s)
	var others []string
	if several := p.paths(p.argument(args, 0, "path"), s); !ok && p.framework == "bottle" && len(several) > 0 {
		pattern, others, ok = several[0], several[1:], true
	}
	if !ok || strings.HasPrefix(pattern, "{$") || strings.HasSuffix(router, ".webhooks") { // what others serve
		return
	}
	var methods []string
	framework, role := "fastapi", ""
	switch verb {
	case "route":
		methods, framework = p.methods(args, -1, "GET"), "flask"
		if (p.framework == "bottle" || p.framework == "") && p.argument(args, -1, "methods") == extract.None {
			methods = p.bottleMethods(args)
		}
		if place == 1 {
			m, _ := p.literal(p.argument(args, 0, "method"))
			methods = []string{verbOf(m)}
		}
	case "api_route":
		methods = p.methods(args, -1, "GET")
	case "get", "post", "put", "delete", "patch", "head", "options", "trace":
		if p.framework == "" && !strings.HasPrefix(pattern, "/") {
			return // another decorator of that name
		}
		methods = []string{strings.ToUpper(verb)}
	case "websocket", "websocket_route":
		methods = []string{"WEBSOCKET"}
	case "view":
		if p.framework != "aiohttp" {
			return
		}
		methods, role = []string{"ANY"}, "view"
	default:
		return
	}
	if of := p.Decl(in); verb == "route" && handler == "" && of != nil && of.Kind == recountv1.SymbolKind_SYMBOL_KIND_CLASS && p.framework == "flask" { // Flask-RESTX, flask-smorest
		methods, role = []string{"ANY"}, "view"
		for i := 1; p.argument(args, i, "") != extract.None; i++ {
			if more, ok := p.pattern(p.argument(args, i, ""), s); ok {
				add(&recountv1.RouteFact{Role: role, Method: "ANY", Pattern: more, Router: router, Framework: framework})
			}
		}
	}
	if p.framework == "sanic" {
		pattern = p.version(args, extract.None) + pattern
	}
	for _, pattern := range append([]string{pattern}, others...) {
		for _, m := range methods {
			add(&recountv1.RouteFact{Role: role, Method: m, Pattern: pattern, Router: router, Framework: framework})
		}
	}
}

// djangoDecorator adds what a decorator of Django or its REST framework says, and reports whether it is one.
func (p *walker) djangoDecorator(args extract.Ref, path string, in uint32, handler string, add func(*recountv1.RouteFact)) bool {
	switch p.known.Canonical(path) {
	case "rest_framework.decorators.api_view":
		var all []string
		for c := range p.Children(p.argument(args, 0, "http_method_names")) {
			if m, ok := p.literal(c); ok {
				all = append(all, strings.ToUpper(m))
			}
		}
		add(&recountv1.RouteFact{Group: true, Role: "verbs", Method: cmp.Or(strings.Join(all, ","), "GET")})
		return true
	case "django.views.decorators.http.require_http_methods":
		if some := p.methods(args, 0, "ANY"); some[0] != "ANY" {
			add(&recountv1.RouteFact{Group: true, Role: "verbs", Method: strings.Join(some, ",")})
		}
		return true
	case "rest_framework.decorators.action":
		pattern, ok := p.literal(p.argument(args, -1, "url_path"))
		if !ok && handler == "" {
			pattern = p.Decl(in).Name
		}
		r := &recountv1.RouteFact{Group: true, Role: "action", Method: strings.Join(p.methods(args, 0, "GET"), ","), Pattern: pattern}
		if p.Text(p.argument(args, 1, "detail")) == "True" {
			r.Router = "detail"
		}
		add(r)
		return true
	}
	return false
}

// required has the methods that decorators of Django let through.
var required = map[string]string{"require_GET": "GET", "require_POST": "POST", "require_safe": "GET,HEAD"}

// requiredMethod reads @require_POST and the like of Django.
func (p *walker) requiredMethod(decorator extract.Ref, in uint32, s state) {
	module, name := extract.SplitLast(p.known.Canonical(p.path(decorator, s)))
	if verbs := required[name]; verbs != "" && module == "django.views.decorators.http" {
		p.AddRoute(&recountv1.RouteFact{Group: true, Role: "verbs", Method: verbs, Framework: "django", In: in}, decorator)
	}
}

// mappingRoute reads @password.mapping.delete of Django REST framework: another method of an action's path.
func (p *walker) mappingRoute(decorator extract.Ref, in uint32, s state) {
	on, verb := extract.SplitLast(p.path(decorator, s))
	name, mapped := strings.CutSuffix(on, ".mapping")
	if !mapped || p.framework != "django" {
		return
	}
	for _, r := range p.Facts.Routes {
		if of := p.Decl(r.In); r.Role == "action" && of != nil && of.Name == name && of.Owner == p.Decl(in).Owner {
			p.AddRoute(&recountv1.RouteFact{
				Group: true, Role: "action", Method: strings.ToUpper(verb), Pattern: r.Pattern, Router: r.Router, Framework: "django", In: in,
			}, decorator)
			return
		}
	}
}

// attached reads class NameView(HTTPMethodView, attach=app, uri="/x") of Sanic.
func (p *walker) attached(class extract.Ref, name string, s state) {
	bases := p.Field(class, "superclasses")
	on := p.argument(bases, -1, "attach")
	if on == extract.None || p.framework != "sanic" {
		return
	}
	pattern := ""
	if uri := p.argument(bases, -1, "uri"); uri != extract.None {
		pattern, _ = p.pattern(uri, s)
	}
	p.AddRoute(&recountv1.RouteFact{
		Role: "view", Method: "ANY", Pattern: p.version(bases, extract.None) + pattern, Router: p.path(on, s), Handler: name, Framework: "sanic", In: s.in,
	}, class)
}

// version returns the version that a call of Sanic gives, which goes before all prefixes. What it does not say is as in
// an other call, if there is one.
func (p *walker) version(args, other extract.Ref) string {
	v := extract.FirstRef(p.argument(args, -1, "version"), p.argument(other, -1, "version"))
	if v == extract.None || p.Text(v) == "None" {
		return ""
	}
	before, ok := p.literal(extract.FirstRef(p.argument(args, -1, "version_prefix"), p.argument(other, -1, "version_prefix")))
	if !ok {
		before = "/v"
	}
	text, ok := p.literal(v)
	if !ok {
		text = p.Text(v)
	}
	return scope.Versioned(before + strings.TrimPrefix(strings.Trim(text, "/"), "v"))
}
