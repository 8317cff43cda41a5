package java

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// annotationName returns the name of an annotation without its package.
func (j *walker) annotationName(a extract.Ref) string {
	_, name := extract.SplitLast(extract.Compact(j.Text(j.Field(a, "name"))))
	return name
}

// isTest reports whether annotations make a method a test of JUnit or TestNG, or part of one.
func (j *walker) isTest(annotations []extract.Ref) bool {
	for _, a := range annotations {
		switch j.annotationName(a) {
		case "Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory",
			"Before", "After", "BeforeClass", "AfterClass", "BeforeEach", "AfterEach", "BeforeAll", "AfterAll",
			"BeforeMethod", "AfterMethod", "BeforeSuite", "AfterSuite", "BeforeTest", "AfterTest", "DataProvider":
			return true
		}
	}
	return false
}

// isTestClass reports whether a class contains tests.
func (j *walker) isTestClass(n, body extract.Ref, annotations []extract.Ref) bool {
	for _, a := range annotations {
		switch j.annotationName(a) {
		case "Test", "Nested", "RunWith", "SpringBootTest":
			return true
		}
	}
	if _, base := extract.SplitLast(extract.Compact(j.Text(j.Child(j.Field(n, "superclass"), 0)))); base == "TestCase" {
		return true
	}
	for c := range j.Children(body) {
		if j.Kind(c) != "method_declaration" {
			continue
		}
		if on, _, _ := j.annotationsOf(c); j.isTest(on) {
			return true
		}
	}
	return false
}

// attribute returns the value of an element of an annotation; the element "value" may be unnamed.
func (j *walker) attribute(a extract.Ref, name string) extract.Ref {
	for c := range j.Children(j.Field(a, "arguments")) {
		switch {
		case j.Kind(c) != "element_value_pair":
			if name == "value" {
				return c
			}
		case j.Text(j.Field(c, "key")) == name:
			return j.Field(c, "value")
		}
	}
	return extract.None
}

// each returns the values of an element: one, or those of a list.
func (j *walker) each(n extract.Ref) []extract.Ref {
	if j.Kind(n) != "element_value_array_initializer" {
		if n == extract.None {
			return nil
		}
		return []extract.Ref{n}
	}
	var all []extract.Ref
	for c := range j.Children(n) {
		all = append(all, c)
	}
	return all
}

// pattern returns the text of an expression, with ${PATH} for what is no literal. ok is false if it
// can be no text.
func (j *walker) pattern(n extract.Ref) (text string, ok bool) {
	if is := j.meant(n); is != n {
		return j.literal(is)
	}
	switch j.Kind(n) {
	case "parenthesized_expression":
		return j.pattern(j.Child(n, 0))
	case "identifier", "field_access":
		return "${" + strings.TrimPrefix(extract.Compact(j.Text(n)), "this.") + "}", true
	case "method_invocation":
		return "${}", true
	case "binary_expression":
		left, ok := j.pattern(j.Field(n, "left"))
		right, also := j.pattern(j.Field(n, "right"))
		return left + right, ok && also && j.Text(j.Field(n, "operator")) == "+"
	}
	return j.literal(n)
}

