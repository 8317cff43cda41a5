package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// attributeName is an attribute's name without its namespace and "Attribute".
func (c *csharpFile) attributeName(a ref) string {
	_, name := splitLast(erased(c.typePath(c.field(a, "name"))))
	return strings.TrimSuffix(name, "Attribute")
}

// isTest reports whether attributes make a method a test of xUnit, NUnit or MSTest, or
// something that runs with them.
func (c *csharpFile) isTest(attributes []ref) bool {
	for _, a := range attributes {
		switch c.attributeName(a) {
		case "Fact", "Theory", "Test", "TestCase", "TestCaseSource", "TestMethod", "DataTestMethod",
			"SetUp", "TearDown", "OneTimeSetUp", "OneTimeTearDown", "TestInitialize", "TestCleanup", "ClassInitialize", "ClassCleanup":
			return true
		}
	}
	return false
}

// isTestClass reports whether a class holds tests.
func (c *csharpFile) isTestClass(attributes []ref, body ref) bool {
	for _, a := range attributes {
		switch c.attributeName(a) {
		case "TestFixture", "TestClass", "SetUpFixture", "Collection":
			return true
		}
	}
	for m := range c.children(body) {
		if c.kind(m) != "method_declaration" {
			continue
		}
		var on []ref
		for k := range c.children(m) {
			if c.kind(k) == "attribute_list" {
				for a := range c.children(k) {
					on = append(on, a)
				}
			}
		}
		if c.isTest(on) {
			return true
		}
	}
	return false
}

// pattern is the literal that an attribute begins with; ok is false where that is
// something else.
func (c *csharpFile) pattern(a ref) (pattern string, given, ok bool) {
	for arg := range c.children(c.firstOf(a, "attribute_argument_list")) {
		if c.field(arg, "name") != none { // Name = "…"
			continue
		}
		pattern, ok = c.literal(c.child(arg, 0))
		return pattern, true, ok
	}
	return "", false, true
}

// classRoutes reads the prefixes of a controller.
func (c *csharpFile) classRoutes(attributes []ref, in uint32, class string, s *csharpScope) {
	s.controller = strings.HasSuffix(class, "Controller")
	for _, a := range attributes {
		switch c.attributeName(a) {
		case "ApiController", "Controller":
			s.controller = true
		case "Route":
			s.controller = true
			if p, given, ok := c.pattern(a); given && ok {
				c.addRoute(&recountv1.RouteFact{
					Group: true, Method: "ANY", Pattern: slashed(withController(p, class)), Handler: class, Framework: "aspnetcore", In: in,
				}, a)
			}
		}
	}
}

func withController(pattern, class string) string {
	return strings.ReplaceAll(pattern, "[controller]", strings.TrimSuffix(class, "Controller"))
}

var csharpVerbs = map[string]string{
	"HttpGet": "GET", "HttpPost": "POST", "HttpPut": "PUT", "HttpDelete": "DELETE", "HttpPatch": "PATCH", "HttpHead": "HEAD", "HttpOptions": "OPTIONS",
}

// methodRoutes reads the routes that an action's attributes give it. A pattern that
// begins with / or ~/ has no prefix.
func (c *csharpFile) methodRoutes(attributes []ref, in uint32, method string, s csharpScope) {
	class := c.decl(s.class)
	if class == nil || !s.controller {
		return
	}
	var verbs []ref
	patterns := []string{}
	at := none
	for _, a := range attributes {
		switch name := c.attributeName(a); {
		case csharpVerbs[name] != "":
			verbs = append(verbs, a)
		case name == "Route":
			p, given, ok := c.pattern(a)
			if given && ok {
				patterns, at = append(patterns, p), a
			}
		}
	}
	add := func(verb, pattern string, at ref) {
		r := &recountv1.RouteFact{Method: verb, Router: class.Name, Framework: "aspnetcore", In: in}
		pattern = strings.ReplaceAll(withController(pattern, class.Name), "[action]", method)
		if strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~/") {
			r.Router = ""
		}
		r.Pattern = slashed(strings.TrimPrefix(pattern, "~"))
		c.addRoute(r, at)
	}
	for _, a := range verbs {
		verb := csharpVerbs[c.attributeName(a)]
		p, given, ok := c.pattern(a)
		switch {
		case !ok:
		case given || len(patterns) == 0:
			add(verb, p, a)
		default:
			for _, p := range patterns {
				add(verb, p, a)
			}
		}
	}
	if len(verbs) == 0 && at != none {
		for _, p := range patterns {
			add("ANY", p, at)
		}
	}
}

var mapVerbs = map[string]string{
	"MapGet": "GET", "MapPost": "POST", "MapPut": "PUT", "MapDelete": "DELETE", "MapPatch": "PATCH", "Map": "ANY",
}

// mapRoute reads the calls that register routes: app.MapGet("/x", Handler).
func (c *csharpFile) mapRoute(n ref, path string, args ref, s csharpScope) {
	router, name := splitLast(path)
	verb := mapVerbs[name]
	pattern, ok := c.literal(c.child(c.child(args, 0), 0))
	handler := c.child(c.child(args, 1), 0)
	if verb == "" || router == "" || !ok || handler == none {
		return
	}
	pattern = slashed(pattern)
	for on := c.field(c.field(n, "function"), "expression"); c.kind(on) == "invocation_expression"; {
		fn := c.field(on, "function")
		if p, ok := c.groupPattern(on); ok { // app.MapGroup("/v1").MapGet(…)
			pattern = p + pattern
		}
		on = c.field(fn, "expression")
		router = c.path(on, s)
	}
	r := &recountv1.RouteFact{Method: verb, Pattern: pattern, Router: router, Framework: "aspnetcore", In: s.in}
	if k := c.kind(handler); k != "lambda_expression" && k != "anonymous_method_expression" {
		r.Handler = knownPath(c.path(handler, s))
	}
	c.addRoute(r, n)
}

// groupPattern is the pattern of a call of MapGroup.
func (c *csharpFile) groupPattern(call ref) (string, bool) {
	fn := c.field(call, "function")
	if c.kind(call) != "invocation_expression" || c.text(c.field(fn, "name")) != "MapGroup" {
		return "", false
	}
	p, ok := c.literal(c.child(c.child(c.field(call, "arguments"), 0), 0))
	return slashed(p), ok
}

// mapGroup reads `var users = app.MapGroup("/users")`.
func (c *csharpFile) mapGroup(name string, value ref, s csharpScope) {
	pattern, found := "", false
	on := value
	for c.kind(on) == "invocation_expression" {
		if p, ok := c.groupPattern(on); ok {
			pattern, found = p+pattern, true
		}
		on = c.field(c.field(on, "function"), "expression")
	}
	if !found {
		return
	}
	c.addRoute(&recountv1.RouteFact{
		Group: true, Method: "ANY", Pattern: pattern, Handler: name, Router: knownPath(c.path(on, s)), Framework: "aspnetcore", In: s.in,
	}, value)
}
