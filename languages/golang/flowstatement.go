package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// walk collects the constraints of everything below n.
func (f *flowing) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.literal(n)
			return false
		case *ast.AssignStmt:
			f.assign(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			names := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				names[i] = name
			}
			f.assign(names, n.Values)
		case *ast.ReturnStmt:
			f.returned(n)
		case *ast.CallExpr:
			f.call(n)
		case *ast.CompositeLit:
			f.composite(n)
		case *ast.SendStmt:
			f.into(n.Value, f.element(f.typeOf(n.Chan), "c"), f.elementType(f.typeOf(n.Chan)))
		case *ast.RangeStmt:
			f.ranged(n)
		case *ast.TypeSwitchStmt:
			f.typeSwitch(n)
		case *ast.UnaryExpr:
			if n.Op == token.AND { // pointers of its type may point to a variable whose address is taken
				if t := f.typeOf(n.X); flows(t) {
					d := f.node("*" + string(appendType(nil, t)))
					v := f.value(n.X)
					f.copy(v, d)
					f.copy(d, v)
				}
			}
		}
		return true
	})
}

func (f *flowing) assign(left, right []ast.Expr) {
	if len(right) == 1 && len(left) > 1 {
		for i, l := range left {
			f.copy(f.part(right[0], i), f.value(l))
		}
		if tuple, ok := f.typeOf(right[0]).(*types.Tuple); ok {
			for i, l := range left {
				if i < tuple.Len() {
					f.converted(tuple.At(i).Type(), f.value(l), f.safe(l))
				}
			}
		}
		return
	}
	for i, l := range left {
		if i < len(right) {
			f.into(right[i], f.value(l), f.typeOf(l))
		}
	}
}

// part returns the node of the i-th value of an expression with several values.
func (f *flowing) part(e ast.Expr, i int) int32 {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if results := f.callResults(e); i < len(results) {
			return results[i]
		}
	case *ast.TypeAssertExpr, *ast.IndexExpr, *ast.UnaryExpr: // v, ok :=
		if i == 0 {
			return f.value(e)
		}
	}
	return none
}

func (f *flowing) returned(n *ast.ReturnStmt) {
	if len(n.Results) == 1 && len(f.results) > 1 {
		tuple, _ := f.typeOf(n.Results[0]).(*types.Tuple)
		for i, to := range f.results {
			f.copy(f.part(n.Results[0], i), to)
			if to != none && tuple != nil && i < tuple.Len() {
				f.converted(tuple.At(i).Type(), to, types.Universe.Lookup("any").Type())
			}
		}
		return
	}
	for i, e := range n.Results {
		if i < len(f.results) && f.results[i] != none {
			f.intoAny(e, f.results[i])
		}
	}
}

// intoAny is into for a node whose type is known to be followed.
func (f *flowing) intoAny(e ast.Expr, to int32) { f.into(e, to, types.Universe.Lookup("any").Type()) }

func (f *flowing) composite(n *ast.CompositeLit) {
	t := f.typeOf(n)
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok {
					if v, ok := f.info.Uses[id].(*types.Var); ok {
						f.into(kv.Value, f.field(t, v), v.Type())
					}
				}
			} else if i < u.NumFields() {
				f.into(e, f.field(t, u.Field(i)), u.Field(i).Type())
			}
		}
	case *types.Slice, *types.Array, *types.Map:
		to, of := f.element(t, "e"), f.elementType(t)
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				f.into(kv.Value, to, of)
				if m, ok := u.(*types.Map); ok {
					f.into(kv.Key, f.element(t, "k"), m.Key())
				}
			} else {
				f.into(e, to, of)
			}
		}
	}
}

func (f *flowing) ranged(n *ast.RangeStmt) {
	t := f.typeOf(n.X)
	if t == nil {
		return
	}
	key, value := "k", "e"
	switch t.Underlying().(type) {
	case *types.Chan:
		key = "c"
	case *types.Map, *types.Slice, *types.Array, *types.Pointer:
	case *types.Signature: // for x := range f: the body is f's yield
		f.rangedFunc(n, t.Underlying().(*types.Signature))
		return
	default:
		return
	}
	if n.Key != nil {
		f.copy(f.element(t, key), f.value(n.Key))
	}
	if n.Value != nil {
		f.copy(f.element(t, value), f.value(n.Value))
	}
}

// rangedFunc adds the call of an iterator with a function whose parameters are the loop's
// variables.
func (f *flowing) rangedFunc(n *ast.RangeStmt, sig *types.Signature) {
	if sig.Params().Len() != 1 {
		return
	}
	yield, ok := sig.Params().At(0).Type().Underlying().(*types.Signature)
	callee := f.value(n.X)
	if !ok || callee == none {
		return
	}
	f.literals++
	object := functionObject + string(f.from) + "$" + strconv.Itoa(f.literals)
	fn := function{object: object, in: f.from, sig: string(appendSignature(nil, yield)), recv: none}
	for i := range yield.Params().Len() {
		p, v := none, ast.Expr(nil)
		if i == 0 {
			v = n.Key
		} else {
			v = n.Value
		}
		asks := ""
		if v != nil && flows(yield.Params().At(i).Type()) {
			p, asks = f.fresh(), asked(yield.Params().At(i).Type())
			f.copy(p, f.value(v))
		}
		fn.params, fn.asks = append(fn.params, p), append(fn.asks, asks)
	}
	f.out.funcs = append(f.out.funcs, fn)
	arg := f.fresh()
	f.seed(arg, object)
	f.out.sites = append(f.out.sites, site{
		from: f.from, at: place(f.fset, n.X.Pos()), callee: callee, sig: string(appendSignature(nil, sig)), args: []int32{arg},
	})
}

func (f *flowing) typeSwitch(n *ast.TypeSwitchStmt) {
	assign, ok := n.Assign.(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return
	}
	x, ok := ast.Unparen(assign.Rhs[0]).(*ast.TypeAssertExpr)
	if !ok {
		return
	}
	for _, clause := range n.Body.List {
		if obj := f.info.Implicits[clause]; obj != nil && flows(obj.Type()) {
			f.copy(f.value(x.X), f.local(obj))
		}
	}
}
