package rust

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// webFramework returns the first known framework that the file imports or names.
func (r *walker) webFramework() string {
	for i := range r.Nodes {
		if k := r.Kind(extract.Ref(i)); k != "identifier" || r.Kind(r.Parent(extract.Ref(i))) == "field_expression" {
			continue
		}
		switch name := r.Text(extract.Ref(i)); name {
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

// attributeRoutes reads #[get("/x")] and #[route("/x", method = "GET")] of Actix and Rocket. The
// handler is mounted by its name.
func (r *walker) attributeRoutes(n extract.Ref, in uint32, name string) {
	if r.framework != "actix" && r.framework != "rocket" {
		return
	}
	for _, a := range r.attributes(n) {
		at := r.Child(a, 0)
		path := r.Text(r.Child(at, 0))
		verb := path[strings.LastIndexByte(path, ':')+1:]
		tokens := r.Field(at, "arguments")
		var texts []string
		for c := range r.Children(tokens) {
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
			if first := r.Child(tokens, 0); r.Kind(first) == "identifier" {
				methods[0] = strings.ToUpper(r.Text(first))
			}
		case methods[0] == "":
			continue
		}
		if cut := strings.IndexByte(pattern, '?'); cut > 0 && r.framework == "rocket" {
			pattern = pattern[:cut]
		}
		for _, m := range methods {
			r.AddRoute(&recountv1.RouteFact{Method: m, Pattern: pattern, Router: name, Framework: r.framework, In: in}, a)
		}
	}
}

// callRoutes reads the calls that register routes and groups.
func (r *walker) callRoutes(n extract.Ref, on, name string, args extract.Ref, s state) {
	if r.framework == "" {
		return
	}
	pattern, literal := r.literal(r.Child(args, 0))
	router := ""
	if d := r.Decl(s.in); d != nil {
		router = d.Name
	}
	group := func(pattern, handler string) {
		if handler != extract.Unknown && handler != "" {
			r.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: pattern, Handler: handler, Router: router, Framework: r.framework, In: s.in}, n)
		}
	}
	switch {
	case name == "route" && r.framework == "axum" && literal:
		r.axumHandlers(r.Child(args, 1), r.outerPrefix(n)+pattern, router, s)
	case (name == "nest" || name == "nest_service") && r.framework == "axum" && literal,
		name == "merge" && r.framework == "axum":
		with := r.Child(args, 1)
		if name == "merge" {
			pattern, with = "", r.Child(args, 0)
		}
		path := strings.TrimSuffix(r.path(with, s), "()")
		if !strings.ContainsAny(path, "([?") {
			group(r.outerPrefix(n)+pattern, path)
		}
	case name == "mount" && r.framework == "rocket" && literal:
		if macro := r.Child(args, 1); r.Kind(macro) == "macro_invocation" {
			for _, handler := range r.tokens(macro) {
				group(pattern, handler)
			}
		}
	case name == "route" && r.framework == "actix":
		at, where := r.Child(args, 1), r.outerPrefix(n)+r.prefix(r.Field(r.Field(n, "function"), "value"))+pattern
		if !literal { // resource("/x").route(web::get().to(h))
			at = r.Child(args, 0)
		}
		if method, handler := r.actixHandler(at, s); handler != "" {
			r.AddRoute(&recountv1.RouteFact{Method: method, Pattern: where, Handler: handler, Router: router, Framework: "actix", In: s.in}, n)
		}
	case name == "to" && r.framework == "actix" && r.resource(r.Field(r.Field(n, "function"), "value")):
		if handler := r.path(r.Child(args, 0), s); handler != extract.Unknown {
			where := r.outerPrefix(n) + r.prefix(r.Field(r.Field(n, "function"), "value"))
			r.AddRoute(&recountv1.RouteFact{Method: "ANY", Pattern: where, Handler: handler, Router: router, Framework: "actix", In: s.in}, n)
		}
	case (name == "service" || name == "configure") && r.framework == "actix":
		if with := r.Child(args, 0); r.Kind(with) == "identifier" || r.Kind(with) == "scoped_identifier" {
			group(r.outerPrefix(n)+r.prefix(r.Field(r.Field(n, "function"), "value")), r.path(with, s))
		}
	}
}

// prefix returns the prefix of scope("/x") and resource("/x") in a chain of calls.
func (r *walker) prefix(chain extract.Ref) string {
	for r.Kind(chain) == "call_expression" {
		fn := r.Field(chain, "function")
		switch r.Text(r.lastName(fn)) {
		case "scope", "resource":
			text, _ := r.literal(r.Child(r.Field(chain, "arguments"), 0))
			return text
		}
		chain = r.Field(fn, "value")
	}
	return ""
}

// resource reports whether a chain of calls begins with resource("/x").
func (r *walker) resource(chain extract.Ref) bool {
	for r.Kind(chain) == "call_expression" {
		fn := r.Field(chain, "function")
		if r.Text(r.lastName(fn)) == "resource" {
			return true
		}
		chain = r.Field(fn, "value")
	}
	return false
}

// outerPrefix returns the prefix of the chains of calls whose arguments contain a node.
func (r *walker) outerPrefix(n extract.Ref) string {
	prefix := ""
	for at := r.Parent(n); at > 0 && r.Kind(at) != "function_item"; at = r.Parent(at) {
		if r.Kind(at) != "arguments" {
			continue
		}
		call := r.Parent(at)
		fn := r.Field(call, "function")
		switch r.Text(r.lastName(fn)) {
		case "service":
			prefix = r.prefix(r.Field(fn, "value")) + prefix
		case "nest":
			text, _ := r.literal(r.Child(at, 0))
			prefix = text + prefix
		}
	}
	return prefix
}

// axumHandlers reads get(h).post(g).
func (r *walker) axumHandlers(n extract.Ref, pattern, router string, s state) {
	for r.Kind(n) == "call_expression" {
		fn := r.Field(n, "function")
		method := routeMethods[r.Text(r.lastName(fn))]
		handler := r.path(r.Child(r.Field(n, "arguments"), 0), s)
		if method != "" && handler != extract.Unknown {
			r.AddRoute(&recountv1.RouteFact{Method: method, Pattern: pattern, Handler: handler, Router: router, Framework: "axum", In: s.in}, n)
		}
		n = r.Field(fn, "value")
	}
}

// actixHandler reads web::get().to(h), with guards and other calls between.
func (r *walker) actixHandler(n extract.Ref, s state) (method, handler string) {
	method = "ANY"
	for r.Kind(n) == "call_expression" {
		fn := r.Field(n, "function")
		switch name := r.Text(r.lastName(fn)); {
		case name == "to":
			handler = extract.KnownPath(r.path(r.Child(r.Field(n, "arguments"), 0), s))
		case routeMethods[name] != "" && r.Kind(fn) != "field_expression":
			method = routeMethods[name]
		}
		n = r.Field(fn, "value")
	}
	return method, handler
}
