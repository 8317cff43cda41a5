package rust

import (
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/schemas/wordset"
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
		case "utoipa_axum":
			return "axum"
		case "actix_web":
			return "actix"
		}
	}
	return ""
}

// pattern returns the text of an expression, with ${PATH} for what is no literal.
func (r *walker) pattern(n extract.Ref, s state) (string, bool) {
	if text, ok := r.literal(n); ok {
		return text, true
	}
	switch r.Kind(n) {
	case "identifier", "scoped_identifier":
		return "${" + extract.KnownPath(r.path(n, s)) + "}", true
	case "reference_expression":
		return r.pattern(r.lastChild(n), s)
	case "macro_invocation":
		if tokens := r.FirstOf(n, "token_tree"); r.Text(r.Field(n, "macro")) == "uri" { // uri!("/x")
			if text, ok := r.literal(r.Child(tokens, 0)); ok {
				return text, true
			}
		}
		return "${}", true
	case "call_expression":
		if r.isMacro(n) && strings.HasPrefix(r.Text(n), "format") {
			return r.formatted(n, s), true
		}
	}
	return "", false
}

// below returns the pattern of an argument that is a prefix, unknown if it can be no text.
func (r *walker) below(n extract.Ref, s state) string {
	if r.Kind(n) == "array_expression" {
		n = r.Child(n, r.choice)
	}
	if text, ok := r.pattern(n, s); ok {
		return text
	}
	return "${}"
}

// inFormat matches what format!("/{}/{NAME}") inserts.
var inFormat = regexp.MustCompile(`\{([A-Za-z_0-9]*)\}`)

// formatted returns the text of format!("/{}/x", PREFIX), with ${PATH} for what it inserts.
func (r *walker) formatted(macro extract.Ref, s state) string {
	var inserted []string
	text, ok := "", false
	for c := range r.Children(r.Field(macro, "arguments")) {
		if !ok {
			if text, ok = r.literal(c); !ok {
				break
			}
			continue
		}
		inner, _ := r.pattern(c, s)
		inserted = append(inserted, inner)
	}
	if !ok {
		return "${}"
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "{{", "\x01"), "}}", "\x02")
	text = inFormat.ReplaceAllStringFunc(text, func(of string) string {
		inner := ""
		if name := of[1 : len(of)-1]; name != "" {
			inner = "${" + name + "}"
		} else if len(inserted) > 0 {
			inner, inserted = inserted[0], inserted[1:]
		}
		return extract.FirstOf(inner, "${}")
	})
	return strings.ReplaceAll(strings.ReplaceAll(text, "\x01", "{"), "\x02", "}")
}

// slashed joins two parts of a path.
func slashed(before, pattern string) string {
	if before == "" || pattern == "" {
		return before + pattern
	}
	return strings.TrimSuffix(before, "/") + "/" + strings.TrimPrefix(pattern, "/")
}

var routeMethods = map[string]string{
	"get": "GET", "post": "POST", "put": "PUT", "delete": "DELETE", "patch": "PATCH", "head": "HEAD",
	"options": "OPTIONS", "trace": "TRACE", "connect": "CONNECT", "any": "ANY",
}

// attributeRoutes reads #[get("/x")] and #[route("/x", method = "GET")] of Actix and Rocket. The
// handler is mounted by its name.
func (r *walker) attributeRoutes(n extract.Ref, in uint32, name string) {
	if r.framework == "axum" {
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
		if len(texts) == 0 || r.framework == "" && !strings.HasPrefix(texts[0], "/") {
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
		if cut := strings.IndexByte(pattern, '?'); cut > 0 && r.framework != "actix" {
			pattern = pattern[:cut]
		}
		if r.framework == "actix" {
			pattern = r.scoped(n) + pattern
		}
		for _, m := range methods {
			r.AddRoute(&recountv1.RouteFact{Role: "mounted", Method: m, Pattern: pattern, Router: name, Framework: r.framework, In: in}, a)
		}
	}
}

// scoped returns the prefixes of #[scope("/x")] at the modules around an item.
func (r *walker) scoped(n extract.Ref) (prefix string) {
	for at := r.Parent(n); at > 0; at = r.Parent(at) {
		if r.Kind(at) != "mod_item" {
			continue
		}
		for _, a := range r.attributes(at) {
			path := r.Text(r.Child(r.Child(a, 0), 0))
			if text, ok := r.literal(r.Child(r.Field(r.Child(a, 0), "arguments"), 0)); ok && path[strings.LastIndexByte(path, ':')+1:] == "scope" {
				prefix = text + prefix
			}
		}
	}
	return prefix
}

// ownRouter is the path of the router that a function configures or returns.
const ownRouter = "<router>"

// routerOf returns the path of the router that a chain of calls builds, and the variable that the
// chain begins with, if it has one: what the chain is assigned to, otherwise that variable,
// otherwise the function's router.
func (r *walker) routerOf(n extract.Ref, s state) (router, begins string) {
	root := n
	for r.Kind(root) == "call_expression" && r.Kind(r.Field(root, "function")) == "field_expression" {
		root = r.Field(r.Field(root, "function"), "value")
	}
	if name, local := s.locals.find(r.Text(root)); local && r.Kind(root) == "identifier" && r.routers[extract.NameIn{In: s.in, Name: name}] {
		begins = name
	}
	top := n
	for at := r.Parent(n); ; at = r.Parent(at) {
		switch r.Kind(at) {
		case "field_expression", "call_expression", "try_expression", "await_expression", "parenthesized_expression":
			if r.FieldOf(top) == "arguments" {
				return extract.FirstOf(begins, ownRouter), begins
			}
			top = at
			continue
		case "arguments":
			if outer, from := r.routerOf(r.Parent(at), s); begins == "" && (from != "" || outer != ownRouter) {
				return outer, ""
			}
			return extract.FirstOf(begins, ownRouter), begins
		case "let_declaration":
			if name := r.lets[at]; name != "" {
				return name, begins
			}
		case "assignment_expression":
			if r.Kind(r.Field(at, "left")) == "identifier" {
				return r.path(r.Field(at, "left"), s), begins
			}
		case "expression_statement":
			return extract.FirstOf(begins, ownRouter), begins
		}
		return ownRouter, begins
	}
}

// continued notes that a chain of calls continues what a variable begins.
func (r *walker) continued(n extract.Ref, s state) {
	if k := r.Kind(r.Parent(n)); k == "field_expression" {
		return
	}
	router, begins := r.routerOf(n, s)
	r.routers[extract.NameIn{In: s.in, Name: router}] = true
	if begins != "" && begins != router {
		r.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Handler: begins, Router: router, Framework: r.framework, In: s.in}, n)
	}
}

