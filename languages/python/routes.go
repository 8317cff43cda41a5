package python

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// frameworkOf returns the framework that a module belongs to, "" if to none.
func frameworkOf(module string) string {
	switch name := extract.Root(module); name {
	case "flask", "fastapi", "django", "quart", "starlette", "sanic", "aiohttp", "tornado", "falcon", "bottle", "litestar":
		return name
	case "starlite":
		return "litestar"
	case "rest_framework":
		return "django"
	case "flask_smorest", "flask_restx", "flask_restplus":
		return "flask"
	}
	return ""
}

// webFramework returns the first known framework that the file imports. aiohttp and Tornado, which are clients, too, are
// the last unless their servers are imported; a file that sets urlpatterns is one of Django.
func (p *walker) webFramework() string {
	client := ""
	for i := range p.Nodes {
		n := extract.Ref(i)
		module := extract.None
		switch p.Kind(n) {
		case "assignment":
			if client == "" && p.Text(p.Field(n, "left")) == "urlpatterns" {
				client = "django"
			}
		case "import_from_statement":
			module = p.Field(n, "module_name")
		case "import_statement":
			module = p.Child(n, 0)
			if p.Kind(module) == "aliased_import" {
				module = p.Field(module, "name")
			}
		}
		switch f := frameworkOf(p.Text(module)); {
		case f == "aiohttp" && !strings.Contains(p.Text(n), "web"), f == "tornado" && !tornadoServer.MatchString(p.Text(n)):
			client = f
		case f != "":
			return f
		}
	}
	return client
}

// tornadoServer matches an import of what serves.
var tornadoServer = regexp.MustCompile(`tornado\.(web|routing|websocket)|from tornado import .*\b(web|routing|websocket)\b`)

// pattern returns the text of an expression, with ${PATH} for what is no literal. ok is false if it
// can be no text.
func (p *walker) pattern(n extract.Ref, s state) (text string, ok bool) {
	n = p.meant(n)
	switch p.Kind(n) {
	case "string":
		return p.content(n, func(inserted extract.Ref) string {
			inner, _ := p.pattern(inserted, s)
			return cmp.Or(inner, "${}")
		}), true
	case "concatenated_string":
		for c := range p.Children(n) {
			part, _ := p.pattern(c, s)
			text += part
		}
		return text, true
	case "binary_operator":
		left, ok := p.pattern(p.Field(n, "left"), s)
		right, also := p.pattern(p.Field(n, "right"), s)
		return left + right, ok && also && p.Text(p.Field(n, "operator")) == "+"
	case "identifier", "attribute", "subscript", "call":
		return "${" + extract.KnownPath(p.path(n, s)) + "}", true
	case "parenthesized_expression":
		return p.pattern(p.Child(n, 0), s)
	}
	return "", false
}

// methods reads methods=["GET", "POST"]; without it there is one method, the default.
func (p *walker) methods(args extract.Ref, place int, def string) []string {
	return p.methodsIn(p.argument(args, place, "methods"), def)
}

