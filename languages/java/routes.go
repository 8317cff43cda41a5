package java

import (
	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// name returns the name of an annotation without its package.
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

// patterns returns the patterns of a mapping, "" if it has none. ok is false if one is no
// literal.
func (j *walker) patterns(a extract.Ref) (all []string, ok bool) {
	values := append(j.each(j.attribute(a, "value")), j.each(j.attribute(a, "path"))...)
	if len(values) == 0 {
		return []string{""}, true
	}
	for _, v := range values {
		p, literal := j.literal(v)
		if !literal {
			return nil, false
		}
		all = append(all, extract.Slashed(p))
	}
	return all, true
}

// classRoutes reads what the annotations of a class say about the routes of its methods.
func (j *walker) classRoutes(annotations []extract.Ref, in uint32, class string, s *state) {
	prefixes := []string{}
	at := extract.None
	for _, a := range annotations {
		switch j.annotationName(a) {
		case "RestController", "Controller":
			s.controller, s.framework = true, "spring"
		case "FeignClient":
			s.client = true
			s.prefix, _ = j.literal(j.attribute(a, "path"))
			s.prefix = extract.Slashed(s.prefix)
		case "RequestMapping", "HttpExchange":
			s.framework = extract.FirstOf(s.framework, "spring")
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
	if s.client || at == extract.None {
		return
	}
	for _, p := range prefixes {
		j.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: p, Handler: class, Framework: s.framework, In: in}, at)
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

// methodRoutes reads the routes that the annotations of a method give it, or the requests that it
// makes.
func (j *walker) methodRoutes(annotations []extract.Ref, in uint32, s state) {
	var methods, patterns []string
	framework, at := "", extract.None
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
				_, word := extract.SplitLast(extract.Compact(j.Text(m)))
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
	if at == extract.None || !ok {
		return
	}
	if len(patterns) == 0 {
		patterns = []string{""}
	}
	class := j.Decl(s.class)
	for _, m := range methods {
		for _, p := range patterns {
			switch {
			case s.client:
				r := j.Refer(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, in, j.annotationName(at), j.typeName(j.Field(at, "name")))
				r.Attributes = map[string]string{"method": m, "url": extract.Clip(s.prefix+p, extract.MaxValue)}
			case class != nil:
				j.AddRoute(&recountv1.RouteFact{Method: m, Pattern: p, Router: class.Name, Framework: framework, In: in}, at)
			}
		}
	}
}
