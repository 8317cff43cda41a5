package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// name of an annotation, without its package.
func (j *javaFile) annotationName(a ref) string {
	_, name := splitLast(compact(j.text(j.field(a, "name"))))
	return name
}

// isTest reports whether annotations make a method a test of JUnit or TestNG, or
// something that runs with them.
func (j *javaFile) isTest(annotations []ref) bool {
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

// isTestClass reports whether a class holds tests.
func (j *javaFile) isTestClass(n, body ref, annotations []ref) bool {
	for _, a := range annotations {
		switch j.annotationName(a) {
		case "Test", "Nested", "RunWith", "SpringBootTest":
			return true
		}
	}
	if _, base := splitLast(compact(j.text(j.child(j.field(n, "superclass"), 0)))); base == "TestCase" {
		return true
	}
	for c := range j.children(body) {
		if j.kind(c) != "method_declaration" {
			continue
		}
		if on, _, _ := j.annotationsOf(c); j.isTest(on) {
			return true
		}
	}
	return false
}

// attribute is the value of an annotation's element; "value" also where it is not named.
func (j *javaFile) attribute(a ref, name string) ref {
	for c := range j.children(j.field(a, "arguments")) {
		switch {
		case j.kind(c) != "element_value_pair":
			if name == "value" {
				return c
			}
		case j.text(j.field(c, "key")) == name:
			return j.field(c, "value")
		}
	}
	return none
}

// each are an element's values: one, or those of a list.
func (j *javaFile) each(n ref) []ref {
	if j.kind(n) != "element_value_array_initializer" {
		if n == none {
			return nil
		}
		return []ref{n}
	}
	var all []ref
	for c := range j.children(n) {
		all = append(all, c)
	}
	return all
}

// patterns are those of a mapping, "" where it has none; ok is false where one is no
// literal.
func (j *javaFile) patterns(a ref) (all []string, ok bool) {
	values := append(j.each(j.attribute(a, "value")), j.each(j.attribute(a, "path"))...)
	if len(values) == 0 {
		return []string{""}, true
	}
	for _, v := range values {
		p, literal := j.literal(v)
		if !literal {
			return nil, false
		}
		all = append(all, slashed(p))
	}
	return all, true
}

// slashed is a pattern with a slash in front and none behind, as frameworks join them.
func slashed(p string) string {
	p = strings.Trim(p, "/")
	if p == "" {
		return ""
	}
	return "/" + p
}

// classRoutes reads what a class's annotations say of its methods' routes.
func (j *javaFile) classRoutes(annotations []ref, in uint32, class string, s *javaScope) {
	prefixes := []string{}
	at := none
	for _, a := range annotations {
		switch j.annotationName(a) {
		case "RestController", "Controller":
			s.controller, s.framework = true, "spring"
		case "FeignClient":
			s.client = true
			s.prefix, _ = j.literal(j.attribute(a, "path"))
			s.prefix = slashed(s.prefix)
		case "RequestMapping", "HttpExchange":
			s.framework = firstOf(s.framework, "spring")
			prefixes, _ = j.patterns(a)
			s.client = s.client || j.annotationName(a) == "HttpExchange"
			at = a
		case "Path":
			s.controller, s.framework = true, "jax-rs"
			prefixes, _ = j.patterns(a)
			at = a
		}
	}
	if s.client && len(prefixes) > 0 {
		s.prefix += prefixes[0]
	}
	if s.client || at == none {
		return
	}
	for _, p := range prefixes {
		j.addRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: p, Handler: class, Framework: s.framework, In: in}, at)
	}
}

// mappings are Spring's annotations for one method of HTTP, and JAX-RS's.
var (
	springMappings = map[string]string{
		"GetMapping": "GET", "PostMapping": "POST", "PutMapping": "PUT", "DeleteMapping": "DELETE", "PatchMapping": "PATCH",
		"GetExchange": "GET", "PostExchange": "POST", "PutExchange": "PUT", "DeleteExchange": "DELETE", "PatchExchange": "PATCH",
	}
	restMappings = map[string]bool{"GET": true, "POST": true, "PUT": true, "DELETE": true, "PATCH": true, "HEAD": true, "OPTIONS": true}
)

// methodRoutes reads the routes that a method's annotations give it, or the requests
// that it stands for.
func (j *javaFile) methodRoutes(annotations []ref, in uint32, s javaScope) {
	var methods, patterns []string
	framework, at := "", none
	ok := true
	for _, a := range annotations {
		name := j.annotationName(a)
		switch {
		case springMappings[name] != "":
			framework, at = "spring", a
			methods = append(methods, springMappings[name])
			patterns, ok = j.patterns(a)
		case name == "RequestMapping":
			framework, at = "spring", a
			for _, m := range j.each(j.attribute(a, "method")) {
				_, word := splitLast(compact(j.text(m)))
				methods = append(methods, word)
			}
			if len(methods) == 0 {
				methods = []string{"ANY"}
			}
			patterns, ok = j.patterns(a)
		case restMappings[name]:
			framework, at = "jax-rs", a
			methods = append(methods, name)
		case name == "Path" && framework != "spring":
			patterns, ok = j.patterns(a)
		}
	}
	if at == none || !ok {
		return
	}
	if len(patterns) == 0 {
		patterns = []string{""}
	}
	class := j.decl(s.class)
	for _, m := range methods {
		for _, p := range patterns {
			switch {
			case s.client:
				r := j.refer(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, in, j.annotationName(at), j.typeName(j.field(at, "name")))
				r.Attributes = map[string]string{"method": m, "url": clip(s.prefix+p, maxValue)}
			case class != nil:
				j.addRoute(&recountv1.RouteFact{Method: m, Pattern: p, Router: class.Name, Framework: framework, In: in}, at)
			}
		}
	}
}
