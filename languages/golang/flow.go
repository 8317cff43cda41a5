package golang

import (
	"go/ast"
	"go/types"
	"strconv"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// flow is the constraints of a function, or of the rest of a file: which functions and concrete
// types reach which of its variables, in the manner of variable type analysis (Sundaresan et al.,
// "Practical Virtual Method Call Resolution for Java", 2000). They are solved over all packages
// together.
//
// A node stands for a variable, parameter, result or field whose type is an interface, a function
// or a type parameter. A field has one node for all values of its type, and so have the elements of
// a type of container. An object is a function, or a concrete type with methods. Objects are seeded
// where a function is used as a value or a concrete value becomes an interface, and follow the
// copies.
type flow struct {
	// names has the names of the nodes that other flows may mean, and "" for those of this flow
	// alone.
	names   []string
	copies  []copied
	seeds   []seeded
	objects []string
	sites   []site
	binds   []bind
	funcs   []function
	// line is the line on which the function began when the places of its sites were taken; 0 for
	// the rest of a file.
	line int

	linked *linked // set when the flow is first solved
}

type (
	// copied is a constraint: what reaches from also reaches to.
	copied struct{ from, to int32 }
	// seeded is a constraint: an object is at a node.
	seeded struct{ node, object int32 }
	// function is a function with a body: a declaration or a literal in it.
	function struct {
		object string
		in     schemas.NodeKey // the declaration
		// sig is the text of its type, and recv the node of a receiver whose type flows (-1: none).
		// params and results are nodes, -1 for those to which nothing can flow.
		sig             string
		recv            int32
		params, results []int32
		// asks has the types of the parameters that are interfaces or functions, and "" for the
		// others.
		asks []string
	}
	// site is a call of a function value, or of a method of an interface.
	site struct {
		from          schemas.NodeKey
		at            *recountv1.Place
		callee        int32  // the node of the function or of the receiver
		method        string // "" for a function value
		sig           string
		args, results []int32
		// foreign is true if the interface is declared outside the repository: its implementations
		// may be, too.
		foreign bool
	}
	// bind is a method of an interface used as a value.
	bind struct {
		recv   int32
		method string
		to     int32
	}
)

// outside is the node of everything that was passed to functions outside the repository, which they
// may pass on.
const outside = "outside"

// An object's name begins with its kind.
const (
	functionObject = "F"
	typeObject     = "T"
)

// flowing collects the constraints of one or several declarations.
type flowing struct {
	*unit
	out     *flow
	shared  map[string]int32
	locals  map[types.Object]int32
	values  map[ast.Expr]int32 // of expressions with a node of their own
	objects map[string]int32
	from    schemas.NodeKey
	results []int32 // of the function that the walk is in
	// literals counts the literals of the declaration that the walk is in.
	literals int
	litNames map[*ast.FuncLit]string
}

const none int32 = -1

func newFlowing(u *unit) *flowing {
	return &flowing{
		unit: u, out: &flow{}, shared: map[string]int32{}, locals: map[types.Object]int32{},
		values: map[ast.Expr]int32{}, objects: map[string]int32{}, litNames: map[*ast.FuncLit]string{},
	}
}

// take returns the constraints collected since the last call.
func (f *flowing) take() *flow {
	out := f.out
	f.out = &flow{}
	clear(f.shared)
	clear(f.locals)
	clear(f.values)
	clear(f.objects)
	clear(f.litNames)
	return out
}

func (f *flowing) declaration(decl ast.Decl, names *declared) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		f.from, f.literals = names.ofName[decl.Name], 0
		if fn, ok := f.info.Defs[decl.Name].(*types.Func); ok && decl.Body != nil {
			f.body(functionObject+string(f.from), fn.Signature(), decl.Body)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			if spec, ok := spec.(*ast.ValueSpec); ok {
				f.from, f.literals = names.ofName[spec.Names[0]], 0
				f.walk(spec)
			}
		}
	}
}

// node returns the node of a name that other files may use.
func (f *flowing) node(name string) int32 {
	n, ok := f.shared[name]
	if !ok {
		n = int32(len(f.out.names))
		f.out.names = append(f.out.names, name)
		f.shared[name] = n
	}
	return n
}

func (f *flowing) fresh() int32 {
	f.out.names = append(f.out.names, "")
	return int32(len(f.out.names) - 1)
}

func (f *flowing) copy(from, to int32) {
	if from != none && to != none && from != to {
		f.out.copies = append(f.out.copies, copied{from, to})
	}
}

func (f *flowing) seed(node int32, object string) {
	if node == none {
		return
	}
	o, ok := f.objects[object]
	if !ok {
		o = int32(len(f.out.objects))
		f.out.objects = append(f.out.objects, object)
		f.objects[object] = o
	}
	f.out.seeds = append(f.out.seeds, seeded{node, o})
}

// flows reports whether values of a type are followed.
func flows(t types.Type) bool {
	if t == nil {
		return false
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return true
	}
	switch t.Underlying().(type) {
	case *types.Interface, *types.Signature:
		return true
	}
	return false
}

