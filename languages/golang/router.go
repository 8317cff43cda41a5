package golang

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// router is a value that routes are registered on: a framework's, below prefixes.
type router struct {
	of       *framework
	prefixes []string // sorted
}

// none reports whether nothing is known of a value.
func (r router) none() bool { return r.of == nil }

func (r router) below(prefix string) router {
	below := router{of: r.of}
	for _, p := range r.rooted().prefixes {
		below.prefixes = append(below.prefixes, join(p, prefix))
	}
	return below
}

// rooted returns the router, with the empty prefix if it has none.
func (r router) rooted() router {
	if len(r.prefixes) == 0 {
		r.prefixes = []string{""}
	}
	return r
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

// maxPrefixes is the maximum number of prefixes of one router.
const maxPrefixes = 32

// functions records the parameters of functions.
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

// routerType returns the framework whose router a type expression names, or nil.
func (r *routing) routerType(t ast.Expr) *framework {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	return r.made(t)
}

// made returns the framework of which pkg.Name is a router type or a function that makes one, or
// nil.
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

// note records that a variable is a router, in addition to what the round has found of it.
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

// declared records variables whose declared type is a router's.
func (r *routing) declared(names []*ast.Ident, t ast.Expr) {
	if of := r.routerType(t); of != nil {
		for _, name := range names {
			r.note(name, router{of: of})
		}
	}
}

// follow records which variables are routers by a declaration, an assignment or a call.
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

// handed records routers that a call passes to a function.
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

// enter records that the first parameter of a function is a router.
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

// mount puts a variable's router below another.
func (r *routing) mount(e ast.Expr, below router) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		r.note(e, below)
	case *ast.SelectorExpr:
		r.note(e.Sel, below)
	}
}

// stripped puts the mux in http.StripPrefix(prefix, mux) below the prefix.
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

// value returns the router that an expression evaluates to.
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
