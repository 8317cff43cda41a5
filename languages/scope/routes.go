package scope

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Routers is what an engine knows of the paths in routes.
type Routers interface {
	// Routers returns the routers that a path leads to. A router is known by what it was made by:
	// the Value of Program.Router, or the Decl of a class.
	Routers(m *Module, in uint32, of Path) []any
	// Handler returns the function or class that a path names, nil if it is not known.
	Handler(m *Module, in uint32, of Path) *Decl
	// Text returns the text of the constant that a path names.
	Text(m *Module, in uint32, of Path) (string, bool)
}

// Chooser is an engine of Routers that knows which texts calls pass to a parameter.
type Chooser interface {
	// Choices returns the texts that a path may stand for, nil if they are not all known.
	Choices(m *Module, in uint32, of Path) []string
}

// Lister is an engine of Routers that knows the members of objects.
type Lister interface {
	// Members returns the names of the members of what a path names, in order; [key] for those of a container.
	Members(m *Module, in uint32, of Path) []string
}

// Paged is a layout that knows which files are pages of an application.
type Paged interface {
	// Pages reports whether a file is in a folder whose files are pages.
	Pages(file string) bool
}

// PartClassRole is the role of a group that is a class which serves only where it is mounted.
const PartClassRole = "partclass"

// PageRole is the role of a route that is a page, by the place of its file.
const PageRole = "page"

// Routing has the routers of a program and where they are mounted. A router is a value: it is
// passed to functions, returned and imported as others are, so each engine follows it by its own
// rules, and only the places where routers meet are read here. A route has each prefix of each
// router that it may be registered on. If a router or a prefix is not known, neither is the path:
// the route is then called "GET …/orders", with a low confidence.
type Routing struct {
	p       *Program
	know    Routers
	routers map[any]*router
	apps    []application
	verbs   map[*Decl][]string
	actions map[*Decl][]*recountv1.RouteFact // by class
	version map[*Decl][]string
	// controllers has those of NestJS' modules, by the class of the module.
	controllers map[*Decl][]*Decl
	mixed       map[*Decl]*Decl                  // the function that makes the base of a class
	paged       map[*Decl]bool                   // controllers of Spring that are none of REST
	routing     map[*Decl][]*recountv1.RouteFact // of classes of routers of Django REST framework
	before      map[mounting][]prefix            // of routers that were asked for
	// tokens is what ASP.NET Core puts into templates.
	tokens tokens
}

// router is a router, or a class with routes.
type router struct {
	own    []prefix // nil stands for no prefix; several if calls choose one
	more   []prefix // before own, added later
	part   bool     // serves only where it is mounted
	chosen bool     // which of several prefixes it has depends on the call that makes it
	test   bool     // a test makes it
	// selectedAt is where a prefix of Spring is given to the class of the router.
	selectedAt uint32
	class      *Decl // of Django REST framework, where it is one of the application
	// shares is the router whose routes those of a base path of Hono are among: where the one is mounted, all are.
	shares *router
	mounts []mount
}

// mount is where a router is mounted: on others, below a pattern.
type mount struct {
	pattern prefix
	on      []*router // none if they are not known
	root    bool      // it is mounted on the application itself
	test    bool      // a test mounts it
	// instead is set if the pattern replaces the router's own prefix, as in Flask.
	instead   bool
	framework string
	// registry is set if only the registry of a router of Django REST framework is part of another's.
	registry bool
}

// prefix is the beginning of a path. If it is not known, text is the part that is.
type prefix struct {
	text    string
	unknown bool
	class   *Decl // whose name stands for the token [controller] of ASP.NET Core
}

// maxPatterns limits the patterns of one route whose router is mounted several times.
const maxPatterns = 16

// UnlessSet is the method of a const fact whose text is that of a setting which a deployment may change.
const UnlessSet = "UNLESS SET"

// assumedMark follows, in a text, each part that holds unless a deployment sets another.
const assumedMark = "\x04"

// Assumed returns a text that holds unless a deployment sets another.
func Assumed(text string) string { return text + assumedMark }

