package typed

import (
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// infer binds the type parameters of a method in a call, from its receiver and its arguments.
// With functions, it also uses what functions that are passed return.
func (t *Typer) infer(at Spot, s selection, call *recountv1.Reference, functions bool) bindings {
	if len(s.method.tparams) == 0 {
		return s.recv
	}
	b := bindings{}
	for p, to := range s.recv {
		b[p] = to
	}
	for _, p := range s.method.tparams {
		b[p] = nil
	}
	if call == nil || t.depth > maxNesting {
		return b
	}
	if text := call.GetAttributes()[TypeArguments]; text != "" {
		if types := splitTypes(text); len(types) == len(s.method.tparams) {
			for i, p := range s.method.tparams {
				b[p] = t.TypeOf(at, types[i])
			}
			return b
		}
	}
	found := bindings{}
	args := t.arguments(at, call)
	own := map[*typeParam]bool{}
	for _, p := range s.method.tparams {
		own[p] = true
	}
	for i, a := range args {
		p := s.method.parameter(i)
		if a == nil || p == nil {
			continue
		}
		if a.fn == nil {
			t.unify(p, a, own, found)
			continue
		}
		if m, fb := t.functional(p.bounded()); functions && m != nil && m.Result != nil && a.fn.result.Text != "" {
			inside := at
			inside.at, inside.after = call.At, true
			t.depth++
			if given := t.eval(inside, a.fn.result).value(); given != nil {
				t.unify(m.Result.subst(fb), given, own, found)
			}
			t.depth--
		}
	}
	for p, to := range found {
		b[p] = to
	}
	return b
}

// unify adds to found what type parameters stand for if a value of type a is passed for p.
func (t *Typer) unify(p, a *Type, own map[*typeParam]bool, found bindings) {
	switch {
	case p == nil || a == nil || a.isNull():
	case p.param != nil:
		if own[p.param] && found[p.param] == nil {
			found[p.param] = t.box(a)
		}
	case p.elem != nil:
		t.unify(p.elem, a.elem, own, found)
	case p.Class != nil && len(p.Args) == 1 && a.elem != nil && t.lang.ArrayBases[p.Class.Name]:
		t.unify(p.Args[0], a.elem, own, found)
	case p.Class != nil && len(p.Args) > 0:
		if s := t.upcast(a, p.Class); s != nil && len(s.Args) == len(p.Args) {
			for i := range p.Args {
				t.unify(p.Args[i], s.Args[i], own, found)
			}
		}
	}
}
