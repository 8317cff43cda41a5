package java

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// isFunctional reports whether the file imports Spring's functional endpoints.
func (j *walker) isFunctional() bool {
	for _, i := range j.Facts.Imports {
		if strings.HasPrefix(i.Path, "org.springframework.web.reactive.function.server") || strings.HasPrefix(i.Path, "org.springframework.web.servlet.function") {
			return true
		}
	}
	return false
}

// functionalRoute reads route().GET("/x", handler::list) and RouterFunctions.route(GET("/x"), handler::list) of
// Spring.
func (j *walker) functionalRoute(n, args extract.Ref, s state) {
	if !j.isFunctional() {
		return
	}
	name := j.Text(j.Field(n, "name"))
	count := 0
	last := extract.None
	for c := range j.Children(args) {
		last = c
		count++
	}
	add := func(method string, pattern extract.Ref) {
		text, ok := j.pattern(pattern)
		if !ok && pattern != extract.None {
			return
		}
		r := &recountv1.RouteFact{Method: method, Pattern: j.functionalPrefix(n, s) + extract.Slashed(text), Framework: "spring", In: s.in, Handler: extract.Unknown}
		switch j.Kind(last) {
		case "method_reference":
			r.Handler = j.referred(last, s)
		case "lambda_expression":
		default:
			r.Handler = j.path(last, s)
		}
		j.AddRoute(r, n)
	}
	switch {
	case restMappings[name] && count > 0 && j.Field(n, "object") != extract.None && j.builds(n):
		first := j.Child(args, 0)
		if k := j.Kind(first); first == last {
			first = extract.None // GET(handler::list)
		} else if k == "method_invocation" { // GET(accept(JSON), handler::list)
			_, first = j.predicate(first)
		}
		add(name, first)
	case (name == "route" || name == "andRoute") && count == 2:
		if method, pattern := j.predicate(j.Child(args, 0)); pattern != extract.None || method != "" {
			add(method, pattern)
		}
	}
}

// builds reports whether a call is one of a builder, and not of the class of predicates: RequestPredicates.GET("/x").
func (j *walker) builds(n extract.Ref) bool {
	return j.Text(j.Field(n, "object")) != "RequestPredicates"
}

// predicate returns the method and the path of GET("/x").and(accept(…)) and path("/x").and(method(HttpMethod.GET)): no
// method if it says neither a method nor a path.
func (j *walker) predicate(n extract.Ref) (method string, pattern extract.Ref) {
	pattern = extract.None
	for ; j.Kind(n) == "method_invocation"; n = j.Field(n, "object") {
		first := j.Child(j.Field(n, "arguments"), 0)
		switch name := j.Text(j.Field(n, "name")); {
		case restMappings[name]:
			return name, first
		case name == "path":
			return cmp.Or(method, "ANY"), first
		case name == "method":
			_, method = extract.SplitLast(j.Text(first))
		case name == "and":
			of, path := j.predicate(first)
			if of != "" && (of != "ANY" || method == "") {
				method = of
			}
			pattern = extract.FirstRef(path, pattern)
		}
	}
	return method, pattern
}

// functionalPrefix returns the paths of the calls of path and nest around a route, unknown if the method around it is
// put below another.
func (j *walker) functionalPrefix(n extract.Ref, s state) string {
	prefix := ""
	if d := j.Decl(s.in); d != nil && (bytes.Contains(j.Src, []byte("this::"+d.Name)) || bytes.Count(j.Src, []byte(" "+d.Name+"()")) > 1) {
		prefix = "${}"
	}
	for at, up := n, j.Parent(n); up > 0 && j.Kind(up) != "method_declaration"; at, up = up, j.Parent(up) {
		call := j.Parent(up)
		if j.Kind(up) != "argument_list" || j.Child(up, 0) == at {
			continue
		}
		switch name := j.Text(j.Field(call, "name")); name {
		case "path", "nest", "andNest":
			first := j.Child(up, 0)
			said := name == "path" || j.Kind(first) != "method_invocation"
			if name != "path" {
				_, first = j.predicate(first)
			}
			text, ok := j.pattern(first)
			if !ok && (said || first != extract.None) {
				text = "${}"
			}
			prefix = extract.Slashed(text) + prefix
		}
	}
	return prefix
}

