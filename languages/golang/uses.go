package golang

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
)

// uses finds what declarations of a file depend on outside of themselves: while none of it changes,
// the results of the checker and of the passes over them stay the same (see meanings). It errs on
// the side of too many dependencies:
//
//   - every identifier, whether or not it has a meaning: as the name of an object, or as the
//     name of a member, of the type of the expression before it if that type has a name, else
//     of any type;
//   - the kind of every named type that an expression has or that its type contains;
//   - the method sets of types that are asserted, converted, compared with what an interface or
//     a constraint requires, or embedded;
//   - the fields of structs that are written without the fields' names, or converted;
//   - which types have the fields of a struct without a name.
type uses struct {
	*unit
	all   marks
	names map[string]bool // of objects
	// mentioned has the names that follow an expression, of has those that are members of a known
	// type, and members those that may belong to any type.
	mentioned map[string]bool
	of        map[memberOf]bool
	members   map[string]bool
	// seen has the types that were visited, with what the uses ask of them.
	seen map[types.Type]asks
	// shapes has the structs without a name.
	shapes map[string]bool
	// specs has the type expressions of declarations: the types that they declare have names.
	specs map[ast.Expr]bool
	// behind has the identifiers that name members.
	behind map[*ast.Ident]bool
	// done has the struct types and keys whose type is known from their surroundings.
	done map[ast.Expr]bool

	// The following fields keep the marks that were computed, from one declaration to the next.
	ofMember map[memberOf]mark
	ofType   map[*types.Named]typeMarks
}

// typeMarks has the marks of a named type.
type typeMarks struct{ kind, methods, fields mark }

// memberOf is a name that follows an expression of a type.
type memberOf struct {
	of   *types.Named
	name string
}

// asks is the set of properties of a type that a use depends on.
type asks uint8

const (
	asksKind    asks = 1 << iota
	asksMethods      // its method set too
	asksFields       // its fields too
)

func newUses(u *unit) *uses {
	return &uses{
		unit: u, all: marks{}, names: map[string]bool{}, seen: map[types.Type]asks{}, shapes: map[string]bool{},
		mentioned: map[string]bool{}, of: map[memberOf]bool{}, members: map[string]bool{},
		specs: map[ast.Expr]bool{}, behind: map[*ast.Ident]bool{}, done: map[ast.Expr]bool{},
		ofMember: map[memberOf]mark{}, ofType: map[*types.Named]typeMarks{},
	}
}

// below records what everything below n depends on.
func (x *uses) below(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		x.node(n)
		return true
	})
}

// take returns what was recorded since the last call, sorted.
func (x *uses) take() []mark {
	for m := range x.of {
		made, ok := x.ofMember[m]
		if !ok {
			made = markOf(byMemberOf, string(appendNamed(nil, m.of))+"."+m.name)
			x.ofMember[m] = made
		}
		x.all[made] = struct{}{}
	}
	for what, names := range map[string]map[string]bool{byName: x.names, byMember: x.members, byMention: x.mentioned, byShape: x.shapes} {
		for name := range names {
			x.all[markOf(what, name)] = struct{}{}
		}
	}
	all := slices.Sorted(maps.Keys(x.all))
	clear(x.all)
	clear(x.names)
	clear(x.mentioned)
	clear(x.of)
	clear(x.members)
	clear(x.seen)
	clear(x.shapes)
	clear(x.specs)
	clear(x.behind)
	clear(x.done)
	return all
}

func (x *uses) node(n ast.Node) {
	if e, ok := n.(ast.Expr); ok && !x.specs[e] {
		if t, ok := x.info.Types[e]; ok {
			x.look(t.Type, asksKind)
		}
	}
	everything := asksKind | asksMethods | asksFields
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if (&linker{unit: x.unit}).packageOf(n) == nil {
			x.member(x.info.TypeOf(n.X), n.Sel.Name)
			x.behind[n.Sel] = true
		}
	case *ast.KeyValueExpr: // a field, or the value of a variable
		if id, ok := n.Key.(*ast.Ident); ok && !x.done[id] {
			x.member(nil, id.Name)
		}
	case *ast.StructType:
		if !x.done[n] {
			x.fields(nil, n.Fields)
		}
	case *ast.InterfaceType:
		x.fields(nil, n.Methods)
	case *ast.Ident:
		if !x.behind[n] {
			x.names[n.Name] = true
		}
		if obj := x.info.Uses[n]; obj != nil {
			x.look(obj.Type(), asksKind)
		} else if obj := x.info.Defs[n]; obj != nil {
			x.look(obj.Type(), asksKind)
		}
		if inst, ok := x.info.Instances[n]; ok {
			for t := range inst.TypeArgs.Types() {
				x.look(t, everything)
			}
		}
	case *ast.FuncDecl:
		if n.Recv != nil {
			x.method(n)
			x.behind[n.Name] = true
		}
		if service := handled(n); service != "" {
			x.names[service+fullMethodName] = true
		}
	case *ast.TypeSpec:
		x.specs[n.Type] = true
		if obj := x.info.Defs[n.Name]; obj != nil {
			x.look(obj.Type(), everything)
			if st, ok := n.Type.(*ast.StructType); ok {
				x.fields(obj.Type(), st.Fields)
				x.done[st] = true
			}
		}
		ast.Inspect(n.Type, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && !x.specs[e] {
				x.look(x.info.TypeOf(e), everything)
			}
			return true
		})
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok {
					x.member(x.info.TypeOf(n), id.Name)
					x.done[id] = true
				}
			}
		}
		if len(n.Elts) > 0 {
			if _, keyed := n.Elts[0].(*ast.KeyValueExpr); !keyed {
				x.look(x.info.TypeOf(n), everything)
			}
		}
	case *ast.CallExpr:
		x.call(n, everything)
	case *ast.IndexExpr:
		x.look(x.info.TypeOf(n.Index), everything)
	case *ast.IndexListExpr:
		for _, e := range n.Indices {
			x.look(x.info.TypeOf(e), everything)
		}
	case *ast.TypeAssertExpr:
		if n.Type != nil {
			x.look(x.info.TypeOf(n.Type), everything)
		}
	case *ast.TypeSwitchStmt:
		for _, clause := range n.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				x.look(x.info.TypeOf(e), everything)
			}
		}
	}
}

