package csharp

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
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

// text returns the text of an expression, with ${PATH} for what is no literal. ok is false if it can
// be no text.
func (c *walker) text(n extract.Ref) (text string, ok bool) {
	if is := c.meant(n); is != n {
		return c.literal(is)
	}
	switch c.Kind(n) {
	case "identifier", "member_access_expression":
		if full := c.Text(n); full == "string.Empty" || full == "String.Empty" {
			return "", true
		}
		return "${" + extract.Compact(c.Text(n)) + "}", true
	case "invocation_expression":
		return "${}", true
	case "parenthesized_expression":
		return c.text(c.Child(n, 0))
	case "interpolated_string_expression":
		for k := range c.Children(n) {
			switch c.Kind(k) {
			case "interpolation":
				inner := ""
				for of := range c.Children(k) {
					if c.Kind(of) != "interpolation_brace" && inner == "" {
						inner, _ = c.text(of)
					}
				}
				text += extract.FirstOf(inner, "${}")
			case "string_content", "string_literal_content", "interpolated_string_text":
				text += c.Text(k)
			}
		}
		return text, true
	case "binary_expression":
		left, ok := c.text(c.Field(n, "left"))
		right, also := c.text(c.Field(n, "right"))
		return left + right, ok && also && c.Text(c.Field(n, "operator")) == "+"
	}
	return c.literal(n)
}

// textConstant notes the text of a constant.
func (c *walker) textConstant(name string, value extract.Ref, in uint32) {
	if text, ok := c.text(value); ok && len(text) < 256 && !strings.ContainsAny(text, " \n") && !strings.HasPrefix(text, "${}") {
		c.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Handler: name, Pattern: text, In: in}, value)
	}
}

// setting returns the name that a declaration or an assignment sets, and the value.
func (c *walker) setting(n extract.Ref) (string, extract.Ref) {
	switch c.Kind(n) {
	case "variable_declarator":
		return c.Text(c.Field(n, "name")), c.valueOf(n)
	case "assignment_expression":
		return c.Text(c.Field(n, "left")), c.Field(n, "right")
	}
	return "", extract.None
}

// pattern returns the text that an attribute begins with, or that its argument of a name has.
func (c *walker) pattern(a extract.Ref, named string) (pattern string, given bool) {
	for arg := range c.Children(c.FirstOf(a, "attribute_argument_list")) {
		value := c.Child(arg, 0)
		name := c.Field(arg, "name")
		if c.Kind(value) == "assignment_expression" { // Route = "/x"
			name, value = c.Field(value, "left"), c.Field(value, "right")
		}
		if name == extract.None && named == "" || named != "" && c.Text(name) == named {
			return c.text(value)
		}
	}
	return "", false
}

// classRoutes reads the prefixes of a controller. Tokens like [controller] are left for the
// resolver, because a base's are replaced by the names of the classes below it.
func (c *walker) classRoutes(attributes []extract.Ref, in uint32, class string, s *state) {
	s.controller = strings.HasSuffix(class, "Controller") || c.extendsController(in)
	area := ""
	for _, a := range attributes {
		if c.attributeName(a) == "Area" {
			area, _ = c.pattern(a, "")
		}
	}
	for _, a := range attributes {
		switch c.attributeName(a) {
		case "ApiController", "Controller":
			s.controller = true
		case "Route":
			s.controller, s.routed = true, true
			if p, given := c.pattern(a, ""); given {
				c.AddRoute(&recountv1.RouteFact{
					Group: true, Role: "class", Method: "ANY", Pattern: strings.ReplaceAll(p, "[area]", "[area="+area+"]"), Handler: class, Framework: "aspnetcore", In: in,
				}, a)
			}
		}
	}
}

// extendsController reports whether the first base of a class is one of controllers, which it has by its name.
func (c *walker) extendsController(class uint32) bool {
	for _, r := range c.Facts.References {
		if r.In == class && (r.Edge == recountv1.EdgeKind_EDGE_KIND_EXTENDS) {
			_, base := extract.SplitLast(extract.Erased(r.Path))
			return strings.HasSuffix(base, "Controller") || base == "ControllerBase"
		}
	}
	return false
}