// baseURI matches what comes before the path of a URL.
var baseURI = regexp.MustCompile(`^https?://[^/]*`)

// served reads the path below which a server is made that serves all resources: createHttpServer(URI.create("…/api/"),
// config) of Jersey, and HttpServer.create(address, backlog, "/x", handler) of the JDK.
func (j *walker) served(n, args extract.Ref, s state) {
	on := j.Text(j.Field(n, "object"))
	switch j.Text(j.Field(n, "name")) {
	case "createHttpServer", "createServer", "createHttp2Server":
		if !strings.HasSuffix(on, "Factory") && !strings.HasSuffix(on, "Provider") || strings.HasPrefix(on, "Jetty") || !j.isWeb() {
			return // Jetty's ignores the path
		}
		j.AddRoute(&recountv1.RouteFact{Group: true, Role: "app", Pattern: baseURI.ReplaceAllString(j.address(j.Child(args, 0), 0), ""), Framework: "jax-rs", In: s.in}, n)
	case "create":
		if on != "HttpServer" && on != "HttpsServer" || !j.isWeb() {
			return
		}
		pattern, ok := j.pattern(j.Child(args, 2))
		if handler := j.Child(args, 3); ok && handler != extract.None {
			j.AddRoute(&recountv1.RouteFact{Method: "ANY", Pattern: pattern, Framework: "jdk", In: s.in, Handler: j.path(handler, s)}, n)
		}
	case "addViewController", "addRedirectViewController": // of Spring
		if pattern, ok := j.pattern(j.Child(args, 0)); ok && j.isWeb() {
			j.AddRoute(&recountv1.RouteFact{Method: "GET", Pattern: pattern, Framework: "spring", In: s.in, Handler: extract.Unknown}, n)
		}
	case "addPathPrefix": // PathMatchConfigurer of Spring
		if pattern, ok := j.pattern(j.Child(args, 0)); ok {
			j.prefixed(n, pattern, j.Child(args, 1), s)
		}
	}
}

// maxAddresses limits the names and methods that stand for each other.
const maxAddresses = 8

// address returns the text of an address, with ${} for what is not known: a text, URI.create("…"), new URI("…"),
// UriBuilder.fromUri("…").port(80).build(), and what the file gives a name or returns from a method without parameters.
func (j *walker) address(n extract.Ref, depth int) string {
	args := j.Field(n, "arguments")
	switch k := j.Kind(n); {
	case depth > maxAddresses:
	case k == "identifier" || k == "field_access":
		_, name := extract.SplitLast(extract.Compact(j.Text(n)))
		if value := j.setOnce(name); value != extract.None {
			return j.address(value, depth+1)
		}
		text, _ := j.pattern(n)
		return text
	case k == "object_creation_expression":
		return j.address(j.Child(args, 0), depth+1)
	case k == "method_invocation":
		on, name := j.Field(n, "object"), j.Text(j.Field(n, "name"))
		switch {
		case on == extract.None && j.Child(args, 0) == extract.None:
			return j.address(j.returned(name), depth+1)
		case name == "create" || name == "fromUri" || name == "fromPath" || name == "newInstance":
			return j.address(j.Child(args, 0), depth+1)
		case name == "path":
			return scope.Slashed(j.address(on, depth+1), j.address(j.Child(args, 0), depth+1))
		case name == "build" || name == "port" || name == "host" || name == "scheme":
			return j.address(on, depth+1)
		}
	default:
		if text, ok := j.pattern(n); ok {
			return text
		}
	}
	return "${}"
}

// returned returns what a method of the file returns that has no parameters and is only that statement.
func (j *walker) returned(name string) extract.Ref {
	for i := range j.Nodes {
		n := extract.Ref(i)
		if j.Kind(n) != "method_declaration" || j.Text(j.Field(n, "name")) != name || j.Child(j.Field(n, "parameters"), 0) != extract.None {
			continue
		}
		if only := j.Child(j.Field(n, "body"), 0); j.Kind(only) == "return_statement" {
			return j.Child(only, 0)
		}
	}
	return extract.None
}
