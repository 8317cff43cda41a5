package typed

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// eval returns the type of the value of a path.
func (t *Typer) eval(at Spot, of scope.Path) *Type {
	if t.depth > maxNesting {
		t.cut++
		return nil
	}
	if t.depth == 0 {
		clear(t.nested)
	}
	t.depth++
	defer func() { t.depth-- }()
	cur, next := t.head(at, of)
	for i := next; i < len(of.Steps); i++ {
		st := of.Steps[i]
		switch {
		case st.Op == '.' && i+1 < len(of.Steps) && of.Steps[i+1].Op == '(':
			i++
			cur = t.resultOf(at, cur, st.Name, of.Steps[i], of)
		case cur == nil:
		case st.Op == '.':
			cur = t.memberOf(at, cur, st.Name)
		case st.Op == '[':
			cur = t.element(cur, st.Name)
		case st.Op == '(': // a value is called
			cur = t.invoked(cur, st.Name)
		}
	}
	return cur
}

// resultOf returns the type of what calling a method of a value gives.
func (t *Typer) resultOf(at Spot, on *Type, name string, call scope.Step, of scope.Path) *Type {
	callee := of.Text[:call.At]
	if on == nil {
		if result := t.lang.Always[name]; result != "" && call.Name == "" && t.callOf(at, callee).GetCount() == 0 {
			return &Type{Class: t.Library[result]}
		}
		return t.called(at, selection{}, call.Name, callee)
	}
	if made := t.clientMade(on, name); made != nil {
		return made
	}
	s := t.method(at, on, name, t.callOf(at, callee))
	if s.method == nil && t.lang.Transparent[name] && !on.static {
		return on.notNull()
	}
	if s.method == nil && on.static && on.Class == nil && on.Pkg != "" && call.Name == "" && t.lang.Makers[name] {
		return &Type{Pkg: on.Pkg, Name: on.Name}
	}
	return t.called(at, s, call.Name, callee)
}

// head returns the type at the beginning of a path and the index of the first step after it.
func (t *Typer) head(at Spot, of scope.Path) (cur *Type, next int) {
	called := len(of.Steps) > 0 && of.Steps[0].Op == '('
	switch {
	case of.Head == "?" || of.Head == "":
		return nil, 0
	case of.Head == "self":
		return t.self(at), 0
	case of.Head == "super":
		return t.super(at), 0
	case strings.HasPrefix(of.Head, "<"):
		return t.literal(at, of.Head), 0
	case strings.HasPrefix(of.Head, "new "):
		cur = t.TypeOf(at, of.Head[4:])
		if called && of.Steps[0].Name == "" {
			return cur, 1
		}
		return nil, 0
	case called:
		call := of.Steps[0]
		if of2, _, known := t.variable(at, of.Head); known && call.Name != "" && call.Name[0] == ',' {
			return t.invoked(of2, call.Name), 1
		}
		s := t.simpleMethod(at, of.Head, t.callOf(at, of.Head))
		if value, _, known := t.variable(at, of.Head); known && !s.found() && !s.several { // it holds a function
			return t.invoked(value, call.Name), 1
		}
		return t.called(at, s, call.Name, of.Head), 1
	}
	if of, _, known := t.variable(at, of.Head); known {
		return of, 0
	}
	if c := t.simple(at, of.Head); c != nil {
		s := *c
		s.static = true
		return &s, 0
	}
	return &Type{Name: of.Head, Prefix: true}, 0
}

// literal returns the type of <T>.
func (t *Typer) literal(at Spot, head string) *Type {
	text := strings.TrimSuffix(head[1:], ">")
	if text == "null" {
		return Primitive("null")
	}
	if number := wholeNumber(text); number != nil {
		return number
	}
	return t.TypeOf(at, text)
}

// memberOf returns the type of a member of a type, of a value, or of a package.
func (t *Typer) memberOf(at Spot, cur *Type, name string) *Type {
	if cur == nil {
		return nil
	}
	if cur.Prefix {
		full := cur.Name + "." + name
		if c := t.Qualified(at.Module.File.Path, full); c != nil {
			s := *c
			s.static = true
			return &s
		}
		return &Type{Name: full, Prefix: true}
	}
	if of, f := t.field(cur, name); f != nil {
		return of
	}
	if cur.static {
		if c := t.Nested(cur, name); c != nil && c.Class != nil {
			s := *c
			s.static = true
			return &s
		}
	}
	if cur.elem != nil && (name == "length" || name == "Length") {
		return Primitive("int")
	}
	if t.lang.Transparent[name] && !cur.static {
		return cur.notNull()
	}
	return nil
}

