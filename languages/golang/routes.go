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

// routing finds the routes that a unit registers.
type routing struct {
	*unit
	// at has the routers known after the last round, next those that the current round derives from
	// them. They are separate so that a prefix found before its router's own prefix is dropped.
	at, next map[types.Object]router
	// params has the parameters of the unit's functions, to which callers may pass routers.
	params map[types.Object][]*ast.Ident
}

// maxRounds is the maximum number of rounds in which routers are followed from function to function.
const maxRounds = 8

// routes adds a unit's routes to its files' graphs, and returns the names of routers. Any file that
// imports a framework or uses one of those names may decide a router's prefix, so all of them must
// have been read completely.
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

// route is a route that a call registers.
type route struct {
	method, pattern string
	handler         ast.Expr
	of              *framework
}

// register adds the routes of a file.
func (r *routing) register(f *source, names *declared, g *resolve.FileGraph) {
	times := map[schemas.NodeKey]bool{}
	methods := map[*ast.CallExpr][]string{} // of gorilla's .Methods("GET") after a call
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

// narrowed records the HTTP methods that a gorilla route is restricted to.
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

// registered returns the routes that a call registers.
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
		return nil // the pattern is not constant
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
		return nil // its routes are registered on that router
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

// add adds the node of a route, and the edge to its handler.
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
		if found.of != netHTTP { // the type of a router of another framework is not checked
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

// handlers returns the functions that a handler's expression stands for: the function that it
// names, the declaration that contains a literal, a handler's ServeHTTP, or what calls wrap.
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

// serves reports whether a value is an http.Handler whose type is known.
func (r *routing) serves(e ast.Expr) bool {
	t := r.typed(e)
	if t == nil || types.IsInterface(t) {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, r.pkg, "ServeHTTP")
	return obj != nil
}