// returned notes that a function returns the router of a variable.
func (r *walker) returned(n extract.Ref, s state) {
	if name, local := s.locals.find(r.Text(n)); r.Kind(n) == "identifier" && local && r.routers[extract.NameIn{In: s.in, Name: name}] {
		r.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Handler: name, Router: ownRouter, Framework: r.framework, In: s.in}, n)
	}
}

// listed mounts the handlers of routes![a, b] on what the list is assigned to, or on the function.
func (r *walker) listed(n extract.Ref, s state) {
	if name := r.Text(r.Field(n, "macro")); r.framework != "rocket" || name != "routes" && name != "rocket::routes" || r.Kind(r.Parent(n)) == "arguments" {
		return
	}
	router := ownRouter
	if let := r.Parent(n); r.Kind(let) == "let_declaration" && r.lets[let] != "" {
		router = r.lets[let]
	}
	for _, handler := range r.tokens(n) {
		r.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Handler: handler, Router: router, Framework: r.framework, In: s.in}, n)
	}
}

// routerPath returns the path of a variable, or of the function that a chain of calls begins with: api().layer(…).
func (r *walker) routerPath(n extract.Ref, s state) string {
	for r.Kind(n) == "call_expression" && r.Kind(r.Field(n, "function")) == "field_expression" && r.Kind(r.Field(r.Field(n, "function"), "value")) != "self" {
		of := r.Field(r.Field(n, "function"), "value")
		if method := r.Text(r.lastName(r.Field(n, "function"))); r.Kind(of) == "identifier" && !axumLayers[method] {
			if made := r.typeOf(r.Field(r.letOf(of), "value"), s); made != "" {
				return made + "." + method
			}
			break // a method of a value
		}
		n = of
	}
	path := strings.TrimSuffix(r.path(n, s), "()")
	if strings.HasSuffix(path, "Router.new") { // its routes are read where they are
		return extract.Unknown
	}
	return path
}

// typeOf returns the path of the type of a value that its expression spells: Admin, Admin{…}, Admin::new(…), "" of others.
func (r *walker) typeOf(n extract.Ref, s state) string {
	path := ""
	switch r.Kind(n) {
	case "identifier", "scoped_identifier":
		path = r.path(n, s)
	case "struct_expression":
		path = r.path(r.Field(n, "name"), s)
	case "call_expression":
		made, name := extract.SplitLast(r.path(r.Field(n, "function"), s))
		if name == "new" || name == "default" {
			path = made
		}
	}
	if _, name := extract.SplitLast(path); path == extract.Unknown || name == "" || name[0] < 'A' || name[0] > 'Z' {
		return ""
	}
	return path
}

// axumLayers are the methods of a router that return it.
var axumLayers = wordset.Of("route route_service nest nest_service merge layer route_layer with_state fallback fallback_service method_not_allowed_fallback into_service clone")

