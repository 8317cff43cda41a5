package python

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Tornado has its routes in lists that an Application is given, all below no prefix: (r"/x", Handler), url(r"/x",
// Handler), URLSpec(r"/x", Handler) and Rule(PathMatches(r"/x"), Handler).

// tornadoHandlers has what the handlers of Tornado itself serve, "" where that is no route.
var tornadoHandlers = map[string]string{"RedirectHandler": "GET", "StaticFileHandler": "GET", "FallbackHandler": "ANY", "ErrorHandler": ""}

// servesRules reports whether a call takes a list of rules that are served below no prefix: one of Application, of a
// router of rules, of add_handlers, or of the constructor of a base that is an Application.
func (p *walker) servesRules(call extract.Ref, s state) bool {
	callee := p.path(p.Field(call, "function"), s)
	on, name := extract.SplitLast(callee)
	module, made := extract.SplitLast(p.known.Canonical(callee))
	switch {
	case name == "add_handlers":
		return on != ""
	case p.framework != "tornado":
		return false
	case made == "RuleRouter" || made == "ReversibleRuleRouter":
		return true
	case made == "Application" || strings.HasSuffix(made, "Application"):
		return frameworkOf(module) == "" || frameworkOf(module) == "tornado"
	case name == "__init__":
		return strings.HasSuffix(on, "Application") || strings.HasPrefix(on, "super") && p.inApplication(call)
	}
	return false
}

// inApplication reports whether the class around a node has a base that is an Application by its name.
func (p *walker) inApplication(n extract.Ref) bool {
	for ; n > 0; n = p.Parent(n) {
		if p.Kind(n) != "class_definition" {
			continue
		}
		for base := range p.Children(p.Field(n, "superclasses")) {
			if strings.HasSuffix(p.Text(base), "Application") {
				return true
			}
		}
		return false
	}
	return false
}

// rules mounts the lists that a call serves and that other expressions name.
func (p *walker) rules(call, args extract.Ref, s state) {
	if !p.servesRules(call, s) {
		return
	}
	place := 0
	switch _, name := extract.SplitLast(p.path(p.Field(call, "function"), s)); {
	case name == "add_handlers":
		place = 1
	case name == "__init__" && !strings.HasPrefix(p.path(p.Field(call, "function"), s), "super"):
		place = 1 // Application.__init__(self, handlers)
	}
	p.served(extract.FirstRef(p.argument(args, place, "handlers"), p.argument(args, -1, "host_handlers")), call, s, 0)
}

// served mounts the lists that are joined in an expression.
func (p *walker) served(n, call extract.Ref, s state, depth int) {
	switch p.Kind(n) {
	case "binary_operator":
		if depth < maxNested {
			p.served(p.Field(n, "left"), call, s, depth+1)
			p.served(p.Field(n, "right"), call, s, depth+1)
		}
	case "list":
		for c := range p.Children(n) {
			if p.Kind(c) == "list_splat" {
				p.served(p.Child(c, 0), call, s, depth+1)
			}
		}
	case "parenthesized_expression":
		p.served(p.Child(n, 0), call, s, depth)
	case "identifier", "attribute", "call":
		if h := p.routePath(n, s); h != extract.Unknown {
			p.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Handler: h, Framework: "tornado", In: s.in}, call)
		}
	}
}

// rule reads a tuple or a call that is a rule of Tornado, by its two first parts.
func (p *walker) rule(n, path, of extract.Ref, s state) {
	if p.Kind(path) == "call" { // PathMatches(r"/x")
		if name := p.Text(p.lastName(path)); name != "PathMatches" {
			return
		}
		path = p.argument(p.Field(path, "arguments"), 0, "path_pattern")
	}
	pattern, ok := p.pattern(path, s)
	if !ok || pattern == "" || pattern[0] != '/' && pattern[0] != '$' && pattern[0] != '^' && !strings.HasPrefix(pattern, "(") {
		return
	}
	handler := extract.Unknown
	if text, is := p.literal(of); is && extract.IsDotted(text) { // "app.views.Main"
		module, name := extract.SplitLast(text)
		handler = extract.Member(p.InlineImport(s.in, module, of), name)
	} else if k := p.Kind(of); k == "identifier" || k == "attribute" {
		handler = p.routePath(of, s)
	}
	module, name := extract.SplitLast(p.known.Canonical(handler))
	if name == "" || name[0] < 'A' || name[0] > 'Z' {
		return
	}
	r := &recountv1.RouteFact{Role: "view", Method: "ANY", Pattern: ruled(pattern), Handler: handler, Framework: "tornado", In: s.in}
	if method, own := tornadoHandlers[name]; own && (frameworkOf(module) == "tornado" || module == "") {
		if r.Method = method; method == "" {
			return
		}
	}
	var placed bool
	if r.Router, _, placed = p.place(n, s); !placed {
		r.Router = extract.Unknown
	}
	if p.framework != "tornado" {
		if !placed {
			return
		}
		if r.Router != "" { // it is one if Tornado serves the list
			r.Role = "ruled"
		}
	}
	p.AddRoute(r, n)
}

// ruled returns the path that a regular expression of Tornado matches, without its ends and an optional slash.
func ruled(pattern string) string {
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$")
	if before, optional := strings.CutSuffix(pattern, "/?"); optional {
		return before + "/"
	}
	return pattern
}

// tupleRule reads (r"/x", Handler) in a list.
func (p *walker) tupleRule(n extract.Ref, s state) {
	up := p.Parent(n)
	if k := p.Kind(up); k != "list" && !(k == "argument_list" && p.Text(p.lastName(p.Field(p.Parent(up), "function"))) == "append") {
		return
	}
	switch p.framework {
	case "", "tornado":
		p.rule(n, p.Child(n, 0), p.Child(n, 1), s)
	}
}

// callRule reads url(r"/x", Handler), URLSpec(r"/x", Handler) and Rule(PathMatches(r"/x"), Handler).
func (p *walker) callRule(n extract.Ref, path string, args extract.Ref, s state) {
	module, name := extract.SplitLast(p.known.Canonical(path))
	if frameworkOf(module) != "tornado" {
		return
	}
	switch name {
	case "url", "URLSpec":
		p.rule(n, p.argument(args, 0, "pattern"), p.argument(args, 1, "handler"), s)
	case "Rule":
		p.rule(n, p.argument(args, 0, "matcher"), p.argument(args, 1, "target"), s)
	}
}
