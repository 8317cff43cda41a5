package python

import (
	"cmp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// frameworkOf returns the framework that a module belongs to, "" if to none.
func frameworkOf(module string) string {
	switch name := extract.Root(module); name {
	case "flask", "fastapi", "django", "quart", "starlette", "sanic", "aiohttp":
		return name
	case "rest_framework":
		return "django"
	}
	return ""
}

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
		if f := frameworkOf(p.Text(module)); f != "" {
			return f
		}
	}
	return ""
}

// pattern returns the text of an expression, with ${PATH} for what is no literal. ok is false if it
// can be no text.
func (p *walker) pattern(n extract.Ref, s state) (text string, ok bool) {
	n = p.meant(n)
	switch p.Kind(n) {
	case "string":
		return p.content(n, func(inserted extract.Ref) string {
			inner, _ := p.pattern(inserted, s)
			return cmp.Or(inner, "${}")
		}), true
	case "concatenated_string":
		for c := range p.Children(n) {
			part, _ := p.pattern(c, s)
			text += part
		}
		return text, true
	case "binary_operator":
		left, ok := p.pattern(p.Field(n, "left"), s)
		right, also := p.pattern(p.Field(n, "right"), s)
		return left + right, ok && also && p.Text(p.Field(n, "operator")) == "+"
	case "identifier", "attribute", "subscript", "call":
		return "${" + extract.KnownPath(p.path(n, s)) + "}", true
	case "parenthesized_expression":
		return p.pattern(p.Child(n, 0), s)
	}
	return "", false
}

// methods reads methods=["GET", "POST"]; without it there is one method, the default.
func (p *walker) methods(args extract.Ref, place int, def string) []string {
	list := p.argument(args, place, "methods")
	var all []string
	for c := range p.Children(list) {
		if m, ok := p.literal(c); ok {
			all = append(all, strings.ToUpper(m))
		}
	}
	if len(all) == 0 {
		if list != extract.None && p.Kind(list) != "none" {
			return []string{"ANY"}
		}
		return []string{def}
	}
	return all
}

// makers are the calls that make routers, by the names of the functions: the role of the router, and
// the argument that has its prefix.
var makers = map[string]struct {
	role, prefix string
	place        int
	framework    string
}{
	"Flask": {"root", "", -1, "flask"}, "Quart": {"root", "", -1, "quart"}, "FastAPI": {"root", "", -1, "fastapi"},
	"Starlette": {"root", "", -1, "starlette"}, "Sanic": {"root", "", -1, "sanic"}, "Application": {"root", "", -1, "aiohttp"},
	"Blueprint": {"part", "url_prefix", -1, "flask"}, "APIRouter": {"part", "prefix", -1, "fastapi"},
	"Router": {"part", "", -1, "starlette"}, "RouteTableDef": {"part", "", -1, "aiohttp"},
	"SimpleRouter": {"part", "", -1, "django"}, "DefaultRouter": {"part", "", -1, "django"},
}

// construct notes the router that a call makes.
func (p *walker) construct(n extract.Ref, path string, args extract.Ref, s state) {
	full := p.canonical(path)
	module, name := extract.SplitLast(full)
	if module == "flask_restful" && name == "Api" {
		prefix, _ := p.pattern(p.argument(args, -1, "prefix"), s)
		g := &recountv1.RouteFact{Group: true, Role: "root", Pattern: prefix, Handler: p.holder(n, s), Framework: "flask", In: s.in}
		if of := p.argument(args, 0, "app"); of != extract.None && p.Text(of) != "None" {
			g.Role, g.Router = "below", p.path(of, s)
		}
		p.AddRoute(g, n)
		return
	}
	m, ok := makers[name]
	own := frameworkOf(module)
	if !ok || (name == "Router" || name == "Application") && own != m.framework {
		return
	}
	g := &recountv1.RouteFact{Group: true, Role: m.role, Handler: p.holder(n, s), Framework: cmp.Or(own, p.framework, m.framework), In: s.in}
	place := m.place
	if g.Framework == "sanic" && name == "Blueprint" {
		place = 1
	}
	if m.prefix != "" {
		g.Pattern, _ = p.pattern(p.argument(args, place, m.prefix), s)
	}
	if v := p.argument(args, -1, "version"); g.Framework == "sanic" && v != extract.None {
		g.Pattern = "/v" + strings.TrimPrefix(strings.Trim(p.Text(v), `"'`), "v") + g.Pattern
	}
	p.AddRoute(g, n)
	list := extract.FirstRef(p.argument(args, -1, "routes"), extract.None)
	if name == "Router" {
		list = extract.FirstRef(list, p.argument(args, 0, "routes"))
	}
	if k := p.Kind(list); k == "identifier" || k == "attribute" {
		p.mount(g.Handler, "", list, g.Framework, n, s)
	}
}

