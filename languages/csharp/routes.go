package csharp

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// attributeName returns the name of an attribute without its namespace and "Attribute".
func (c *walker) attributeName(a extract.Ref) string {
	_, name := extract.SplitLast(extract.Erased(c.typePath(c.Field(a, "name"))))
	return strings.TrimSuffix(name, "Attribute")
}

// isTest reports whether attributes make a method a test of xUnit, NUnit or MSTest, or part of
// one.
func (c *walker) isTest(attributes []extract.Ref) bool {
	for _, a := range attributes {
		switch c.attributeName(a) {
		case "Fact", "Theory", "Test", "TestCase", "TestCaseSource", "TestMethod", "DataTestMethod",
			"SetUp", "TearDown", "OneTimeSetUp", "OneTimeTearDown", "TestInitialize", "TestCleanup", "ClassInitialize", "ClassCleanup":
			return true
		}
	}
	return false
}

// isTestClass reports whether a class contains tests.
func (c *walker) isTestClass(attributes []extract.Ref, body extract.Ref) bool {
	for _, a := range attributes {
		switch c.attributeName(a) {
		case "TestFixture", "TestClass", "SetUpFixture", "Collection":
			return true
		}
	}
	for m := range c.Children(body) {
		if c.Kind(m) != "method_declaration" {
			continue
		}
		var on []extract.Ref
		for k := range c.Children(m) {
			if c.Kind(k) == "attribute_list" {
				for a := range c.Children(k) {
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

// pattern returns the literal that an attribute begins with; ok is false if it begins with
// something else.
func (c *walker) pattern(a extract.Ref) (pattern string, given, ok bool) {
	for arg := range c.Children(c.FirstOf(a, "attribute_argument_list")) {
		if c.Field(arg, "name") != extract.None { // Name = "…"
			continue
		}
		pattern, ok = c.literal(c.Child(arg, 0))
		return pattern, true, ok
	}
	return "", false, true
}

// classRoutes reads the prefixes of a controller.
func (c *walker) classRoutes(attributes []extract.Ref, in uint32, class string, s *state) {
	s.controller = strings.HasSuffix(class, "Controller")
	for _, a := range attributes {
		switch c.attributeName(a) {
		case "ApiController", "Controller":
			s.controller = true
		case "Route":
			s.controller = true
			if p, given, ok := c.pattern(a); given && ok {
				c.AddRoute(&recountv1.RouteFact{
					Group: true, Method: "ANY", Pattern: extract.Slashed(withController(p, class)), Handler: class, Framework: "aspnetcore", In: in,
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

// methodRoutes reads the routes that the attributes of an action give it. A pattern that begins
// with / or ~/ has no prefix.
func (c *walker) methodRoutes(attributes []extract.Ref, in uint32, method string, s state) {
	class := c.Decl(s.class)
	if class == nil || !s.controller {
		return
	}
	var verbs []extract.Ref
	patterns := []string{}
	at := extract.None
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
	add := func(verb, pattern string, at extract.Ref) {
		r := &recountv1.RouteFact{Method: verb, Router: class.Name, Framework: "aspnetcore", In: in}
		pattern = strings.ReplaceAll(withController(pattern, class.Name), "[action]", method)
		if strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~/") {
			r.Router = ""
		}
		r.Pattern = extract.Slashed(strings.TrimPrefix(pattern, "~"))
		c.AddRoute(r, at)
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
	if len(verbs) == 0 && at != extract.None {
		for _, p := range patterns {
			add("ANY", p, at)
		}
	}
}

var mapVerbs = map[string]string{
	"MapGet": "GET", "MapPost": "POST", "MapPut": "PUT", "MapDelete": "DELETE", "MapPatch": "PATCH", "Map": "ANY",
}

// mapRoute reads the calls that register routes: app.MapGet("/x", Handler).
func (c *walker) mapRoute(n extract.Ref, path string, args extract.Ref, s state) {
	router, name := extract.SplitLast(path)
	verb := mapVerbs[name]
	pattern, ok := c.literal(c.Child(c.Child(args, 0), 0))
	handler := c.Child(c.Child(args, 1), 0)
	if verb == "" || router == "" || !ok || handler == extract.None {
		return
	}
	pattern = extract.Slashed(pattern)
	for on := c.Field(c.Field(n, "function"), "expression"); c.Kind(on) == "invocation_expression"; {
		fn := c.Field(on, "function")
		if p, ok := c.groupPattern(on); ok { // app.MapGroup("/v1").MapGet(…)
			pattern = p + pattern
		}
		on = c.Field(fn, "expression")
		router = c.path(on, s)
	}
	r := &recountv1.RouteFact{Method: verb, Pattern: pattern, Router: router, Framework: "aspnetcore", In: s.in}
	if k := c.Kind(handler); k != "lambda_expression" && k != "anonymous_method_expression" {
		r.Handler = extract.KnownPath(c.path(handler, s))
	}
	c.AddRoute(r, n)
}

// groupPattern returns the pattern of a call of MapGroup.
func (c *walker) groupPattern(call extract.Ref) (string, bool) {
	fn := c.Field(call, "function")
	if c.Kind(call) != "invocation_expression" || c.Text(c.Field(fn, "name")) != "MapGroup" {
		return "", false
	}
	p, ok := c.literal(c.Child(c.Child(c.Field(call, "arguments"), 0), 0))
	return extract.Slashed(p), ok
}

// mapGroup reads `var users = app.MapGroup("/users")`.
func (c *walker) mapGroup(name string, value extract.Ref, s state) {
	pattern, found := "", false
	on := value
	for c.Kind(on) == "invocation_expression" {
		if p, ok := c.groupPattern(on); ok {
			pattern, found = p+pattern, true
		}
		on = c.Field(c.Field(on, "function"), "expression")
	}
	if !found {
		return
	}
	c.AddRoute(&recountv1.RouteFact{
		Group: true, Method: "ANY", Pattern: pattern, Handler: name, Router: extract.KnownPath(c.path(on, s)), Framework: "aspnetcore", In: s.in,
	}, value)
}
