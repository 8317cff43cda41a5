package python

import (
	"cmp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// callRoute reads the calls that register routes and groups.
func (p *walker) callRoute(n extract.Ref, path string, args extract.Ref, s state) {
	p.construct(n, path, args, s)
	p.rules(n, args, s)
	p.callRule(n, path, args, s)
	p.decorates(n, args, s)
	before := len(p.Facts.Routes)
	for _, p.round = range p.rounds(n) {
		p.register(n, path, args, s)
	}
	p.round = nil
	p.UniqueRoutes(before)
	if before == len(p.Facts.Routes) {
		p.given(path, args, n, s)
	}
}

// registration is a call that may register routes or routers, in one round of the loops around it:
// router.name(args).
type registration struct {
	*walker
	call, args      extract.Ref
	router, name    string
	path, framework string
	s               state
}

// register reads a call in one round of the loops around it.
func (p *walker) register(n extract.Ref, path string, args extract.Ref, s state) {
	if strings.HasPrefix(path, "add_") {
		path = p.boundMethod(path, s)
	} else if on, name := extract.SplitLast(path); strings.HasPrefix(name, "add_") {
		path = p.boundRouter(on, s) + "." + name
	}
	r := &registration{walker: p, call: n, args: args, path: path, framework: p.framework, s: s}
	r.router, r.name = extract.SplitLast(path)
	if r.framework == "" { // perhaps the router comes from another file
		switch {
		case strings.HasPrefix(r.name, "add_") && (strings.HasSuffix(r.router, ".router") || r.name == "add_route" && p.isResource(r.router, s)):
			r.framework = "aiohttp"
		case r.name == "blueprint" && r.router != "": // no other framework has a method of that name
			r.framework = "sanic"
		}
	}
	if r.bottle() {
		return
	}
	switch r.name {
	case "register_blueprint", "include_router", "blueprint", "mount", "add_subapp", "add_namespace":
		r.mounts()
	case "DispatcherMiddleware":
		for c := range p.Children(r.arg(1, "mounts")) {
			if pattern, ok := p.pattern(p.Field(c, "key"), s); ok && p.Kind(c) == "pair" {
				r.below(p.path(r.arg(0, "app"), s), pattern, p.Field(c, "value"))
			}
		}
	case "group":
		r.blueprintGroup()
	case "copy":
		r.blueprintCopy()
	case "add_url_rule", "add_api_route", "add_route":
		r.addRoute()
	case "add_websocket_route", "add_api_websocket_route":
		at, place := 0, 1
		if r.framework == "sanic" {
			at, place = 1, 0
		}
		if pattern, ok := p.pattern(extract.FirstRef(r.arg(at, "path"), r.arg(-1, "uri")), s); ok && r.framework != "" {
			r.route("WEBSOCKET", pattern, r.router, r.arg(place, "handler"), "")
		}
	case "add_resource":
		r.addResource()
	case "add_static_route":
		r.staticFiles()
	case "add_static", "static":
		r.folder()
	case "register":
		if of := r.routePath(r.arg(0, "value"), r.s); r.framework == "litestar" && of != extract.Unknown && r.router != "" {
			r.add(&recountv1.RouteFact{Group: true, Method: "ANY", Router: r.router, Handler: of})
		}
		if pattern, ok := r.pattern(0, "prefix"); ok && r.framework == "django" {
			r.route("ANY", pattern, r.router, r.arg(1, "viewset"), "viewset")
		}
	case "add":
		rule := r.arg(0, "rule")
		if on, of := extract.SplitLast(r.router); of == "url_map" && on != "" && r.Kind(rule) == "call" { // app.url_map.add(Rule("/x"))
			r.framework = cmp.Or(r.framework, "flask")
			args := r.Field(rule, "arguments")
			if pattern, ok := r.walker.pattern(r.argument(args, 0, "string"), r.s); ok {
				for _, m := range r.methods(args, -1, "ANY") {
					r.add(&recountv1.RouteFact{Method: m, Pattern: pattern, Router: on, Handler: extract.Unknown})
				}
			}
		}
	case "append":
		if r.framework == "sanic" {
			r.below(r.router, "", r.arg(0, ""))
		}
	case "extend":
		if of := r.arg(0, ""); (r.framework == "django" || r.framework == "starlette" || r.framework == "tornado") && p.Kind(of) != "list" {
			r.below(r.router, "", of)
		}
	case "add_routes":
		if of := r.arg(0, "path"); r.framework == "aiohttp" && !r.isList(of) {
			r.below(r.router, "", of)
		}
	case "add_get", "add_post", "add_put", "add_delete", "add_patch", "add_head", "add_options", "add_view":
		method, role := strings.ToUpper(strings.TrimPrefix(r.name, "add_")), ""
		if r.name == "add_view" {
			method, role = "ANY", "view"
		}
		if pattern, ok := r.pattern(0, "path"); ok && r.framework == "aiohttp" {
			r.route(method, pattern, r.router, r.arg(1, "handler"), role)
		}
	default:
		r.listed()
	}
}

// boundMethod returns the method that a local name stands for: add_route = app.router.add_route.
func (p *walker) boundMethod(name string, s state) string {
	for i := len(p.Facts.Bindings) - 1; i >= 0; i-- {
		if b := p.Facts.Bindings[i]; b.In == s.in && b.Target == name && strings.HasSuffix(b.Value, ".router."+name) {
			return b.Value
		}
	}
	return name
}

// boundRouter returns the router of an application that a local name stands for: router = app.router.
func (p *walker) boundRouter(name string, s state) string {
	for i := len(p.Facts.Bindings) - 1; i >= 0; i-- {
		if b := p.Facts.Bindings[i]; b.In == s.in && b.Target == name {
			if strings.HasSuffix(b.Value, ".router") && p.framework == "" {
				return b.Value
			}
			break
		}
	}
	return name
}

// isResource reports whether a local name is a resource of aiohttp: resource = app.router.add_resource("/x").
func (p *walker) isResource(name string, s state) bool {
	if strings.HasSuffix(name, ".router.add_resource()") {
		return true
	}
	for i := len(p.Facts.Bindings) - 1; i >= 0; i-- {
		if b := p.Facts.Bindings[i]; b.In == s.in && b.Target == name {
			return strings.HasSuffix(b.Value, ".add_resource()")
		}
	}
	return false
}

// arg returns an argument of the call; see argument.
func (r *registration) arg(place int, name string) extract.Ref {
	return r.argument(r.args, place, name)
}

// pattern returns the pattern that an argument of the call has.
func (r *registration) pattern(place int, name string) (text string, ok bool) {
	return r.walker.pattern(r.arg(place, name), r.s)
}

// versioned puts the version that a call of Sanic gives before a pattern.
func (r *registration) versioned(pattern string) string {
	if r.framework != "sanic" {
		return pattern
	}
	return r.version(r.args, extract.None) + pattern
}

func (r *registration) isList(n extract.Ref) bool {
	k := r.Kind(n)
	return k == "list" || k == "tuple"
}

// add adds a fact of the call.
func (r *registration) add(f *recountv1.RouteFact) {
	f.Framework, f.In = r.framework, r.s.in
	r.AddRoute(f, r.call)
}

// route adds the route that an expression serves, or the routes of the actions of a view set.
func (r *registration) route(method, pattern, router string, of extract.Ref, role string) {
	if router == "" {
		return
	}
	if class, methods := r.actions(of, r.s); len(methods) > 0 {
		for _, m := range methods {
			r.add(&recountv1.RouteFact{Role: "mapped " + m[1], Method: m[0], Pattern: pattern, Router: router, Handler: class})
		}
		return
	}
	handler, view := r.handler(of, r.s)
	if view {
		role = "view"
	}
	r.add(&recountv1.RouteFact{Role: role, Method: method, Pattern: pattern, Router: router, Handler: handler})
}

// below mounts what an expression names on a router.
func (r *registration) below(router, pattern string, of extract.Ref) {
	r.mount(router, pattern, of, r.framework, r.call, r.s)
}

// eachBelow mounts what an expression names, or each element of a list.
func (r *registration) eachBelow(router, pattern string, of extract.Ref) {
	if !r.isList(of) {
		r.below(router, pattern, of)
		return
	}
	for c := range r.Children(of) {
		r.below(router, pattern, c)
	}
}

// mounts reads app.register_blueprint(other, url_prefix="/x") and its like in other frameworks.
func (r *registration) mounts() {
	place, key, what := -1, "url_prefix", "blueprint"
	switch r.name {
	case "include_router":
		key, what, r.framework = "prefix", "router", cmp.Or(r.framework, "fastapi")
	case "mount", "add_subapp":
		if text, _ := r.literal(r.arg(0, "path")); r.framework == "" && !strings.HasPrefix(text, "/") {
			return
		}
		place, key, what = 0, "path", "app"
	case "blueprint":
		if r.framework != "sanic" {
			return
		}
	case "add_namespace":
		key, what = "path", "ns"
		fallthrough
	case "register_blueprint":
		r.framework = cmp.Or(r.framework, "flask")
	}
	pattern, given := r.pattern(place, key)
	if !given && r.name == "add_namespace" {
		pattern, _ = r.pattern(1, key)
	}
	if r.static(r.arg(place+1, what)) {
		r.add(&recountv1.RouteFact{Method: "GET", Pattern: strings.TrimSuffix(pattern, "/") + "/{path:path}", Router: r.router, Handler: extract.Unknown})
		return
	}
	if of := r.arg(place+1, what); !r.entries(r.versioned(pattern), of) {
		r.eachBelow(r.router, r.versioned(pattern), of)
	}
}

// static reports whether what is mounted is StaticFiles of Starlette, which serves the files of a folder.
func (r *registration) static(of extract.Ref) bool {
	if r.Kind(of) == "identifier" {
		of = r.valueOf(of)
	}
	return r.Kind(of) == "call" && strings.HasSuffix(r.known.Canonical(r.walker.path(r.Field(of, "function"), r.s)), "staticfiles.StaticFiles")
}

// folder reads what serves the files of a folder: app.router.add_static("/x", path), routes.static("/x", path) of a table
// and web.static("/x", path) in a list of aiohttp, and app.static("/x",
// path) of Sanic, whose path may also be that of a file.
func (r *registration) folder() {
	pattern, ok := r.pattern(0, "prefix")
	below, router := "/{filename}", r.router
	switch {
	case !ok:
		return
	case r.framework == "sanic" && r.name == "static":
		below = "/<__file_uri__:path>"
		if of, known := r.literal(r.arg(1, "file_or_directory")); known && of != "." && strings.Contains(of[strings.LastIndexByte(of, '/')+1:], ".") {
			below = ""
		}
	case r.framework != "aiohttp":
		return
	case r.known.Canonical(r.path) == "aiohttp.web.static":
		on, prefix, placed := r.place(r.call, r.s)
		if !placed {
			return
		}
		router, pattern = on, prefix+pattern
	}
	r.add(&recountv1.RouteFact{Method: "GET", Pattern: strings.TrimSuffix(pattern, "/") + below, Router: router, Handler: extract.Unknown})
}

// blueprintGroup reads Blueprint.group(a, b, url_prefix="/x") of Sanic.
func (r *registration) blueprintGroup() {
	if r.framework != "sanic" || !strings.HasSuffix(r.known.Canonical(r.path), "Blueprint.group") {
		return
	}
	pattern, _ := r.pattern(-1, "url_prefix")
	group := r.holder(r.call, r.s)
	r.add(&recountv1.RouteFact{Group: true, Role: "part", Handler: group, Pattern: r.versioned(pattern)})
	for c := range r.Children(r.args) {
		if r.Kind(c) != "keyword_argument" {
			r.eachBelow(group, "", c)
		}
	}
}

// blueprintCopy reads other.copy("name", url_prefix="/x") of a blueprint of Sanic: the copy serves the routes of the
// other below its own prefix.
func (r *registration) blueprintCopy() {
	if r.framework != "sanic" || r.router == "" {
		return
	}
	g := &recountv1.RouteFact{Group: true, Role: "part", Handler: r.holder(r.call, r.s), Pattern: "${}"}
	if of := r.valueOf(r.Field(r.Field(r.call, "function"), "object")); r.Kind(of) == "call" && r.Text(r.lastName(of)) == "Blueprint" {
		made := r.Field(of, "arguments")
		prefix := extract.FirstRef(r.arg(-1, "url_prefix"), r.argument(made, 1, "url_prefix"))
		g.Pattern, _ = r.walker.pattern(prefix, r.s)
		g.Pattern = r.version(r.args, made) + g.Pattern
	}
	r.add(g)
	r.add(&recountv1.RouteFact{Group: true, Role: "copy", Handler: r.router, Router: g.Handler})
}

// parameter is a parameter of a function: its place and its name.
type parameter struct {
	place int
	name  string
}

// addRoutes are the parameters of the functions that add a route, for the pattern and the handler, by framework.
var addRoutes = map[string]struct{ pattern, handler parameter }{
	"flask":     {parameter{0, "rule"}, parameter{2, "view_func"}},
	"fastapi":   {parameter{0, "path"}, parameter{1, "endpoint"}},
	"starlette": {parameter{0, "path"}, parameter{1, "route"}},
	"sanic":     {parameter{1, "uri"}, parameter{0, "handler"}},
	"aiohttp":   {parameter{1, "path"}, parameter{2, "handler"}},
}

// addRoute reads add_url_rule of Flask, add_api_route of FastAPI, and add_route of the others.
func (r *registration) addRoute() {
	as := r.framework
	switch {
	case as == "starlette":
	case r.name == "add_api_route":
		as = "fastapi"
	case as == "sanic" || as == "aiohttp":
	case r.name == "add_route" && as == "fastapi":
		as = "starlette"
	case r.name == "add_route" && (as == "falcon" || as == ""):
		r.responders()
		return
	case r.name == "add_route":
		return
	default:
		as = "flask"
	}
	form := addRoutes[as]
	pattern, ok := r.pattern(form.pattern.place, form.pattern.name)
	of := r.arg(form.handler.place, form.handler.name)
	if r.framework == "aiohttp" && of == extract.None { // resource.add_route("GET", handler)
		pattern, of = "", r.arg(1, "handler")
		made := r.Field(r.Field(r.call, "function"), "object")
		if on, name := extract.SplitLast(r.walker.path(r.Field(made, "function"), r.s)); r.Kind(made) == "call" && name == "add_resource" {
			pattern, ok = r.walker.pattern(r.argument(r.Field(made, "arguments"), 0, "path"), r.s)
			r.router = r.boundRouter(on, r.s)
		}
	}
	if !ok {
		return
	}
	methods := r.methods(r.args, -1, "GET")
	if r.framework == "aiohttp" {
		m, _ := r.literal(r.arg(0, "method"))
		methods = []string{verbOf(m)}
	} else if _, view := r.handler(of, r.s); view && r.arg(-1, "methods") == extract.None {
		methods = []string{"ANY"}
	}
	for _, m := range methods {
		role := ""
		if m == "ANY" {
			role = "view"
		}
		r.route(m, r.versioned(pattern), r.router, of, role)
	}
}

// addResource reads add_resource: of aiohttp, which makes a router, or of Flask-RESTful, which has the class first,
// then its patterns.
func (r *registration) addResource() {
	if r.framework == "aiohttp" {
		if pattern, ok := r.pattern(0, "path"); ok && r.router != "" {
			r.add(&recountv1.RouteFact{Group: true, Role: "below", Method: "ANY", Pattern: pattern, Router: r.router, Handler: r.holder(r.call, r.s)})
		}
		return
	}
	r.framework = cmp.Or(r.framework, "flask")
	for i := 1; r.arg(i, "") != extract.None; i++ {
		if pattern, ok := r.pattern(i, ""); ok {
			r.route("ANY", pattern, r.router, r.arg(0, "resource"), "view")
		}
	}
}

func verbOf(method string) string {
	if method == "*" || method == "" {
		return "ANY"
	}
	return strings.ToUpper(method)
}
