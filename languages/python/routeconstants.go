package python

import (
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// unlessSet returns the value that os.getenv("BASE_PATH", "/x") has if the environment does not say another, no
// node if an expression is none such.
func (p *walker) unlessSet(n extract.Ref, s state) extract.Ref {
	switch p.Kind(n) {
	case "boolean_operator":
		if p.Text(p.Field(n, "operator")) == "or" && p.readsEnvironment(p.Field(n, "left"), s) {
			return p.Field(n, "right")
		}
	case "call":
		if p.readsEnvironment(n, s) {
			return p.argument(p.Field(n, "arguments"), 1, "default")
		}
		// os.getenv("BASE_PATH", "").rstrip("/")
		if f := p.Field(n, "function"); p.Kind(f) == "attribute" && strings.Contains(p.Text(p.Field(f, "attribute")), "strip") {
			return p.unlessSet(p.Field(f, "object"), s)
		}
	}
	return extract.None
}

// readsEnvironment reports whether a call reads a variable of the environment.
func (p *walker) readsEnvironment(n extract.Ref, s state) bool {
	if p.Kind(n) != "call" {
		return false
	}
	switch p.known.Canonical(p.path(p.Field(n, "function"), s)) {
	case "os.getenv", "os.environ.get":
		return true
	}
	return false
}

// isEnum reports whether a class is an enumeration, whose members are texts.
func (p *walker) isEnum(class extract.Ref, s state) bool {
	for base := range p.Children(p.Field(class, "superclasses")) {
		if name := p.path(base, s); name == "Enum" || name == "StrEnum" || strings.HasSuffix(name, ".Enum") || strings.HasSuffix(name, ".StrEnum") {
			return true
		}
	}
	return false
}

// verbList returns the HTTP methods that a view of Flask has for all of its requests: methods = ["GET", "POST"].
func (p *walker) verbList(target string, value extract.Ref, s state) string {
	flask := target == "methods" && (p.framework == "flask" || p.framework == "quart")
	django := target == "http_method_names" && p.framework == "django"
	if k := p.Kind(value); !flask && !django || !s.class || k != "list" && k != "tuple" && k != "set" {
		return ""
	}
	var all []string
	for c := range p.Children(value) {
		if m, ok := p.literal(c); ok {
			all = append(all, strings.ToUpper(m))
		}
	}
	return strings.Join(all, ",")
}

// registering has the methods of routers and views that take texts of their own.
var registering = scope.WordSet("route get post put delete patch head options websocket view as_view")

// given notes the texts that a call passes to a function, which may be paths there: register(app, "/users").
func (p *walker) given(path string, args extract.Ref, n extract.Ref, s state) {
	full := p.known.Canonical(path)
	module, name := extract.SplitLast(full)
	if frameworkOf(module) != "" || makers[name].role != "" || extract.Root(path) != path && full == path || registering[name] {
		return
	}
	if p.framework == "" || path == extract.Unknown || strings.ContainsAny(path, "([?") {
		return
	}
	i := 0
	for c := range p.Children(args) {
		at, value := strconv.Itoa(i), c
		if p.Kind(c) == "keyword_argument" {
			at, value = p.Text(p.Field(c, "name")), p.Field(c, "value")
		} else {
			i++
		}
		if text, ok := p.literal(value); ok && len(text) < 128 && !strings.ContainsAny(text, " \n{}") {
			p.AddRoute(&recountv1.RouteFact{Group: true, Role: "given", Method: at, Handler: path, Pattern: text, In: s.in}, n)
		}
	}
}

// optionalText notes that a parameter has a text of its own if a call passes none.
func (p *walker) optionalText(name string, value extract.Ref, in uint32) {
	if text, ok := p.literal(value); ok && p.framework != "" {
		r := &recountv1.RouteFact{Group: true, Role: "optional", Handler: name, In: in}
		if len(text) < 128 && !strings.ContainsAny(text, " \n{}") {
			r.Pattern = text
		}
		p.AddRoute(r, value)
	}
}

// conditional reports whether an expression is in a branch of an if statement.
func (p *walker) conditional(n extract.Ref) bool {
	for ; n > 0; n = p.Parent(n) {
		switch p.Kind(n) {
		case "if_statement", "elif_clause", "else_clause":
			return true
		case "function_definition", "class_definition":
			return false
		}
	}
	return false
}

// assignedRoutes reads the lists of routes that an assignment joins, constants, and Django's
// ROOT_URLCONF.
func (p *walker) assignedRoutes(left, right extract.Ref, more bool, s state) {
	target := p.path(left, s)
	if target == extract.Unknown {
		return
	}
	if class, made := strings.CutSuffix(p.path(right, s), ".as_view()"); made && p.Kind(right) == "call" && extract.Root(target) == target {
		var serves []string // of a view set: "GET list"
		_, methods := p.actions(right, s)
		for _, m := range methods {
			serves = append(serves, m[0]+" "+m[1])
		}
		p.AddRoute(&recountv1.RouteFact{Group: true, Role: "viewed", Method: strings.Join(serves, ","), Handler: target, Router: class, In: s.in}, right)
		return
	}
	text, ok := p.literal(right)
	method := ""
	if of := p.unlessSet(right, s); of != extract.None {
		if text, ok = p.literal(of); ok && text == "" || strings.HasPrefix(text, "/") {
			method = scope.UnlessSet
		}
	} else if ok && text == "" && p.framework != "" && !p.conditional(right) {
		method = scope.UnlessSet
	}
	if verbs := p.verbList(target, right, s); verbs != "" {
		p.AddRoute(&recountv1.RouteFact{Group: true, Role: "verbs", Method: verbs, In: s.in}, right)
		return
	}
	if ok {
		switch {
		case target == "ROOT_URLCONF" && extract.IsDotted(text):
			p.AddRoute(&recountv1.RouteFact{
				Group: true, Method: "ANY", Handler: p.InlineImport(s.in, text, right) + ".urlpatterns", Framework: "django", In: s.in,
			}, right)
		case method != "":
			p.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Method: method, Handler: target, Pattern: text, In: s.in}, right)
		case len(text) < 256 && !strings.Contains(text, "{}") && (strings.HasPrefix(text, "/") || (p.framework != "" || s.enum) && !strings.ContainsAny(text, " \n")):
			p.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Handler: target, Pattern: text, In: s.in}, right)
		}
		return
	}
	p.routings(target, right, s)
	if p.framework != "django" && p.framework != "starlette" && p.framework != "tornado" {
		return
	}
	var joined func(n extract.Ref)
	joined = func(n extract.Ref) {
		switch p.Kind(n) {
		case "binary_operator":
			joined(p.Field(n, "left"))
			joined(p.Field(n, "right"))
		case "list":
			for c := range p.Children(n) {
				if p.Kind(c) == "list_splat" {
					joined(p.Child(c, 0))
				} else if of := p.Field(c, "object"); p.Kind(of) == "list_splat" { // [*router.urls]
					p.list(target, c, s)
					p.mount(target, "", p.Child(of, 0), p.framework, c, s)
				}
			}
		case "identifier", "attribute":
			if more || n != right {
				p.list(target, n, s)
				p.mount(target, "", n, p.framework, n, s)
			}
		}
	}
	joined(right)
}
