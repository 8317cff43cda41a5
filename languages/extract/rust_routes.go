package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// webFramework is which of the known ones the file imports, or names, first.
func (r *rustFile) webFramework() string {
	for i := range r.nodes {
		if k := r.kind(ref(i)); k != "identifier" || r.kind(r.parent(ref(i))) == "field_expression" {
			continue
		}
		switch name := r.text(ref(i)); name {
		case "axum", "rocket":
			return name
		case "actix_web":
			return "actix"
		}
	}
	return ""
}

var routeMethods = map[string]string{
	"get": "GET", "post": "POST", "put": "PUT", "delete": "DELETE", "patch": "PATCH", "head": "HEAD",
	"options": "OPTIONS", "trace": "TRACE", "connect": "CONNECT", "any": "ANY",
}

// attributeRoutes reads #[get("/x")] and #[route("/x", method = "GET")] of Actix and
// Rocket. Such a handler is mounted by its name.
func (r *rustFile) attributeRoutes(n ref, in uint32, name string) {
	if r.framework != "actix" && r.framework != "rocket" {
		return
	}
	for _, a := range r.attributes(n) {
		at := r.child(a, 0)
		path := r.text(r.child(at, 0))
		verb := path[strings.LastIndexByte(path, ':')+1:]
		tokens := r.field(at, "arguments")
		var texts []string
		for c := range r.children(tokens) {
			if text, ok := r.literal(c); ok {
				texts = append(texts, text)
			}
		}
		if len(texts) == 0 {
			continue
		}
		methods := []string{routeMethods[verb]}
		pattern := texts[0]
		switch {
		case verb == "route" && r.framework == "actix":
			methods = nil
			for _, m := range texts[1:] {
				methods = append(methods, strings.ToUpper(m))
			}
		case verb == "route": // Rocket: #[route(GET, uri = "/x")]
			methods = []string{"ANY"}
			if first := r.child(tokens, 0); r.kind(first) == "identifier" {
				methods[0] = strings.ToUpper(r.text(first))
			}
		case methods[0] == "":
			continue
		}
		if cut := strings.IndexByte(pattern, '?'); cut > 0 && r.framework == "rocket" {
			pattern = pattern[:cut]
		}
		for _, m := range methods {
			r.addRoute(&recountv1.RouteFact{Method: m, Pattern: pattern, Router: name, Framework: r.framework, In: in}, a)
		}
	}
}

// callRoutes reads the calls that register routes and groups.
func (r *rustFile) callRoutes(n ref, on, name string, args ref, s rustScope) {
	if r.framework == "" {
		return
	}
	pattern, literal := r.literal(r.child(args, 0))
	router := ""
	if d := r.decl(s.in); d != nil {
		router = d.Name
	}
	group := func(pattern, handler string) {
		if handler != unknown && handler != "" {
			r.addRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: pattern, Handler: handler, Router: router, Framework: r.framework, In: s.in}, n)
		}
	}
	switch {
	case name == "route" && r.framework == "axum" && literal:
		r.axumHandlers(r.child(args, 1), r.outerPrefix(n)+pattern, router, s)
	case (name == "nest" || name == "nest_service") && r.framework == "axum" && literal,
		name == "merge" && r.framework == "axum":
		with := r.child(args, 1)
		if name == "merge" {
			pattern, with = "", r.child(args, 0)
		}
		path := strings.TrimSuffix(r.path(with, s), "()")
		if !strings.ContainsAny(path, "([?") {
			group(r.outerPrefix(n)+pattern, path)
		}
	case name == "mount" && r.framework == "rocket" && literal:
		if macro := r.child(args, 1); r.kind(macro) == "macro_invocation" {
			for _, handler := range r.tokens(macro) {
				group(pattern, handler)
			}
		}
	case name == "route" && r.framework == "actix":
		at, where := r.child(args, 1), r.outerPrefix(n)+r.prefix(r.field(r.field(n, "function"), "value"))+pattern
		if !literal { // resource("/x").route(web::get().to(h))
			at = r.child(args, 0)
		}
		if method, handler := r.actixHandler(at, s); handler != "" {
			r.addRoute(&recountv1.RouteFact{Method: method, Pattern: where, Handler: handler, Router: router, Framework: "actix", In: s.in}, n)
		}
	case name == "to" && r.framework == "actix" && r.resource(r.field(r.field(n, "function"), "value")):
		if handler := r.path(r.child(args, 0), s); handler != unknown {
			where := r.outerPrefix(n) + r.prefix(r.field(r.field(n, "function"), "value"))
			r.addRoute(&recountv1.RouteFact{Method: "ANY", Pattern: where, Handler: handler, Router: router, Framework: "actix", In: s.in}, n)
		}
	case (name == "service" || name == "configure") && r.framework == "actix":
		if with := r.child(args, 0); r.kind(with) == "identifier" || r.kind(with) == "scoped_identifier" {
			group(r.outerPrefix(n)+r.prefix(r.field(r.field(n, "function"), "value")), r.path(with, s))
		}
	}
}

// prefix is what scope("/x") and resource("/x") in a chain of calls put before it.
func (r *rustFile) prefix(chain ref) string {
	for r.kind(chain) == "call_expression" {
		fn := r.field(chain, "function")
		switch r.text(r.lastName(fn)) {
		case "scope", "resource":
			text, _ := r.literal(r.child(r.field(chain, "arguments"), 0))
			return text
		}
		chain = r.field(fn, "value")
	}
	return ""
}

// resource reports whether a chain of calls begins with resource("/x").
func (r *rustFile) resource(chain ref) bool {
	for r.kind(chain) == "call_expression" {
		fn := r.field(chain, "function")
		if r.text(r.lastName(fn)) == "resource" {
			return true
		}
		chain = r.field(fn, "value")
	}
	return false
}

// outerPrefix is the prefix of the chains of calls in whose arguments a node stands.
func (r *rustFile) outerPrefix(n ref) string {
	prefix := ""
	for at := r.parent(n); at > 0 && r.kind(at) != "function_item"; at = r.parent(at) {
		if r.kind(at) != "arguments" {
			continue
		}
		call := r.parent(at)
		fn := r.field(call, "function")
		switch r.text(r.lastName(fn)) {
		case "service":
			prefix = r.prefix(r.field(fn, "value")) + prefix
		case "nest":
			text, _ := r.literal(r.child(at, 0))
			prefix = text + prefix
		}
	}
	return prefix
}

// axumHandlers reads get(h).post(g).
func (r *rustFile) axumHandlers(n ref, pattern, router string, s rustScope) {
	for r.kind(n) == "call_expression" {
		fn := r.field(n, "function")
		method := routeMethods[r.text(r.lastName(fn))]
		handler := r.path(r.child(r.field(n, "arguments"), 0), s)
		if method != "" && handler != unknown {
			r.addRoute(&recountv1.RouteFact{Method: method, Pattern: pattern, Handler: handler, Router: router, Framework: "axum", In: s.in}, n)
		}
		n = r.field(fn, "value")
	}
}

// actixHandler reads web::get().to(h), with guards and such between.
func (r *rustFile) actixHandler(n ref, s rustScope) (method, handler string) {
	method = "ANY"
	for r.kind(n) == "call_expression" {
		fn := r.field(n, "function")
		switch name := r.text(r.lastName(fn)); {
		case name == "to":
			handler = knownPath(r.path(r.child(r.field(n, "arguments"), 0), s))
		case routeMethods[name] != "" && r.kind(fn) != "field_expression":
			method = routeMethods[name]
		}
		n = r.field(fn, "value")
	}
	return method, handler
}