// element returns the type of an element at an index; without a key, of the elements that a loop
// visits.
func (t *Typer) element(of *Type, key string) *Type {
	of = of.bounded()
	if of == nil {
		return nil
	}
	if of.elem != nil {
		return of.elem
	}
	if key != "" {
		found, _ := t.field(of, "this[]")
		return found
	}
	if s := t.upcast(of, t.Library[t.lang.Iterable]); s != nil && len(s.Args) > 0 {
		return s.Args[0]
	}
	if of.isValue() {
		found, _ := t.field(of, "this[]")
		return found
	}
	return nil
}

// callOf returns the call of a path that is meant at a place: of several calls in a declaration
// the last one before the place, or, if at.after is set, the first one after it.
func (t *Typer) callOf(at Spot, callee string) *recountv1.Reference {
	refs := at.Module.Calls[scope.CallSite{In: at.In, Path: callee}]
	if len(refs) == 0 {
		return nil
	}
	found := refs[0]
	for _, r := range refs {
		before := at.at == nil || resolve.ComparePlaces(r.At, at.at) <= 0
		switch {
		case !at.after && before:
			found = r
		case at.after && !before:
			return r
		}
	}
	return found
}

// called returns the type of the result of a call. If handed is "i,j", it returns the type of
// parameter j of the function that is argument i, and if it is "i", the type of parameter i.
func (t *Typer) called(at Spot, s selection, handed, callee string) *Type {
	call := t.callOf(at, callee)
	if s.method == nil {
		return cmp.Or(s.result, t.given(at, callee, handed, call))
	}
	if handed == "" {
		return s.method.Result.subst(t.infer(at, s, call, true))
	}
	arg, place, function := strings.Cut(handed, ",")
	i, _ := strconv.Atoi(arg)
	b := t.infer(at, s, call, false)
	if !function {
		return s.method.parameter(i).subst(b)
	}
	j, _ := strconv.Atoi(place)
	return t.handed(s.method.parameter(i).subst(b), j)
}

// given returns the type argument of a call of a method that is known to return it.
func (t *Typer) given(at Spot, callee, handed string, call *recountv1.Reference) *Type {
	text := call.GetAttributes()[TypeArguments]
	if text == "" || handed != "" || !t.lang.Given[callee[strings.LastIndexByte(callee, '.')+1:]] || len(splitTypes(text)) != 1 {
		return nil
	}
	return t.TypeOf(at, text)
}

// parameter returns the type of the parameter that argument i is passed to.
func (m *Method) parameter(i int) *Type {
	last := len(m.Params) - 1
	switch {
	case m.rest && i >= last && m.Params[last] != nil:
		return m.Params[last].elem
	case i <= last:
		return m.Params[i]
	}
	return nil
}

// handed returns the type of parameter j of a function type.
func (t *Typer) handed(of *Type, j int) *Type {
	of = of.bounded()
	m, b := t.functional(of)
	if m == nil || j >= len(m.Params) {
		return nil
	}
	return m.Params[j].subst(b)
}

// invoked returns the type of the result of calling a value; if handed is ",j", the type of its
// parameter j.
func (t *Typer) invoked(of *Type, handed string) *Type {
	of = of.bounded()
	if place, ok := strings.CutPrefix(handed, ","); ok {
		j, _ := strconv.Atoi(place)
		return t.handed(of, j)
	}
	if m, b := t.functional(of); m != nil {
		return m.Result.subst(b)
	}
	return nil
}

// functional returns the only abstract method of a function type, nil if it is none.
func (t *Typer) functional(of *Type) (found *Method, b bindings) {
	if of == nil || of.Class == nil || !of.Class.iface {
		return nil, nil
	}
	t.inherited(of, func(s *Type) bool {
		if s.Class == nil {
			return true
		}
		for _, m := range s.Class.Order {
			if !m.Abstract || found != nil && overrides(found, m, nil) && found.Name == m.Name {
				continue
			}
			if found != nil {
				found = nil
				return false
			}
			found, b = m, s.bind()
		}
		return true
	})
	return found, b
}