var csharpVerbs = map[string]string{
	"HttpGet": "GET", "HttpPost": "POST", "HttpPut": "PUT", "HttpDelete": "DELETE", "HttpPatch": "PATCH", "HttpHead": "HEAD", "HttpOptions": "OPTIONS",
}

// methodRoutes reads the routes that the attributes of an action give it. A pattern that begins
// with / or ~/ has no prefix.
func (c *walker) methodRoutes(attributes []extract.Ref, in uint32, name extract.Ref, s state) {
	class, decl := c.Decl(s.class), c.Decl(in)
	if class == nil || !s.controller {
		return
	}
	action := s.routed && decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_METHOD && extract.HasWord(decl.Modifiers, "public") &&
		!extract.HasWord(decl.Modifiers, "static") && !extract.HasWord(decl.Modifiers, "override")
	// verb is an HTTP method, with a pattern of its own if it is given one.
	type verb struct {
		method, pattern string
		given           bool
		at              extract.Ref
	}
	var verbs []verb
	patterns := []string{}
	at := extract.None
	for _, a := range attributes {
		switch name := c.attributeName(a); {
		case csharpVerbs[name] != "":
			p, given := c.pattern(a, "")
			verbs = append(verbs, verb{csharpVerbs[name], p, given, a})
		case name == "AcceptVerbs":
			p, given := c.pattern(a, "Route")
			for arg := range c.Children(c.FirstOf(a, "attribute_argument_list")) {
				if m, ok := c.literal(c.Child(arg, 0)); ok && c.Field(arg, "name") == extract.None {
					verbs = append(verbs, verb{strings.ToUpper(m), p, given, a})
				}
			}
		case name == "Route":
			if p, given := c.pattern(a, ""); given {
				patterns, at = append(patterns, p), a
			}
		case name == "NonAction":
			action = false
		case name == "ActionName":
			if p, given := c.pattern(a, ""); given {
				c.AddRoute(&recountv1.RouteFact{Group: true, Role: "named", Pattern: p, Framework: "aspnetcore", In: in}, a)
			}
		}
	}
	// add leaves the tokens to the resolver. A conventional action has the path of its controller, or one that MapControllerRoute gives it.
	add := func(role, verb, pattern string, at extract.Ref) {
		r := &recountv1.RouteFact{Role: role, Method: verb, Router: class.Name, Framework: "aspnetcore", In: in}
		rooted := strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~/")
		switch {
		case rooted && !strings.Contains(pattern, "["):
			r.Router = ""
		case (rooted || strings.HasPrefix(pattern, "$")) && role == "":
			r.Role = scope.TemplateRole
		}
		r.Pattern = strings.TrimPrefix(pattern, "~")
		c.AddRoute(r, at)
	}
	for _, v := range verbs {
		switch {
		case len(patterns) == 0 && !v.given:
			add("conventional", v.method, "", v.at)
		case v.given:
			add("", v.method, v.pattern, v.at)
		default:
			for _, p := range patterns {
				add("", v.method, p, v.at)
			}
		}
	}
	if len(verbs) == 0 && at == extract.None && action { // any public method is an action
		add("", "ANY", "", name)
	}
	if len(verbs) == 0 && at != extract.None {
		for _, p := range patterns {
			add("", "ANY", p, at)
		}
	}
}

var mapVerbs = map[string]string{
	"MapGet": "GET", "MapPost": "POST", "MapPut": "PUT", "MapDelete": "DELETE", "MapPatch": "PATCH", "Map": "ANY", "MapMethods": "",
}

// grouped returns the path that a chain of calls begins with, and the pattern that MapGroup in it
// gives; found reports whether it has one.
func (c *walker) grouped(on extract.Ref, s state) (router, pattern string, found bool) {
	for c.Kind(on) == "invocation_expression" {
		fn := c.Field(on, "function")
		switch c.Text(c.Field(fn, "name")) {
		case "MapGroup":
			p, _ := c.text(c.Child(c.Child(c.Field(on, "arguments"), 0), 0))
			pattern, found = strings.TrimSuffix(p, "/")+slash(pattern), true
		case "NewVersionedApi": // a group of Asp.Versioning, whose paths say the version if they have one
			found = true
		}
		on = c.Field(fn, "expression")
	}
	return c.path(on, s), pattern, found
}