// IsAssumed reports whether a text is one of Assumed.
func IsAssumed(text string) bool { return strings.HasSuffix(text, assumedMark) }

// Router returns the value of the router that fact i of a module makes.
func (p *Program) Router(m *Module, i int) *Value {
	return p.Intern(ValueID{Kind: RouterValue, Mod: m, Name: strconv.Itoa(i)})
}

// RouteScope returns where the names in a route fact are looked up: outside of the handler that it
// decorates.
func (m *Module) RouteScope(r *recountv1.RouteFact) uint32 {
	if d := m.Decl(r.In); d != nil && r.Handler == "" && (d.IsFunction() || d.IsClass()) {
		return d.Outer.In()
	}
	return r.In
}

// NewRouting collects the routers of a program.
func NewRouting(p *Program, know Routers) *Routing {
	rt := &Routing{p: p, know: know, routers: map[any]*router{}, verbs: map[*Decl][]string{}, actions: map[*Decl][]*recountv1.RouteFact{}, version: map[*Decl][]string{}, controllers: map[*Decl][]*Decl{}, paged: map[*Decl]bool{}, mixed: map[*Decl]*Decl{}, before: map[mounting][]prefix{}, routing: map[*Decl][]*recountv1.RouteFact{}, tokens: newTokens()}
	for _, m := range p.Modules {
		for i, r := range m.Facts.Routes {
			if r.Group {
				rt.made(m, i, r)
			}
		}
	}
	for _, m := range p.Modules {
		for i, r := range m.Facts.Routes {
			if r.Group && r.Role == "below" && r.Framework == "hono" {
				if all := know.Routers(m, m.RouteScope(r), m.Path(r.Router)); len(all) == 1 {
					rt.router(p.Router(m, i)).shares = rt.router(all[0])
				}
			}
		}
	}
	for _, m := range p.Modules {
		for i, r := range m.Facts.Routes {
			if r.Group {
				rt.meet(m, i, r)
			}
		}
	}
	return rt
}

// made adds the routers that a fact makes, and the prefixes of declarations and applications.
func (rt *Routing) made(m *Module, i int, r *recountv1.RouteFact) {
	d := m.Decl(r.In)
	switch r.Role {
	case "below", "inside":
		rt.router(rt.p.Router(m, i)).test = m.Test || inTest(d)
	case "root", "part":
		if r.Role == "root" && r.Framework == "aspnetcore" && !m.Test {
			rt.tokens.roots++
		}
		o := rt.router(rt.p.Router(m, i))
		o.test = m.Test || inTest(d)
		o.own, o.part = rt.expand(m, r.In, r.Pattern), r.Role == "part"
		o.chosen = len(o.own) > 1
		if r.Role == "part" && r.Router != "" {
			rt.ofClass(o, m, r)
		}
	case "class", PartClassRole:
		if d != nil {
			o := rt.router(d)
			o.part = o.part || r.Role == PartClassRole
			o.test = m.Test || inTest(d)
			o.own = append(o.own, rt.expand(m, r.In, r.Pattern)...)
		}
	case "routing":
		if d != nil {
			rt.routing[d] = append(rt.routing[d], r)
		}
	case "version":
		if d != nil {
			rt.version[d] = append(rt.version[d], r.Pattern)
		}
	case "mixed":
		rt.mixed[d] = rt.know.Handler(m, m.RouteScope(r), m.Path(r.Handler))
	case "pages":
		rt.paged[d] = true
	case "controllers":
		if of := rt.know.Handler(m, m.RouteScope(r), m.Path(r.Handler)); d != nil && of != nil {
			rt.controllers[d] = append(rt.controllers[d], of)
		}
	case "verbs":
		if d != nil {
			for verb := range strings.SplitSeq(r.Method, ",") {
				if of := rt.expand(m, r.In, verb); !of[0].unknown {
					rt.verbs[d] = append(rt.verbs[d], of[0].text)
				}
			}
		}
	case "action":
		if d != nil && d.Outer.Decl != nil {
			rt.actions[d.Outer.Decl] = append(rt.actions[d.Outer.Decl], r)
		}
	case "app":
		rt.inside(m, r)
	default:
		rt.tokens.note(m, r)
	}
}

