package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// value returns the node of an expression, or none if its values are not followed.
func (f *flowing) value(e ast.Expr) int32 {
	t := f.safe(e)
	if _, tuple := t.(*types.Tuple); !tuple && !flows(t) {
		return none
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.value(e.X)
	case *ast.Ident:
		return f.named(e, e)
	case *ast.SelectorExpr:
		return f.selected(e)
	case *ast.CallExpr:
		if results := f.callResults(e); len(results) > 0 {
			return results[0]
		}
	case *ast.FuncLit:
		return f.once(e, func(n int32) { f.seed(n, f.literalName(e)) })
	case *ast.TypeAssertExpr:
		if e.Type != nil {
			return f.value(e.X)
		}
	case *ast.IndexExpr:
		if id, ok := ast.Unparen(e.X).(*ast.Ident); ok && f.isFunc(id) {
			return f.named(id, e)
		}
		if s, ok := ast.Unparen(e.X).(*ast.SelectorExpr); ok && f.isFunc(s.Sel) {
			return f.selected(s)
		}
		return f.element(f.typeOf(e.X), "e")
	case *ast.IndexListExpr:
		return f.value(e.X)
	case *ast.StarExpr:
		return f.node("*" + string(appendType(nil, t)))
	case *ast.UnaryExpr:
		if e.Op == token.ARROW {
			return f.element(f.typeOf(e.X), "c")
		}
	}
	return none
}

func (f *flowing) isFunc(id *ast.Ident) bool {
	_, ok := f.info.Uses[id].(*types.Func)
	return ok
}

// once returns the node of an expression with a node of its own, and calls ready when it is new.
func (f *flowing) once(e ast.Expr, ready func(int32)) int32 {
	n, ok := f.values[e]
	if !ok {
		n = f.fresh()
		f.values[e] = n
		ready(n)
	}
	return n
}

// named returns the node of a name: a variable, or a function used as a value at e.
func (f *flowing) named(id *ast.Ident, e ast.Expr) int32 {
	obj := f.info.Defs[id]
	if obj == nil {
		obj = f.info.Uses[id]
	}
	switch obj := obj.(type) {
	case *types.Var:
		return f.variable(obj)
	case *types.Func:
		if t := f.target(obj); t.key != "" {
			return f.once(e, func(n int32) { f.seed(n, functionObject+string(t.key)) })
		}
	}
	return none
}

func (f *flowing) variable(v *types.Var) int32 {
	if v.Name() == "_" {
		return none
	}
	if v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return f.node("v" + v.Pkg().Path() + "." + v.Name())
	}
	return f.local(v)
}

// selected returns the node of x.f: a field, a variable or function of a package, or a method used
// as a value.
func (f *flowing) selected(e *ast.SelectorExpr) int32 {
	s := f.info.Selections[e]
	if s == nil {
		return f.named(e.Sel, e)
	}
	switch s.Kind() {
	case types.FieldVal:
		owner, field := f.path(s)
		if field == nil {
			return none
		}
		return f.field(owner, field)
	default:
		fn, ok := s.Obj().(*types.Func)
		if !ok {
			return none
		}
		if recv, abstract := f.receiver(e, s); abstract {
			return f.once(e, func(n int32) { f.out.binds = append(f.out.binds, bind{recv, methodName(fn), n}) })
		}
		if t := f.target(fn); t.key != "" {
			return f.once(e, func(n int32) {
				object := functionObject + string(t.key)
				f.seed(n, object)
				if s.Kind() == types.MethodVal && flows(s.Recv()) {
					f.copy(f.value(e.X), f.node("r"+object))
				}
			})
		}
	}
	return none
}

// path follows a selection to the struct that declares the field.
func (f *flowing) path(s *types.Selection) (owner types.Type, field *types.Var) {
	t := s.Recv()
	for _, i := range s.Index() {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		st, ok := t.Underlying().(*types.Struct)
		if !ok || i >= st.NumFields() {
			return nil, nil
		}
		owner, field = t, st.Field(i)
		t = field.Type()
	}
	return owner, field
}

// receiver returns the node of the value that a method is called on. abstract is true if that value
// decides which method is called: the method is an interface's, possibly an embedded one's, or a
// type parameter's.
func (f *flowing) receiver(e *ast.SelectorExpr, s *types.Selection) (node int32, abstract bool) {
	fn := s.Obj().(*types.Func)
	recv := fn.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		return none, false
	}
	index := s.Index()
	t := s.Recv()
	node = f.value(e.X)
	for _, i := range index[:len(index)-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		st, ok := t.Underlying().(*types.Struct)
		if !ok || i >= st.NumFields() {
			return none, true
		}
		node = f.field(t, st.Field(i))
		t = st.Field(i).Type()
	}
	return node, true
}