func slash(pattern string) string {
	if pattern == "" {
		return ""
	}
	return "/" + strings.TrimPrefix(pattern, "/")
}

// mapRoute reads the calls that register routes: app.MapGet("/x", Handler).
func (c *walker) mapRoute(n extract.Ref, path string, args extract.Ref, s state) {
	before := len(c.Facts.Routes)
	for _, c.round = range c.rounds(n) {
		c.mapped(n, path, args, s)
	}
	c.round = nil
	c.UniqueRoutes(before)
}

// mapped reads a call in one round of the loops around it.
func (c *walker) mapped(n extract.Ref, path string, args extract.Ref, s state) {
	_, name := extract.SplitLast(path)
	on := c.Field(c.Field(n, "function"), "expression")
	method, isMap := mapVerbs[name]
	pattern, ok := c.text(c.Child(c.Child(args, 0), 0))
	handler := c.meant(c.Child(c.Child(args, 1), 0))
	router, before, found := c.grouped(on, s)
	if name == "MapControllerRoute" || name == "MapAreaControllerRoute" {
		c.controllerRoute(n, args, s)
		return
	}
	if !isMap {
		if name != "MapGroup" {
			c.given(n, args, s)
		}
		if found && name != "MapGroup" && c.Kind(on) == "invocation_expression" { // app.MapGroup("/x").MapOrders()
			c.AddRoute(&recountv1.RouteFact{
				Group: true, Role: "below", Method: "ANY", Pattern: before, Handler: c.path(on, s), Router: router, Framework: "aspnetcore", In: s.in,
			}, c.Field(c.Field(n, "function"), "name"))
		}
		return
	}
	if on == extract.None || !ok || handler == extract.None || c.Kind(on) == "invocation_expression" && !found {
		return
	}
	methods := []string{method}
	if name == "MapMethods" {
		methods = c.httpMethods(handler, 0)
		if len(methods) == 0 {
			methods = []string{"ANY"}
		}
		if handler = c.Child(c.Child(args, 2), 0); handler == extract.None {
			return
		}
	}
	if c.inEndpoints(n) {
		router = ""
	}
	r := extract.Unknown
	if k := c.Kind(handler); k != "lambda_expression" && k != "anonymous_method_expression" {
		r = c.path(handler, s)
	}
	if before != "" {
		pattern = strings.TrimSuffix(before, "/") + slash(pattern)
	}
	for _, m := range methods {
		c.AddRoute(&recountv1.RouteFact{Method: m, Pattern: pattern, Router: router, Handler: r, Framework: "aspnetcore", In: s.in}, n)
	}
}

// given notes the texts that a call passes to a method, which may be paths there: app.MapOrders("/orders").
func (c *walker) given(n, args extract.Ref, s state) {
	i := 0
	for arg := range c.Children(args) {
		if text, ok := c.literal(c.Child(arg, 0)); ok && strings.HasPrefix(text, "/") && len(text) < 128 && c.Field(arg, "name") == extract.None {
			c.AddRoute(&recountv1.RouteFact{Group: true, Role: "given", Method: strconv.Itoa(i), Pattern: text, In: s.in}, c.calleeName(c.Field(n, "function")))
		}
		i++
	}
}

// maxLists limits the lists of HTTP methods that are part of each other.
const maxLists = 4

// httpMethods returns the HTTP methods in a list: literals, HttpMethods.Get, HttpMethod.Get.Method, and those of the
// variables that are lists of them.
func (c *walker) httpMethods(n extract.Ref, depth int) (all []string) {
	if n == extract.None || depth > maxLists {
		return nil
	}
	if text, ok := c.literal(c.meant(n)); ok {
		return []string{strings.ToUpper(text)}
	}
	switch c.Kind(n) {
	case "member_access_expression":
		path := strings.TrimSuffix(extract.Compact(c.Text(n)), ".Method")
		if of, name := extract.SplitLast(path); strings.HasSuffix(of, "HttpMethods") || strings.HasSuffix(of, "HttpMethod") {
			return []string{strings.ToUpper(name)}
		}
		return nil
	case "identifier":
		return c.httpMethods(c.assigned(n), depth+1)
	}
	for k := range c.Children(n) {
		all = append(all, c.httpMethods(k, depth)...)
	}
	return all
}