// fields records the members that a type declares itself; t is nil for a type without a name.
func (x *uses) fields(t types.Type, all *ast.FieldList) {
	for _, f := range all.List {
		for _, name := range f.Names {
			x.member(t, name.Name)
			x.behind[name] = true
		}
		if name := embeddedName(f.Type); name != nil && len(f.Names) == 0 {
			x.member(t, name.Name)
		}
	}
}

// method records the name of a method that the file declares: it is a member of its type, and may
// hide a member of an embedded type.
func (x *uses) method(decl *ast.FuncDecl) {
	name := decl.Name.Name
	fn, ok := x.info.Defs[decl.Name].(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		x.member(nil, name)
		return
	}
	recv := fn.Signature().Recv().Type()
	x.member(recv, name)
	if named := namedOf(recv); named == nil {
		x.member(nil, name)
	} else if st, ok := named.Underlying().(*types.Struct); ok {
		for f := range st.Fields() {
			if f.Embedded() {
				x.member(f.Type(), name)
			}
		}
	}
}

// member records a name that follows an expression of type t, nil if that is not known.
//
// In a type with a name, the mark is of that type's member, which may be promoted. In any other
// type the name may belong to whatever the type consists of: the mark is then of all members with
// the name.
func (x *uses) member(t types.Type, name string) {
	x.mentioned[name] = true
	if t == nil {
		x.members[name] = true
		return
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok {
		x.members[name] = true
		return
	}
	obj := named.Obj()
	if obj.Pkg() == nil {
		return // the members of error do not change
	}
	_, ours := x.foreign(obj.Pkg(), "")
	_, pointer := named.Underlying().(*types.Pointer)
	switch {
	case !ours && obj.Pkg() != x.pkg: // nor do those of the standard library
	case obj.Parent() != obj.Pkg().Scope() || pointer:
		x.members[name] = true
	default:
		x.of[memberOf{named.Origin(), name}] = true
	}
}

// call visits conversions, and the arguments of functions that are generic or not known.
func (x *uses) call(call *ast.CallExpr, everything asks) {
	if t, ok := x.info.Types[call.Fun]; ok && t.IsType() {
		x.look(t.Type, everything)
	} else if _, obj := (&linker{unit: x.unit}).callee(call); obj != nil {
		fn, ok := obj.(*types.Func)
		if !ok || fn.Signature().TypeParams().Len() == 0 {
			return
		}
	}
	for _, arg := range call.Args {
		x.look(x.info.TypeOf(arg), everything)
	}
}

// look records the named types that a type consists of.
func (x *uses) look(t types.Type, what asks) {
	if t == nil || x.seen[t]&what == what {
		return
	}
	x.seen[t] |= what
	switch t := t.(type) {
	case *types.Alias:
		x.look(types.Unalias(t), what)
	case *types.Pointer:
		x.look(t.Elem(), what)
	case *types.Slice:
		x.look(t.Elem(), what)
	case *types.Array:
		x.look(t.Elem(), what)
	case *types.Map:
		x.look(t.Key(), what)
		x.look(t.Elem(), what)
	case *types.Chan:
		x.look(t.Elem(), what)
	case *types.Tuple:
		for v := range t.Variables() {
			x.look(v.Type(), what)
		}
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			x.look(p.Constraint(), what)
		}
		x.look(t.Params(), what)
		x.look(t.Results(), what)
	case *types.Struct:
		if t.NumFields() > 0 {
			x.shapes[string(appendType(nil, t))] = true
		}
		for f := range t.Fields() {
			x.look(f.Type(), what)
		}
	case *types.Interface:
		for e := range t.EmbeddedTypes() {
			x.look(e, what)
		}
	case *types.Union:
		for term := range t.Terms() {
			x.look(term.Type(), what)
		}
	case *types.TypeParam:
		x.look(t.Constraint(), what)
	case *types.Named:
		x.lookNamed(t, what)
	}
}

func (x *uses) lookNamed(t *types.Named, what asks) {
	for a := range t.TypeArgs().Types() {
		x.look(a, what)
	}
	origin := t.Origin()
	if origin != t {
		x.look(origin, what)
		return
	}
	pkg := t.Obj().Pkg()
	if pkg == nil {
		return
	}
	if t.Obj().Parent() != pkg.Scope() {
		if pkg == x.pkg { // declared in a function of this file: its parts count
			x.look(t.Underlying(), asksKind|asksMethods|asksFields)
		}
		return
	}
	if _, ours := x.foreign(pkg, ""); !ours && pkg != x.pkg {
		return // the standard library does not change
	}
	for p := range t.TypeParams().TypeParams() {
		x.look(p.Constraint(), what)
	}
	if i, ok := t.Underlying().(*types.Interface); ok {
		x.look(i, what)
	}
	made, ok := x.ofType[t]
	if !ok {
		name := string(appendNamed(nil, t))
		made = typeMarks{markOf(byKind, name), markOf(byMethods, name), markOf(byFields, name)}
		x.ofType[t] = made
	}
	x.all[made.kind] = struct{}{}
	if what&asksMethods != 0 {
		x.all[made.methods] = struct{}{}
	}
	if what&asksFields != 0 {
		x.all[made.fields] = struct{}{}
	}
}