// prefix returns the prefix of scope("/x") and resource("/x") in a chain of calls.
func (r *walker) prefix(chain extract.Ref, s state) string {
	for r.Kind(chain) == "call_expression" {
		fn := r.Field(chain, "function")
		switch r.Text(r.lastName(fn)) {
		case "scope", "resource":
			return r.below(r.Child(r.Field(chain, "arguments"), 0), s)
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
func (r *walker) outerPrefix(n extract.Ref, s state) string {
	prefix := ""
	for at := r.Parent(n); at > 0 && r.Kind(at) != "function_item"; at = r.Parent(at) {
		if r.Kind(at) != "arguments" {
			continue
		}
		call := r.Parent(at)
		fn := r.Field(call, "function")
		switch r.Text(r.lastName(fn)) {
		case "service":
			prefix = slashed(r.prefix(r.Field(fn, "value"), s), prefix)
		case "nest", "nest_service", "mount":
			prefix = slashed(r.below(r.Child(at, 0), s), prefix)
		}
	}
	return prefix
}

// filtered matches a method in MethodFilter::PUT.or(MethodFilter::PATCH).
var filtered = regexp.MustCompile(`MethodFilter::([A-Z]+)`)

// axumHandlers reads get(h).post(g), also by a variable or by a function that returns it.
func (r *walker) axumHandlers(n extract.Ref, role, pattern, router string, s state) {
	for r.Kind(n) == "call_expression" {
		fn, args := r.Field(n, "function"), r.Field(n, "arguments")
		name := r.Text(r.lastName(fn))
		own := r.Kind(fn) != "field_expression"
		if own {
			_, name = extract.SplitLast(r.known.Canonical(r.path(fn, s)))
		}
		var methods []string
		handler := r.Child(args, 0)
		switch name = strings.TrimSuffix(name, "_service"); {
		case name == "on": // on(MethodFilter::PUT, h)
			for _, m := range filtered.FindAllStringSubmatch(r.Text(handler), -1) {
				methods = append(methods, m[1])
			}
			handler = r.Child(args, 1)
		case routeMethods[name] != "":
			methods = []string{routeMethods[name]}
		case name == "merge" && !own: // get(h).merge(patch(g))
			r.axumHandlers(handler, role, pattern, router, s)
		case own && name != "new" && role == "":
			r.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: pattern, Handler: r.path(fn, s), Router: router, Framework: "axum", In: s.in}, n)
			return
		}
		for _, m := range methods {
			if h := r.handlerOf(handler, s); h != extract.Unknown {
				r.AddRoute(&recountv1.RouteFact{Role: role, Method: m, Pattern: pattern, Handler: h, Router: router, Framework: "axum", In: s.in}, n)
			}
		}
		n = r.Field(fn, "value")
	}
	if r.Kind(n) == "identifier" {
		if let := r.letOf(n); let != extract.None && r.Start(let) < r.Start(n) {
			r.axumHandlers(r.Field(let, "value"), role, pattern, router, s)
		}
	}
}

// letOf returns the last declaration of a variable before its name in the blocks around it.
func (r *walker) letOf(name extract.Ref) (found extract.Ref) {
	found = extract.None
	for at := r.Parent(name); at > 0 && found == extract.None && r.Kind(at) != "function_item"; at = r.Parent(at) {
		if r.Kind(at) != "block" {
			continue
		}
		for c := range r.Children(at) {
			if r.Kind(c) == "let_declaration" && r.End(c) < r.Start(name) && r.Text(r.Field(c, "pattern")) == r.Text(name) {
				found = c
			}
		}
	}
	return found
}

// methodRouter reads the methods that a function returns: fn one() -> MethodRouter { get(h).post(g) }.
func (r *walker) methodRouter(n extract.Ref, s state) {
	up := r.Parent(n)
	if k := r.Kind(up); k == "field_expression" || k == "arguments" || k == "let_declaration" {
		return
	}
	for r.Kind(up) != "function_item" {
		if up = r.Parent(up); up <= 0 {
			return
		}
	}
	if strings.Contains(r.Text(r.Field(up, "return_type")), "MethodRouter") {
		r.axumHandlers(n, "mounted", "", ownRouter, s)
	}
}

// handlerOf returns the path of a handler of Axum, without the layers around it: h.layer(…). A closure
// belongs to the function around it.
func (r *walker) handlerOf(n extract.Ref, s state) string {
	for r.Kind(n) == "call_expression" && r.Kind(r.Field(n, "function")) == "field_expression" {
		n = r.Field(r.Field(n, "function"), "value")
	}
	if d := r.Decl(s.in); r.Kind(n) == "closure_expression" && d != nil {
		return d.Name
	}
	return r.path(n, s)
}

// actixHandler reads web::get().to(h), with guards and other calls between.
func (r *walker) actixHandler(n extract.Ref, s state) (method, handler string) {
	method = "ANY"
	for r.Kind(n) == "call_expression" {
		fn := r.Field(n, "function")
		switch name := r.Text(r.lastName(fn)); {
		case name == "to":
			handler = extract.KnownPath(r.handlerOf(r.Child(r.Field(n, "arguments"), 0), s))
		case routeMethods[name] != "" && r.Kind(fn) != "field_expression":
			method = routeMethods[name]
		case name == "guard": // web::route().guard(guard::Get())
			of := r.Field(r.Child(r.Field(n, "arguments"), 0), "function")
			if m := routeMethods[strings.ToLower(r.Text(r.lastName(of)))]; m != "" && m != "ANY" {
				method = m
			}
		case name == "method" && r.Kind(fn) != "field_expression": // web::method(Method::OPTIONS)
			at := r.Text(r.Child(r.Field(n, "arguments"), 0))
			method = at[strings.LastIndexByte(at, ':')+1:]
		}
		n = r.Field(fn, "value")
	}
	return method, handler
}
