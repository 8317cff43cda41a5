package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// webFramework returns the first known framework that the file imports or requires.
func (j *walker) webFramework() string {
	for i := range j.Nodes {
		if j.Kind(extract.Ref(i)) != "string" {
			continue
		}
		switch p := j.Kind(j.Parent(extract.Ref(i))); p {
		case "import_statement", "arguments", "import_require_clause":
		default:
			continue
		}
		switch module, _ := j.literal(extract.Ref(i)); {
		case module == "express" || module == "fastify" || module == "hono" || module == "koa":
			return module
		case strings.HasPrefix(module, "hono/") || module == "@hono/zod-openapi":
			return "hono"
		case module == "fastify-plugin" || strings.HasPrefix(module, "@fastify/"):
			return "fastify"
		case module == "@koa/router" || module == "koa-router":
			return "koa"
		case module == "@nestjs/common":
			return "nestjs"
		}
	}
	return ""
}

// verbs are the methods of routers that register a route.
var verbs = map[string]string{
	"get": "GET", "post": "POST", "put": "PUT", "delete": "DELETE", "del": "DELETE", "patch": "PATCH",
	"head": "HEAD", "options": "OPTIONS", "all": "ANY",
}

// isRouter reports whether a value registers routes: if the file imports a framework, or by the
// usual names of routers.
func (j *walker) isRouter(path string) (framework string, ok bool) {
	if path == "" || path == extract.Unknown {
		return "", false
	}
	if j.framework != "" {
		_, http := clients[extract.Root(j.canonical(path))]
		return j.framework, !http
	}
	switch strings.ToLower(extract.Root(path)) {
	case "app", "router", "server", "api", "route", "routes":
		return "", true // a framework by its form, which one is not known
	case "fastify":
		return "fastify", true
	}
	return "", false
}

// clients make requests by methods of the same names.
var clients = map[string]bool{"axios": true, "got": true, "ky": true, "request": true, "supertest": true, "superagent": true, "http": true, "https": true}