// assigned returns the value that a variable of the functions around a node, or a field, is declared with.
func (c *walker) assigned(name extract.Ref) extract.Ref {
	for at := c.Parent(name); at != extract.None; at = c.Parent(at) {
		if k := c.Kind(at); k != "block" && k != "compilation_unit" && k != "declaration_list" {
			continue
		}
		for statement := range c.Children(at) {
			if c.Kind(statement) == "global_statement" {
				statement = c.Child(statement, 0)
			}
			of := c.FirstOf(c.FirstOf(statement, "variable_declaration"), "variable_declarator")
			if of != extract.None && c.Text(c.Field(of, "name")) == c.Text(name) {
				last := extract.None
				for k := range c.Children(of) {
					last = k
				}
				return last
			}
		}
	}
	return extract.None
}

// inEndpoints reports whether a node is in a function that is passed to UseEndpoints, whose parameter
// is the application.
func (c *walker) inEndpoints(n extract.Ref) bool {
	for at := c.Parent(n); at > 0; at = c.Parent(at) {
		if c.Kind(at) == "invocation_expression" && c.Text(c.Field(c.Field(at, "function"), "name")) == "UseEndpoints" {
			return true
		}
	}
	return false
}

// mapGroup reads `var users = app.MapGroup("/users")`, and `var app = builder.Build()`.
func (c *walker) mapGroup(name string, value extract.Ref, s state) {
	fn := c.Field(value, "function")
	if c.Kind(value) == "await_expression" {
		fn = c.Field(c.Child(value, 0), "function")
	}
	switch full := extract.Compact(c.Text(fn)); {
	case strings.HasSuffix(full, ".Build") && (bytes.Contains(c.Src, []byte("WebApplication.Create")) || bytes.Contains(c.Src, []byte("WebApplicationBuilder"))), strings.HasSuffix(full, "WebApplication.Create"):
		c.AddRoute(&recountv1.RouteFact{Group: true, Role: "root", Method: "ANY", Handler: name, Framework: "aspnetcore", In: s.in}, value)
		return
	}
	if router, pattern, found := c.grouped(value, s); found {
		c.AddRoute(&recountv1.RouteFact{
			Group: true, Role: "below", Method: "ANY", Pattern: pattern, Handler: name, Router: router, Framework: "aspnetcore", In: s.in,
		}, value)
	}
}

// named returns an argument by its name, or by its place if it has none.
func (c *walker) named(args extract.Ref, name string, place int) extract.Ref {
	i := 0
	for arg := range c.Children(args) {
		of := c.Field(arg, "name")
		if of != extract.None && c.Text(of) == name {
			last := extract.None
			for k := range c.Children(arg) {
				last = k
			}
			return last
		}
		if of == extract.None && i == place {
			return c.Child(arg, 0)
		}
		i++
	}
	return extract.None
}

// conventional matches what names the action of a conventional route.
var conventional = regexp.MustCompile(`\b(controller|action)\s*=\s*"([^"]+)"`)

// controllerRoute reads a conventional route that names its action: MapControllerRoute(name, "files/{id}", defaults:
// new { controller = "Package", action = "File" }). One whose controller or action is a part of the path has none to
// list.
func (c *walker) controllerRoute(n, args extract.Ref, s state) {
	pattern, ok := c.text(c.named(args, "pattern", 1))
	controller, action := "", ""
	for _, m := range conventional.FindAllStringSubmatch(c.Text(c.named(args, "defaults", 2)), -1) {
		if m[1] == "controller" {
			controller = m[2]
		} else {
			action = m[2]
		}
	}
	if !ok || controller == "" || action == "" || strings.Contains(pattern, "{controller") || strings.Contains(pattern, "{action") {
		return
	}
	methods := []string{"ANY"}
	if constraints := c.named(args, "constraints", 3); strings.Contains(c.Text(constraints), "HttpMethodRouteConstraint") {
		if only := c.httpMethods(constraints, 0); len(only) > 0 {
			methods = only
		}
	}
	for _, m := range methods {
		c.AddRoute(&recountv1.RouteFact{Method: m, Pattern: "/" + strings.TrimPrefix(pattern, "/"), Handler: controller + "Controller." + action, Framework: "aspnetcore", In: s.in}, n)
	}
}
