package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// unlessSet returns the default value of a setting that the environment may change, as in
// process.env.BASE || '/x', and no node for other expressions.
func (j *walker) unlessSet(n extract.Ref) extract.Ref {
	if op := j.Text(j.Field(n, "operator")); j.Kind(n) == "binary_expression" && (op == "||" || op == "??") {
		if strings.HasPrefix(j.Text(j.Field(n, "left")), "process.env.") {
			return j.Field(n, "right")
		}
	}
	return extract.None
}

// maxConstantDepth limits how deep in an object a constant may be: config.api.prefix.
const maxConstantDepth = 3

// constants notes the texts that a declarator gives names.
func (j *walker) constants(target string, value extract.Ref, s state) {
	if target == extract.Unknown || s.inline {
		return
	}
	if j.Kind(value) == "as_expression" || j.Kind(value) == "satisfies_expression" {
		value = j.Child(value, 0)
	}
	switch j.Kind(value) {
	case "object":
		for c := range j.Children(value) {
			if name := j.propertyName(j.Field(c, "key")); j.Kind(c) == "pair" && name != "" && strings.Count(target, ".") < maxConstantDepth {
				j.constants(extract.Member(target, name), j.Field(c, "value"), s)
			}
		}
	case "number": // a version: `/v${VERSION}`
		if j.framework != "" {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Handler: target, Pattern: j.Text(value), In: s.in}, value)
		}
	case "string", "template_string", "binary_expression":
		if of := j.unlessSet(value); of != extract.None {
			if text, ok := j.pattern(of, s); ok && len(text) < 256 && !strings.Contains(text, "${") && (text == "" || strings.HasPrefix(text, "/")) {
				j.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Method: scope.UnlessSet, Handler: target, Pattern: text, In: s.in}, value)
			}
			return
		}
		text, ok := j.pattern(value, s)
		if of, name := extract.SplitLast(target); name == "autoPrefix" || target == "autoPrefix" {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "auto", Handler: of, Pattern: text, Framework: "fastify"}, value)
		}
		if ok && len(text) < 256 && !strings.Contains(text, "${") && (strings.HasPrefix(text, "/") || (j.framework != "" || ofPaths(target)) && !strings.ContainsAny(text, " \n")) {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Handler: target, Pattern: text, In: s.in}, value)
		}
	}
}

// ofPaths reports whether the members of an object are paths by its name: ROUTES.users.
func ofPaths(target string) bool {
	name, _, member := strings.Cut(target, ".")
	name = strings.ToLower(name)
	for _, word := range [...]string{"route", "path", "url", "endpoint", "prefix"} {
		if member && strings.Contains(name, word) {
			return true
		}
	}
	return false
}
