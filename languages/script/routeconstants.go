package script

import (
	"regexp"
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
		text = j.spelled(text, s)
		if of, name := extract.SplitLast(target); name == "autoPrefix" || target == "autoPrefix" {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "auto", Handler: of, Pattern: text, Framework: "fastify"}, value)
		}
		if ok && len(text) < 256 && !strings.Contains(text, "${") && (strings.HasPrefix(text, "/") || (j.framework != "" || ofPaths(target)) && !strings.ContainsAny(text, " \n") || isPart(target, text)) {
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

// spelled returns a text with the constants of the file that it names replaced by theirs: `${API_ROOT}/v2`.
func (j *walker) spelled(text string, s state) string {
	type place struct {
		name  string
		depth int
	}
	known := map[place]string{} // constants may name others many times: each is read once at a depth
	var spell func(text string, depth int) string
	spell = func(text string, depth int) string {
		if !strings.Contains(text, "${") || depth > maxConstantDepth {
			return text
		}
		all, ok := scope.Expand(text, func(name string) (string, bool) {
			of, found := known[place{name, depth}]
			if !found {
				if text, ok := j.pattern(j.setOnce(name), s); ok {
					of = spell(text, depth+1)
				} else {
					of = "${" // no text
				}
				known[place{name, depth}] = of
			}
			return of, !strings.Contains(of, "${")
		})
		if !ok {
			return text
		}
		return all
	}
	return spell(text, 0)
}

// part matches a short text that may be a part of a path, and version one that is a version.
var (
	part    = regexp.MustCompile(`^[a-z][a-z0-9_:./-]{0,31}$`)
	version = regexp.MustCompile(`^v[0-9]+(\.[0-9]+)?$`)
)

// isPart reports whether a text may be a part of a path although its file uses no framework: that of a constant by its
// name (STARS), or a version.
func isPart(target, text string) bool {
	name := target[strings.LastIndexByte(target, '.')+1:]
	if version.MatchString(text) {
		return true
	}
	if name != strings.ToUpper(name) || !part.MatchString(text) {
		return false
	}
	for _, secret := range [...]string{"KEY", "SECRET", "TOKEN", "PASS"} {
		if strings.Contains(name, secret) {
			return false
		}
	}
	return true
}
