package golang

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// router is a router of a program: where it is made, and the routers that it is mounted below.
type router struct {
	of    *framework
	below []below
	// from are the routers that it is a group of.
	from []*router
	// methods are those of its routes that name none.
	methods []string
	// lost is set if it is not known where it is mounted.
	lost bool
	// test is set if a test makes it, perhaps of another router.
	test bool
}

// below is where a router is mounted.
type below struct {
	on     *router
	prefix text
}

// routers has the routers of some units by the spots where they may be.
type routers struct {
	units  []*routeFacts
	bodies []*routeBody // of all units, those of wrappers once for each call
	at     map[string][]*router
	// derived has the routers that calls make of others, by the call's spot and the framework.
	derived map[derivation]*router
}

type derivation struct {
	at string
	of *framework
}

// Limits: rounds in which routers are followed from spot to spot, routers at one spot, prefixes of one
// router, and routers that are looked at for them.
const (
	maxRounds   = 32
	maxRouters  = 32
	maxPrefixes = 32
	maxVisits   = 5000
)

// findRouters follows the routers of units.
func findRouters(units []*routeFacts) *routers {
	r := &routers{units: units, at: map[string][]*router{}, derived: map[derivation]*router{}}
	r.add(defaultMux, &router{of: netHTTP})
	declared := r.unwrap()
	for _, u := range r.bodies {
		for _, m := range u.made {
			r.add(m.at, &router{of: m.of, test: u.test})
		}
	}
	r.follow()
	if r.wrap() {
		r.follow()
	}
	// A spot that no router reaches is known by its declared type alone, and its prefix is unknown.
	for _, u := range units {
		for _, at := range slices.Sorted(maps.Keys(u.declared)) {
			if len(r.at[at]) == 0 {
				r.add(at, &router{of: u.declared[at], lost: !u.whole[at]})
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(declared)) {
		if len(r.at[at]) == 0 {
			r.add(at, &router{of: declared[at], lost: true})
		}
	}
	r.follow()
	return r
}

func (r *routers) add(at string, one *router) bool {
	if slices.Contains(r.at[at], one) || len(r.at[at]) >= maxRouters {
		return false
	}
	r.at[at] = append(r.at[at], one)
	return true
}

// derive returns the router of a framework that a call makes of another.
func (r *routers) derive(at string, on *router, of *framework, prefix text) (one *router, grown bool) {
	key := derivation{at, of}
	if one = r.derived[key]; one == nil {
		one = &router{of: of, methods: on.methods, test: on.test}
		r.derived[key] = one
	}
	served := one.test && !on.test
	one.test = one.test && on.test
	if !slices.Contains(one.from, on) {
		one.from = append(one.from, on)
	}
	return one, one.mount(on, prefix) || served
}

func (one *router) mount(on *router, prefix text) bool {
	b := below{on, prefix}
	if on == one || slices.Contains(one.below, b) {
		return false
	}
	one.below = append(one.below, b)
	return true
}

// wrap makes the handlers that calls make of routers, and that are no routers themselves, stand for those.
func (r *routers) wrap() (any bool) {
	bare := map[string]bool{}
	for _, u := range r.bodies {
		for _, f := range u.wraps {
			bare[f[1]] = len(r.at[f[1]]) == 0
		}
	}
	for range maxWrapped {
		grown := false
		for _, u := range r.bodies {
			for _, f := range u.wraps {
				for _, one := range r.at[f[0]] {
					grown = bare[f[1]] && r.add(f[1], one) || grown
				}
			}
		}
		if any = any || grown; !grown {
			break
		}
	}
	return any
}

// follow follows routers until nothing changes.
func (r *routers) follow() {
	for range maxRounds {
		grown := false
		for _, u := range r.bodies {
			for _, f := range u.flows {
				for _, one := range r.at[f[0]] {
					grown = r.add(f[1], one) || grown
				}
			}
			for _, c := range u.chains {
				for _, on := range r.at[c.on] {
					grown = r.chain(c, on) || grown
				}
			}
			for _, m := range u.mounts {
				for _, on := range r.at[m.on] {
					if !slices.Contains(on.of.mounts, m.name) {
						continue
					}
					for _, sub := range r.at[m.sub] {
						grown = !on.within(sub, map[*router]bool{}) && sub.mount(on, m.prefix) || grown
					}
				}
			}
		}
		if !grown {
			return
		}
	}
}

// chain follows the call of a method of a router.
func (r *routers) chain(c chained, on *router) (grown bool) {
	_, verb := on.of.verbs[c.name]
	switch {
	case c.name == humaMaker:
		one, more := r.derive(c.at, on, huma, c.prefix)
		return r.add(c.at, one) || more
	case c.inside != "" && slices.Contains(on.of.inside, c.name):
		one, more := r.derive(c.at, on, on.of, c.prefix)
		if on.of == chi && c.name == "Group" { // it returns the same router, with more middleware
			more = r.add(c.at, on) || more
		}
		return r.add(c.inside, one) || more
	case slices.Contains(on.of.groups, c.name):
		one, more := r.derive(c.at, on, on.of, c.prefix)
		return r.add(c.at, one) || more
	case on.of == gorilla && len(c.methods) > 0: // r.Methods("GET").Subrouter()
		one, more := r.derive(c.at, on, on.of, c.prefix)
		one.methods = c.methods
		return r.add(c.at, one) || more
	case slices.Contains(on.of.same, c.name), (verb || slices.Contains(on.of.any, c.name)) && on.of.last:
		return r.add(c.at, on)
	}
	return false
}

// prefixes returns what comes before the patterns of a router's routes. left is how many routers may still be looked at.
func (one *router) prefixes(open map[*router]bool, left *int) (all []text) {
	if *left--; one.lost || open[one] || *left < 0 {
		return []text{{}}
	}
	if len(one.below) == 0 {
		return []text{{known: true}}
	}
	open[one] = true
	defer delete(open, one)
	for _, b := range one.below {
		if b.on.test && slices.ContainsFunc(one.below, func(o below) bool { return !o.on.test }) {
			continue // a test mounts a part of the application where it likes
		}
		for _, before := range b.on.prefixes(open, left) {
			p := text{join(before.is, b.prefix.is), before.known}
			if !b.prefix.known {
				p = text{}
			}
			if len(all) < maxPrefixes && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// join appends a pattern to a prefix, with one slash between them.
func join(prefix, pattern string) string {
	if prefix == "" {
		return pattern
	}
	if pattern == "" || pattern == "/" {
		return prefix
	}
	return strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(pattern, "/")
}

// named returns the names of the variables that hold routers.
func (r *routers) named() marks {
	all := marks{}
	for _, u := range r.units {
		for at, name := range u.names {
			if len(r.at[at]) > 0 {
				all[markOf(byName, name)], all[markOf(byMention, name)] = struct{}{}, struct{}{}
			}
		}
	}
	return all
}

// routed reports whether one of the files imports a framework.
func routed(files []*source) bool {
	for _, f := range files {
		for _, spec := range f.syntax.Imports {
			if frameworkOf(importPath(spec)) != nil {
				return true
			}
		}
	}
	return false
}

// routes returns the routers and routes of a unit, nil if it has none, and the names of variables that
// hold routers. Any file that imports a framework or uses one of those names may decide a
// router's prefix, so all of them must have been read completely.
func (u *unit) routes() (*routeFacts, marks) {
	if !routed(u.files) {
		return nil, marks{}
	}
	facts := u.routerFacts()
	return facts, findRouters([]*routeFacts{facts}).named()
}

// route is a route that a call registers.
type route struct {
	method  string
	pattern text
	targets []target
	of      *framework
	assumed bool // the path is the one that holds unless a deployment sets a prefix
}

// routesOf returns the routes that a call registers.
func (r *routers) routesOf(c registered) (all []route) {
	for _, on := range r.at[c.on] {
		if on.test && slices.ContainsFunc(r.at[c.on], func(o *router) bool { return !o.test }) {
			continue
		}
		f := on.of
		methods, at := c.methods, 0
		verb, isVerb := f.verbs[c.name]
		below, isFiles := f.files[c.name]
		chain := f == gorilla && c.chain
		switch {
		case chain:
			at = -1
		case isVerb:
			methods = []string{verb}
		case isFiles:
			methods = []string{"GET"}
		case slices.Contains(f.any, c.name):
		case slices.Contains(f.method, c.name) && len(c.args) > 2:
			if at = 1; c.args[0].known {
				methods = []string{strings.ToUpper(c.args[0].is)}
			}
			if len(methods) == 0 {
				continue
			}
		default:
			continue
		}
		pattern := text{c.pattern, !c.lost}
		if !chain {
			pattern = c.args[at]
			if strings.HasPrefix(below, "/") {
				pattern.is = strings.TrimSuffix(pattern.is, "/")
			}
			pattern.is += below
		}
		handler := at + 1
		if f.last {
			handler = len(c.args) - 1
		}
		if handler >= len(c.args) || slices.ContainsFunc(r.at[c.routers[handler]], func(sub *router) bool { return !on.within(sub, map[*router]bool{}) }) { // its routes are registered on that router
			continue
		}
		if (f == netHTTP || f == routegroup || f == chi && slices.Contains(f.any, c.name)) && pattern.known {
			if m, rest, ok := strings.Cut(pattern.is, " "); ok {
				methods, pattern.is = []string{m}, strings.TrimSpace(rest)
			}
			if host := strings.IndexByte(pattern.is, '/'); f == netHTTP && host > 0 { // GET example.com/x
				pattern.is = pattern.is[host:]
			}
		}
		if len(methods) == 0 {
			methods = on.methods
		}
		if len(methods) == 0 {
			methods = []string{"ANY"}
		}
		left := maxVisits
		for _, prefix := range on.prefixes(map[*router]bool{}, &left) {
			if chain && c.pattern == "" && prefix.is == "" { // it serves any path
				continue
			}
			path := text{join(prefix.is, pattern.is), prefix.known && pattern.known}
			for _, m := range methods {
				all = append(all, route{method: m, pattern: path, targets: c.targets[handler], of: f})
			}
		}
	}
	return unlessSet(all)
}

// unlessSet drops the routes of a call below an unknown prefix if the call registers them without the
// prefix too: the latter hold unless a deployment sets one.
//
//	api := app
//	if prefix != "" {
//		api = app.Group(prefix)
//	}
func unlessSet(all []route) []route {
	var out []route
	for _, r := range all {
		same := func(o route) bool {
			return o.pattern.known != r.pattern.known && o.of == r.of && o.method == r.method && o.pattern.is == r.pattern.is
		}
		if r.assumed = slices.ContainsFunc(all, same); r.pattern.known || !r.assumed {
			out = append(out, r)
		}
	}
	return out
}

// routeGraphs returns the routes of all packages by the files that register them.
func (s *step) routeGraphs() map[string]*resolve.FileGraph {
	var units []*routeFacts
	for _, w := range s.work {
		units = append(units, w.routing...)
	}
	if len(units) == 0 {
		return nil
	}
	all := map[string]*resolve.FileGraph{}
	routers := findRouters(units)
	seen := map[schemas.NodeKey]bool{}
	for _, u := range routers.bodies {
		for _, c := range u.routes {
			for _, found := range routers.routesOf(c) {
				g := all[c.path]
				if g == nil {
					g = &resolve.FileGraph{}
					all[c.path] = g
				}
				found.add(c, g, seen)
			}
		}
	}
	return all
}

// add adds the node of a route, and the edge to its handler.
func (found route) add(c registered, g *resolve.FileGraph, seen map[schemas.NodeKey]bool) {
	pattern, attributes := strings.ReplaceAll(found.pattern.is, "//*", "/*"), map[string]string{"framework": found.of.name}
	if !strings.HasPrefix(pattern, "/") && found.of != netHTTP {
		pattern = "/" + pattern
	}
	if !found.pattern.known {
		pattern, attributes["prefix"] = schemas.UnknownPrefix+pattern, "unknown"
	} else if found.assumed {
		attributes["prefix"] = "default"
	}
	attributes["method"], attributes["pattern"] = found.method, pattern
	name := found.method + " " + pattern
	key := schemas.NewNodeKey(c.path, "", name, recountv1.SymbolKind_SYMBOL_KIND_ROUTE, "")
	if !seen[key] {
		seen[key] = true
		g.Nodes = append(g.Nodes, resolve.Node{Key: key, Node: &recountv1.CodeNode{
			Kind: recountv1.SymbolKind_SYMBOL_KIND_ROUTE, Language: language, Package: c.pkg, Name: name,
			Signature: name, Start: c.start, End: c.end, Exported: true, Test: c.test, Attributes: attributes,
		}})
		g.Edges = append(g.Edges, resolve.Edge{From: c.file, To: key, Kind: recountv1.EdgeKind_EDGE_KIND_CONTAINS, Edge: resolve.EdgeAt(declaredByFile, c.start)})
	}
	for _, t := range found.targets {
		known := resolve.EdgeAt(typesResolved, c.start)
		if found.of != netHTTP { // the type of a router of another framework is not checked
			known = resolve.EdgeAt(recountv1.Provenance_PROVENANCE_SCOPE_RESOLVED, c.start)
		}
		if !found.pattern.known {
			known.ConfidencePermille = min(known.ConfidencePermille, resolve.UnsureRoute)
		} else if found.assumed {
			known.ConfidencePermille = min(known.ConfidencePermille, resolve.AssumedRoute)
		}
		if t.key != "" {
			g.Edges = append(g.Edges, resolve.Edge{From: key, To: t.key, Kind: recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE, Edge: known})
		} else if t.external {
			g.Externals = append(g.Externals, resolve.External{
				From: key, Kind: recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE, Language: language, Package: t.pkg, Name: t.name, Edge: known,
			})
		}
	}
}

// handlers returns the functions that a handler's expression stands for: the function that it
// names, the declaration that contains a literal, a handler's ServeHTTP, or what calls wrap.
func (r *routing) handlers(e ast.Expr, from schemas.NodeKey) []target {
	if t, ok := r.parameterTarget(e); ok {
		return []target{t}
	}
	is := r.meant(e)
	inTable := is != e
	e = is
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		if inTable { // which may be that of another declaration
			return nil
		}
		return []target{{key: from}}
	case *ast.CallExpr:
		var inner []target
		for _, arg := range e.Args {
			if _, isFunc := r.typed(arg).(*types.Signature); isFunc || r.serves(arg) {
				inner = append(inner, r.handlers(arg, from)...)
			}
		}
		if len(inner) > 0 || r.info.Types[e.Fun].IsType() {
			return inner
		}
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && len(e.Args) == 0 { // chain(h).handler()
			if of, ok := ast.Unparen(sel.X).(*ast.CallExpr); ok {
				if _, isFunc := r.typed(of).(*types.Signature); isFunc {
					return r.handlers(of, from)
				}
			}
		}
		fn, _ := r.called(e)
		if fn == nil || !r.near(fn) { // what a package outside wraps: chain.Then(app.list())
			for _, arg := range e.Args {
				if made, ok := ast.Unparen(arg).(*ast.CallExpr); ok {
					if of, ok := r.called(made); ok && r.near(of) {
						return []target{r.target(of)}
					}
				}
			}
		}
		if fn != nil {
			return []target{r.target(fn)}
		}
		return nil
	}
	if fn := r.function(e); fn != nil {
		return []target{r.target(fn)}
	}
	if t := r.typed(e); t != nil {
		if obj, _, _ := types.LookupFieldOrMethod(t, true, r.pkg, "ServeHTTP"); obj != nil {
			if fn, ok := obj.(*types.Func); ok {
				return []target{r.target(fn)}
			}
		}
	}
	return nil
}

// called returns the function that a call names.
func (r *routing) called(e *ast.CallExpr) (*types.Func, bool) {
	_, obj := (&linker{unit: r.unit}).callee(e)
	fn, ok := obj.(*types.Func)
	return fn, ok
}

// function returns the function that an expression names, or nil.
func (r *routing) function(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if fn, ok := r.info.Uses[e].(*types.Func); ok {
			return fn.Origin()
		}
	case *ast.SelectorExpr:
		if fn, ok := r.info.Uses[e.Sel].(*types.Func); ok {
			return fn.Origin()
		}
	}
	return nil
}

func (r *routing) typed(e ast.Expr) types.Type {
	t, ok := r.info.Types[e]
	if !ok || t.Type == nil {
		return nil
	}
	if sig, ok := t.Type.Underlying().(*types.Signature); ok {
		return sig
	}
	return t.Type
}

// serves reports whether a value is an http.Handler whose type is known.
func (r *routing) serves(e ast.Expr) bool {
	t := r.typed(e)
	if t == nil || types.IsInterface(t) {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, r.pkg, "ServeHTTP")
	return obj != nil
}

// narrowed records the HTTP methods that a gorilla route is restricted to.
func (r *routing) narrowed(call *ast.CallExpr, methods map[*ast.CallExpr][]ast.Expr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	inner, ok := sel.X.(*ast.CallExpr)
	if !ok {
		return
	}
	methods[inner] = methods[call]
	if sel.Sel.Name == "Methods" {
		methods[inner] = append(slices.Clone(methods[call]), call.Args...)
	}
}

// texts returns the constant texts among some expressions, in capitals.
func (r *routing) texts(all []ast.Expr) (out []string) {
	for _, e := range all {
		if m := r.text(e); m.known && m.is != "" {
			if !m.open() {
				m.is = strings.ToUpper(m.is)
			}
			out = append(out, m.is)
		}
	}
	return out
}

// appendRoutes appends the bytes by which a change of a file's routes is noticed.
func appendRoutes(b []byte, g *resolve.FileGraph) []byte {
	if g == nil {
		return b
	}
	for _, n := range g.Nodes {
		b = appendMessage(append(b, n.Key...), n.Node)
	}
	for _, e := range g.Edges {
		b = appendMessage(append(append(append(b, e.From...), 0xff), e.To...), e.Edge)
	}
	for _, e := range g.Externals {
		b = appendMessage(append(append(append(b, e.From...), 0xff), (e.Package+"."+e.Name)...), e.Edge)
	}
	return b
}