// mount notes that the router, or the list of routes, that an expression names is below a pattern of
// another.
func (p *walker) mount(router, pattern string, of extract.Ref, framework string, at extract.Ref, s state) {
	h := p.routePath(of, s)
	if h == extract.Unknown || router == "" {
		return
	}
	p.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: pattern, Router: router, Handler: h, Framework: framework, In: s.in}, at)
}

// holder returns the path by which the value of an expression is known: what it is assigned to, or
// the expression itself.
func (p *walker) holder(n extract.Ref, s state) string {
	for at := n; ; {
		up := p.Parent(at)
		switch p.Kind(up) {
		case "await", "parenthesized_expression":
			at = up
			continue
		case "assignment":
			if p.Field(up, "right") == at {
				if left := p.path(p.Field(up, "left"), s); left != extract.Unknown {
					return left
				}
			}
		case "named_expression":
			return p.path(p.Field(up, "name"), s)
		}
		return p.path(n, s)
	}
}

// place returns the router that a route in a list is registered on, the prefix that calls around it
// give it, and the framework's way to join them.
func (p *walker) place(n extract.Ref, s state) (router, prefix string, ok bool) {
	for at := n; ; {
		up := p.Parent(at)
		switch p.Kind(up) {
		case "list", "tuple", "parenthesized_expression", "argument_list", "keyword_argument", "list_splat", "conditional_expression":
		case "binary_operator":
			if p.Text(p.Field(up, "operator")) != "+" {
				return "", "", false
			}
		case "assignment", "augmented_assignment":
			router = p.path(p.Field(up, "left"), s)
			p.list(router, up, s)
			return router, prefix, router != extract.Unknown
		case "return_statement":
			return "", "", false
		case "call":
			callee := p.path(p.Field(up, "function"), s)
			full := p.canonical(callee)
			on, name := extract.SplitLast(callee)
			args := p.Field(up, "arguments")
			switch _, maker := makers[name]; {
			case full == "django.urls.include" || full == "django.conf.urls.include":
			case full == "django.urls.path" || full == "django.urls.re_path" || full == "django.conf.urls.url":
				before, _ := p.pattern(p.argument(args, 0, "route"), s)
				prefix = strings.TrimPrefix(before, "^") + prefix
			case name == "Mount":
				before, _ := p.pattern(p.argument(args, 0, "path"), s)
				prefix = strings.TrimSuffix(before, "/") + "/" + strings.TrimPrefix(prefix, "/")
			case name == "i18n_patterns":
				if p.Text(p.argument(args, -1, "prefix_default_language")) != "False" {
					prefix = "${}" + prefix
				}
			case maker:
				if h := p.holder(up, s); !strings.HasSuffix(h, ")") {
					return h, prefix, true
				}
			case name == "append" || name == "extend" || name == "add_routes" || name == "insert":
				p.list(on, up, s)
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
	if p.framework != "aiohttp" && extract.Root(name) == name && !p.lists[key] {
		p.lists[key] = true
		p.AddRoute(&recountv1.RouteFact{Group: true, Role: "part", Handler: name, Framework: p.framework, In: s.in}, at)
	}
}

// unlessSet returns the value that os.getenv("BASE_PATH", "/x") has if the environment does not say another, no
// node if an expression is none such.
func (p *walker) unlessSet(n extract.Ref, s state) extract.Ref {
	switch p.Kind(n) {
	case "boolean_operator":
		if p.Text(p.Field(n, "operator")) == "or" && p.readsEnvironment(p.Field(n, "left"), s) {
			return p.Field(n, "right")
		}
	case "call":
		if p.readsEnvironment(n, s) {
			return p.argument(p.Field(n, "arguments"), 1, "default")
		}
		// os.getenv("BASE_PATH", "").rstrip("/")
		if f := p.Field(n, "function"); p.Kind(f) == "attribute" && strings.Contains(p.Text(p.Field(f, "attribute")), "strip") {
			return p.unlessSet(p.Field(f, "object"), s)
		}
	}
	return extract.None
}

// readsEnvironment reports whether a call reads a variable of the environment.
func (p *walker) readsEnvironment(n extract.Ref, s state) bool {
	if p.Kind(n) != "call" {
		return false
	}
	switch p.canonical(p.path(p.Field(n, "function"), s)) {
	case "os.getenv", "os.environ.get":
		return true
	}
	return false
}

// conditional reports whether an expression is in a branch of an if statement.
func (p *walker) conditional(n extract.Ref) bool {
	for ; n > 0; n = p.Parent(n) {
		switch p.Kind(n) {
		case "if_statement", "elif_clause", "else_clause":
			return true
		case "function_definition", "class_definition":
			return false
		}
	}
	return false
}

// assignedRoutes reads the lists of routes that an assignment joins, constants, and Django's
// ROOT_URLCONF.
func (p *walker) assignedRoutes(left, right extract.Ref, more bool, s state) {
	target := p.path(left, s)
	if target == extract.Unknown {
		return
	}
	text, ok := p.literal(right)
	method := ""
	if of := p.unlessSet(right, s); of != extract.None {
		if text, ok = p.literal(of); ok && text == "" || strings.HasPrefix(text, "/") {
			method = scope.UnlessSet
		}
	} else if ok && text == "" && p.framework != "" && !p.conditional(right) {
		method = scope.UnlessSet
	}
	if ok {
		switch {
		case target == "ROOT_URLCONF" && extract.IsDotted(text):
			p.AddRoute(&recountv1.RouteFact{
				Group: true, Method: "ANY", Handler: p.InlineImport(s.in, text, right) + ".urlpatterns", Framework: "django", In: s.in,
			}, right)
		case method != "":
			p.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Method: method, Handler: target, Pattern: text, In: s.in}, right)
		case len(text) < 256 && !strings.Contains(text, "{}") && (strings.HasPrefix(text, "/") || p.framework != "" && !strings.ContainsAny(text, " \n")):
			p.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Handler: target, Pattern: text, In: s.in}, right)
		}
		return
	}
	if p.framework != "django" && p.framework != "starlette" {
		return
	}
	var joined func(n extract.Ref)
	joined = func(n extract.Ref) {
		switch p.Kind(n) {
		case "binary_operator":
			joined(p.Field(n, "left"))
			joined(p.Field(n, "right"))
		case "list":
			for c := range p.Children(n) {
				if p.Kind(c) == "list_splat" {
					joined(p.Child(c, 0))
				}
			}
		case "identifier", "attribute":
			if more || n != right {
				p.list(target, n, s)
				p.mount(target, "", n, p.framework, n, s)
			}
		}
	}
	joined(right)
}