// meet adds the places where a fact mounts routers.
func (rt *Routing) meet(m *Module, i int, r *recountv1.RouteFact) {
	in := m.RouteScope(r)
	var placed []any
	switch r.Role {
	case "", "copy":
		placed = rt.know.Routers(m, in, m.Path(r.Handler))
	case "folder":
		for _, of := range rt.p.Folder(m, i) {
			rt.place(m, in, r, r.Pattern+of.prefix, []any{of.Router})
		}
		return
	case "below", "inside":
		placed = []any{rt.p.Router(m, i)}
	case "entries":
		rt.entries(m, in, r)
		return
	case "module":
		if module := rt.know.Handler(m, in, m.Path(r.Handler)); module != nil {
			for _, c := range rt.controllers[module] {
				o := rt.router(c)
				o.more = append(o.more, rt.expand(m, in, r.Pattern)...)
			}
		}
		return
	case "prefix":
		rt.prefix(m, in, r)
		return
	default:
		return
	}
	rt.place(m, in, r, r.Pattern, placed)
}

// place adds that routers are mounted by a fact, below a pattern.
func (rt *Routing) place(m *Module, in uint32, r *recountv1.RouteFact, below string, placed []any) {
	patterns := rt.expand(m, in, below)
	for _, pattern := range patterns {
		if len(patterns) > 1 && len(placed) > 1 { // which is below which is not known
			pattern.unknown = true
		}
		at := mount{root: r.Router == "", test: m.Test || inTest(m.Decl(r.In)), pattern: pattern, framework: r.Framework, registry: strings.HasSuffix(r.Handler, ".registry"), instead: r.Role == "copy" || r.Role == "" && replaces[r.Framework] && r.Pattern != ""}
		if r.Router != "" {
			for _, on := range rt.unlessTests(rt.know.Routers(m, in, m.Path(r.Router))) {
				at.on = append(at.on, rt.router(on))
			}
		}
		for _, of := range placed {
			o := rt.router(of)
			for depth := 0; r.Role == "" && o.shares != nil && depth < maxPatterns; depth++ {
				o = o.shares
			}
			o.mountAt(at)
		}
	}
}

// replaces has the frameworks in which the prefix of a mount replaces that of the router.
var replaces = map[string]bool{"flask": true, "quart": true}

// ClassRouter is a class with routes whose prefix may be that of a base.
type ClassRouter struct{ Class, Prefix *Decl }

func (rt *Routing) router(of any) *router {
	if c, ok := of.(ClassRouter); ok {
		o := rt.router(c.Class)
		if c.Prefix == nil || c.Prefix == c.Class {
			return o
		}
		return &router{own: rt.router(c.Prefix).own, more: o.more, mounts: o.mounts, test: o.test}
	}
	o := rt.routers[of]
	if o == nil {
		o = &router{}
		rt.routers[of] = o
	}
	return o
}

// expand returns a pattern with its constants replaced by their texts.
func (rt *Routing) expand(m *Module, in uint32, pattern string) []prefix {
	var open string
	more := false
	text, ok := Expand(pattern, func(path string) (string, bool) {
		text, known := rt.know.Text(m, in, m.Path(path))
		if !known {
			more = more || open != "" && open != path
			open = path
		}
		return text, known
	})
	if choose, can := rt.know.(Chooser); can && !ok && open != "" && !more {
		var all []prefix
		for _, choice := range choose.Choices(m, in, m.Path(open)) {
			text, known := Expand(pattern, func(path string) (string, bool) {
				if path == open {
					return choice, true
				}
				return rt.know.Text(m, in, m.Path(path))
			})
			all = append(all, prefix{text: text, unknown: !known})
		}
		if len(all) > 0 {
			return all
		}
	}
	return []prefix{{text: text, unknown: !ok}}
}