// body walks a function: its parameters and results are nodes that callers know.
func (f *flowing) body(object string, sig *types.Signature, body *ast.BlockStmt) {
	fn := function{object: object, in: f.from, sig: string(appendSignature(nil, sig)), recv: none}
	if r := sig.Recv(); r != nil && flows(r.Type()) {
		fn.recv = f.node("r" + object)
		f.locals[r] = fn.recv
	}
	for i := range sig.Params().Len() {
		p := sig.Params().At(i)
		n, asks := none, ""
		if flows(p.Type()) && !(sig.Variadic() && i == sig.Params().Len()-1) {
			n, asks = f.node("p"+object+":"+strconv.Itoa(i)), asked(p.Type())
			f.locals[p] = n
		}
		fn.params, fn.asks = append(fn.params, n), append(fn.asks, asks)
	}
	for i := range sig.Results().Len() {
		r := sig.Results().At(i)
		n := none
		if flows(r.Type()) {
			n = f.node("q" + object + ":" + strconv.Itoa(i))
			f.locals[r] = n
		}
		fn.results = append(fn.results, n)
	}
	f.out.funcs = append(f.out.funcs, fn)
	outer := f.results
	f.results = fn.results
	f.walk(body)
	f.results = outer
}

// asked returns what an object must have to fit an interface or function type: the texts of the
// methods, each followed by a zero byte, or of the signature.
func asked(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return functionObject + string(appendSignature(nil, u))
	case *types.Interface:
		b := []byte(typeObject)
		for m := range u.Methods() {
			b = append(append(b, methodText(m)...), 0)
		}
		return string(b)
	}
	return ""
}

func (f *flowing) typeOf(e ast.Expr) types.Type {
	if t, ok := f.info.Types[e]; ok {
		return t.Type
	}
	if id, ok := e.(*ast.Ident); ok {
		if obj := f.info.Defs[id]; obj != nil {
			return obj.Type()
		}
		if obj := f.info.Uses[id]; obj != nil {
			return obj.Type()
		}
	}
	return nil
}

func (f *flowing) literal(lit *ast.FuncLit) {
	sig, ok := f.typeOf(lit).(*types.Signature)
	if ok {
		f.body(f.literalName(lit), sig, lit.Body)
	}
}

// literalName returns the object of a literal: its declaration and its number within that.
func (f *flowing) literalName(lit *ast.FuncLit) string {
	name, ok := f.litNames[lit]
	if !ok {
		f.literals++
		name = functionObject + string(f.from) + "$" + strconv.Itoa(f.literals)
		f.litNames[lit] = name
	}
	return name
}

// into adds the constraint that an expression's value reaches a node of type t.
func (f *flowing) into(e ast.Expr, to int32, t types.Type) {
	if to == none || t == nil || !flows(t) {
		return
	}
	src := f.typeOf(e)
	if src == nil {
		return
	}
	if flows(src) {
		f.copy(f.value(e), to)
	}
	f.converted(src, to, t)
}

// converted seeds the concrete type of a value that becomes an interface.
func (f *flowing) converted(src types.Type, to int32, t types.Type) {
	if types.IsInterface(src) || !types.IsInterface(t) {
		return
	}
	if named := namedOf(src); named != nil && named.Obj().Pkg() != nil {
		if _, ours := f.foreign(named.Obj().Pkg(), named.Obj().Name()); ours || named.Obj().Pkg() == f.pkg {
			f.seed(to, typeObject+string(appendNamed(nil, named)))
		}
	}
}

// safe returns an expression's type, or the invalid type if it is not known.
func (f *flowing) safe(e ast.Expr) types.Type {
	if t := f.typeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

// field returns the node of a struct's field: one for all values of the type.
func (f *flowing) field(owner types.Type, v *types.Var) int32 {
	if !flows(v.Origin().Type()) && !flows(v.Type()) {
		return none
	}
	text := appendFieldOwner(nil, owner)
	return f.node("f" + string(text) + "." + v.Name())
}

func appendFieldOwner(b []byte, owner types.Type) []byte {
	if named := namedOf(owner); named != nil {
		return appendNamed(b, named)
	}
	return appendType(b, owner)
}

// element returns the node of a container's elements ("e"), a map's keys ("k") or a channel's
// elements ("c"): one for all containers of the type.
func (f *flowing) element(t types.Type, what string) int32 {
	if t == nil {
		return none
	}
	of := f.elementType(t)
	if what == "k" {
		m, ok := t.Underlying().(*types.Map)
		if !ok {
			return none
		}
		of = m.Key()
	}
	if !flows(of) {
		return none
	}
	u := t.Underlying()
	if p, ok := u.(*types.Pointer); ok {
		u = p.Elem().Underlying()
	}
	if c, ok := u.(*types.Chan); ok { // whatever its direction
		u = types.NewChan(types.SendRecv, c.Elem())
	}
	return f.node(what + string(appendType(nil, u)))
}

func (f *flowing) elementType(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Array:
		return u.Elem()
	case *types.Map:
		return u.Elem()
	case *types.Chan:
		return u.Elem()
	case *types.Pointer:
		if a, ok := u.Elem().Underlying().(*types.Array); ok {
			return a.Elem()
		}
	}
	return nil
}

func (f *flowing) local(obj types.Object) int32 {
	n, ok := f.locals[obj]
	if !ok {
		n = f.fresh()
		f.locals[obj] = n
	}
	return n
}
