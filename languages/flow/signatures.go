package flow

import (
	"strconv"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Of many functions it is known what they take and return without their bodies. A declared type of a function is what
// contains an A under "<0>", its first parameter, or "<>", its result. The path f[<0>] is what f expects of its first
// argument, and f[<0>][<1>] what f passes as the second argument to the function that it is given:
//
//	each(users, (key, user) => user.greet())    // user is each[<1>][<1>]

// resultOf is the key of what a function returns.
const resultOf = "<>"

// isSignature reports whether a value is what a declared type says of a function.
func isSignature(v *scope.Value) bool { return v.IsDeclared() && scope.IsParameter(v.Name) }

// expected returns what a value takes as a parameter if it is called, or returns, by the key of that.
func (p *Engine) expected(f *scope.Flow, v *scope.Value, key string) (out scope.Set) {
	d := v.Decl
	switch v.Kind {
	case scope.ContainerValue:
		return p.Read(f, v.Element(key))
	case scope.ClassValue:
		if d = p.constructor(d); d == nil {
			return nil
		}
	case scope.FunctionValue, scope.BoundValue:
	default:
		return nil
	}
	if d == nil {
		return nil
	}
	if d.Kind == recountv1.SymbolKind_SYMBOL_KIND_FIELD {
		for _, m := range p.declared(d.Outer, d.Mod, d.Type) {
			if isSignature(m.Value) {
				out = append(out, p.Read(f, m.Value.Element(key))...)
			}
		}
		return out
	}
	i, err := strconv.Atoi(key[1 : len(key)-1])
	if err != nil || i >= len(d.Parameters) || d.Parameters[i].Variadic || d.Scope == nil {
		return nil
	}
	if out = p.declared(d.Outer, d.Mod, d.Parameters[i].Type); len(out) > 0 {
		return out
	}
	return scope.Set{{Value: p.calledWith(d.Scope, d.Parameters[i].Name), Sure: true}}
}

// calledWith returns what contains the arguments that a function passes to one of its parameters.
func (p *Engine) calledWith(s *scope.Scope, parameter string) *scope.Value {
	return p.Container(s, parameter+"()")
}

// passOn notes the arguments that a function passes to a function that it is given.
func (p *Engine) passOn(f *scope.Flow, here Site, callee scope.Path, r *recountv1.Reference) {
	if !p.Lang.Exports || len(callee.Steps) > 1 || len(callee.Steps) == 1 && callee.Last() != "call" {
		return
	}
	v := p.Find(here.Scope, callee.Head)
	if v == nil || !v.Parameter || v.Scope == nil {
		return
	}
	to := p.calledWith(v.Scope, callee.Head)
	for _, a := range r.Args {
		if a.Name == "" {
			p.addAll(to.Element("<"+strconv.Itoa(int(a.Index))+">"), p.Eval(f, here, here.Scope.Mod.Path(a.Path)), true)
		}
	}
}

// contextFlow gives parameter i of a function in an object literal what the declared type of the object says of it.
func (p *Engine) contextFlow(d *scope.Decl, i int, v *scope.Variable) {
	owner := d.Outer.Decl
	if !p.Lang.Exports || owner == nil || !owner.Object || owner.Type == "" {
		return
	}
	key := "<" + strconv.Itoa(i) + ">"
	p.AddFlow(func(f *scope.Flow) {
		for _, o := range p.declared(owner.Outer, owner.Mod, owner.Type) {
			for _, m := range p.attribute(f, o.Value, d.Name) {
				p.addAll(v, p.expected(f, m.Value, key), m.Sure)
			}
		}
	})
}
