package python

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// webFramework returns the first known framework that the file imports.
func (p *walker) webFramework() string {
	for i := range p.Nodes {
		n := extract.Ref(i)
		module := extract.None
		switch p.Kind(n) {
		case "import_from_statement":
			module = p.Field(n, "module_name")
		case "import_statement":
			module = p.Child(n, 0)
			if p.Kind(module) == "aliased_import" {
				module = p.Field(module, "name")
			}
		}
		switch name := extract.Root(p.Text(module)); name {
		case "flask", "fastapi", "django", "quart", "starlette", "sanic", "bottle", "litestar", "aiohttp":
			return name
		case "rest_framework":
			return "django"
		}
	}
	return ""
}

// methods reads methods=["GET", "POST"]; without it there is one method, the default.
func (p *walker) methods(args extract.Ref, def string) []string {
	list := p.argument(args, -1, "methods")
	var all []string
	for c := range p.Children(list) {
		if m, ok := p.literal(c); ok {
			all = append(all, strings.ToUpper(m))
		}
	}
	if len(all) == 0 {
		if list != extract.None {
			return []string{"ANY"}
		}
		return []string{def}
	}
	return all
}

// decoratorRoute reads @app.route("/x", methods=…) and @router.get("/x") on the declaration in.
func (p *walker) decoratorRoute(call extract.Ref, in uint32, s state) {
	router, verb := extract.SplitLast(p.path(p.Field(call, "function"), s))
	args := p.Field(call, "arguments")
	if router == "" {
		return
	}
	pattern, ok := p.literal(extract.FirstRef(p.argument(args, 0, "path"), p.argument(args, 0, "rule")))
	if !ok {
		return
	}
	var methods []string
	framework := p.framework
	switch verb {
	case "route":
		methods = p.methods(args, "GET")
		framework = extract.FirstOf(framework, "flask")
	case "api_route":
		methods = p.methods(args, "GET")
		framework = extract.FirstOf(framework, "fastapi")
	case "get", "post", "put", "delete", "patch", "head", "options", "trace":
		if framework == "" && !strings.HasPrefix(pattern, "/") {
			return // another decorator of that name
		}
		methods = []string{strings.ToUpper(verb)}
		framework = extract.FirstOf(framework, "fastapi")
	case "websocket":
		methods = []string{"WEBSOCKET"}
		framework = extract.FirstOf(framework, "fastapi")
	default:
		return
	}
	for _, m := range methods {
		p.AddRoute(&recountv1.RouteFact{Method: m, Pattern: pattern, Router: router, Framework: framework, In: in}, call)
	}
}

// groupOf reads `bp = Blueprint(…, url_prefix="/x")` and `r = APIRouter(prefix="/x")`.
func (p *walker) groupOf(left, right extract.Ref, s state) {
	if p.Kind(right) != "call" {
		return
	}
	_, name := extract.SplitLast(p.path(p.Field(right, "function"), s))
	key, framework := "", ""
	switch name {
	case "Blueprint":
		key, framework = "url_prefix", "flask"
	case "APIRouter":
		key, framework = "prefix", "fastapi"
	default:
		return
	}
	if prefix, ok := p.literal(p.argument(p.Field(right, "arguments"), -1, key)); ok {
		p.AddRoute(&recountv1.RouteFact{
			Group: true, Method: "ANY", Pattern: prefix, Handler: p.path(left, s), In: s.in,
			Framework: extract.FirstOf(p.framework, framework),
		}, right)
	}
}

// callRoute reads the calls that register routes and groups.
func (p *walker) callRoute(n extract.Ref, path string, args extract.Ref, s state) {
	router, name := extract.SplitLast(path)
	r := &recountv1.RouteFact{Method: "ANY", Router: router, In: s.in, Framework: p.framework}
	switch name {
	case "register_blueprint", "include_router":
		what, key, framework := "blueprint", "url_prefix", "flask"
		if name == "include_router" {
			what, key, framework = "router", "prefix", "fastapi"
		}
		if r.Handler = p.path(p.argument(args, 0, what), s); router == "" || r.Handler == extract.Unknown {
			return
		}
		r.Group, r.Framework = true, extract.FirstOf(r.Framework, framework)
		r.Pattern, _ = p.literal(p.argument(args, -1, key))
		p.AddRoute(r, n)
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
		r.Framework = extract.FirstOf(r.Framework, framework)
		def := "GET"
		if view {
			def = "ANY"
		}
		for _, m := range p.methods(args, def) {
			p.AddRoute(&recountv1.RouteFact{Method: m, Pattern: r.Pattern, Handler: r.Handler, Router: router, Framework: r.Framework, In: s.in}, n)
		}
	case "add_resource": // Flask-RESTful: the class first, then its patterns
		r.Framework = extract.FirstOf(r.Framework, "flask")
		if r.Handler = p.path(p.argument(args, 0, "resource"), s); router == "" || r.Handler == extract.Unknown {
			return
		}
		for i := 1; p.argument(args, i, "") != extract.None; i++ {
			if pattern, ok := p.literal(p.argument(args, i, "")); ok {
				p.AddRoute(&recountv1.RouteFact{Method: "ANY", Pattern: pattern, Handler: r.Handler, Router: router, Framework: r.Framework, In: s.in}, n)
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
		if r.Handler = p.path(p.argument(args, 1, "viewset"), s); r.Handler != extract.Unknown {
			p.AddRoute(r, n)
		}
	default:
		p.djangoRoute(n, path, args, s)
	}
}

// asView removes .as_view() from a handler.
func asView(path string) (string, bool) {
	if path == extract.Unknown {
		return "", false
	}
	if class, ok := strings.CutSuffix(path, ".as_view()"); ok {
		return class, true
	}
	return path, false
}

// djangoRoute reads path("x/", view) and path("x/", include("app.urls")).
func (p *walker) djangoRoute(n extract.Ref, path string, args extract.Ref, s state) {
	switch p.canonical(path) {
	case "django.urls.path", "django.urls.re_path", "django.conf.urls.url":
	default:
		return
	}
	pattern, ok := p.literal(p.argument(args, 0, "route"))
	view := p.argument(args, 1, "view")
	if !ok || view == extract.None {
		return
	}
	r := &recountv1.RouteFact{Method: "ANY", Pattern: pattern, Router: "urlpatterns", Framework: "django", In: s.in}
	if p.Kind(view) == "call" && p.canonical(p.path(p.Field(view, "function"), s)) == "django.urls.include" {
		r.Group = true
		included := p.argument(p.Field(view, "arguments"), 0, "arg")
		if k := p.Kind(included); k == "tuple" || k == "list" {
			included = p.Child(included, 0)
		}
		if module, ok := p.literal(included); ok {
			r.Handler = p.InlineImport(s.in, module, included) + ".urlpatterns"
		} else if r.Handler = p.path(included, s); r.Handler == extract.Unknown {
			return
		}
	} else if r.Handler, _ = asView(p.path(view, s)); r.Handler == "" {
		return
	}
	p.AddRoute(r, n)
}
