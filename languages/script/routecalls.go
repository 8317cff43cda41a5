package script

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// callRoute reads the calls that register routes and groups.
func (j *walker) callRoute(n extract.Ref, path string, args extract.Ref, s state) {
	j.construct(n, s)
	j.given(path, args, n, s)
	j.bare(n, path, args, s)
	if k := j.Kind(j.Field(n, "function")); k != "member_expression" && k != "subscript_expression" {
		return
	}
	router := j.receiver(n, s)
	if _, ok := j.isRouter(router); !ok {
		return
	}
	before := len(j.Facts.Routes)
	for _, j.round = range j.rounds(n) {
		j.register(n, path, router, args, s)
	}
	j.round = nil
	j.UniqueRoutes(before)
}

// registration is a call that may register routes or routers, in one round of the loops around it:
// router.verb(args).
type registration struct {
	*walker
	call, args              extract.Ref
	router, framework, verb string
	// list has what the arguments stand for in the round: at least one.
	list        []extract.Ref
	first, last extract.Ref
	s           state
}

// register reads a call of a router in one round of the loops around it.
func (j *walker) register(n extract.Ref, path, router string, args extract.Ref, s state) {
	r := &registration{walker: j, call: n, args: args, router: router, verb: j.routeVerb(j.Field(n, "function")), s: s}
	if on, _ := extract.SplitLast(path); strings.HasSuffix(on, ".route()") || strings.Contains(on, ".route().") || j.isRouteObject(extract.Root(on)) {
		if j.chained(n, r.verb, args, s) {
			return
		}
	}
	var ok bool
	if r.framework, ok = j.isRouter(router); !ok {
		return
	}
	for c := range j.Children(args) {
		r.list = append(r.list, j.meant(c))
	}
	if len(r.list) == 0 || r.verb == "" {
		return
	}
	r.first, r.last = r.list[0], r.list[len(r.list)-1]
	switch r.verb {
	case "use":
		r.use()
	case "register":
		r.registers()
	case "route":
		if pattern, ok := j.pattern(r.first, s); j.Kind(r.first) == "object" {
			j.objectRoute(n, r.first, r.route, s)
		} else if r.framework == "fastify" && len(r.list) == 1 {
			r.mount("", "", extract.FirstRef(j.listOf(n, r.first), r.first))
		} else if ok && len(r.list) == 2 { // Hono
			if made := j.begun(r.last, s); made != extract.None { // app.route("/x", new Hono().get(…))
				r.group(&recountv1.RouteFact{Method: "ANY", Pattern: pattern, Router: router, Handler: j.holder(made, s)})
				break
			}
			r.mount("", pattern, r.last)
		}
	case "basePath":
		_, role := j.constructed(j.Field(j.Field(n, "function"), "object"), s)
		if p, ok := j.pattern(r.first, s); ok && role == "" {
			r.group(&recountv1.RouteFact{Role: "below", Pattern: p, Router: router, Handler: j.holder(n, s)})
		}
	case "prefix":
		if p, ok := j.pattern(r.first, s); ok && r.framework == "koa" && len(r.list) == 1 {
			r.group(&recountv1.RouteFact{Role: "prefix", Pattern: p, Handler: router})
		}
	case "redirect": // router.redirect("/from", "/to"); one of a context has one argument
		if p, ok := j.pattern(r.first, s); ok && r.framework == "koa" && len(r.list) > 1 && j.isPath(p, r.framework) {
			r.route("ANY", p, extract.None)
		}
	case "on":
		if r.framework == "hono" && len(r.list) > 2 {
			for _, m := range j.patterns(r.first, s) {
				for _, p := range j.patterns(r.list[1], s) {
					r.route(strings.ToUpper(m), p, r.last)
				}
			}
		}
	case "openapi":
		r.openapi()
	case "mount": // the handler of an application of Hono, or of another framework
		if p, ok := j.pattern(r.first, s); ok && r.framework == "hono" && len(r.list) > 1 {
			r.mount("", p, r.list[1])
		}
	case "doc", "doc31": // the description of the API, which the OpenAPI router of Hono serves
		if p, ok := j.pattern(r.first, s); ok && r.framework == "hono" && len(r.list) == 2 {
			r.route("GET", p, extract.None)
		}
	case "setGlobalPrefix", "enableVersioning":
		j.nestApplication(n, r.verb, r.first, r.list[1:], s)
	default:
		r.byVerb()
	}
}

// group adds a group of the call.
func (r *registration) group(g *recountv1.RouteFact) {
	g.Group, g.Framework, g.In = true, r.framework, r.s.in
	r.AddRoute(g, r.call)
}

