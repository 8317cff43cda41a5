package golang

import (
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/graph/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// framework is a library that routes HTTP requests. Most are not here to be typed:
// their routers are known by the package that a variable's type or its value names,
// and followed through the unit's variables.
type framework struct {
	name string
	// routers are the types, and the functions that make one.
	routers []string
	// verbs are the methods that register a route for the HTTP method they stand for.
	verbs map[string]string
	// any are methods that register one for all, as f(pattern, handler).
	any []string
	// method is one whose first argument is the HTTP method.
	method string
	// groups are methods that give a router below a prefix; inside are those that hand
	// it to a function instead.
	groups, inside []string
	// same are methods that give a router of the same prefix.
	same []string
	// last says that the handler is the last argument; else it follows the pattern.
	last bool
}

var (
	upper = verbs("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE")
	title = verbs("Get", "Head", "Post", "Put", "Patch", "Delete", "Options", "Connect", "Trace")

	chi = &framework{
		name: "chi", routers: []string{"NewRouter", "NewMux", "Router", "Mux"}, verbs: title,
		any: []string{"Handle", "HandleFunc"}, method: "MethodFunc", inside: []string{"Route", "Group"}, same: []string{"With"},
	}
	gin = &framework{
		name: "gin", routers: []string{"Default", "New", "Engine", "RouterGroup", "IRouter", "IRoutes"}, verbs: upper,
		any: []string{"Any"}, method: "Handle", groups: []string{"Group"}, same: []string{"Use"}, last: true,
	}
	echo = &framework{
		name: "echo", routers: []string{"New", "Echo", "Group"}, verbs: upper,
		any: []string{"Any"}, method: "Add", groups: []string{"Group"},
	}
	gorilla = &framework{
		name: "mux", routers: []string{"NewRouter", "Router"}, any: []string{"Handle", "HandleFunc"},
		groups: []string{"PathPrefix"}, same: []string{"Subrouter", "StrictSlash"},
	}
	netHTTP = &framework{name: "net/http", routers: []string{"NewServeMux", "ServeMux"}, any: []string{"Handle", "HandleFunc"}}
)

func verbs(names ...string) map[string]string {
	all := map[string]string{}
	for _, n := range names {
		all[n] = strings.ToUpper(n)
	}
	return all
}

// frameworkOf is the one that a package belongs to, whatever its major version.
func frameworkOf(pkg string) *framework {
	if isVersion(path.Base(pkg)) {
		pkg = path.Dir(pkg)
	}
	switch pkg {
	case "net/http":
		return netHTTP
	case "github.com/go-chi/chi":
		return chi
	case "github.com/gin-gonic/gin":
		return gin
	case "github.com/labstack/echo":
		return echo
	case "github.com/gorilla/mux":
		return gorilla
	}
	return nil
}

// router is where routes are registered: a framework's, below prefixes.
type router struct {
	of       *framework
	prefixes []string // sorted
}

// none says that nothing is known.
func (r router) none() bool { return r.of == nil }

func (r router) below(prefix string) router {
	below := router{of: r.of}
	for _, p := range r.rooted().prefixes {
		below.prefixes = append(below.prefixes, join(p, prefix))
	}
	return below
}

// join puts a pattern below a prefix, with one slash between.
func join(prefix, pattern string) string {
	if prefix == "" {
		return pattern
	}
	if pattern == "" || pattern == "/" {
		return prefix
	}
	return strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(pattern, "/")
}

// routing finds the routes that a unit registers.
type routing struct {
	*unit
	// at is what is known of variables, next what a round finds out from it: a prefix
	// that was found before its router's own is not carried on.
	at, next map[types.Object]router
	// params are the parameters of the unit's functions: a router handed to one is
	// there.
	params map[types.Object][]*ast.Ident
}

// maxRounds bounds how far routers are followed from function to function.
const maxRounds = 8

// routes adds a unit's routes to its files' graphs, and returns the names of what
// routes. Which prefix a router has may be said in any file that imports a framework
// or uses one of those names: all of them must be there whole.
func (u *unit) routes() marks {
	named := marks{}
	if !routed(u.files) {
		return named
	}
	r := &routing{unit: u, params: map[types.Object][]*ast.Ident{}}
	for _, f := range u.files {
		r.functions(f.syntax)
	}
	for range maxRounds {
		r.next = map[types.Object]router{}
		for _, f := range u.files {
			ast.Inspect(f.syntax, r.follow)
		}
		same := maps.EqualFunc(r.at, r.next, func(a, b router) bool { return a.of == b.of && slices.Equal(a.prefixes, b.prefixes) })
		if r.at = r.next; same {
			break
		}
	}
	for obj := range r.at {
		for _, what := range []string{byName, byMention} {
			named[markOf(what, obj.Name())] = struct{}{}
		}
	}
	for i, f := range u.files {
		if f.kept == nil {
			r.register(f, u.names[i], &u.graphs[i])
		}
	}
	return named
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

// functions notes the parameters of functions.
func (r *routing) functions(file *ast.File) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			if obj := r.info.Defs[f.Name]; obj != nil {
				for _, p := range f.Type.Params.List {
					r.params[obj] = append(r.params[obj], p.Names...)
				}
			}
		}
	}
}

