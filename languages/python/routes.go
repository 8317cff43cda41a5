package python

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
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
	if p.Kind(list) == "call" { // frozenset({"GET", "POST"})
		list = p.argument(p.Field(list, "arguments"), 0, "")
	}
	var all []string
	for c := range p.Children(list) {
		if m, ok := p.literal(c); ok {
			all = append(all, strings.ToUpper(m))
		} else if of, m := extract.SplitLast(p.Text(c)); strings.HasSuffix(of, "HTTPMethod") {
			all = append(all, m)
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
	"Blueprint": {"part", "url_prefix", -1, "flask"}, "BlueprintGroup": {"part", "url_prefix", -1, "sanic"}, "APIRouter": {"part", "prefix", -1, "fastapi"},
	"Router": {"part", "", -1, "starlette"}, "RouteTableDef": {"part", "", -1, "aiohttp"},
	"SimpleRouter": {"part", "", -1, "django"}, "DefaultRouter": {"part", "", -1, "django"},
	"NestedSimpleRouter": {"part", "", -1, "django"}, "NestedDefaultRouter": {"part", "", -1, "django"},
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
	if g.Framework == "sanic" {
		g.Pattern = p.version(args) + g.Pattern
	}
	if strings.HasPrefix(name, "Nested") {
		g.Pattern = p.nestedPrefix(args)
	}
	p.AddRoute(g, n)
	if name == "DefaultRouter" { // it lists what is registered
		p.AddRoute(&recountv1.RouteFact{Role: "index", Method: "GET", Handler: extract.Unknown, Router: g.Handler, Framework: g.Framework, In: s.in}, n)
	}
	list := extract.FirstRef(p.argument(args, -1, "routes"), extract.None)
	if name == "Router" {
		list = extract.FirstRef(list, p.argument(args, 0, "routes"))
	}
	if k := p.Kind(list); k == "identifier" || k == "attribute" {
		p.mount(g.Handler, "", list, g.Framework, n, s)
	}
}

// nestedPrefix returns the prefix of NestedSimpleRouter(parent, "domains", lookup="domain"): that of the parent, if it
// is nested too, and the path of one of its objects.
func (p *walker) nestedPrefix(args extract.Ref) string {
	prefix, ok := p.literal(p.argument(args, 1, "parent_prefix"))
	lookup, named := p.literal(p.argument(args, -1, "lookup"))
	if !named {
		lookup = "nested"
	}
	before := ""
	if parent := p.valueOf(p.Text(p.argument(args, 0, "parent_router"))); p.Kind(parent) == "call" && strings.HasPrefix(p.Text(p.lastName(parent)), "Nested") {
		before = p.nestedPrefix(p.Field(parent, "arguments"))
	}
	if !ok {
		return "${}"
	}
	return before + strings.Trim(prefix, "/") + "/<" + lookup + "_pk>/"
}

// mount notes that the router, or the list of routes, that an expression names is below a pattern of
// another.
func (p *walker) mount(router, pattern string, of extract.Ref, framework string, at extract.Ref, s state) {
	for p.Kind(of) == "call" { // app.mount("/v1", WSGIMiddleware(other))
		if name := p.Text(p.lastName(of)); !strings.HasSuffix(name, "Middleware") && name != "WsgiToAsgi" {
			break
		}
		of = extract.FirstRef(p.argument(p.Field(of, "arguments"), 0, "app"), p.argument(p.Field(of, "arguments"), 0, "wsgi_application"))
	}
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

// handler returns the path of a handler. Calls around it are left out; view is set for
// View.as_view().
func (p *walker) handler(n extract.Ref, s state) (path string, view bool) {
	if is := p.valueOf(p.Text(n)); p.Kind(n) == "identifier" && p.Kind(is) == "call" {
		if class, made := strings.CutSuffix(p.path(is, s), ".as_view()"); made {
			return class, true
		}
	}
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

// actions returns the class and the methods of a view set in View.as_view({"get": "list"}), or of the variable of such
// a call, nil if it is none.
func (p *walker) actions(n extract.Ref, s state) (class string, methods [][2]string) {
	if p.Kind(n) == "identifier" {
		n = p.valueOf(p.Text(n))
	}
	class, view := strings.CutSuffix(p.path(n, s), ".as_view()")
	of := p.argument(p.Field(n, "arguments"), 0, "actions")
	if !view || p.Kind(n) != "call" || p.Kind(of) != "dictionary" {
		return "", nil
	}
	for c := range p.Children(of) {
		verb, ok := p.literal(p.Field(c, "key"))
		if name, also := p.literal(p.Field(c, "value")); ok && also {
			methods = append(methods, [2]string{strings.ToUpper(verb), name})
		}
	}
	return class, methods
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
	if before == len(p.Facts.Routes) {
		p.given(path, args, n, s)
	}
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
	if framework == "" && name == "blueprint" && router != "" {
		framework = "sanic" // likewise; no other framework has a method of that name
	}
	route := func(method, pattern, router string, of extract.Ref, role string) {
		if class, methods := p.actions(of, s); len(methods) > 0 {
			for _, m := range methods {
				p.AddRoute(&recountv1.RouteFact{Role: "mapped " + m[1], Method: m[0], Pattern: pattern, Router: router, Handler: class, Framework: framework, In: s.in}, n)
			}
			return
		}
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
		if framework == "sanic" {
			pattern = p.version(args) + pattern
		}
		all := []extract.Ref{of}
		if k := p.Kind(of); k == "list" || k == "tuple" {
			all = slices.Collect(p.Children(of))
		}
		for _, of := range all {
			p.mount(router, pattern, of, framework, n, s)
		}
	case "DispatcherMiddleware":
		for c := range p.Children(p.argument(args, 1, "mounts")) {
			if pattern, ok := p.pattern(p.Field(c, "key"), s); ok && p.Kind(c) == "pair" {
				p.mount(p.path(p.argument(args, 0, "app"), s), pattern, p.Field(c, "value"), framework, n, s)
			}
		}
	case "group":
		if framework != "sanic" || !strings.HasSuffix(p.canonical(path), "Blueprint.group") {
			return
		}
		g := &recountv1.RouteFact{Group: true, Role: "part", Handler: p.holder(n, s), Framework: framework, In: s.in}
		g.Pattern, _ = p.pattern(p.argument(args, -1, "url_prefix"), s)
		g.Pattern = p.version(args) + g.Pattern
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
	case "copy": // of a blueprint of Sanic, whose routes it serves below its own prefix
		if framework != "sanic" || router == "" {
			return
		}
		g := &recountv1.RouteFact{Group: true, Role: "part", Handler: p.holder(n, s), Pattern: "${}", Framework: framework, In: s.in}
		if of := p.valueOf(router); p.Kind(of) == "call" && p.Text(p.lastName(of)) == "Blueprint" {
			prefix := extract.FirstRef(p.argument(args, -1, "url_prefix"), p.argument(p.Field(of, "arguments"), 1, "url_prefix"))
			g.Pattern, _ = p.pattern(prefix, s)
			g.Pattern = cmp.Or(p.version(args), p.version(p.Field(of, "arguments"))) + g.Pattern
		}
		p.AddRoute(g, n)
		p.AddRoute(&recountv1.RouteFact{Group: true, Role: "copy", Handler: router, Router: g.Handler, Framework: framework, In: s.in}, n)
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
		of := p.argument(args, place, key)
		if framework == "aiohttp" && of == extract.None { // resource.add_route("GET", handler)
			text, of = "", p.argument(args, 1, "handler")
		}
		if !ok || router == "" {
			return
		}
		if framework == "sanic" {
			text = p.version(args) + text
		}
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
	case "add_websocket_route", "add_api_websocket_route":
		at, place := 0, 1
		if framework == "sanic" {
			at, place = 1, 0
		}
		if pattern, ok := p.pattern(extract.FirstRef(p.argument(args, at, "path"), p.argument(args, -1, "uri")), s); ok && router != "" && framework != "" {
			route("WEBSOCKET", pattern, router, p.argument(args, place, "handler"), "")
		}
	case "add_resource":
		if framework == "aiohttp" {
			if pattern, ok := p.pattern(p.argument(args, 0, "path"), s); ok && router != "" {
				p.AddRoute(&recountv1.RouteFact{Group: true, Role: "below", Method: "ANY", Pattern: pattern, Router: router, Handler: p.holder(n, s), Framework: framework, In: s.in}, n)
			}
			return
		}
		// Flask-RESTful: the class first, then its patterns
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
	case "append":
		if of := p.argument(args, 0, ""); framework == "sanic" && router != "" {
			p.mount(router, "", of, framework, n, s)
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