// patterns returns the patterns of a mapping, "" if it has none.
func (j *walker) patterns(a extract.Ref) (all []string) {
	for _, v := range append(j.each(j.attribute(a, "value")), j.each(j.attribute(a, "path"))...) {
		if p, ok := j.pattern(v); ok {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

// isWeb reports whether the file imports a web framework.
func (j *walker) isWeb() bool {
	for _, i := range j.Facts.Imports {
		if strings.HasPrefix(i.Path, "org.springframework.web") || strings.Contains(i.Path, ".ws.rs") || strings.HasPrefix(i.Path, "io.micronaut.") || strings.HasPrefix(i.Path, "com.sun.net.httpserver") || strings.HasPrefix(i.Path, "org.glassfish.jersey") {
			return true
		}
	}
	return false
}

// inBraces matches a parameter of a path, whose pattern may have spaces.
var inBraces = regexp.MustCompile(`\{[^{}]*\}`)

// textConstant notes the text of a constant.
func (j *walker) textConstant(name string, value extract.Ref, in uint32) {
	if text, ok := j.pattern(value); ok && len(text) < 256 && (strings.HasPrefix(text, "/") || strings.HasPrefix(text, "$") && strings.Contains(text, "/") || (j.isWeb() || j.ofPaths(in)) && !strings.ContainsAny(inBraces.ReplaceAllString(text, ""), " \n")) {
		j.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Handler: name, Pattern: text, In: in}, value)
	}
}

// ofPaths reports whether the class of a constant is one of paths by its name: ApiPaths.
func (j *walker) ofPaths(class uint32) bool {
	d := j.Decl(class)
	if d == nil {
		return false
	}
	for _, word := range []string{"Path", "Route", "Url", "URL", "Uri", "URI", "Endpoint", "Mapping", "Api", "Constant"} {
		if strings.Contains(d.Name, word) {
			return true
		}
	}
	return false
}

// classRoutes reads what the annotations of a class say about the routes of its methods.
func (j *walker) classRoutes(annotations []extract.Ref, in uint32, class string, s *state) {
	prefixes, said := []string{""}, false
	at := extract.None
	if j.micronautClass(annotations, in, class, s) {
		return
	}
	for _, a := range annotations {
		switch j.annotationName(a) {
		case "RestController", "Controller":
			if j.annotationName(a) == "Controller" {
				j.AddRoute(&recountv1.RouteFact{Group: true, Role: "pages", Framework: "spring", In: in}, a)
			}
			s.framework, said = extract.FirstOf(s.framework, "spring"), true
			at = extract.FirstRef(at, a)
		case "FeignClient":
			s.client = true
			s.prefix, _ = j.literal(j.attribute(a, "path"))
			s.prefix = extract.Slashed(s.prefix)
		case "RegisterRestClient":
			s.client = true
			s.prefix, _ = j.literal(j.attribute(a, "baseUri"))
			s.prefix = strings.TrimSuffix(s.prefix, "/")
		case "RequestMapping", "HttpExchange":
			s.framework = extract.FirstOf(s.framework, "spring")
			prefixes, said = j.patterns(a), true
			s.client = s.client || j.annotationName(a) == "HttpExchange"
			at = a
		case "Path":
			s.framework, said = "jax-rs", true
			prefixes = j.patterns(a)
			at = a
		case "ApplicationPath":
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "app", Pattern: strings.TrimSuffix(j.patterns(a)[0], "/*"), Framework: "jax-rs", In: in}, a)
		}
	}
	if s.client {
		s.prefix += extract.Slashed(prefixes[0])
		return
	}
	if !said {
		return
	}
	for _, p := range prefixes {
		j.AddRoute(&recountv1.RouteFact{Group: true, Role: "class", Method: "ANY", Pattern: p, Handler: class, Framework: s.framework, In: in}, at)
	}
}

// mappings are the annotations of Spring and JAX-RS for one HTTP method.
var (
	springMappings = map[string]string{
		"GetMapping": "GET", "PostMapping": "POST", "PutMapping": "PUT", "DeleteMapping": "DELETE", "PatchMapping": "PATCH",
		"GetExchange": "GET", "PostExchange": "POST", "PutExchange": "PUT", "DeleteExchange": "DELETE", "PatchExchange": "PATCH",
	}
	restMappings = map[string]bool{"GET": true, "POST": true, "PUT": true, "DELETE": true, "PATCH": true, "HEAD": true, "OPTIONS": true}
)

// composed reads the methods of HTTP for which an annotation of the application stands: one with @HttpMethod("LINK")
// of JAX-RS, or with @RequestMapping(method = GET) of Spring.
func (j *walker) composed(annotations []extract.Ref, in uint32) {
	var all []string
	for _, a := range annotations {
		switch name := j.annotationName(a); {
		case name == "HttpMethod":
			method, ok := j.literal(j.attribute(a, "value"))
			if path := extract.Compact(j.Text(j.attribute(a, "value"))); !ok {
				var of string
				if of, method = extract.SplitLast(path); !strings.HasSuffix(of, "HttpMethod") {
					method = "${" + extract.KnownPath(path) + "}"
				}
			}
			all = append(all, method)
		case springMappings[name] != "":
			all = append(all, springMappings[name])
		case name == "RequestMapping":
			all = append(all, j.requestMethods(a)...)
		}
	}
	if len(all) > 0 {
		j.AddRoute(&recountv1.RouteFact{Group: true, Role: "verbs", Method: strings.Join(all, ","), In: in}, annotations[0])
	}
}

// requestMethods returns the methods of @RequestMapping.
func (j *walker) requestMethods(a extract.Ref) (all []string) {
	for _, m := range j.each(j.attribute(a, "method")) {
		_, word := extract.SplitLast(extract.Compact(j.Text(m)))
		all = append(all, word)
	}
	return all
}

