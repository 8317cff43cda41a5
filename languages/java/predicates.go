package java

import (
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// prefixed reads which controllers a predicate gives a prefix: those of packages, some by their classes, or all of REST.
// If that is not known, neither is the prefix of any.
func (j *walker) prefixed(n extract.Ref, pattern string, predicate extract.Ref, s state) {
	of, rest, known := j.selected(predicate)
	switch {
	case !known:
		pattern = "${}"
	case len(of) > 0:
		for _, one := range of {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "prefix", Pattern: pattern, Framework: "spring", In: s.in, Handler: one}, n)
		}
		return
	}
	method := "CONTROLLERS"
	if rest {
		method = "REST"
	}
	j.AddRoute(&recountv1.RouteFact{Group: true, Role: "app", Method: method, Pattern: pattern, Framework: "spring", In: s.in}, n)
}

// Predicates that are written as functions.
var (
	annotatedWith = regexp.MustCompile(`^\(?(\w+)\)?->(\w+)\.isAnnotationPresent\((\w+)\.class\)$`)
	inPackage     = regexp.MustCompile(`^\(?(\w+)\)?->(\w+)\.(?:getPackageName\(\)|getPackage\(\)\.getName\(\))\.startsWith\("([\w.]+)"\)$`)
)

// selected returns what a predicate of handlers selects: classes by their names, and packages by scope.OfPackage. If it
// selects none of these, it is all controllers, or those of REST.
func (j *walker) selected(predicate extract.Ref) (of []string, rest, known bool) {
	text := extract.Compact(j.Text(predicate))
	if m := annotatedWith.FindStringSubmatch(text); m != nil && m[1] == m[2] {
		return nil, m[3] == "RestController", m[3] == "RestController" || m[3] == "Controller"
	}
	if m := inPackage.FindStringSubmatch(text); m != nil && m[1] == m[2] {
		return []string{scope.OfPackage + m[3]}, false, true
	}
	var names []string
	annotated := false
	for n := predicate; j.Kind(n) == "method_invocation"; n = j.Field(n, "object") {
		name := j.Text(j.Field(n, "name"))
		names = append(names, name)
		for c := range j.Children(j.Field(n, "arguments")) {
			class, is := strings.CutSuffix(j.Text(c), ".class")
			switch name {
			case "forAssignableType", "assignableType":
			case "forBasePackage", "basePackage":
				if class, is = j.literal(c); is {
					class = scope.OfPackage + class
				}
			case "forBasePackageClass", "basePackageClass":
				class = scope.OfPackageOf + class
			case "forAnnotation", "annotation":
				is = class == "RestController" || class == "Controller"
				annotated, rest, class = true, rest || class == "RestController", ""
			default:
				is = false
			}
			if !is {
				return nil, false, false
			}
			if class != "" {
				of = append(of, class)
			}
		}
	}
	switch last := ""; {
	case len(names) == 0:
		return nil, false, false
	default:
		last = names[len(names)-1]
		if names[0] != last && (last != "builder" || names[0] != "build") {
			return nil, false, false
		}
	}
	if len(names) == 1 && names[0] == "forAnyHandlerType" {
		return nil, false, true
	}
	if annotated && len(of) > 0 || !annotated && len(of) == 0 { // both are selected
		return nil, false, false
	}
	return of, rest, !slices.Contains(names, "and")
}
