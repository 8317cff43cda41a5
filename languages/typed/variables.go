package typed

import (
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// self returns the type of the class around a place.
func (t *Typer) self(at Spot) *Type {
	for d := at.Module.Decl(at.In); d != nil; d = at.Module.Decl(d.Owner) {
		if c := t.classes[d]; c != nil {
			return c.own()
		}
	}
	return nil
}

// super returns the class that the class around a place extends.
func (t *Typer) super(at Spot) *Type {
	of := t.self(at)
	if of == nil {
		return nil
	}
	for _, s := range of.Class.supers {
		if s.Class == nil || !s.Class.iface {
			return s
		}
	}
	return nil
}

// variable returns the type of a variable: a local one, a parameter or a field, and the field if
// it is one. known reports whether there is such a variable.
func (t *Typer) variable(at Spot, name string) (of *Type, f *field, known bool) {
	for d := at.Module.Decl(at.In); d != nil; d = at.Module.Decl(d.Owner) {
		if c := t.classes[d]; c != nil {
			if of, f := t.field(c.own(), name); f != nil {
				return of, f, true
			}
		}
		for i, p := range d.Parameters {
			if p.Name != name {
				continue
			}
			if m := t.methods[d]; m != nil {
				return m.Params[i], nil, true
			}
			return t.ParameterType(Spot{Module: at.Module, In: d.Index}, p), nil, true
		}
		if b := t.variables[localName{at.Module, d.Index, name}]; b != nil {
			return t.bound(at.Module, b), nil, true
		}
	}
	if b := t.variables[localName{at.Module, 0, name}]; b != nil {
		return t.bound(at.Module, b), nil, true
	}
	for _, c := range t.lang.Statics(t, at.Module, name) {
		if of, f := t.field(c, name); f != nil {
			return of, f, true
		}
	}
	return nil, nil, false
}

// bound returns the type of a local variable.
func (t *Typer) bound(m *scope.Module, b *recountv1.Binding) *Type {
	if of, ok := t.types[b]; ok {
		return of
	}
	if t.open[b] || t.depth > maxNesting {
		t.cut++
		return nil
	}
	t.open[b] = true
	t.depth++
	cut := t.cut
	at := Spot{Module: m, In: b.In, at: b.At, after: true}
	of := t.TypeOf(at, b.Type)
	if b.Type == "" {
		of = t.eval(at, m.Path(b.Value)).value()
	}
	t.depth--
	delete(t.open, b)
	if t.cut == cut || len(t.open) == 0 {
		t.types[b] = of
	}
	return of
}

// maxNesting limits how deep variables are followed through the values of others.
const maxNesting = 24

// field returns a field of a type and the type that it has there.
func (t *Typer) field(of *Type, name string) (found *Type, f *field) {
	t.inherited(of.bounded(), func(s *Type) bool {
		if s.Class == nil {
			return true
		}
		if g := s.Class.Fields[name]; g != nil {
			found, f = g.Typ.subst(s.bind()), g
		}
		return f == nil
	})
	return found, f
}