// maxExpanded is the maximum length of an expanded pattern in bytes: a longer text is no path.
const maxExpanded = 4096

// Expand replaces each ${PATH} of a pattern by its text. If one is not known, it returns what
// follows the last such one, and false; if the text becomes too long, none of it.
func Expand(pattern string, text func(path string) (string, bool)) (out string, ok bool) {
	for ok = true; ; {
		before, rest, found := strings.Cut(pattern, "${")
		if out += before; len(out) > maxExpanded {
			return "", false
		}
		if !found {
			return out, ok
		}
		path, after, _ := strings.Cut(rest, "}")
		if value, known := text(path); known && path != "" {
			out += value
		} else {
			out, ok = "", false
		}
		pattern = after
	}
}

// join returns a pattern below a prefix.
func (before prefix) join(framework string, pattern prefix) prefix {
	if pattern.unknown {
		pattern.class = before.class
		return pattern
	}
	text := pattern.text
	if framework == "django" {
		text = before.text + strings.TrimPrefix(text, "^")
	} else {
		text = Slashed(before.text, text)
	}
	return prefix{text, before.unknown, before.class}
}

// Slashed joins two parts of a path with one slash.
func Slashed(before, pattern string) string {
	for strings.HasPrefix(pattern, assumedMark) {
		before, pattern = before+assumedMark, strings.TrimPrefix(pattern, assumedMark)
	}
	empty := strings.Trim(before, assumedMark) == ""
	switch {
	case pattern == "":
		return before
	case empty && !strings.HasPrefix(pattern, "/"):
		return before + "/" + pattern
	case empty:
		return before + pattern
	}
	return strings.TrimSuffix(before, "/") + "/" + strings.TrimPrefix(pattern, "/")
}

// Routes adds the nodes of a file's routes to its graph, and the edges from their handlers to the
// graphs of the handlers' files.
func (rt *Routing) Routes(m *Module, graphs map[string]*resolve.FileGraph) {
	l := &Linker{rt.p, m, graphs[m.File.Path]}
	for _, r := range m.Facts.Routes {
		if !r.Group {
			rt.route(l, r, graphs)
		}
	}
}

// onlyMounted has the roles of routes that serve only where their router is mounted.
var onlyMounted = map[string]bool{"mounted": true, "documented": true, "index": true, "ruled": true}

// silent has the roles of routes that are none where their router is not mounted.
var silent = map[string]bool{"documented": true, "index": true, "ruled": true}

