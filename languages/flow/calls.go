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
	if class := d.Typed; class != nil && !p.hasInstance(out, class) {
		out = out.With(p.Instance(class, true), true)
	}
	return out
}

// hasInstance reports whether the set has an instance of the class for sure.
func (p *Engine) hasInstance(s scope.Set, class *scope.Decl) bool {
	for _, m := range s {
		if m.Value.Kind == scope.InstanceValue && m.Value.Decl == class && m.Sure {
			return true
		}
	}
	return false
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
	var d *scope.Decl
	skip := 0
	switch callee.Kind {
	case scope.FunctionValue:
		d = callee.Decl
	case scope.BoundValue:
		if d = callee.Decl; d == nil {
			return
		}
		if !p.Lang.ReceiverFirst {
			if d.IsMethod() && !(callee.Recv.Kind == scope.InstanceValue && d.Outer.Decl == callee.Recv.Decl) {
				p.Add(d.Scope.Own("self"), callee.Recv, false)
			}
			break
		}
		skip = 1
		if len(d.Parameters) > 0 && !(callee.Recv.Kind == scope.InstanceValue && d.Outer.Decl == callee.Recv.Decl) {
			p.Add(d.Scope.Own(d.ParameterName(0, d.Parameters[0].Name)), callee.Recv, false)
		}
	case scope.ClassValue, scope.InstanceValue:
		if callee.Kind == scope.ClassValue && callee.Decl.Constructs {
			d = callee.Decl
			break
		}
		name := "__call__"
		recv := callee
		if callee.Kind == scope.ClassValue {
			name, recv = p.Lang.Constructor, p.Instance(callee.Decl, false)
		}
		for _, m := range p.attribute(f, recv, name) {
			if m.Value.Kind == scope.BoundValue && m.Value.Decl != nil {
				p.pass(f, m.Value, with)
			}
		}
		return
	default:
		return
	}
	give := func(i int, values scope.Set) {
		if i < 0 || i >= len(d.Parameters) {
			if n := len(d.Parameters); n == 0 || i < 0 || !d.Parameters[n-1].Variadic {
				return
			}
			i = len(d.Parameters) - 1
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
	if len(with.direct) > 0 {
		give(skip, with.direct)
	}
	for _, r := range with.Refs {
		known := map[int]bool{}
		for _, a := range r.Args {
			switch a.Name {
			case "":
				values := p.Eval(f, with.Here, with.Here.Scope.Mod.Path(a.Path))
				known[int(a.Index)+skip] = len(values) > 0
				give(int(a.Index)+skip, values)
			case "*":
				for _, c := range p.Eval(f, with.Here, with.Here.Scope.Mod.Path(a.Path)) {
					for i := int(a.Index) + skip; i < len(d.Parameters); i++ {
						give(i, p.element(f, c.Value, strconv.Itoa(i-skip-int(a.Index))))
					}
				}
			case "**":
				for _, c := range p.Eval(f, with.Here, with.Here.Scope.Mod.Path(a.Path)) {
					if c.Value.Kind != scope.ContainerValue {
						continue
					}
					for i, prm := range d.Parameters {
						give(i, p.element(f, c.Value, prm.Name))
					}
				}
			default:
				for i, prm := range d.Parameters {
					if prm.Name == a.Name {
						give(i, p.Eval(f, with.Here, with.Here.Scope.Mod.Path(a.Path)))
					}
				}
			}
		}
		p.noteUnknown(d, r, with.Here, skip, known)
	}
}