// mount adds the group that an expression is the router or the plugin of.
func (r *registration) mount(role, pattern string, of extract.Ref) {
	g := &recountv1.RouteFact{Group: true, Role: role, Method: "ANY", Pattern: pattern, Router: r.router}
	if r.handles(g, of, r.call, r.s); g.Handler != extract.Unknown {
		r.group(g)
	}
}

// route adds a route that an expression serves.
func (r *registration) route(method, pattern string, handler extract.Ref) {
	f := &recountv1.RouteFact{Method: method, Pattern: pattern, Router: r.router, Framework: r.framework, In: r.s.in}
	r.handles(f, handler, r.call, r.s)
	r.AddRoute(f, r.call)
}

// isText reports whether an expression is a string or a template.
func (j *walker) isText(n extract.Ref) bool {
	k := j.Kind(n)
	return k == "string" || k == "template_string"
}

// use reads app.use("/x", router): the path may be left out, and there may be several routers.
func (r *registration) use() {
	prefixes, rest := []string{""}, r.list
	if k := r.Kind(r.first); r.isText(r.first) || k == "array" || k == "binary_expression" || len(r.list) > 1 && namesPath(r.path(r.first, r.s)) {
		prefixes, rest = r.patterns(r.first, r.s), r.list[1:]
	}
	rest = r.composed(rest, r.s)
	for _, p := range prefixes {
		for _, c := range rest {
			if of, below, ok := r.mounted(c, r.s); ok {
				r.mount("", p+below, of)
			} else if len(r.round) == 0 && r.entries(p, c) {
				continue
			} else if h := r.routePath(c, r.s); h != extract.Unknown && !r.isFunction(c) {
				r.mount("", p, c)
			}
		}
	}
}

// registers reads router.register("/x", ["get"], h) of Koa and app.register(plugin, {prefix: "/x"}) of Fastify.
func (r *registration) registers() {
	switch {
	case r.framework == "koa" && len(r.list) > 2:
		for _, p := range r.patterns(r.first, r.s) {
			for _, m := range r.patterns(r.list[1], r.s) {
				r.route(strings.ToUpper(m), p, r.last)
			}
		}
		return
	case r.framework != "fastify":
		return
	}
	prefix, options := "", r.argument(r.args, 1)
	if r.Kind(options) == "object" {
		prefix, _ = r.pattern(r.property(options, "prefix"), r.s)
	} else if options != extract.None {
		prefix = "${" + extract.KnownPath(r.path(options, r.s)) + ".prefix}"
	}
	plugin := r.first
	if call := r.Child(plugin, 0); r.Kind(plugin) == "await_expression" && r.Kind(call) == "call_expression" {
		plugin = call
	}
	if full := strings.TrimSuffix(r.known.Canonical(r.path(r.Field(plugin, "function"), r.s)), ".default"); full == "fastify-plugin" || full == "fastify-plugin.fastifyPlugin" {
		prefix, plugin = "", r.argument(r.Field(plugin, "arguments"), 0)
	}
	if r.isAutoload(plugin, r.s) {
		r.autoload(r.call, r.router, options, r.s)
		return
	}
	if r.isPlugin(plugin, "@fastify/static", r.s) {
		r.folder(options, prefix)
		return
	}
	if r.isFunction(plugin) { // its parameter is a router however it is called
		r.plugged(extract.FirstOf(r.Text(r.Field(plugin, "parameter")), r.Text(r.Child(r.Field(plugin, "parameters"), 0))))
	}
	r.mount("inside", prefix, plugin)
}

// folder adds the route of a folder that @fastify/static serves, unless it serves none or a route for each file.
func (r *registration) folder(options extract.Ref, prefix string) {
	for _, key := range [...]string{"serve", "wildcard"} {
		if of := r.property(options, key); of != extract.None && r.Text(of) != "true" {
			return
		}
	}
	r.AddRoute(&recountv1.RouteFact{
		Method: "GET", Pattern: strings.TrimSuffix(prefix, "/") + "/*", Router: r.router, Handler: extract.Unknown, Framework: r.framework, In: r.s.in,
	}, r.call)
}

// openapi reads openapi(createRoute({method, path}), h) of Hono.
func (r *registration) openapi() {
	if r.framework != "hono" || len(r.list) < 2 {
		return
	}
	made := r.first
	if r.Kind(made) == "identifier" {
		made = r.valueOf(made)
	}
	object := r.argument(r.Field(made, "arguments"), 0)
	if object == extract.None { // createRoute is called elsewhere
		r.mount("", "", r.first)
		return
	}
	method, ok := r.literal(r.property(object, "method"))
	if pattern, also := r.pattern(r.property(object, "path"), r.s); ok && also {
		r.route(strings.ToUpper(method), pattern, r.list[1])
	}
}