func (rt *Routing) route(l *Linker, r *recountv1.RouteFact, graphs map[string]*resolve.FileGraph) {
	m := l.Module
	if paged, ok := rt.p.Layout.(Paged); r.Role == PageRole && (!ok || !paged.Pages(m.File.Path)) {
		return
	}
	in := m.RouteScope(r)
	if r.Role == "composed" {
		for _, method := range rt.composed(m, in, r.Method) {
			one := proto.CloneOf(r)
			one.Role, one.Method = "", method
			rt.route(l, one, graphs)
		}
		return
	}
	handler := m.Decl(r.In)
	if r.Handler != "" {
		handler = rt.know.Handler(m, in, m.Path(r.Handler))
		if handler != nil && handler.Outer.Decl != nil && handler.Outer.Decl.Attributes[Wraps] != "" {
			handler = nil // what it is given handles the route
		}
	}
	how := ScopeResolved
	if given, by := rt.wrapped(m, in, r); given != nil {
		handler, how = given, by
	}
	before := []prefix{{}}
	several := false
	if r.Router != "" {
		before = nil
		on := rt.know.Routers(m, in, m.Path(r.Router))
		if r.Role == "inherited" {
			if on = rt.extending(on); len(on) == 0 {
				return // a class that no controller extends serves nothing
			}
		}
		on = rt.unlessTests(on)
		several = len(on) > 1
		for _, of := range on {
			o := rt.router(of)
			if r.Role == "index" {
				if !o.lists() {
					continue
				}
				o = &router{own: o.own, mounts: slices.DeleteFunc(slices.Clone(o.mounts), func(m mount) bool { return m.registry })}
			}
			if onlyMounted[r.Role] && len(o.mounts) == 0 {
				continue
			}
			for _, b := range rt.prefixes(o, r.Framework) {
				if c, ok := of.(ClassRouter); ok {
					b.unknown = b.unknown || c.Prefix == nil && len(o.mounts) == 0 && (r.Framework != "aspnetcore" || r.Role == "conventional")
					b.class = c.Class
				}
				before = append(before, b)
			}
		}
		if len(before) == 0 {
			if silent[r.Role] { // how it is served is said elsewhere, if it is
				return
			}
			before = []prefix{{unknown: true}}
		}
	}
	app, unknown := rt.application(m, r.Framework)
	for _, s := range rt.served(m, r, handler) {
		var all []prefix
		patterns := rt.expand(m, in, s.pattern)
		for _, pattern := range patterns {
			pattern.unknown = pattern.unknown || (several || len(before) > 1) && len(patterns) > 1 // which call passes both is not known
			for _, path := range routeBelow(before, pattern, r) {
				all = append(all, rt.spelled(m, r, path, handler))
			}
		}
		for i, path := range all {
			if i >= maxPatterns || slices.Contains(all[:i], path) {
				continue
			}
			for _, path := range rt.inApplication(app, unknown, r, handler, s.method, path) {
				path.text = hoisted(path.text)
				l.route(r, s.method, path, s.handler, how, graphs)
			}
		}
	}
}

// route adds a route's node and the edge from its handler.
func (l *Linker) route(r *recountv1.RouteFact, method string, path prefix, handler *Decl, how recountv1.Provenance, graphs map[string]*resolve.FileGraph) {
	const kind = recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE
	m := l.Module
	pattern := strings.ReplaceAll(path.text, assumedMark, "")
	assumed := pattern != path.text && !path.unknown
	if !strings.HasPrefix(pattern, "/") {
		pattern = "/" + pattern
	}
	attributes := map[string]string{}
	if r.Framework != "" {
		attributes["framework"] = r.Framework
	}
	if r.Role == PageRole {
		attributes["kind"] = PageRole
	}
	edge := func(at *recountv1.Place) *recountv1.CodeEdge {
		e := resolve.EdgeAt(how, at)
		if path.unknown {
			e.ConfidencePermille = resolve.UnsureRoute
		} else if assumed {
			e.ConfidencePermille = resolve.AssumedRoute
		}
		return e
	}
	if path.unknown {
		pattern = schemas.UnknownPrefix + pattern
		attributes["prefix"] = "unknown"
	} else if assumed {
		attributes["prefix"] = "default"
	}
	name := cmp.Or(method, "ANY") + " " + pattern
	key := schemas.NewNodeKey(m.File.Path, "", name, recountv1.SymbolKind_SYMBOL_KIND_ROUTE, "")
	l.Graph.Nodes = append(l.Graph.Nodes, resolve.Node{Key: key, Node: &recountv1.CodeNode{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_ROUTE, Language: m.File.Language, Package: m.Name, Name: name,
		Start: r.At, End: r.At, Exported: true, Test: m.Test || inTest(m.Decl(r.In)), Attributes: attributes,
	}})
	l.Edge(recountv1.EdgeKind_EDGE_KIND_CONTAINS, 0, key, recountv1.Provenance_PROVENANCE_DECLARED, r.At)
	if handler == nil {
		if r.Handler != "" && r.Handler != "?" { // an anonymous one is the route itself
			l.Unresolved(kind, 0, r.Handler, r.At)
		}
		return
	}
	at := r.At
	if handler.Mod != m { // the sites of an edge are places in the file where it begins
		at = nil
	}
	g := graphs[handler.Mod.File.Path]
	g.Edges = append(g.Edges, resolve.Edge{From: handler.Key, To: key, Kind: kind, Edge: edge(at)})
}