// plainAnnotations are common ones that give a method no route.
var plainAnnotations = scope.WordSet(`Override Deprecated SuppressWarnings SafeVarargs Transactional Async Scheduled Cacheable CacheEvict CachePut
Bean Autowired Inject PostConstruct PreDestroy ResponseBody ResponseStatus ExceptionHandler ModelAttribute InitBinder CrossOrigin PreAuthorize
PostAuthorize Secured RolesAllowed PermitAll DenyAll Operation ApiResponse ApiResponses ApiOperation Parameter Tag Valid Validated Produces Consumes
NonNull Nullable Timed Counted Retry CircuitBreaker JsonView Context Blocking NonBlocking Hidden SecurityRequirement`)

// methodRoutes reads the routes that the annotations of a method give it, or the requests that it
// makes. result is the type that the method returns.
func (j *walker) methodRoutes(annotations []extract.Ref, in uint32, result string, s state) {
	var methods, patterns []string
	framework, at := "", extract.None
	own := extract.None // an annotation that the application may have composed
	for _, a := range annotations {
		name := j.annotationName(a)
		micronaut, is := j.micronautMethod(a)
		switch {
		case is:
			framework, at = "micronaut", a
			methods = append(methods, micronaut)
			patterns = append(patterns, j.micronautPatterns(a)...)
		case springMappings[name] != "":
			framework, at = "spring", a
			methods = append(methods, springMappings[name])
			patterns = j.patterns(a)
		case name == "RequestMapping":
			framework, at = "spring", a
			if methods = append(methods, j.requestMethods(a)...); len(methods) == 0 {
				methods = []string{"ANY"}
			}
			patterns = j.patterns(a)
		case restMappings[name]:
			framework, at = "jax-rs", a
			methods = append(methods, name)
		case name == "Path" && framework != "spring":
			patterns = j.patterns(a)
			if at == extract.None {
				at = a
			}
		case !plainAnnotations[name] && j.isWeb() && !s.client:
			own = a
		}
	}
	class := j.Decl(s.class)
	if own != extract.None && framework == "" && class != nil {
		of := patterns
		if s.framework == "spring" {
			of = j.patterns(own)
		} else if len(of) == 0 {
			of = []string{""}
		}
		for _, p := range of {
			j.AddRoute(&recountv1.RouteFact{Role: "composed", Method: extract.Compact(j.Text(j.Field(own, "name"))), Pattern: p, Router: class.Name, Framework: extract.FirstOf(s.framework, "jax-rs"), In: in}, own)
		}
	}
	if at == extract.None {
		return
	}
	if len(patterns) == 0 {
		patterns = []string{""}
	}
	if framework == "" { // a method with a path only returns the resource that serves below it
		result = strings.TrimSuffix(strings.TrimPrefix(result, "Class<"), ">")
		if class != nil && result != "" && s.framework != "spring" {
			j.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: patterns[0], Handler: extract.Erased(result), Router: class.Name, Framework: "jax-rs", In: s.class}, at)
		}
		return
	}
	for _, m := range methods {
		for _, p := range patterns {
			switch {
			case s.client:
				if strings.Contains(p, "$") {
					continue
				}
				r := j.Refer(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, in, j.annotationName(at), j.typeName(j.Field(at, "name")))
				r.Attributes = map[string]string{"method": m, "url": extract.Clip(s.prefix+extract.Slashed(p), extract.MaxValue)}
				if class != nil && strings.HasSuffix(j.annotationName(at), "Exchange") { // a controller may implement it
					j.AddRoute(&recountv1.RouteFact{Role: "inherited", Method: m, Pattern: s.prefix + extract.Slashed(p), Router: class.Name, Framework: "spring", In: in}, at)
				}
			case class != nil:
				role := ""
				if framework == "micronaut" && s.framework == "" { // a controller may implement it
					role = "inherited"
				}
				j.AddRoute(&recountv1.RouteFact{Role: role, Method: m, Pattern: p, Router: class.Name, Framework: framework, In: in}, at)
			}
		}
	}
}

// fieldText notes the text that a method or a constructor gives a text of its object: this.prefix = prefix.
func (j *walker) fieldText(field, value extract.Ref, s state) {
	d, name := j.Decl(s.in), j.Text(field)
	if j.Kind(field) == "field_access" {
		object := j.Field(field, "object")
		if name = j.Text(j.Field(field, "field")); j.Kind(object) != "this" {
			return
		}
	} else if _, local := s.names.Path(name); local || d == nil || slices.ContainsFunc(d.Parameters, func(p *recountv1.Parameter) bool { return p.Name == name }) {
		return
	}
	if d == nil || !j.isWeb() {
		return
	}
	own, first := j.ownText(field, name)
	if !own {
		return
	}
	text, ok := j.pattern(value)
	if !ok || s.lambda || first || len(text) >= 256 {
		text = "${}"
	}
	j.AddRoute(&recountv1.RouteFact{Group: true, Role: "field", Handler: name, Pattern: text, In: s.in}, value)
}

