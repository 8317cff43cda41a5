package rust

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// registration is a call that may register routes or routers: on.name(args).
type registration struct {
	*walker
	call, args extract.Ref
	on, name   string
	// router is the path of the router that the chain of calls builds.
	router string
	// pattern is the text of the first argument; literal is false if that can be no text.
	pattern string
	literal bool
	s       state
}

// callRoutes reads the calls that register routes and groups.
func (r *walker) callRoutes(n extract.Ref, on, name string, args extract.Ref, s state) {
	if r.framework == "" {
		return
	}
	if r.framework == "axum" {
		r.methodRouter(n, s)
		r.through(n, args, s)
	}
	c := &registration{walker: r, call: n, args: args, on: on, name: name, s: s}
	switch first := r.Child(args, 0); name {
	case "routes": // routes(routes!(get_pet))
		if r.framework == "axum" && r.Kind(first) == "macro_invocation" {
			c.router, _ = r.routerOf(n, s)
			r.continued(n, s)
			for _, handler := range r.tokens(first) {
				c.group(r.outerPrefix(n, s), handler)
			}
		}
	case "get", "post", "put", "delete", "patch", "head", "trace": // resource("/x").get(h).post(h)
		if r.framework == "actix" && r.resource(c.chain()) {
			c.router, _ = r.routerOf(n, s)
			c.route(routeMethods[name], c.prefix(), r.handlerOf(first, s))
		}
	case "new", "ranked", "build", "scope", "default", "custom", "route", "nest", "nest_service", "merge", "mount", "service", "configure", "to", "route_service", "with_state", "layer", "into":
		c.pattern, c.literal = r.pattern(first, s)
		c.router, _ = r.routerOf(n, s)
		r.continued(n, s)
		switch r.framework {
		case "axum":
			c.axum()
		case "rocket":
			c.rocket()
		case "actix":
			for r.choice = range r.choices(n) {
				c.actix()
			}
			r.choice = 0
		}
	default: // router.route_layer(…), or a method of a trait of the application's
		if _, begins := r.routerOf(n, s); r.framework == "axum" && begins != "" {
			r.continued(n, s)
		}
	}
}

// choices returns how many paths the resource of Actix around a call has, at least one: resource(["/a", "/b"]).
func (r *walker) choices(n extract.Ref) int {
	for at := n; at > 0 && r.Kind(at) != "function_item"; at = r.Parent(at) {
		for chain := at; r.Kind(chain) == "call_expression"; chain = r.Field(r.Field(chain, "function"), "value") {
			if list := r.Child(r.Field(chain, "arguments"), 0); r.Kind(list) == "array_expression" && r.Text(r.lastName(r.Field(chain, "function"))) == "resource" {
				return max(len(slices.Collect(r.Children(list))), 1)
			}
		}
	}
	return 1
}

// through notes that what a function makes of a router goes on: let app = with_limits(app). The function's own routes
// are there, too, and its call stands for the prefix that it gives the router (Text).
func (r *walker) through(n, args extract.Ref, s state) {
	fn, up := r.Field(n, "function"), r.Parent(n)
	if k := r.Kind(fn); k != "identifier" && k != "scoped_identifier" || r.Kind(up) != "let_declaration" && r.Kind(up) != "block" {
		return
	}
	for arg := range r.Children(args) {
		name, local := s.locals.find(r.Text(arg))
		if r.Kind(arg) != "identifier" || !local || !r.routers[extract.NameIn{In: s.in, Name: name}] {
			continue
		}
		router, _ := r.routerOf(n, s)
		r.routers[extract.NameIn{In: s.in, Name: router}] = true
		f := r.path(fn, s)
		r.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: "${" + f + "()}", Handler: name, Router: router, Framework: r.framework, In: s.in}, n)
		r.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Handler: f, Router: router, Framework: r.framework, In: s.in}, n)
		return
	}
}

// chain returns the chain of calls before the call.
func (c *registration) chain() extract.Ref {
	return c.Field(c.Field(c.call, "function"), "value")
}

// prefix returns the prefix that the calls around and before a call of Actix give it.
func (c *registration) prefix() string {
	return c.outerPrefix(c.call, c.s) + c.walker.prefix(c.chain(), c.s)
}

// route adds a route.
func (c *registration) route(method, pattern, handler string) {
	c.AddRoute(&recountv1.RouteFact{Method: method, Pattern: pattern, Handler: handler, Router: c.router, Framework: c.framework, In: c.s.in}, c.call)
}

// group adds what a path names below a pattern.
func (c *registration) group(pattern, path string) {
	if path != "" && path != extract.Unknown {
		c.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: pattern, Handler: path, Router: c.router, Framework: c.framework, In: c.s.in}, c.call)
	}
}

// isDirect reports whether a path is without calls and elements.
func isDirect(path string) bool { return !strings.ContainsAny(path, "([?") }

// axum reads route("/x", get(h)), route_service("/x", s), nest("/x", router) and merge(router).
func (c *registration) axum() {
	first, second := c.Child(c.args, 0), c.Child(c.args, 1)
	switch c.name {
	case "route":
		if c.literal {
			c.axumHandlers(second, "", c.outerPrefix(c.call, c.s)+c.pattern, c.router, c.s)
		}
	case "route_service":
		if c.literal {
			c.route("ANY", c.outerPrefix(c.call, c.s)+c.pattern, extract.Unknown)
		}
	case "nest", "nest_service":
		if c.name == "nest_service" && c.folder(second, "ServeDir") != extract.None {
			c.route("GET", slashed(c.outerPrefix(c.call, c.s)+c.prefixed(), "/{*path}"), extract.Unknown)
			return
		}
		if path := c.routerPath(second, c.s); isDirect(path) {
			c.group(c.outerPrefix(c.call, c.s)+c.prefixed(), path)
		}
	case "merge":
		if path := c.routerPath(first, c.s); isDirect(path) {
			c.group(c.outerPrefix(c.call, c.s), path)
		}
	}
}