// expressVerbs are methods of HTTP that few applications serve; Express has a function for each, and Fastify for those
// that an application adds.
var expressVerbs = scope.WordSet("m-search checkout copy link lock merge mkactivity mkcol move notify propfind proppatch purge report search source subscribe trace unlink unlock unsubscribe")

// byVerb reads app.get("/x", h) and the like.
func (r *registration) byVerb() {
	method, ok := verbs[r.verb]
	if !ok && expressVerbs[r.verb] && (r.framework == "express" || r.framework == "fastify") {
		method, ok = strings.ToUpper(r.verb), r.Kind(r.first) == "string"
	}
	if ok && r.framework == "hono" && !r.isText(r.first) && r.Kind(r.first) != "array" {
		for _, p := range r.samePath(r.call, r.s) {
			r.route(method, p, r.last)
		}
	}
	if !ok || len(r.list) < 2 || r.awaited() || r.verb == "any" && r.framework != "" && r.framework != "koa" {
		return
	}
	handler := r.last
	if options := r.property(handler, "handler"); options != extract.None {
		handler = options
	} else if k := r.Kind(handler); k == "object" || k == "string" || k == "number" || k == "array" && !r.isPath(firstOf(r.patterns(r.first, r.s)), r.framework) {
		return
	}
	path := r.first
	if r.framework == "koa" && len(r.list) > 2 && r.Kind(r.list[1]) == "string" { // a named route
		path = r.list[1]
	}
	for _, p := range r.patterns(path, r.s) {
		if r.isPath(p, r.framework) {
			r.route(method, p, handler)
		}
	}
}

// awaited reports whether a call is waited for, as that of a client is: await api.post("/x", data), api.get(…).then(…).
func (r *registration) awaited() bool {
	up := r.Parent(r.call)
	if r.Kind(up) == "member_expression" {
		switch r.Text(r.Field(up, "property")) {
		case "then", "catch", "finally":
			return true
		}
	}
	return r.Kind(up) == "await_expression"
}

// isRouteObject reports whether a name is what a router of Express makes for one path: const orders = router.route("/orders").
func (j *walker) isRouteObject(name string) bool {
	made := j.setOnce(name)
	fn := j.Field(made, "function")
	return j.framework == "express" && j.Kind(made) == "call_expression" && j.Kind(fn) == "member_expression" && j.Text(j.Field(fn, "property")) == "route"
}

// chained reads app.route("/x").get(list).post(create).
func (j *walker) chained(n extract.Ref, verb string, args extract.Ref, s state) bool {
	method, ok := verbs[verb]
	last := extract.None
	for c := range j.Children(args) {
		last = c
	}
	for on := j.Field(j.Field(n, "function"), "object"); on != extract.None; on = j.Field(j.Field(on, "function"), "object") {
		if j.Kind(on) == "identifier" && j.isRouteObject(j.Text(on)) {
			on = j.valueOf(on)
		}
		if j.Text(j.Field(j.Field(on, "function"), "property")) != "route" {
			continue
		}
		router := j.receiver(on, s)
		framework, isRouter := j.isRouter(router)
		first := j.argument(j.Field(on, "arguments"), 0)
		if j.argument(j.Field(on, "arguments"), 1) != extract.None {
			return false // Hono's route mounts a router, and returns its receiver
		}
		for _, pattern := range j.patterns(first, s) {
			if ok && isRouter && last != extract.None && !(verb == "all" && j.Kind(j.Parent(j.Parent(n))) == "call_expression") {
				r := &recountv1.RouteFact{Method: method, Pattern: pattern, Router: router, Framework: framework, In: s.in}
				j.handles(r, last, n, s)
				j.AddRoute(r, j.lastName(j.Field(n, "function")))
			}
		}
		return true
	}
	return false
}

// objectRoute reads fastify.route({method, url, handler}).
func (j *walker) objectRoute(n, object extract.Ref, route func(method, pattern string, handler extract.Ref), s state) {
	url, ok := j.pattern(extract.FirstRef(j.property(object, "url"), j.property(object, "path")), s)
	if !ok {
		return
	}
	methods := j.patterns(j.property(object, "method"), s)
	if len(methods) == 0 {
		methods = []string{"ANY"}
	}
	for _, m := range methods {
		if strings.HasPrefix(m, "$") {
			m = "ANY"
		}
		route(strings.ToUpper(m), url, j.property(object, "handler"))
	}
}

