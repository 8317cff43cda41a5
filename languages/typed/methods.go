package typed

import (
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// selection is what a call means: a method of the repository or the library (method), a class
// without a constructor in its source (class), or a name outside the repository (pkg, name). The
// zero value means that nothing was found.
type selection struct {
	method *Method
	// recv binds the type parameters of the method's class.
	recv bindings
	// class is instantiated without a constructor of its own.
	class *Class
	// pkg and name name a method outside the repository.
	pkg, name string
	// doubt is set if a class whose members are not all known comes first in the lookup.
	doubt bool
	// exact is set if the call cannot reach a method that overrides this one.
	exact bool
	// several is set if more than one method may be meant, result if all of them have it.
	several bool
	result  *Type
}

func (s selection) found() bool { return s.method != nil || s.class != nil || s.name != "" }

// boundMethod is a method with the type parameters of its class bound.
type boundMethod struct {
	method *Method
	recv   bindings
}

// candidates returns the methods of a name that a type has, without those that others override.
// beyond are its bases outside the repository, which may have more; unknown reports whether it
// has bases of which nothing is known.
func (t *Typer) candidates(of *Type, name string) (all []boundMethod, beyond []*Type, unknown bool) {
	t.inherited(of, func(s *Type) bool {
		if s.Class == nil {
			beyond = append(beyond, s)
			return true
		}
		unknown = unknown || s.Class.unknown
		b := s.bind()
	next:
		for _, m := range s.Class.Methods[name] {
			if s.Class != of.Class && t.isPrivate(m) || m.Decl != nil && m.Decl.HasModifier("explicit") {
				continue // a member of an interface that only a value of the interface has
			}
			for _, have := range all {
				if have.method.Class == m.Class && !have.method.repeats(m) {
					continue // two methods of one class
				}
				if have.method.Name == m.Name && overrides(have.method, m, b) {
					continue next
				}
			}
			all = append(all, boundMethod{m, b})
		}
		return true
	})
	return all, beyond, unknown
}

// repeats reports whether a method of the same class has the same signature, as in the other half
// of a condition.
func (m *Method) repeats(o *Method) bool {
	if len(m.tparams) != len(o.tparams) || len(m.Params) != len(o.Params) {
		return false
	}
	for i, p := range m.Params {
		if q := o.Params[i]; p != nil && q != nil && (len(p.Args) != len(q.Args) || !sameArgs(p, q)) {
			return false
		}
	}
	return true
}

// accessible returns the candidates that a place may name: private ones only inside the outermost
// class around theirs. If there are no others, it returns all.
func (t *Typer) accessible(at Spot, all []boundMethod) []boundMethod {
	if len(all) < 2 {
		return all
	}
	if some := t.nameable(at, all); len(some) > 0 {
		return some
	}
	return all
}

// nameable returns the candidates that a place may name.
func (t *Typer) nameable(at Spot, all []boundMethod) (some []boundMethod) {
	var here *Class
	for d := at.Module.Decl(at.In); d != nil; d = at.Module.Decl(d.Owner) {
		if c := t.classes[d]; c != nil {
			here = c
		}
	}
	for _, c := range all {
		if t.isPrivate(c.method) && c.method.Class.outermost() != here {
			continue
		}
		some = append(some, c)
	}
	return some
}

// outermost returns the class at the top that a class is inside of, or is.
func (c *Class) outermost() *Class {
	for c != nil && c.outer != nil {
		c = c.outer
	}
	return c
}

// isPrivate reports whether only its own class may name a method.
func (t *Typer) isPrivate(m *Method) bool {
	if m.Decl == nil || m.Decl.HasModifier("private") {
		return m.Decl != nil
	}
	if !t.lang.PrivateByDefault || m.Class == nil || m.Class.iface {
		return false
	}
	return !m.Decl.HasModifier("public") && !m.Decl.HasModifier("internal") && !m.Decl.HasModifier("protected")
}

// method returns the method that a call on a value or a type means.
func (t *Typer) method(at Spot, on *Type, name string, call *recountv1.Reference) selection {
	of := on.bounded()
	if on != nil && on.param != nil && of == nil {
		of = t.object()
	}
	switch {
	case of == nil || of.Prefix || of.isPrimitive() || of.isNull():
		return selection{}
	case of.elem != nil:
		if t.lang.Extensions == nil {
			of = t.object()
			break
		}
		if s := t.extension(at, of, name, call); s.found() || s.several {
			return s
		}
		of = t.sequence(of)
	case of.isUnplaced():
		if t.lang.Extensions == nil {
			return selection{}
		}
		return t.extension(at, of, name, call)
	case of.Class == nil:
		if t.lang.Extensions != nil && !of.static {
			if s := t.extension(at, of, name, call); s.found() || s.several {
				return s
			}
		}
		return selection{pkg: of.Pkg, name: of.Name + "." + name}
	}
	if name == t.lang.Constructor {
		return t.constructor(at, of, call)
	}
	return t.member(at, of, name, call)
}

func (t *Typer) object() *Type {
	if c := t.Library[t.lang.Object]; c != nil {
		return &Type{Class: c}
	}
	return nil
}

// sequence returns an array as the class of what loops go through.
func (t *Typer) sequence(of *Type) *Type {
	return &Type{Class: t.Library[t.lang.Iterable], Args: []*Type{of.elem}}
}

// member returns a method of a type, its own or inherited, or an extension of it.
func (t *Typer) member(at Spot, of *Type, name string, call *recountv1.Reference) selection {
	all, beyond, unknown := t.candidates(of, name)
	all = t.accessible(at, all)
	if t.lang.Extensions != nil && len(all) == 1 && call != nil && !all[0].method.rest {
		if len(t.fitting(at, all, call, int(call.Count) <= len(all[0].method.Params), false)) == 0 {
			all = nil // an extension of the name may fit
		}
	}
	own := t.choose(at, all, call)
	if own.method != nil && own.method.extension && own.method.Decl == nil { // one of the repository comes before it
		if s := t.extension(at, of, name, call); s.found() {
			return s
		}
	}
	if own.found() || own.several {
		return own
	}
	if t.lang.Extensions != nil {
		if s := t.extension(at, of, name, call); s.found() || s.several {
			return s
		}
	}
	if object := t.object(); object != nil && len(all) == 0 {
		all, _, _ = t.candidates(object, name)
		if s := t.choose(at, all, call); s.found() {
			return s
		}
	}
	if len(beyond) == 1 && !unknown {
		return selection{pkg: beyond[0].Pkg, name: beyond[0].Name + "." + name}
	}
	if of.Class.Decl == nil && len(all) == 0 { // a method of the library that is not listed
		return selection{pkg: of.Class.Pkg, name: of.Class.Name + "." + name}
	}
	return selection{}
}

// extension returns the static method that is called as if it were a member of a type.
func (t *Typer) extension(at Spot, of *Type, name string, call *recountv1.Reference) selection {
	var all []boundMethod
	best := never
	found, doubt := t.lang.Extensions(t, at, name)
	for _, m := range found {
		if len(m.Params) == 0 {
			continue
		}
		fit := t.fit(of, m.Params[0])
		if fit == never || fit < best || fit == unclear && (of.isValue() || m.Params[0].isValue()) {
			continue // a receiver is not converted to a value type
		}
		if t.lang.Common[name] && fit != fits && (doubt || t.isListed(of) || fit == unclear && (!of.isUnplaced() || t.isListed(m.Params[0]))) {
			continue // the receiver may well have a method of the name
		}
		if fit > best {
			all, best = nil, fit
		}
		as := *m // without its first parameter, which is the receiver
		as.Params, as.MinArgs = m.Params[1:], max(0, m.MinArgs-1)
		own, bound := map[*typeParam]bool{}, bindings{}
		for _, p := range m.tparams {
			own[p] = true
		}
		t.unify(m.Params[0], of, own, bound)
		as.tparams = nil
		for _, p := range m.tparams {
			if bound[p] == nil {
				as.tparams = append(as.tparams, p)
			}
		}
		all = append(all, boundMethod{&as, bound})
	}
	s := t.choose(at, all, call)
	s.doubt = doubt || best == unclear // the receiver may have a method of the name itself
	return s
}

// isListed reports whether a type is of the library, or has the name of one there.
func (t *Typer) isListed(of *Type) bool {
	return of != nil && (of.Class != nil && of.Class.Decl == nil || of.isUnplaced() && t.Library[of.Name] != nil)
}

// simpleMethod returns the method that a single name means: that of the innermost enclosing class
// that has one, or one that an import brings.
func (t *Typer) simpleMethod(at Spot, name string, call *recountv1.Reference) selection {
	doubt := false
	var outside []*Type
	for d := at.Module.Decl(at.In); d != nil; d = at.Module.Decl(d.Owner) {
		if m := t.methods[d]; m != nil && m.Class == nil && d.Name == name { // a local function
			return selection{method: m, exact: true}
		}
		c := t.classes[d]
		if c == nil {
			continue
		}
		all, beyond, unknown := t.candidates(c.own(), name)
		if len(all) > 0 {
			s := t.choose(at, all, call)
			s.doubt = doubt
			if s.found() || len(beyond) == 0 && !unknown {
				return s
			}
		}
		doubt = doubt || unknown || len(beyond) > 0
		outside = append(outside, beyond...)
		if unknown {
			outside = append(outside, nil)
		}
	}
	if local := t.localFunction(at, name); local != nil {
		return selection{method: local, exact: true}
	}
	var all []boundMethod
	var named *Type
	for _, c := range t.lang.Statics(t, at.Module, name) {
		if c.Class == nil {
			named = c
			continue
		}
		found, _, _ := t.candidates(c, name)
		all = append(all, found...)
	}
	if s := t.choose(at, all, call); s.found() {
		s.doubt = doubt
		return s
	}
	if object := t.object(); object != nil && len(all) == 0 {
		found, _, _ := t.candidates(object, name)
		if s := t.choose(at, found, call); s.found() {
			return s
		}
	}
	switch {
	case named != nil && len(outside) == 0:
		return selection{pkg: named.Pkg, name: named.Name + "." + name}
	case len(outside) == 1 && outside[0] != nil && named == nil:
		return selection{pkg: outside[0].Pkg, name: outside[0].Name + "." + name}
	}
	return selection{}
}

// localFunction returns the function of a name that an enclosing declaration declares in its
// body.
func (t *Typer) localFunction(at Spot, name string) *Method {
	for d := at.Module.Decl(at.In); d != nil; d = at.Module.Decl(d.Owner) {
		for _, f := range t.members[d] {
			if f.Name == name && f.Kind == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION {
				m := t.methods[f]
				if m == nil {
					m = &Method{Name: name, Decl: f, Result: t.TypeOf(Spot{Module: at.Module, In: f.Index}, f.Type), static: true, Final: true}
					for _, p := range f.Parameters {
						m.Params = append(m.Params, t.ParameterType(Spot{Module: at.Module, In: f.Index}, p))
					}
					t.methods[f] = m
				}
				return m
			}
		}
	}
	return nil
}

// constructor returns what making an instance of a type calls.
func (t *Typer) constructor(at Spot, of *Type, call *recountv1.Reference) selection {
	switch {
	case of == nil || of.param != nil || of.elem != nil || of.isPrimitive() || of.isNull() || of.Prefix || of.isUnplaced():
		return selection{}
	case of.Class == nil:
		return selection{pkg: of.Pkg, name: of.Name}
	case of.Class.Decl == nil:
		return selection{pkg: of.Class.Pkg, name: of.Class.Name}
	}
	made := of.Class.Methods[t.lang.Constructor]
	var all []boundMethod
	for _, m := range made {
		all = append(all, boundMethod{m, of.bind()})
	}
	if s := t.choose(at, all, call); s.found() || s.several {
		s.exact = true
		return s
	}
	if n := len(of.Class.Decl.Parameters); n > 0 && int(call.GetCount()) == n {
		return selection{class: of.Class} // its primary constructor
	}
	if len(made) == 0 || of.Class.Decl.HasModifier("record") || call.GetCount() == 0 && of.Class.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_STRUCT {
		return selection{class: of.Class}
	}
	return selection{}
}