// folder returns the call that makes the service of a folder of files, by the names of its types: ServeDir::new("x"),
// perhaps in a variable and followed by other calls, no node if an expression is none.
func (c *registration) folder(n extract.Ref, names ...string) extract.Ref {
	if c.Kind(n) == "identifier" {
		n = c.Field(c.letOf(n), "value")
	}
	for c.Kind(n) == "call_expression" && c.Kind(c.Field(n, "function")) == "field_expression" {
		n = c.Field(c.Field(n, "function"), "value")
	}
	if c.Kind(n) != "call_expression" {
		return extract.None
	}
	made, _ := extract.SplitLast(c.path(c.Field(n, "function"), c.s))
	if _, of := extract.SplitLast(made); slices.Contains(names, extract.FirstOf(of, made)) {
		return n
	}
	return extract.None
}

// prefixed returns the pattern of a call that mounts something, unknown if it can be no text.
func (c *registration) prefixed() string {
	if !c.literal {
		return "${}"
	}
	return c.pattern
}

// rocket reads mount("/x", routes![a, b]) and Route::new(Get, "/x", h).
func (c *registration) rocket() {
	switch c.name {
	case "new", "ranked":
		if c.on != "Route" && !strings.HasSuffix(c.on, ".Route") {
			return
		}
		first := 0
		if c.name == "ranked" {
			first = 1
		}
		method := c.Text(c.Child(c.args, first))
		method = strings.ToUpper(method[strings.LastIndexByte(method, ':')+1:])
		if uri, ok := c.walker.pattern(c.Child(c.args, first+1), c.s); ok && routeMethods[strings.ToLower(method)] != "" {
			uri, _, _ = strings.Cut(uri, "?")
			c.route(method, slashed(c.outerPrefix(c.call, c.s), uri), c.path(c.Child(c.args, first+2), c.s))
		}
	case "mount":
		var paths []string
		switch with := c.Child(c.args, 1); c.Kind(with) {
		case "macro_invocation":
			paths = c.tokens(with)
		case "call_expression":
			if c.folder(with, "FileServer", "StaticFiles") != extract.None {
				c.route("GET", slashed(c.prefixed(), "/<path..>"), extract.Unknown)
				return
			}
			paths = append(paths, strings.TrimSuffix(c.path(with, c.s), "()"))
		case "array_expression": // vec![hello, echo.clone()]
			for handler := range c.Children(with) {
				paths = append(paths, strings.TrimSuffix(c.path(handler, c.s), ".clone()"))
			}
		default:
			paths = append(paths, strings.TrimSuffix(c.path(with, c.s), "()"))
		}
		for _, path := range paths {
			switch {
			case strings.HasPrefix(path, "FileServer.") || strings.Contains(path, ".FileServer."): // FileServer::from("folder")
				c.route("GET", slashed(c.prefixed(), "/<path..>"), extract.Unknown)
			case isDirect(path):
				c.group(c.prefixed(), path)
			}
		}
	}
}

// actix reads route("/x", web::get().to(h)), resource("/x").to(h), service(h), service(services![h, g]),
// service(redirect("/x", "/y")) and configure(f).
func (c *registration) actix() {
	first := c.Child(c.args, 0)
	switch c.name {
	case "route":
		of, pattern := c.Child(c.args, 1), c.prefix()+c.pattern
		if !c.literal { // resource("/x").route(web::get().to(h))
			of = first
		}
		if method, handler := c.actixHandler(of, c.s); handler != "" {
			c.route(method, pattern, handler)
		}
	case "to":
		if !c.resource(c.chain()) {
			return
		}
		c.route("ANY", c.prefix(), c.handlerOf(first, c.s))
	case "service", "configure":
		all := []extract.Ref{first}
		switch {
		case c.Kind(first) == "tuple_expression":
			all = slices.Collect(c.Children(first))
		case c.Kind(first) == "macro_invocation": // services![a, b]
			for _, handler := range c.tokens(first) {
				c.group(c.prefix(), handler)
			}
		case c.Kind(first) == "call_expression": // redirect("/from", "/to").permanent()
			for c.Kind(c.Field(c.Field(first, "function"), "value")) == "call_expression" {
				first = c.Field(c.Field(first, "function"), "value")
			}
			if from, ok := c.walker.pattern(c.Child(c.Field(first, "arguments"), 0), c.s); ok && c.Text(c.lastName(c.Field(first, "function"))) == "redirect" {
				c.route("ANY", c.prefix()+from, extract.Unknown)
			}
		}
		for _, of := range all {
			if made := c.folder(of, "Files"); made != extract.None {
				c.route("GET", slashed(c.prefix()+c.below(c.Child(c.Field(made, "arguments"), 0), c.s), "/{tail:.*}"), extract.Unknown)
				continue
			}
			if c.Kind(of) == "call_expression" { // service(users::scope()), of the application
				of = c.Field(of, "function")
				if path := c.walker.known.Canonical(c.path(of, c.s)); strings.HasPrefix(path, "actix_") || strings.HasPrefix(path, "web.") {
					continue
				}
			}
			if k := c.Kind(of); k == "identifier" || k == "scoped_identifier" {
				c.group(c.prefix(), c.path(of, c.s))
			}
		}
	}
}