// callResults returns the nodes of a call's results. call adds the constraints of the call itself,
// before or after this.
func (f *flowing) callResults(e *ast.CallExpr) []int32 {
	fun := ast.Unparen(e.Fun)
	if t, ok := f.info.Types[fun]; ok && t.IsType() { // a conversion
		if len(e.Args) != 1 || !flows(t.Type) {
			return nil
		}
		return []int32{f.once(e, func(n int32) { f.into(e.Args[0], n, t.Type) })}
	}
	sig, _ := f.signature(fun)
	if sig == nil {
		if id, ok := fun.(*ast.Ident); ok && id.Name == "recover" {
			return []int32{f.node("recover")}
		}
		return nil
	}
	_, obj := (&linker{unit: f.unit}).callee(e)
	if fn, ok := obj.(*types.Func); ok && !f.abstract(fun) {
		t := f.target(fn)
		return resultNodes(sig, func(i int) int32 {
			if t.key == "" {
				return none
			}
			return f.node("q" + functionObject + string(t.key) + ":" + strconv.Itoa(i))
		})
	}
	// The results are nodes of their own, numbered from that of the call.
	first := f.once(e, func(int32) {
		for range sig.Results().Len() - 1 {
			f.fresh()
		}
	})
	return resultNodes(sig, func(i int) int32 { return first + int32(i) })
}

func resultNodes(sig *types.Signature, node func(int) int32) []int32 {
	results := make([]int32, sig.Results().Len())
	for i := range results {
		results[i] = none
		if flows(sig.Results().At(i).Type()) {
			results[i] = node(i)
		}
	}
	return results
}

func (f *flowing) signature(fun ast.Expr) (*types.Signature, bool) {
	t := f.typeOf(fun)
	if t == nil {
		return nil, false
	}
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		t = p.Constraint()
	}
	sig, ok := t.Underlying().(*types.Signature)
	return sig, ok
}

// abstract reports whether only the flow of values decides which function a method's name means.
func (f *flowing) abstract(fun ast.Expr) bool {
	if e, ok := ast.Unparen(fun).(*ast.SelectorExpr); ok {
		if s := f.info.Selections[e]; s != nil && s.Kind() == types.MethodVal {
			_, abstract := f.receiver(e, s)
			return abstract
		}
	}
	return false
}

// call collects the constraints of a call: what reaches its parameters.
func (f *flowing) call(e *ast.CallExpr) {
	fun := ast.Unparen(e.Fun)
	if t, ok := f.info.Types[fun]; ok && (t.IsType() || t.IsBuiltin()) {
		if t.IsBuiltin() {
			f.builtin(e, fun)
		}
		return
	}
	sig, _ := f.signature(fun)
	if sig == nil {
		f.escape(e)
		return
	}
	name, obj := (&linker{unit: f.unit}).callee(e)
	fn, static := obj.(*types.Func)
	if static && !f.abstract(fun) {
		f.static(e, fun, fn, sig)
		return
	}
	s := site{from: f.from, sig: string(appendSignature(nil, sig)), results: f.callResults(e)}
	at := fun.Pos()
	if name != nil {
		at = name.Pos()
	}
	s.at = place(f.fset, at)
	if static {
		sel := fun.(*ast.SelectorExpr)
		s.callee, _ = f.receiver(sel, f.info.Selections[sel])
		s.method = methodName(fn)
		_, ours := f.foreign(fn.Pkg(), "")
		s.foreign = fn.Pkg() == nil || fn.Pkg() != f.pkg && !ours
	} else {
		s.callee = f.value(fun)
	}
	if s.callee == none {
		return
	}
	s.args = f.arguments(e, sig, func(int) int32 { return f.fresh() })
	f.out.sites = append(f.out.sites, s)
}