// mounted returns what mount("/hello", app) of koa-mount mounts, and its prefix.
func (j *walker) mounted(n extract.Ref, s state) (of extract.Ref, prefix string, ok bool) {
	if full := strings.TrimSuffix(j.known.Canonical(j.path(j.Field(n, "function"), s)), ".default"); j.Kind(n) != "call_expression" || full != "koa-mount" {
		return n, "", false
	}
	args := j.Field(n, "arguments")
	if of = j.argument(args, 1); of == extract.None {
		return j.argument(args, 0), "", true
	}
	prefix, ok = j.pattern(j.argument(args, 0), s)
	return of, prefix, ok
}

// composed returns the arguments of use with those of compose([…]) of koa-compose in its place, and the elements of lists.
func (j *walker) composed(args []extract.Ref, s state) (all []extract.Ref) {
	for _, c := range args {
		list := c
		if full := strings.TrimSuffix(j.known.Canonical(j.path(j.Field(c, "function"), s)), ".default"); j.Kind(c) == "call_expression" && full == "koa-compose" {
			list = j.argument(j.Field(c, "arguments"), 0)
		}
		if j.Kind(list) != "array" {
			all = append(all, c)
			continue
		}
		for of := range j.Children(list) {
			all = append(all, of)
		}
	}
	return all
}

// samePath returns the path of the route that a chain of calls registered before: app.get("/x", h).post(h) of Hono.
func (j *walker) samePath(n extract.Ref, s state) (all []string) {
	on := j.Field(j.Field(n, "function"), "object")
	for ; j.Kind(on) == "call_expression"; on = j.Field(j.Field(on, "function"), "object") {
		first := j.argument(j.Field(on, "arguments"), 0)
		if _, ok := verbs[j.routeVerb(j.Field(on, "function"))]; !ok {
			return nil
		}
		if j.isText(first) || j.Kind(first) == "array" {
			return j.patterns(first, s)
		}
	}
	return j.firstPath(n, on)
}

// firstPath returns the path of app.get(handler) of Hono that no call of the router comes before: its root.
func (j *walker) firstPath(n, router extract.Ref) []string {
	if j.Kind(router) != "identifier" || !j.isFunction(j.argument(j.Field(n, "arguments"), 0)) {
		return nil
	}
	for at := range n {
		if j.Kind(at) == "member_expression" && j.Text(j.Field(at, "object")) == j.Text(router) {
			return nil
		}
	}
	if _, role := j.constructed(j.valueOf(router), state{}); role == "" {
		return nil
	}
	return []string{"/"}
}

// bare notes that a plugin is wrapped by fastify-plugin: it gets the router of who registers it, without a prefix.
func (j *walker) bare(n extract.Ref, path string, args extract.Ref, s state) {
	if !j.isPluginWrapper(n, path, s) {
		return
	}
	r := &recountv1.RouteFact{Group: true, Role: "bare", Handler: j.registered[j.argument(args, 0)], Framework: "fastify", In: s.in}
	if r.Handler == "" {
		j.handles(r, j.argument(args, 0), n, s)
	}
	j.AddRoute(r, n)
}

// exportedPlugin declares the function that fastify-plugin wraps in what a file exports: module.exports =
// fp(async function (fastify) {…}).
func (j *walker) exportedPlugin(n extract.Ref, s state) {
	fn := j.argument(j.Field(n, "arguments"), 0)
	if j.Kind(n) != "call_expression" || !j.isFunction(fn) || !j.isPluginWrapper(n, j.path(j.Field(n, "function"), s), s) {
		return
	}
	if in, decl := j.function(fn, fn, extract.FirstOf(j.Text(j.Field(fn, "name")), "default"), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, s.plain()); in != 0 {
		j.registered[fn] = decl.Name
	}
}

// isPluginWrapper reports whether a call is one of fastify-plugin, which returns the plugin that it is given.
func (j *walker) isPluginWrapper(n extract.Ref, path string, s state) bool {
	full := j.known.Canonical(path)
	if module, ok := j.moduleOf(j.Field(n, "function"), s); ok {
		full = module
	}
	return strings.TrimSuffix(full, ".default") == "fastify-plugin" || full == "fastify-plugin.fastifyPlugin"
}

// pluginOptions are the usual names of a Fastify plugin's second parameter, pluginDone those of its third.
var (
	pluginOptions = scope.WordSet("opts options _opts _options")
	pluginDone    = scope.WordSet("done next _done _next")
)