// patterns returns the literal patterns of an argument: one, or a list.
func (j *walker) patterns(n extract.Ref) []string {
	if p, ok := j.literal(n); ok {
		return []string{p}
	}
	var all []string
	if j.Kind(n) == "array" {
		for c := range j.Children(n) {
			if p, ok := j.literal(c); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// callRoute reads the calls that register routes and groups.
func (j *walker) callRoute(n extract.Ref, path string, args extract.Ref, s state) {
	if j.Kind(j.Field(n, "function")) != "member_expression" {
		return
	}
	router, verb := extract.SplitLast(path)
	if strings.HasSuffix(router, ".route()") || strings.Contains(router, ".route().") {
		j.chained(n, router, verb, args, s)
		return
	}
	framework, ok := j.isRouter(router)
	if !ok {
		return
	}
	count := 0
	last := extract.None
	for c := range j.Children(args) {
		last = c
		count++
	}
	first := j.argument(args, 0)
	r := func(method, pattern, handler string) *recountv1.RouteFact {
		return &recountv1.RouteFact{Method: method, Pattern: pattern, Handler: handler, Router: router, Framework: framework, In: s.in}
	}
	switch verb {
	case "use":
		prefixes := j.patterns(first)
		if len(prefixes) == 0 && count == 1 && (j.Kind(first) == "identifier" || j.Kind(first) == "call_expression" && strings.HasPrefix(j.path(first, s), "<import")) {
			prefixes = []string{""}
		}
		for _, p := range prefixes {
			for c := range j.Children(args) {
				if h := extract.KnownPath(j.path(c, s)); h != "" && (c != first || p == "") {
					g := r("ANY", p, h)
					g.Group = true
					j.AddRoute(g, n)
				}
			}
		}
	case "register":
		handler := extract.KnownPath(j.path(first, s))
		if j.isFunction(first) { // its parameter is the router on which routes are registered
			handler = extract.KnownPath(j.path(extract.FirstRef(j.Field(first, "parameter"), j.Field(j.Child(j.Field(first, "parameters"), 0), "pattern")), s))
		}
		if framework != "fastify" || handler == "" {
			return
		}
		prefix, _ := j.literal(j.property(j.argument(args, 1), "prefix"))
		g := r("ANY", prefix, handler)
		g.Group = true
		j.AddRoute(g, n)
	case "route":
		if j.Kind(first) == "object" {
			j.objectRoute(n, first, r, s)
		} else if p, ok := j.literal(first); ok && count == 2 { // Hono
			if h := extract.KnownPath(j.path(last, s)); h != "" {
				g := r("ANY", p, h)
				g.Group = true
				j.AddRoute(g, n)
			}
		}
	default:
		method, ok := verbs[verb]
		if !ok || count < 2 || !j.isFunction(last) && j.path(last, s) == extract.Unknown {
			return
		}
		for _, p := range j.patterns(first) {
			if p == "" || p[0] == '/' || p[0] == '*' || p[0] == ':' || j.framework == "koa" {
				j.AddRoute(r(method, p, extract.KnownPath(j.path(last, s))), n)
			}
		}
	}
}

// chained reads app.route("/x").get(list).post(create).
func (j *walker) chained(n extract.Ref, router, verb string, args extract.Ref, s state) {
	method, ok := verbs[verb]
	if !ok {
		return
	}
	for on := j.Field(j.Field(n, "function"), "object"); on != extract.None; on = j.Field(j.Field(on, "function"), "object") {
		p, name := extract.SplitLast(j.path(j.Field(on, "function"), s))
		if name != "route" {
			continue
		}
		framework, ok := j.isRouter(p)
		pattern, literal := j.literal(j.argument(j.Field(on, "arguments"), 0))
		if !ok || !literal {
			return
		}
		last := extract.None
		for c := range j.Children(args) {
			last = c
		}
		j.AddRoute(&recountv1.RouteFact{
			Method: method, Pattern: pattern, Handler: extract.KnownPath(j.path(last, s)), Router: p, Framework: framework, In: s.in,
		}, j.lastName(j.Field(n, "function")))
		return
	}
}

// objectRoute reads fastify.route({method, url, handler}).
func (j *walker) objectRoute(n, object extract.Ref, r func(method, pattern, handler string) *recountv1.RouteFact, s state) {
	url, ok := j.literal(extract.FirstRef(j.property(object, "url"), j.property(object, "path")))
	if !ok {
		return
	}
	methods := j.patterns(j.property(object, "method"))
	if len(methods) == 0 {
		methods = []string{"ANY"}
	}
	handler := ""
	if h := j.property(object, "handler"); h != extract.None {
		handler = extract.KnownPath(j.path(h, s))
	}
	for _, m := range methods {
		j.AddRoute(r(strings.ToUpper(m), url, handler), n)
	}
}

// assignedGroup reads `const api = app.basePath("/api")` and `const router = new Router({ prefix:
// "/users" })`.
func (j *walker) assignedGroup(name, value extract.Ref, s state) {
	if j.framework == "" || j.Kind(name) != "identifier" {
		return
	}
	g := &recountv1.RouteFact{Group: true, Method: "ANY", Handler: j.Text(name), Framework: j.framework, In: s.in}
	switch j.Kind(value) {
	case "call_expression":
		on, verb := extract.SplitLast(j.path(j.Field(value, "function"), s))
		p, ok := j.literal(j.argument(j.Field(value, "arguments"), 0))
		if verb != "basePath" || !ok {
			return
		}
		if g.Pattern = p; on != extract.Unknown && !strings.HasSuffix(on, "()") {
			g.Router = on
		}
	case "new_expression":
		p, ok := j.literal(j.property(j.argument(j.Field(value, "arguments"), 0), "prefix"))
		if !ok {
			return
		}
		g.Pattern = p
	default:
		return
	}
	j.AddRoute(g, value)
}

// controller reads NestJS's @Controller("cats") on a class.
func (j *walker) controller(decorator extract.Ref, in uint32, class string, s state) bool {
	call := j.Child(decorator, 0)
	if j.Kind(call) != "call_expression" || j.Text(j.Field(call, "function")) != "Controller" {
		return false
	}
	first := j.argument(j.Field(call, "arguments"), 0)
	prefixes := j.patterns(extract.FirstRef(j.property(first, "path"), first))
	if len(prefixes) == 0 {
		prefixes = []string{""}
	}
	for _, p := range prefixes {
		j.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: p, Handler: class, Framework: "nestjs", In: in}, decorator)
	}
	return true
}

// controllerRoute reads @Get(":id") on a method of a controller.
func (j *walker) controllerRoute(decorator extract.Ref, in uint32, class string) {
	call := j.Child(decorator, 0)
	if j.Kind(call) != "call_expression" {
		return
	}
	name := j.Text(j.Field(call, "function"))
	method, ok := verbs[strings.ToLower(name)]
	if !ok || name == strings.ToLower(name) {
		return
	}
	patterns := j.patterns(j.argument(j.Field(call, "arguments"), 0))
	if len(patterns) == 0 {
		patterns = []string{""}
	}
	for _, p := range patterns {
		j.AddRoute(&recountv1.RouteFact{Method: method, Pattern: p, Router: class, Framework: "nestjs", In: in}, decorator)
	}
}

// nextRoute adds an exported GET, POST and so on. It is a route if the path of the file is one of
// Next.js' app router, which the resolver checks.
func (j *walker) nextRoute(n extract.Ref, in uint32, d *recountv1.Declaration) {
	switch d.Name {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		if d.Owner == 0 {
			j.AddRoute(&recountv1.RouteFact{Method: d.Name, Framework: "next", In: in}, n)
		}
	}
}