// arguments adds copies from a call's arguments to the nodes of its parameters.
func (f *flowing) arguments(e *ast.CallExpr, sig *types.Signature, param func(i int) int32) []int32 {
	params := sig.Params()
	nodes := make([]int32, params.Len())
	for i := range nodes {
		nodes[i] = none
	}
	if len(e.Args) == 1 && params.Len() > 1 {
		if tuple, ok := f.typeOf(e.Args[0]).(*types.Tuple); ok { // f(g())
			for i := range min(tuple.Len(), params.Len()) {
				if t := params.At(i).Type(); flows(t) {
					nodes[i] = param(i)
					f.copy(f.part(e.Args[0], i), nodes[i])
					f.converted(tuple.At(i).Type(), nodes[i], t)
				}
			}
			return nodes
		}
	}
	for i, arg := range e.Args {
		last := params.Len() - 1
		if sig.Variadic() && i >= last {
			if !e.Ellipsis.IsValid() {
				t := params.At(last).Type()
				f.into(arg, f.element(t, "e"), f.elementType(t))
			}
			continue
		}
		if i > last {
			break
		}
		if t := params.At(i).Type(); flows(t) {
			nodes[i] = param(i)
			f.into(arg, nodes[i], t)
		}
	}
	return nodes
}

// static adds copies from a call's arguments to the parameters of a known function.
func (f *flowing) static(e *ast.CallExpr, fun ast.Expr, fn *types.Func, sig *types.Signature) {
	t := f.target(fn)
	if t.key == "" {
		f.escape(e)
		return
	}
	object := functionObject + string(t.key)
	generic := fn.Origin().Signature()
	sel, _ := fun.(*ast.SelectorExpr)
	if sel != nil {
		s := f.info.Selections[sel]
		if s != nil && s.Kind() == types.MethodVal && flows(s.Recv()) {
			f.copy(f.value(sel.X), f.node("r"+object))
		}
		if s != nil && s.Kind() == types.MethodExpr { // the receiver is the first argument
			f.methodExpr(e, object, generic)
			return
		}
	}
	f.arguments(e, f.shape(sig, generic), func(i int) int32 {
		if !flows(generic.Params().At(i).Type()) {
			return none
		}
		return f.node("p" + object + ":" + strconv.Itoa(i))
	})
	f.instance(sig, generic)
}

// shape returns the signature whose parameters decide what is followed: the generic one if a type
// parameter takes concrete values.
func (f *flowing) shape(sig, generic *types.Signature) *types.Signature {
	if generic.Params().Len() == sig.Params().Len() {
		for i := range generic.Params().Len() {
			if flows(generic.Params().At(i).Type()) && !flows(sig.Params().At(i).Type()) {
				return generic
			}
		}
	}
	return sig
}

func (f *flowing) methodExpr(e *ast.CallExpr, object string, sig *types.Signature) {
	for i := range sig.Params().Len() {
		if t := sig.Params().At(i).Type(); i+1 < len(e.Args) && flows(t) && !sig.Variadic() {
			f.into(e.Args[i+1], f.node("p"+object+":"+strconv.Itoa(i)), t)
		}
	}
}

// instance joins the containers in a generic function's parameters and results with those of the
// call: []T with []Handler.
func (f *flowing) instance(sig, generic *types.Signature) {
	if sig == generic {
		return
	}
	join := func(a, b *types.Tuple) {
		for i := range min(a.Len(), b.Len()) {
			f.joinTypes(a.At(i).Type(), b.At(i).Type(), 0)
		}
	}
	join(sig.Params(), generic.Params())
	join(sig.Results(), generic.Results())
}

func (f *flowing) joinTypes(a, b types.Type, depth int) {
	if depth > 4 {
		return
	}
	switch b.Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map, *types.Chan:
	default:
		return
	}
	for _, what := range []string{"e", "k", "c"} {
		x, y := f.element(a, what), f.element(b, what)
		f.copy(x, y)
		f.copy(y, x)
	}
	if x, y := f.elementType(a), f.elementType(b); x != nil && y != nil {
		f.joinTypes(x, y, depth+1)
	}
}

// escape copies the arguments of a call to the node outside.
func (f *flowing) escape(e *ast.CallExpr) {
	out := f.node(outside)
	for _, arg := range e.Args {
		f.intoAny(arg, out)
	}
}

func (f *flowing) builtin(e *ast.CallExpr, fun ast.Expr) {
	id, ok := fun.(*ast.Ident)
	if !ok || len(e.Args) == 0 {
		return
	}
	t := f.typeOf(e.Args[0])
	switch id.Name {
	case "append":
		for _, arg := range e.Args[1:] {
			if !e.Ellipsis.IsValid() {
				f.into(arg, f.element(t, "e"), f.elementType(t))
			} else if from := f.typeOf(arg); from != nil {
				f.copy(f.element(from, "e"), f.element(t, "e"))
			}
		}
	case "copy":
		if len(e.Args) == 2 {
			f.copy(f.element(f.typeOf(e.Args[1]), "e"), f.element(t, "e"))
		}
	case "panic":
		f.intoAny(e.Args[0], f.node("recover"))
	}
}