// ownText reports whether the class around an expression has a field for a text that no other class sets, and whether
// the field has a value before.
func (j *walker) ownText(n extract.Ref, name string) (own, first bool) {
	for n > 0 && j.Kind(n) != "class_body" {
		n = j.Parent(n)
	}
	for f := range j.Children(n) {
		if j.Kind(f) != "field_declaration" || j.Text(j.Field(f, "type")) != "String" {
			continue
		}
		modifiers := strings.Fields(j.Text(j.FirstOf(f, "modifiers")))
		for d := range j.Children(f) {
			if j.Kind(d) == "variable_declarator" && j.Text(j.Field(d, "name")) == name {
				own = (slices.Contains(modifiers, "private") || slices.Contains(modifiers, "final")) && !slices.Contains(modifiers, "static")
				return own, j.Field(d, "value") != extract.None
			}
		}
	}
	return false, false
}

// given notes the texts that a call, by the node of its name, passes to a method or a constructor, which may be paths
// there: register(server, "/v1").
func (j *walker) given(name, args extract.Ref, s state) {
	if !j.isWeb() || j.Text(name) == "createContext" || restMappings[j.Text(name)] {
		return
	}
	i := 0
	for c := range j.Children(args) {
		if text, ok := j.literal(c); ok && strings.HasPrefix(text, "/") && len(text) < 128 {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "given", Method: strconv.Itoa(i), Pattern: text, In: s.in}, name)
		}
		i++
	}
}

// contextRoute reads createContext("/x", handler) of the JDK's HttpServer, and
// createContext("/x").setHandler(handler).
func (j *walker) contextRoute(n extract.Ref, args extract.Ref, s state) {
	handler := j.Child(args, 1)
	switch j.Text(j.Field(n, "name")) {
	case "createContext":
	case "addServlet": // where Jersey's servlet is mapped: addServlet(new ServletHolder(new ServletContainer(config)), "/api/*")
		if pattern, ok := j.pattern(handler); ok && strings.Contains(j.Text(j.Child(args, 0)), "new ServletContainer(") {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "app", Pattern: strings.TrimSuffix(pattern, "/*"), Framework: "jax-rs", In: s.in}, n)
		}
		return
	case "setHandler":
		handler = j.Child(args, 0)
		if n = j.Field(n, "object"); j.Text(j.Field(n, "name")) != "createContext" {
			return
		}
		args = j.Field(n, "arguments")
	default:
		return
	}
	_, ok := j.pattern(j.Child(args, 0))
	if up := j.Parent(n); !ok || !j.isWeb() || handler == extract.None && j.Text(j.Field(up, "name")) == "setHandler" || j.removed(n, args) {
		return
	}
	for _, j.round = range j.rounds(n) {
		if pattern, ok := j.pattern(j.Child(args, 0)); ok {
			j.context(n, pattern, handler, s)
		}
	}
	j.round = nil
}

// context notes a context of the JDK's server.
func (j *walker) context(n extract.Ref, pattern string, handler extract.Ref, s state) {
	r := &recountv1.RouteFact{Method: "ANY", Pattern: pattern, Framework: "jdk", In: s.in, Handler: extract.Unknown}
	switch j.Kind(handler) {
	case "lambda_expression", "": // the handler may be set later
	case "method_reference":
		r.Handler = j.referred(handler, s)
	case "object_creation_expression":
		if j.FirstOf(handler, "class_body") == extract.None {
			r.Handler = j.path(handler, s)
		}
	default:
		r.Handler = j.path(handler, s)
	}
	j.AddRoute(r, n)
}

// removed reports whether the method that makes a context removes it again: removeContext("/x"), or of its variable.
func (j *walker) removed(context, args extract.Ref) bool {
	path, name := j.Text(j.Child(args, 0)), ""
	if up := j.Parent(context); j.Kind(up) == "variable_declarator" {
		name = j.Text(j.Field(up, "name"))
	}
	method := context
	for k := j.Kind(method); method > 0 && k != "method_declaration" && k != "constructor_declaration"; k = j.Kind(method) {
		method = j.Parent(method)
	}
	for n := method + 1; int(n) < len(j.Nodes) && j.Start(n) < j.End(method); n++ {
		if j.Kind(n) == "method_invocation" && j.Text(j.Field(n, "name")) == "removeContext" {
			if of := j.Text(j.Child(j.Field(n, "arguments"), 0)); of == path || of == name {
				return true
			}
		}
	}
	return false
}