// decoratorRoute reads @app.route("/x", methods=…), @router.get("/x") and others on the declaration
// in.
func (p *walker) decoratorRoute(call extract.Ref, in uint32, s state) {
	path := p.path(p.Field(call, "function"), s)
	router, verb := extract.SplitLast(path)
	args := p.Field(call, "arguments")
	add := func(r *recountv1.RouteFact) {
		r.In = in
		r.Framework = cmp.Or(p.framework, r.Framework)
		p.AddRoute(r, call)
	}
	switch p.canonical(path) {
	case "rest_framework.decorators.api_view":
		var all []string
		for c := range p.Children(p.argument(args, 0, "http_method_names")) {
			if m, ok := p.literal(c); ok {
				all = append(all, strings.ToUpper(m))
			}
		}
		add(&recountv1.RouteFact{Group: true, Role: "verbs", Method: cmp.Or(strings.Join(all, ","), "GET")})
		return
	case "rest_framework.decorators.action":
		pattern, ok := p.literal(p.argument(args, -1, "url_path"))
		if !ok {
			pattern = p.Decl(in).Name
		}
		r := &recountv1.RouteFact{Group: true, Role: "action", Method: strings.Join(p.methods(args, 0, "GET"), ","), Pattern: pattern}
		if p.Text(p.argument(args, 1, "detail")) == "True" {
			r.Router = "detail"
		}
		add(r)
		return
	}
	if router == "" {
		return
	}
	pattern, ok := p.pattern(extract.FirstRef(p.argument(args, 0, "path"), extract.FirstRef(p.argument(args, -1, "rule"), p.argument(args, -1, "uri"))), s)
	if !ok {
		return
	}
	var methods []string
	framework, role := "fastapi", ""
	switch verb {
	case "route":
		methods, framework = p.methods(args, -1, "GET"), "flask"
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
	for _, m := range methods {
		add(&recountv1.RouteFact{Role: role, Method: m, Pattern: pattern, Router: router, Framework: framework})
	}
}

// handler returns the path of a handler. Calls around it are left out; view is set for
// View.as_view().
func (p *walker) handler(n extract.Ref, s state) (path string, view bool) {
	for p.Kind(n) == "call" {
		path = p.path(n, s)
		if class, ok := strings.CutSuffix(path, ".as_view()"); ok {
			return class, true
		}
		inner := p.argument(p.Field(n, "arguments"), 0, "")
		if inner == extract.None {
			return path, false
		}
		n = inner
	}
	return p.routePath(n, s), false
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

// callRoute reads the calls that register routes and groups.
func (p *walker) callRoute(n extract.Ref, path string, args extract.Ref, s state) {
	p.construct(n, path, args, s)
	before := len(p.Facts.Routes)
	for _, p.round = range p.rounds(n) {
		p.register(n, path, args, s)
	}
	p.round = nil
	p.UniqueRoutes(before)
}

// register reads a call in one round of the loops around it.
func (p *walker) register(n extract.Ref, path string, args extract.Ref, s state) {
	if strings.HasPrefix(path, "add_") {
		path = p.boundMethod(path, s)
	}
	router, name := extract.SplitLast(path)
	framework := p.framework
	if framework == "" && strings.HasPrefix(name, "add_") && strings.HasSuffix(router, ".router") {
		framework = "aiohttp" // the application comes from another file
	}
	route := func(method, pattern, router string, of extract.Ref, role string) {
		handler, view := p.handler(of, s)
		if view {
			role = "view"
		}
		p.AddRoute(&recountv1.RouteFact{Role: role, Method: method, Pattern: pattern, Router: router, Handler: handler, Framework: framework, In: s.in}, n)
	}
	switch name {
	case "register_blueprint", "include_router", "blueprint", "mount", "add_subapp":
		what, key, place := "blueprint", "url_prefix", -1
		switch {
		case name == "include_router":
			what, key, framework = "router", "prefix", cmp.Or(framework, "fastapi")
		case name == "mount" || name == "add_subapp":
			what, key, place = "app", "path", 0
		default:
			framework = cmp.Or(framework, "flask")
		}
		of := p.argument(args, place+1, what)
		if name == "blueprint" && framework != "sanic" || place == 0 && framework == "" || router == "" {
			return
		}
		pattern, _ := p.pattern(p.argument(args, place, key), s)
		p.mount(router, pattern, of, framework, n, s)
	case "group":
		if framework != "sanic" || !strings.HasSuffix(p.canonical(path), "Blueprint.group") {
			return
		}
		g := &recountv1.RouteFact{Group: true, Role: "part", Handler: p.holder(n, s), Framework: framework, In: s.in}
		g.Pattern, _ = p.pattern(p.argument(args, -1, "url_prefix"), s)
		p.AddRoute(g, n)
		for c := range p.Children(args) {
			if k := p.Kind(c); k == "list" || k == "tuple" {
				for e := range p.Children(c) {
					p.mount(g.Handler, "", e, framework, n, s)
				}
			} else if k != "keyword_argument" {
				p.mount(g.Handler, "", c, framework, n, s)
			}
		}
	case "add_url_rule", "add_api_route", "add_route":
		place, key, at, pattern := 2, "view_func", 0, "rule"
		switch {
		case name == "add_api_route" || framework == "starlette":
			place, key, pattern = 1, cmp.Or(map[bool]string{true: "route"}[framework == "starlette"], "endpoint"), "path"
		case framework == "sanic":
			place, key, at, pattern = 0, "handler", 1, "uri"
		case framework == "aiohttp":
			place, key, at, pattern = 2, "handler", 1, "path"
		case name == "add_route":
			return
		}
		text, ok := p.pattern(p.argument(args, at, pattern), s)
		if !ok || router == "" {
			return
		}
		of := p.argument(args, place, key)
		methods := p.methods(args, -1, "GET")
		if framework == "aiohttp" {
			m, _ := p.literal(p.argument(args, 0, "method"))
			methods = []string{verbOf(m)}
		} else if _, view := p.handler(of, s); view && p.argument(args, -1, "methods") == extract.None {
			methods = []string{"ANY"}
		}
		for _, m := range methods {
			route(m, text, router, of, map[bool]string{true: "view"}[m == "ANY"])
		}
	case "add_resource": // Flask-RESTful: the class first, then its patterns
		framework = cmp.Or(framework, "flask")
		for i := 1; p.argument(args, i, "") != extract.None && router != ""; i++ {
			if pattern, ok := p.pattern(p.argument(args, i, ""), s); ok {
				route("ANY", pattern, router, p.argument(args, 0, "resource"), "view")
			}
		}
	case "register":
		if pattern, ok := p.pattern(p.argument(args, 0, "prefix"), s); ok && framework == "django" && router != "" {
			route("ANY", pattern, router, p.argument(args, 1, "viewset"), "viewset")
		}
	case "extend":
		if of := p.argument(args, 0, ""); (framework == "django" || framework == "starlette") && p.Kind(of) != "list" {
			p.mount(router, "", of, framework, n, s)
		}
	case "add_get", "add_post", "add_put", "add_delete", "add_patch", "add_head", "add_options", "add_view", "add_routes":
		if framework != "aiohttp" || router == "" {
			return
		}
		first := p.argument(args, 0, "path")
		switch pattern, ok := p.pattern(first, s); {
		case name == "add_routes":
			if k := p.Kind(first); k != "list" && k != "tuple" {
				p.mount(router, "", first, framework, n, s)
			}
		case ok && name == "add_view":
			route("ANY", pattern, router, p.argument(args, 1, "handler"), "view")
		case ok:
			route(strings.ToUpper(strings.TrimPrefix(name, "add_")), pattern, router, p.argument(args, 1, "handler"), "")
		}
	default:
		p.listedRoute(n, path, args, route, s)
	}
}

func verbOf(method string) string {
	if method == "*" || method == "" {
		return "ANY"
	}
	return strings.ToUpper(method)
}

// listedRoute reads the routes in lists: Django's path("x/", view), Starlette's Route("/x", view),
// aiohttp's web.get("/x", view), and what includes other lists.
func (p *walker) listedRoute(n extract.Ref, path string, args extract.Ref, route func(method, pattern, router string, of extract.Ref, role string), s state) {
	full := p.canonical(path)
	module, name := extract.SplitLast(full)
	key, of, methods, role := "path", p.argument(args, 1, "view"), []string{"ANY"}, "view"
	switch {
	case full == "django.urls.path" || full == "django.urls.re_path" || full == "django.conf.urls.url":
		key = "route"
	case module == "starlette.routing" && (name == "Route" || name == "WebSocketRoute"):
		of = p.argument(args, 1, "endpoint")
		if methods = p.methods(args, -1, "GET"); name == "WebSocketRoute" {
			methods, role = []string{"WEBSOCKET"}, ""
		}
	case module == "starlette.routing" && name == "Mount":
		of = p.argument(args, 1, "app")
		of = extract.FirstRef(of, p.argument(args, -1, "routes"))
		if router, prefix, ok := p.place(n, s); ok && p.Kind(of) != "list" {
			pattern, _ := p.pattern(p.argument(args, 0, "path"), s)
			p.mount(router, prefix+pattern, of, "starlette", n, s)
		}
		return
	case module == "aiohttp.web":
		of, role = p.argument(args, 1, "handler"), ""
		switch name {
		case "get", "post", "put", "delete", "patch", "head", "options":
			methods = []string{strings.ToUpper(name)}
		case "view":
			role = "view"
		case "route":
			m, _ := p.literal(p.argument(args, 0, "method"))
			methods = []string{verbOf(m)}
			text, _ := p.pattern(p.argument(args, 1, "path"), s)
			if router, prefix, ok := p.place(n, s); ok {
				route(methods[0], prefix+text, router, p.argument(args, 2, "handler"), "")
			}
			return
		default:
			return
		}
	default:
		return
	}
	pattern, ok := p.pattern(p.argument(args, 0, key), s)
	if !ok || of == extract.None {
		return
	}
	router, prefix, ok := p.place(n, s)
	if !ok {
		router = extract.Unknown
	}
	if key == "route" {
		included := p.included(of, s)
		pattern = strings.TrimPrefix(pattern, "^")
		if name != "path" && included == extract.None {
			pattern = strings.TrimSuffix(strings.TrimSuffix(pattern, "$"), `\Z`)
		}
		if included != extract.None {
			p.include(n, included, router, prefix+pattern, s)
			return
		}
	}
	for _, m := range methods {
		route(m, prefix+pattern, router, of, role)
	}
}

// included returns what include(…) includes, no node if a view is no such call.
func (p *walker) included(view extract.Ref, s state) extract.Ref {
	if p.Kind(view) != "call" {
		return extract.None
	}
	switch p.canonical(p.path(p.Field(view, "function"), s)) {
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