// routerType is the framework whose router a type expression names.
func (r *routing) routerType(t ast.Expr) *framework {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	return r.made(t)
}

// made is the framework that pkg.Name is a router of, or makes one.
func (r *routing) made(e ast.Expr) *framework {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	pkg := (&linker{unit: r.unit}).packageOf(sel)
	if pkg == nil {
		return nil
	}
	if of := frameworkOf(pkg.Imported().Path()); of != nil && slices.Contains(of.routers, sel.Sel.Name) {
		return of
	}
	return nil
}

// note says what a variable is, besides what else the round says.
func (r *routing) note(name *ast.Ident, is router) {
	obj := r.info.Defs[name]
	if obj == nil {
		obj = r.info.Uses[name]
	}
	if obj == nil || is.none() {
		return
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.next[obj].prefixes, is.prefixes))))
	r.next[obj] = router{is.of, all[:min(len(all), maxPrefixes)]}
}

// maxPrefixes bounds those of one router.
const maxPrefixes = 32

// declared notes variables whose declared type is a router's.
func (r *routing) declared(names []*ast.Ident, t ast.Expr) {
	if of := r.routerType(t); of != nil {
		for _, name := range names {
			r.note(name, router{of: of})
		}
	}
}

// follow notes what is a router by its declaration, an assignment or a call.
func (r *routing) follow(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Field:
		r.declared(n.Names, n.Type)
	case *ast.AssignStmt:
		for i, l := range n.Lhs {
			if i < len(n.Rhs) {
				r.assigned(l, n.Rhs[i])
			}
		}
	case *ast.ValueSpec:
		r.declared(n.Names, n.Type)
		for i, name := range n.Names {
			if i < len(n.Values) {
				r.assigned(name, n.Values[i])
			}
		}
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok {
			r.assigned(id, n.Value)
		}
	case *ast.CallExpr:
		r.handed(n)
	}
	return true
}

func (r *routing) assigned(l, value ast.Expr) {
	switch l := l.(type) {
	case *ast.Ident:
		r.note(l, r.value(value))
	case *ast.SelectorExpr:
		r.note(l.Sel, r.value(value))
	}
}

// handed notes routers that a call hands to a function.
func (r *routing) handed(call *ast.CallExpr) {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		if on := r.value(sel.X); !on.none() {
			if slices.Contains(on.of.inside, sel.Sel.Name) && len(call.Args) > 0 {
				prefix := ""
				if len(call.Args) > 1 {
					prefix, _ = r.constantOf(call.Args[0])
				}
				r.enter(call.Args[len(call.Args)-1], on.below(prefix))
			}
			if on.of == chi && sel.Sel.Name == "Mount" && len(call.Args) == 2 {
				prefix, _ := r.constantOf(call.Args[0])
				r.mount(call.Args[1], on.below(prefix))
			}
			if on.of == netHTTP && len(call.Args) == 2 {
				r.stripped(call.Args[1], on)
			}
		}
	}
	_, obj := (&linker{unit: r.unit}).callee(call)
	if fn, ok := obj.(*types.Func); ok {
		params := r.params[fn.Origin()]
		for i, arg := range call.Args {
			if i < len(params) {
				if is := r.value(arg); !is.none() {
					r.note(params[i], is)
				}
			}
		}
	}
}