// methodsIn returns the methods that an expression names, the default if there is none.
func (p *walker) methodsIn(list extract.Ref, def string) []string {
	if m, ok := p.literal(list); ok {
		return []string{strings.ToUpper(m)}
	}
	if p.Kind(list) == "call" { // frozenset({"GET", "POST"})
		list = p.argument(p.Field(list, "arguments"), 0, "")
	}
	var all []string
	for c := range p.Children(list) {
		if m, ok := p.literal(c); ok {
			all = append(all, strings.ToUpper(m))
		} else if of, m := extract.SplitLast(p.Text(c)); strings.HasSuffix(strings.ToUpper(of), "HTTPMETHOD") {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		if list != extract.None && p.Kind(list) != "none" {
			return []string{"ANY"}
		}
		return []string{def}
	}
	return all
}

// makers are the calls that make routers, by the names of the functions: the role of the router, and
// the argument that has its prefix.
var makers = map[string]struct {
	role, prefix string
	place        int
	framework    string
}{
	"Flask": {"root", "", -1, "flask"}, "Quart": {"root", "", -1, "quart"}, "FastAPI": {"root", "", -1, "fastapi"},
	"Starlette": {"root", "", -1, "starlette"}, "Sanic": {"root", "", -1, "sanic"}, "Application": {"root", "", -1, "aiohttp"},
	"Blueprint": {"part", "url_prefix", -1, "flask"}, "BlueprintGroup": {"part", "url_prefix", -1, "sanic"}, "APIRouter": {"part", "prefix", -1, "fastapi"},
	"Router": {"part", "", -1, "starlette"}, "RouteTableDef": {"part", "", -1, "aiohttp"},
	"SimpleRouter": {"part", "", -1, "django"}, "DefaultRouter": {"part", "", -1, "django"},
	"NestedSimpleRouter": {"part", "", -1, "django"}, "NestedDefaultRouter": {"part", "", -1, "django"},
}

// construct notes the router that a call makes.
func (p *walker) construct(n extract.Ref, path string, args extract.Ref, s state) {
	full := p.known.Canonical(path)
	module, name := extract.SplitLast(full)
	if p.namespace(n, path, full, args, s) || p.falconApp(n, module, name, s) || p.bottleApp(n, module, name, s) || p.litestarApp(n, module, name, args, s) {
		return
	}
	if name == "Api" && (module == "flask_restful" || strings.HasPrefix(module, "flask_") && frameworkOf(module) == "flask") {
		prefix, _ := p.pattern(p.argument(args, -1, "prefix"), s)
		g := &recountv1.RouteFact{Group: true, Role: "root", Pattern: prefix, Handler: p.holder(n, s), Framework: "flask", In: s.in}
		if of := p.argument(args, 0, "app"); of != extract.None && p.Text(of) != "None" {
			g.Role, g.Router = "below", p.path(of, s)
		}
		p.AddRoute(g, n)
		return
	}
	m, ok := makers[name]
	own := frameworkOf(module)
	if !ok {
		p.ownRouter(n, path, module, name, s)
	}
	if !ok || (name == "Router" || name == "Application") && own != m.framework {
		return
	}
	g := &recountv1.RouteFact{Group: true, Role: m.role, Handler: p.holder(n, s), Framework: cmp.Or(own, p.framework, m.framework), In: s.in}
	place := m.place
	if g.Framework == "sanic" && name == "Blueprint" {
		place = 1
	}
	if m.prefix != "" {
		g.Pattern, _ = p.pattern(p.argument(args, place, m.prefix), s)
	}
	if g.Framework == "sanic" {
		g.Pattern = p.version(args, extract.None) + g.Pattern
	}
	if strings.HasPrefix(name, "Nested") {
		g.Pattern = p.nestedPrefix(args, 0)
	}
	p.AddRoute(g, n)
	if name == "DefaultRouter" { // it lists what is registered
		p.AddRoute(&recountv1.RouteFact{Role: "index", Method: "GET", Handler: extract.Unknown, Router: g.Handler, Framework: g.Framework, In: s.in}, n)
	}
	list := extract.FirstRef(p.argument(args, -1, "routes"), extract.None)
	if name == "Router" {
		list = extract.FirstRef(list, p.argument(args, 0, "routes"))
	}
	if k := p.Kind(list); k == "identifier" || k == "attribute" {
		p.mount(g.Handler, "", list, g.Framework, n, s)
	}
}

// namespace notes the router that Namespace("cats") of Flask-RESTX makes, or api.namespace("cats"), which is put below
// the API, too. Its path is its name unless it is given one.
func (p *walker) namespace(n extract.Ref, path, full string, args extract.Ref, s state) bool {
	module, name := extract.SplitLast(full)
	g := &recountv1.RouteFact{Group: true, Role: "part", Framework: "flask", In: s.in}
	switch {
	case name == "Namespace" && (module == "flask_restx" || module == "flask_restplus"):
	case name == "namespace" && p.framework == "flask" && strings.Contains(path, "."):
		g.Role = "below"
		g.Router, _ = extract.SplitLast(path)
	default:
		return false
	}
	text, ok := p.pattern(p.argument(args, -1, "path"), s)
	if !ok {
		text, _ = p.pattern(p.argument(args, 0, "name"), s)
	}
	g.Pattern, g.Handler = "/"+strings.TrimPrefix(text, "/"), p.holder(n, s)
	p.AddRoute(g, n)
	return true
}

// maxNested limits the nested routers around one.
const maxNested = 16

// nestedPrefix returns the prefix of NestedSimpleRouter(parent, "domains", lookup="domain"): that of the parent, if it
// is nested too, and the path of one of its objects. It is ${} where the parents are too many, as those of a router
// that is its own parent are.
func (p *walker) nestedPrefix(args extract.Ref, depth int) string {
	if depth > maxNested {
		return "${}"
	}
	prefix, ok := p.literal(p.argument(args, 1, "parent_prefix"))
	lookup, named := p.literal(p.argument(args, -1, "lookup"))
	if !named {
		lookup = "nested"
	}
	before := ""
	if parent := p.valueOf(p.argument(args, 0, "parent_router")); p.Kind(parent) == "call" && strings.HasPrefix(p.Text(p.lastName(parent)), "Nested") {
		before = p.nestedPrefix(p.Field(parent, "arguments"), depth+1)
	}
	if !ok {
		return "${}"
	}
	return before + strings.Trim(prefix, "/") + "/<" + lookup + "_pk>/"
}

// mount notes that the router, or the list of routes, that an expression names is below a pattern of
// another.
func (p *walker) mount(router, pattern string, of extract.Ref, framework string, at extract.Ref, s state) {
	for p.Kind(of) == "call" { // app.mount("/v1", WSGIMiddleware(other))
		if name := p.Text(p.lastName(of)); !strings.HasSuffix(name, "Middleware") && name != "WsgiToAsgi" {
			break
		}
		of = extract.FirstRef(p.argument(p.Field(of, "arguments"), 0, "app"), p.argument(p.Field(of, "arguments"), 0, "wsgi_application"))
	}
	h := p.routePath(of, s)
	if h == extract.Unknown || router == "" {
		return
	}
	p.AddRoute(&recountv1.RouteFact{Group: true, Method: "ANY", Pattern: pattern, Router: router, Handler: h, Framework: framework, In: s.in}, at)
}

// holder returns the path by which the value of an expression is known: what it is assigned to, or
// the expression itself.
func (p *walker) holder(n extract.Ref, s state) string {
	for at := n; ; {
		up := p.Parent(at)
		switch p.Kind(up) {
		case "await", "parenthesized_expression":
			at = up
			continue
		case "assignment":
			if p.Field(up, "right") == at {
				if left := p.path(p.Field(up, "left"), s); left != extract.Unknown {
					return left
				}
			}
		case "named_expression":
			return p.path(p.Field(up, "name"), s)
		case "argument_list": // cors.add(app.router.add_resource("/x")) of aiohttp_cors
			if call := p.Parent(up); p.framework == "aiohttp" && p.Child(up, 0) == at && p.Text(p.lastName(p.Field(call, "function"))) == "add" {
				at = call
				continue
			}
		}
		return p.path(n, s)
	}
}

// handler returns the path of a handler. Calls around it are left out; view is set for
// View.as_view().
func (p *walker) handler(n extract.Ref, s state) (path string, view bool) {
	if is := p.valueOf(n); p.Kind(n) == "identifier" && p.Kind(is) == "call" {
		if class, made := strings.CutSuffix(p.path(is, s), ".as_view()"); made {
			return class, true
		}
	}
	for p.Kind(n) == "call" {
		path = p.path(n, s)
		if class, ok := strings.CutSuffix(path, ".as_view()"); ok {
			return class, true
		}
		inner := p.argument(p.Field(n, "arguments"), 0, "")
		if inner == extract.None {
			return path, false
		}
		n = inner
	}
	return p.routePath(n, s), false
}

// actions returns the class and the methods of a view set in View.as_view({"get": "list"}), or of the variable of such
// a call, nil if it is none.
func (p *walker) actions(n extract.Ref, s state) (class string, methods [][2]string) {
	if p.Kind(n) == "identifier" {
		n = p.valueOf(n)
	}
	class, view := strings.CutSuffix(p.path(n, s), ".as_view()")
	of := p.argument(p.Field(n, "arguments"), 0, "actions")
	if !view || p.Kind(n) != "call" || p.Kind(of) != "dictionary" {
		return "", nil
	}
	for c := range p.Children(of) {
		verb, ok := p.literal(p.Field(c, "key"))
		if name, also := p.literal(p.Field(c, "value")); ok && also {
			methods = append(methods, [2]string{strings.ToUpper(verb), name})
		}
	}
	return class, methods
}
