package flow

import (
	"slices"
	"strconv"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Arguments are what a call passes: the arguments of the calls in Refs, or the values in direct
// as its only argument.
type Arguments struct {
	Here   Site
	Refs   []*recountv1.Reference
	direct scope.Set
}

// result returns the values that a call of a value returns.
func (p *Engine) result(f *scope.Flow, v *scope.Value, with Arguments) scope.Set {
	if p.Depth > scope.MaxDepth {
		return nil
	}
	p.Depth++
	defer func() { p.Depth-- }()
	switch v.Kind {
	case scope.ClassValue:
		made := scope.Set{{Value: p.Instance(v.Decl, false), Sure: true}}
		if v.Decl.Constructs { // it may also be called as a function
			for _, m := range p.returned(f, v, with) {
				made = made.With(m.Value, m.Sure)
			}
		}
		return made
	case scope.InstanceValue:
		out := p.ofChain(f, v.Decl, "()")
		for _, m := range v.Decl.Typed { // an interface with a call signature
			out = out.With(m.Value, m.Sure)
		}
		for _, m := range p.attribute(f, v, "__call__") {
			if m.Value.Kind == scope.BoundValue {
				for _, r := range p.result(f, m.Value, with) {
					out = out.With(r.Value, r.Sure && m.Sure)
				}
			}
		}
		return out
	case scope.ExternalValue:
		if v.Pkg == p.Lang.Builtins && sameElements[v.Name] {
			return p.Argument(f, with, 0, "")
		}
		if p.makesStub(v) {
			return scope.Set{{Value: p.External(v.Pkg, v.Name+"()"), Sure: true}}
		}
		return nil
	case scope.BoundValue:
		if v.Decl == nil {
			if containerSame[v.Name] || arraySame[v.Name] {
				return scope.Set{{Value: v.Recv, Sure: true}}
			}
			return p.element(f, v.Recv, "")
		}
	case scope.ContainerValue:
		if isSignature(v) {
			return p.expected(f, v, resultOf)
		}
		return nil
	case scope.FunctionValue:
	default:
		return nil
	}
	return p.returned(f, v, with)
}

// returned returns the values that the function of a value returns.
func (p *Engine) returned(f *scope.Flow, v *scope.Value, with Arguments) scope.Set {
	d := v.Decl
	if d.Generator {
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.GeneratorValue, Decl: d}), Sure: true}}
	}
	if same := p.sameType(f, d, with); len(same) > 0 {
		return same
	}
	out := slices.Clone(p.Read(f, &d.Results))
	for _, i := range d.Through {
		switch {
		case v.Kind == scope.BoundValue && (i < 0 || i == 0 && p.Lang.ReceiverFirst):
			out = out.With(v.Recv, len(d.Returned) < 2)
		case i >= 0:
			place := i
			if v.Kind == scope.BoundValue && p.Lang.ReceiverFirst {
				place--
			}
			for _, m := range p.Argument(f, with, place, d.Parameters[i].Name) {
				out = out.With(m.Value, m.Sure)
			}
		}
	}
	if v.Kind == scope.BoundValue && d.This {
		return ofType(out, slices.Clone(d.Typed).With(v.Recv, true))
	}
	return ofType(out, slices.DeleteFunc(slices.Clone(d.Typed), func(m scope.Member) bool {
		return m.Value.Kind == scope.InstanceValue && ofClass(out, m.Value.Decl)
	}))
}

// sameType returns the instances that a call passes to the parameter whose type parameter is the type of the function's
// results, too: function register<T>(it: T): T.
func (p *Engine) sameType(f *scope.Flow, d *scope.Decl, with Arguments) scope.Set {
	name := d.Attributes[scope.Same]
	if name == "" {
		return nil
	}
	i := slices.IndexFunc(d.Parameters, func(prm *recountv1.Parameter) bool { return prm.Name == name })
	return slices.DeleteFunc(slices.Clone(p.Argument(f, with, i, name)), func(m scope.Member) bool { return m.Value.Kind != scope.InstanceValue })
}

// Argument returns the values of an argument by its index or its name. A path does not say which
// of its calls is meant, so they come from all calls of the path in the declaration, or, if there
// are more than MaxCalls, from none.
func (p *Engine) Argument(f *scope.Flow, with Arguments, place int, name string) scope.Set {
	if place == 0 && len(with.direct) > 0 {
		return with.direct
	}
	if p.nested == scope.MaxNested || len(with.Refs) > scope.MaxCalls {
		return nil
	}
	p.nested++
	defer func() { p.nested-- }()
	var out scope.Set
	for _, r := range with.Refs {
		for _, a := range r.Args {
			if a.Name == "" && int(a.Index) == place || a.Name != "" && a.Name == name {
				for _, m := range p.Eval(f, with.Here, with.Here.Scope.Mod.Path(a.Path)) {
					out = out.With(m.Value, m.Sure)
				}
			}
		}
	}
	return out
}