// enter makes a router the first parameter of a function.
func (r *routing) enter(f ast.Expr, is router) {
	switch f := ast.Unparen(f).(type) {
	case *ast.FuncLit:
		if p := f.Type.Params.List; len(p) > 0 && len(p[0].Names) > 0 {
			r.note(p[0].Names[0], is)
		}
	default:
		if obj := r.function(f); obj != nil && len(r.params[obj]) > 0 {
			r.note(r.params[obj][0], is)
		}
	}
}

// mount puts a router that stands for itself below another.
func (r *routing) mount(e ast.Expr, below router) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		r.note(e, below)
	case *ast.SelectorExpr:
		r.note(e.Sel, below)
	}
}

// stripped puts the mux inside of http.StripPrefix(prefix, mux) below its prefix.
func (r *routing) stripped(e ast.Expr, on router) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return
	}
	_, obj := (&linker{unit: r.unit}).callee(call)
	if fn, ok := obj.(*types.Func); ok && fn.FullName() == "net/http.StripPrefix" {
		if prefix, ok := r.constantOf(call.Args[0]); ok && !r.value(call.Args[1]).none() {
			r.mount(call.Args[1], router{of: on.of, prefixes: []string{prefix}})
		}
	}
}

// function is the one that an expression names.
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

// value is the router that an expression is.
func (r *routing) value(e ast.Expr) router {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if obj := r.info.Uses[e]; obj != nil {
			return r.at[obj]
		}
	case *ast.UnaryExpr:
		return r.value(e.X)
	case *ast.SelectorExpr:
		if obj := r.info.Uses[e.Sel]; obj != nil {
			return r.at[obj]
		}
	case *ast.CallExpr:
		if of := r.made(e.Fun); of != nil {
			return router{of: of, prefixes: nil}
		}
		sel, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return router{}
		}
		on := r.value(sel.X)
		switch {
		case on.none():
		case slices.Contains(on.of.same, sel.Sel.Name):
			return on
		case slices.Contains(on.of.groups, sel.Sel.Name) && len(e.Args) > 0:
			if prefix, ok := r.constantOf(e.Args[0]); ok || r.info.Types[e.Args[0]].Value != nil {
				return on.rooted().below(prefix)
			}
		}
	}
	return router{}
}

// rooted is the router with the empty prefix, where it has none.
func (r router) rooted() router {
	if len(r.prefixes) == 0 {
		r.prefixes = []string{""}
	}
	return r
}

// route is one that a call registers.
type route struct {
	method, pattern string
	handler         ast.Expr
	of              *framework
}

// register adds the routes of a file.
func (r *routing) register(f *source, names *declared, g *resolve.FileGraph) {
	times := map[schemas.NodeKey]bool{}
	methods := map[*ast.CallExpr][]string{} // gorilla's .Methods("GET") behind a call
	for _, decl := range f.syntax.Decls {
		from := names.file
		if fn, ok := decl.(*ast.FuncDecl); ok {
			from = names.ofName[fn.Name]
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			r.narrowed(call, methods)
			for _, found := range r.registered(call, methods[call]) {
				r.add(found, call, from, f, names, g, times)
			}
			return true
		})
	}
}

// narrowed notes the methods that a gorilla route is narrowed to.
func (r *routing) narrowed(call *ast.CallExpr, methods map[*ast.CallExpr][]string) {
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
		for _, arg := range call.Args {
			if m, ok := r.constantOf(arg); ok {
				methods[inner] = append(methods[inner], strings.ToUpper(m))
			}
		}
	}
}

