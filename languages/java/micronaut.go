package java

import (
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// isMicronaut reports whether the file imports the annotations of Micronaut, some of which have the names of others.
func (j *walker) isMicronaut() bool {
	for _, i := range j.Facts.Imports {
		if strings.HasPrefix(i.Path, "io.micronaut.http.") || strings.HasPrefix(i.Path, "io.micronaut.websocket.") {
			return true
		}
	}
	return false
}

// micronautClass reads @Controller("/x"), @Client("/x") and @ServerWebSocket("/x") of Micronaut, and reports whether a
// class has one of them.
func (j *walker) micronautClass(annotations []extract.Ref, in uint32, class string, s *state) (is bool) {
	if !j.isMicronaut() {
		return false
	}
	for _, a := range annotations {
		switch j.annotationName(a) {
		case "Controller":
			s.framework, is = "micronaut", true
			for _, p := range j.micronautPatterns(a) {
				j.AddRoute(&recountv1.RouteFact{Group: true, Role: "class", Method: "ANY", Pattern: p, Handler: class, Framework: "micronaut", In: in}, a)
			}
		case "Client": // the name of a service, or a URL
			s.client, is = true, true
			if text, ok := j.literal(extract.FirstRef(j.attribute(a, "path"), j.attribute(a, "value"))); ok && strings.Contains(text, "/") {
				s.prefix = strings.TrimSuffix(text, "/")
			}
		case "ServerWebSocket":
			s.framework, is = "micronaut", true
			for _, p := range j.micronautPatterns(a) {
				j.AddRoute(&recountv1.RouteFact{Method: "WEBSOCKET", Pattern: extract.Slashed(p), Framework: "micronaut", In: in}, a)
			}
		}
	}
	return is
}

// micronautMappings are the annotations of Micronaut for one HTTP method.
var micronautMappings = map[string]string{
	"Get": "GET", "Post": "POST", "Put": "PUT", "Delete": "DELETE", "Patch": "PATCH", "Head": "HEAD", "Options": "OPTIONS", "Trace": "TRACE",
}

// micronautMethod returns the HTTP method of a mapping of Micronaut; ok is false for other annotations.
func (j *walker) micronautMethod(a extract.Ref) (method string, ok bool) {
	name := j.annotationName(a)
	if !j.isMicronaut() || micronautMappings[name] == "" && name != "CustomHttpMethod" {
		return "", false
	}
	if name == "CustomHttpMethod" {
		return j.literal(j.attribute(a, "method"))
	}
	return micronautMappings[name], true
}

// inQuery matches what a template says of queries and fragments: {?max,offset}.
var inQuery = regexp.MustCompile(`\{[?&#][^{}]*\}`)

// micronautPatterns returns the templates of a mapping, "" if it has none.
func (j *walker) micronautPatterns(a extract.Ref) (all []string) {
	for _, key := range [...]string{"value", "uri", "uris"} {
		for _, v := range j.each(j.attribute(a, key)) {
			if p, ok := j.pattern(v); ok {
				all = append(all, inQuery.ReplaceAllString(p, ""))
			}
		}
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

// builtRoute reads GET("/x", bean, "method") in a route builder of Micronaut.
func (j *walker) builtRoute(n, args extract.Ref, s state) {
	method := j.Text(j.Field(n, "name"))
	if on := j.Field(n, "object"); !restMappings[method] || on != extract.None && j.Kind(on) != "this" || !j.buildsRoutes(n) {
		return
	}
	pattern, ok := j.pattern(j.Child(args, 0))
	name, named := j.literal(j.Child(args, 2))
	if !ok || !named {
		return
	}
	for at := j.Parent(n); at > 0; at = j.Parent(at) { // GET("/x", …).nest(() -> …)
		if j.Kind(at) == "lambda_expression" {
			pattern = "${}" + extract.Slashed(pattern)
			break
		}
	}
	handler := extract.Unknown
	if bean := j.Child(args, 1); j.Kind(bean) == "class_literal" {
		handler = strings.TrimSuffix(j.Text(bean), ".class") + "." + name
	} else if path := j.path(bean, s); path != extract.Unknown {
		handler = extract.Member(path, name)
	}
	j.AddRoute(&recountv1.RouteFact{Method: method, Pattern: inQuery.ReplaceAllString(pattern, ""), Handler: handler, Framework: "micronaut", In: s.in}, n)
}

// buildsRoutes reports whether the class around a node is a route builder of Micronaut.
func (j *walker) buildsRoutes(n extract.Ref) bool {
	for ; n > 0; n = j.Parent(n) {
		if j.Kind(n) == "class_declaration" {
			_, base := extract.SplitLast(extract.Compact(j.Text(j.Child(j.Field(n, "superclass"), 0))))
			return base == "DefaultRouteBuilder" || base == "AbstractRouteBuilder" || base == "GroovyRouteBuilder"
		}
	}
	return false
}