// pass makes the arguments of a call flow into the parameters of the callee.
func (p *Engine) pass(f *scope.Flow, callee *scope.Value, with Arguments) {
	if p.solved {
		return
	}
	switch callee.Kind {
	case scope.FunctionValue:
		p.passTo(f, callee.Decl, 0, with)
	case scope.BoundValue:
		if callee.Decl != nil {
			p.passTo(f, callee.Decl, p.passReceiver(callee), with)
		}
	case scope.ClassValue:
		if callee.Decl.Constructs {
			p.passTo(f, callee.Decl, 0, with)
		} else {
			p.passToMethod(f, p.Instance(callee.Decl, false), p.Lang.Constructor, with)
		}
	case scope.InstanceValue:
		p.passToMethod(f, callee, "__call__", with)
	}
}

// passToMethod makes arguments flow into the parameters of a method.
func (p *Engine) passToMethod(f *scope.Flow, recv *scope.Value, name string, with Arguments) {
	for _, m := range p.attribute(f, recv, name) {
		if m.Value.Kind == scope.BoundValue && m.Value.Decl != nil {
			p.pass(f, m.Value, with)
		}
	}
}

// passReceiver makes the receiver of a method flow into it, unless it is an instance of the method's own class. It
// returns how many parameters the receiver takes.
func (p *Engine) passReceiver(method *scope.Value) int {
	d := method.Decl
	own := method.Recv.Kind == scope.InstanceValue && d.Outer.Decl != nil && wholeOf(d.Outer.Decl) == method.Recv.Decl
	if !p.Lang.ReceiverFirst {
		if d.IsMethod() && !own {
			p.Add(d.Scope.Own("self"), method.Recv, false)
		}
		return 0
	}
	if len(d.Parameters) > 0 && !own {
		p.Add(d.Scope.Own(d.ParameterName(0, d.Parameters[0].Name)), method.Recv, false)
	}
	return 1
}

// passTo makes arguments flow into the parameters of a declaration after the first skip.
func (p *Engine) passTo(f *scope.Flow, d *scope.Decl, skip int, with Arguments) {
	if len(with.direct) > 0 {
		p.receive(d, skip, with.direct)
	}
	for _, r := range with.Refs {
		known := map[int]bool{}
		receive := func(i int, values scope.Set) {
			if len(values) > 0 {
				p.noteGiven(d, i, with.Here.Scope.Mod.Test)
			}
			p.receive(d, i, values)
		}
		for _, a := range r.Args {
			values := func() scope.Set { return p.Eval(f, with.Here, with.Here.Scope.Mod.Path(a.Path)) }
			first := int(a.Index) + skip
			switch a.Name {
			case "":
				given := values()
				known[first] = len(given) > 0
				receive(first, given)
			case "*":
				for _, c := range values() {
					for i := first; i < len(d.Parameters); i++ {
						receive(i, p.element(f, c.Value, strconv.Itoa(i-first)))
					}
				}
			case "**":
				for _, c := range values() {
					if c.Value.Kind != scope.ContainerValue {
						continue
					}
					for i, prm := range d.Parameters {
						receive(i, p.element(f, c.Value, prm.Name))
					}
				}
			default:
				for i, prm := range d.Parameters {
					if prm.Name == a.Name {
						receive(i, values())
					}
				}
			}
		}
		p.noteUnknown(d, r, with.Here, skip, known)
	}
}

// receive makes values flow into parameter i; a variadic one takes what follows.
func (p *Engine) receive(d *scope.Decl, i int, values scope.Set) {
	if n := len(d.Parameters); i >= n {
		if n == 0 || !d.Parameters[n-1].Variadic {
			return
		}
		i = n - 1
	}
	prm := d.Parameters[i]
	if prm.Variadic || prm.Keyword {
		c := p.Container(d.Scope, prm.Name)
		p.addAll(c.Element(""), values, false)
		p.addAll(c.Element(scope.EveryElement), values, false)
		return
	}
	p.addAll(d.Scope.Own(d.ParameterName(i, prm.Name)), values, false)
}