// registered are the routes of a call.
func (r *routing) registered(call *ast.CallExpr, narrowed []string) []route {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) < 2 {
		return nil
	}
	on := r.value(sel.X).rooted()
	if pkg := (&linker{unit: r.unit}).packageOf(sel); pkg != nil && pkg.Imported().Path() == "net/http" {
		on = router{of: netHTTP, prefixes: []string{""}}
	}
	if on.none() {
		return nil
	}
	methods, pattern := narrowed, 0
	verb, isVerb := on.of.verbs[sel.Sel.Name]
	switch {
	case isVerb:
		methods = []string{verb}
	case slices.Contains(on.of.any, sel.Sel.Name):
	case on.of.method != "" && sel.Sel.Name == on.of.method && len(call.Args) > 2:
		m, ok := r.constantOf(call.Args[0])
		if !ok {
			return nil
		}
		methods, pattern = []string{strings.ToUpper(m)}, 1
	default:
		return nil
	}
	text, ok := r.constantOf(call.Args[pattern])
	if !ok && r.info.Types[call.Args[pattern]].Value == nil {
		return nil // a pattern that is not written down
	}
	if on.of == netHTTP {
		if m, rest, ok := strings.Cut(text, " "); ok {
			methods, text = []string{m}, strings.TrimSpace(rest)
		}
	}
	if len(methods) == 0 {
		methods = []string{"ANY"}
	}
	handler := call.Args[pattern+1]
	if on.of.last {
		handler = call.Args[len(call.Args)-1]
	}
	if r.routes(handler) {
		return nil // what it routes is registered there
	}
	var routes []route
	for _, prefix := range on.prefixes {
		for _, m := range methods {
			routes = append(routes, route{m, join(prefix, text), handler, on.of})
		}
	}
	return routes
}

// routes reports whether a handler is a router itself, or one below a prefix.
func (r *routing) routes(handler ast.Expr) bool {
	if call, ok := ast.Unparen(handler).(*ast.CallExpr); ok && len(call.Args) == 2 {
		handler = call.Args[1]
	}
	return !r.value(handler).none()
}

// add makes the node of a route, and the edge to what handles it.
func (r *routing) add(found route, call *ast.CallExpr, from schemas.NodeKey, f *source, names *declared, g *resolve.FileGraph, times map[schemas.NodeKey]bool) {
	name := found.method + " " + found.pattern
	key := schemas.NewNodeKey(f.Path, "", name, recountv1.SymbolKind_SYMBOL_KIND_ROUTE, "")
	at := place(r.fset, call.Pos())
	if !times[key] {
		times[key] = true
		g.Nodes = append(g.Nodes, resolve.Node{Key: key, Node: &recountv1.CodeNode{
			Kind: recountv1.SymbolKind_SYMBOL_KIND_ROUTE, Language: language, Package: names.nodes[0].Node.Package, Name: name,
			Signature: name, Start: at, End: place(r.fset, call.End()), Exported: true, Test: f.test,
			Attributes: map[string]string{"framework": found.of.name, "method": found.method, "pattern": found.pattern},
		}})
		g.Edges = append(g.Edges, resolve.Edge{From: names.file, To: key, Kind: recountv1.EdgeKind_EDGE_KIND_CONTAINS, Edge: resolve.EdgeAt(declaredByFile, at)})
	}
	for _, t := range r.handlers(found.handler, from) {
		known := resolve.EdgeAt(typesResolved, at)
		if found.of != netHTTP { // the framework's names were followed, its types are not here
			known = resolve.EdgeAt(recountv1.Provenance_PROVENANCE_SCOPE_RESOLVED, at)
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

// handlers are the functions that a handler's expression stands for: itself, what a
// literal stands in, a handler's ServeHTTP, or what is wrapped in calls.
func (r *routing) handlers(e ast.Expr, from schemas.NodeKey) []target {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
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
		if _, obj := (&linker{unit: r.unit}).callee(e); obj != nil {
			if fn, ok := obj.(*types.Func); ok {
				return []target{r.target(fn)}
			}
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

// serves reports whether a value is an http.Handler of a type that is known.
func (r *routing) serves(e ast.Expr) bool {
	t := r.typed(e)
	if t == nil || types.IsInterface(t) {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, r.pkg, "ServeHTTP")
	return obj != nil
}
