package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// webFramework is which of the known ones the file imports first.
func (p *pythonFile) webFramework() string {
	for i := range p.nodes {
		n := ref(i)
		module := none
		switch p.kind(n) {
		case "import_from_statement":
			module = p.field(n, "module_name")
		case "import_statement":
			module = p.child(n, 0)
			if p.kind(module) == "aliased_import" {
				module = p.field(module, "name")
			}
		}
		switch name := root(p.text(module)); name {
		case "flask", "fastapi", "django", "quart", "starlette", "sanic", "bottle", "litestar", "aiohttp":
			return name
		case "rest_framework":
			return "django"
		}
	}
	return ""
}

// methods reads methods=["GET", "POST"]; without it there is one, the default.
func (p *pythonFile) methods(args ref, def string) []string {
	list := p.argument(args, -1, "methods")
	var all []string
	for c := range p.children(list) {
		if m, ok := p.literal(c); ok {
			all = append(all, strings.ToUpper(m))
		}
	}
	if len(all) == 0 {
		if list != none {
			return []string{"ANY"}
		}
		return []string{def}
	}
	return all
}

// decoratorRoute reads @app.route("/x", methods=…), @router.get("/x") on declaration in.
func (p *pythonFile) decoratorRoute(call ref, in uint32, s pythonScope) {
	router, verb := splitLast(p.path(p.field(call, "function"), s))
	args := p.field(call, "arguments")
	if router == "" {
		return
	}
	pattern, ok := p.literal(firstRef(p.argument(args, 0, "path"), p.argument(args, 0, "rule")))
	if !ok {
		return
	}
	var methods []string
	framework := p.framework
	switch verb {
	case "route":
		methods = p.methods(args, "GET")
		framework = firstOf(framework, "flask")
	case "api_route":
		methods = p.methods(args, "GET")
		framework = firstOf(framework, "fastapi")
	case "get", "post", "put", "delete", "patch", "head", "options", "trace":
		if framework == "" && !strings.HasPrefix(pattern, "/") {
			return // some other decorator of that name
		}
		methods = []string{strings.ToUpper(verb)}
		framework = firstOf(framework, "fastapi")
	case "websocket":
		methods = []string{"WEBSOCKET"}
		framework = firstOf(framework, "fastapi")
	default:
		return
	}
	for _, m := range methods {
		p.addRoute(&recountv1.RouteFact{Method: m, Pattern: pattern, Router: router, Framework: framework, In: in}, call)
	}
}

func firstRef(a, b ref) ref {
	if a != none {
		return a
	}
	return b
}

// groupOf reads `bp = Blueprint(…, url_prefix="/x")` and `r = APIRouter(prefix="/x")`.
func (p *pythonFile) groupOf(left, right ref, s pythonScope) {
	if p.kind(right) != "call" {
		return
	}
	_, name := splitLast(p.path(p.field(right, "function"), s))
	key, framework := "", ""
	switch name {
	case "Blueprint":
		key, framework = "url_prefix", "flask"
	case "APIRouter":
		key, framework = "prefix", "fastapi"
	default:
		return
	}
	if prefix, ok := p.literal(p.argument(p.field(right, "arguments"), -1, key)); ok {
		p.addRoute(&recountv1.RouteFact{
			Group: true, Method: "ANY", Pattern: prefix, Handler: p.path(left, s), In: s.in,
			Framework: firstOf(p.framework, framework),
		}, right)
	}
}

// callRoute reads the calls that register routes and groups.
func (p *pythonFile) callRoute(n ref, path string, args ref, s pythonScope) {
	router, name := splitLast(path)
	r := &recountv1.RouteFact{Method: "ANY", Router: router, In: s.in, Framework: p.framework}
	switch name {
	case "register_blueprint", "include_router":
		what, key, framework := "blueprint", "url_prefix", "flask"
		if name == "include_router" {
			what, key, framework = "router", "prefix", "fastapi"
		}
		if r.Handler = p.path(p.argument(args, 0, what), s); router == "" || r.Handler == unknown {
			return
		}
		r.Group, r.Framework = true, firstOf(r.Framework, framework)
		r.Pattern, _ = p.literal(p.argument(args, -1, key))
		p.addRoute(r, n)
	case "add_url_rule", "add_api_route":
		place, key, framework, pattern := 2, "view_func", "flask", "rule"
		if name == "add_api_route" {
			place, key, framework, pattern = 1, "endpoint", "fastapi", "path"
		}
		var ok bool
		if r.Pattern, ok = p.literal(p.argument(args, 0, pattern)); !ok || router == "" {
			return
		}
		var view bool
		r.Handler, view = asView(p.path(p.argument(args, place, key), s))
		r.Framework = firstOf(r.Framework, framework)
		def := "GET"
		if view {
			def = "ANY"
		}
		for _, m := range p.methods(args, def) {
			p.addRoute(&recountv1.RouteFact{Method: m, Pattern: r.Pattern, Handler: r.Handler, Router: router, Framework: r.Framework, In: s.in}, n)
		}
	case "add_resource": // Flask-RESTful: the class first, then its patterns
		r.Framework = firstOf(r.Framework, "flask")
		if r.Handler = p.path(p.argument(args, 0, "resource"), s); router == "" || r.Handler == unknown {
			return
		}
		for i := 1; p.argument(args, i, "") != none; i++ {
			if pattern, ok := p.literal(p.argument(args, i, "")); ok {
				p.addRoute(&recountv1.RouteFact{Method: "ANY", Pattern: pattern, Handler: r.Handler, Router: router, Framework: r.Framework, In: s.in}, n)
			}
		}
	case "register":
		if p.framework != "django" || router == "" {
			return
		}
		var ok bool
		if r.Pattern, ok = p.literal(p.argument(args, 0, "prefix")); !ok {
			return
		}
		if r.Handler = p.path(p.argument(args, 1, "viewset"), s); r.Handler != unknown {
			p.addRoute(r, n)
		}
	default:
		p.djangoRoute(n, path, args, s)
	}
}

// asView takes .as_view() off a handler.
func asView(path string) (string, bool) {
	if path == unknown {
		return "", false
	}
	if class, ok := strings.CutSuffix(path, ".as_view()"); ok {
		return class, true
	}
	return path, false
}

// djangoRoute reads path("x/", view) and path("x/", include("app.urls")).
func (p *pythonFile) djangoRoute(n ref, path string, args ref, s pythonScope) {
	switch p.canonical(path) {
	case "django.urls.path", "django.urls.re_path", "django.conf.urls.url":
	default:
		return
	}
	pattern, ok := p.literal(p.argument(args, 0, "route"))
	view := p.argument(args, 1, "view")
	if !ok || view == none {
		return
	}
	r := &recountv1.RouteFact{Method: "ANY", Pattern: pattern, Router: "urlpatterns", Framework: "django", In: s.in}
	if p.kind(view) == "call" && p.canonical(p.path(p.field(view, "function"), s)) == "django.urls.include" {
		r.Group = true
		included := p.argument(p.field(view, "arguments"), 0, "arg")
		if k := p.kind(included); k == "tuple" || k == "list" {
			included = p.child(included, 0)
		}
		if module, ok := p.literal(included); ok {
			r.Handler = p.inlineImport(s.in, module, included) + ".urlpatterns"
		} else if r.Handler = p.path(included, s); r.Handler == unknown {
			return
		}
	} else if r.Handler, _ = asView(p.path(view, s)); r.Handler == "" {
		return
	}
	p.addRoute(r, n)
}