// plugin notes the router that a function is given which has the form of a Fastify plugin: (instance, opts, done) or
// async (instance, opts), in a file that imports no framework.
func (j *walker) plugin(function extract.Ref, all []*recountv1.Parameter) {
	if n := len(all); n < 2 || n > 3 || !pluginOptions[all[1].Name] || n == 3 && !pluginDone[all[2].Name] || n == 2 && !j.Has(function, "async") {
		return
	}
	j.plugged(all[0].Name)
}

// plugged notes the name of a router that a plugin is given.
func (j *walker) plugged(name string) {
	if j.plugins == nil {
		j.plugins = map[string]bool{}
	}
	j.plugins[extract.Root(name)] = true
}

// partOfPath matches a text that may be a part of a path.
var partOfPath = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`)

// given notes the texts that a call passes to a function, which may be paths there: register(app, "/users").
func (j *walker) given(path string, args, n extract.Ref, s state) {
	if j.framework == "" || path == extract.Unknown || strings.ContainsAny(path, "([?") || extract.Root(path) != path && j.known.Canonical(path) == path {
		return
	}
	if module, _ := extract.SplitLast(j.known.Canonical(path)); frameworkOf(module) != "" || frameworkOf(j.known.Canonical(path)) != "" {
		return
	}
	full := j.known.Canonical(path)
	own := strings.HasPrefix(full, ".") || full == path && !strings.HasPrefix(path, "<") // a function of the application
	before := len(j.Facts.Routes)
	for _, j.round = range j.rounds(n) {
		i := 0
		for c := range j.Children(args) {
			of := j.meant(c)
			if text, ok := j.literal(of); ok && j.Kind(of) == "string" && (text == "" || strings.HasPrefix(text, "/") && len(text) < 128 || own && partOfPath.MatchString(text)) {
				j.AddRoute(&recountv1.RouteFact{Group: true, Role: "given", Method: strconv.Itoa(i), Handler: path, Pattern: text, In: s.in}, n)
			}
			i++
		}
	}
	j.round = nil
	j.UniqueRoutes(before)
}

// listOf returns the list whose elements a name stands for in the loop around a call.
func (j *walker) listOf(n, name extract.Ref) extract.Ref {
	for at, up := n, j.Parent(n); up > 0; at, up = up, j.Parent(up) {
		target, list := j.loop(up, at)
		if k := j.Kind(target); k == "required_parameter" {
			target = j.Field(target, "pattern")
		} else if k == "lexical_declaration" {
			target = j.Child(target, 0)
		}
		if list != extract.None && j.Text(target) == j.Text(name) {
			return list
		}
	}
	return extract.None
}

// routeObjects notes the routes of Fastify that a variable has, itself or in a list: they are served where a route is made
// of it, perhaps in another file.
func (j *walker) routeObjects(target string, value extract.Ref, s state) {
	var all []extract.Ref
	switch j.Kind(value) {
	case "object":
		all = append(all, value)
	case "array":
		all = j.elements(value, 0)
	case "call_expression":
		j.createdRoute(target, value, s)
	}
	made := false
	for _, object := range all {
		url, handler := j.property(object, "url"), j.property(object, "handler")
		if url == extract.None || handler == extract.None || j.property(object, "method") == extract.None || j.framework != "" && j.framework != "fastify" {
			continue
		}
		if !made {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "part", Handler: target, Framework: "fastify", In: s.in}, value)
			made = true
		}
		j.objectRoute(object, object, func(method, pattern string, handler extract.Ref) {
			r := &recountv1.RouteFact{Role: "documented", Method: method, Pattern: pattern, Router: target, Framework: "fastify", In: s.in}
			j.handles(r, handler, object, s)
			j.AddRoute(r, object)
		}, s)
	}
}

// createdRoute notes the route that a variable has of createRoute({method, path}) of Hono: it is served where a router is
// given it, perhaps in another file.
func (j *walker) createdRoute(target string, value extract.Ref, s state) {
	object := j.argument(j.Field(value, "arguments"), 0)
	if module, ok := j.moduleOf(j.Field(value, "function"), s); ok && frameworkOf(module) != "hono" || j.framework != "hono" || j.Text(j.Field(value, "function")) != "createRoute" {
		return
	}
	method, ok := j.literal(j.property(object, "method"))
	if pattern, also := j.pattern(j.property(object, "path"), s); ok && also {
		j.AddRoute(&recountv1.RouteFact{Group: true, Role: "part", Handler: target, Framework: "hono", In: s.in}, value)
		j.AddRoute(&recountv1.RouteFact{
			Role: "documented", Method: strings.ToUpper(method), Pattern: pattern, Router: target, Handler: extract.Unknown, Framework: "hono", In: s.in,
		}, value)
	}
}
