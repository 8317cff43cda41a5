package flow

import (
	"slices"
	"strconv"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Site is where a path is evaluated: a scope, and the index of its declaration plus 1.
type Site struct {
	Scope *scope.Scope
	In    uint32
}

// Arguments are what a call passes: the arguments of the calls in Refs, or the values in direct
// as its only argument.
type Arguments struct {
	Here   Site
	Refs   []*recountv1.Reference
	direct scope.Set
}

// Eval returns the values of a path. If f is not nil, it runs again when they change.
func (p *Engine) Eval(f *scope.Flow, here Site, of scope.Path) scope.Set {
	if p.Depth > scope.MaxDepth {
		return nil
	}
	p.Depth++
	defer func() { p.Depth-- }()
	now := p.head(f, here, of.Head)
	for _, st := range of.Steps {
		if len(now) == 0 {
			return nil
		}
		var next scope.Set
		for _, m := range now {
			var found scope.Set
			if p.rules != nil {
				found = p.rules.Step(f, here, m.Value, of, st)
				for _, n := range found {
					next = next.With(n.Value, n.Sure && m.Sure)
				}
				continue
			}
			switch st.Op {
			case '.':
				found = p.attribute(f, m.Value, st.Name)
			case '[':
				found = p.element(f, m.Value, st.Name)
			case '(':
				refs := here.Scope.Mod.Calls[scope.CallSite{In: here.In, Path: of.Text[:st.At]}]
				found = p.result(f, m.Value, Arguments{Here: here, Refs: refs})
			}
			for _, n := range found {
				next = next.With(n.Value, n.Sure && m.Sure)
			}
		}
		if now = next; len(now) > scope.MaxValues {
			return nil
		}
	}
	return now
}

// head returns the values of the first name of a path.
func (p *Engine) head(f *scope.Flow, here Site, name string) scope.Set {
	switch name {
	case "?":
		return nil
	case "super":
		if p.rules != nil {
			break
		}
		for s := here.Scope; s != nil; s = s.Outer {
			if s.Decl != nil && s.Decl.IsMethod() {
				return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.SuperValue, Decl: s.Decl.Outer.Decl, Open: s.Decl.HasModifier("classmethod")}), Sure: true}}
			}
		}
		return nil
	case "return", "yield":
		if v := here.result(name); v != nil {
			return slices.Clone(p.Read(f, v))
		}
		return nil
	}
	v := p.Find(here.Scope, name)
	if v == nil {
		if p.Lang.Builtin[name] && (p.rules != nil || !p.Starred(here.Scope.Mod)) {
			return scope.Set{{Value: p.External(p.Lang.Builtins, name), Sure: true}}
		}
		return nil
	}
	return slices.Clone(p.Read(f, v))
}

// result returns the variable of a function's results or yields, nil outside a function.
func (a Site) result(name string) *scope.Variable {
	d := a.Scope.Decl
	switch {
	case d == nil || !d.IsFunction():
		return nil
	case name == "yield":
		return &d.Yields
	}
	return &d.Results
}

// assign adds values to the variable that a target names.
func (p *Engine) assign(f *scope.Flow, here Site, target scope.Path, values scope.Set) {
	if p.Lang.Exports {
		if name := target.Exports(); name != "" {
			p.addAll(here.Scope.Mod.Export(name), values, true)
			return
		}
	}
	if target.Plain() {
		var v *scope.Variable
		if target.Head == "return" || target.Head == "yield" {
			v = here.result(target.Head)
		} else {
			v = here.Scope.Bound(target.Head)
		}
		p.addAll(v, values, true)
		return
	}
	last := target.Steps[len(target.Steps)-1]
	owner := target.Base()
	if last.Op == '[' && ownable(owner) {
		// What is assigned to by an index is a container, one for each place where it is made.
		p.assign(f, here, owner, scope.Set{{Value: p.Container(here.Scope, owner.Text), Sure: true}})
	}
	for _, o := range p.Eval(f, here, owner) {
		switch last.Op {
		case '.':
			p.addAll(p.attributeTarget(o.Value, last.Name), values, o.Sure)
		case '[':
			if o.Value.Kind == scope.ContainerValue {
				p.addAll(o.Value.Element(last.Name), values, o.Sure)
				p.addAll(o.Value.Element(scope.EveryElement), values, o.Sure)
			}
		}
	}
}

// ownable reports whether a target can hold a container.
func ownable(target scope.Path) bool {
	for _, st := range target.Steps {
		if st.Op == '(' {
			return false
		}
	}
	return target.Head != "self" && target.Head != "super" && target.Head != "?" || len(target.Steps) > 0
}

func (p *Engine) addAll(v *scope.Variable, values scope.Set, sure bool) {
	if v == nil {
		return
	}
	v.Written = true
	for _, m := range values {
		p.Add(v, m.Value, m.Sure && sure)
	}
}

// attributeTarget returns the variable that an assignment to an attribute sets, nil if there is
// none.
func (p *Engine) attributeTarget(v *scope.Value, name string) *scope.Variable {
	switch v.Kind {
	case scope.InstanceValue, scope.ClassValue:
		return v.Decl.Attribute(name)
	case scope.ModuleValue:
		if v.Mod.Scope != nil {
			return v.Mod.Scope.Vars[name]
		}
	}
	return nil
}

// attribute returns the values of an attribute of a value.
func (p *Engine) attribute(f *scope.Flow, v *scope.Value, name string) scope.Set {
	switch v.Kind {
	case scope.ModuleValue:
		return p.moduleAttribute(f, v.Mod, name)
	case scope.ExternalValue:
		return scope.Set{{Value: p.AttributeOf(v, name), Sure: true}}
	case scope.ClassValue:
		return p.classMember(f, v, v.Decl.Order, name)
	case scope.InstanceValue:
		if name == "__class__" {
			return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: v.Decl}), Sure: !v.Open}}
		}
		return p.classMember(f, v, v.Decl.Order, name)
	case scope.SuperValue:
		receiver := p.Instance(v.Decl, false)
		if v.Open {
			receiver = p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: v.Decl})
		}
		if len(v.Decl.Order) > 1 {
			return p.classMember(f, receiver, v.Decl.Order[1:], name)
		}
	case scope.GeneratorValue, scope.ContainerValue:
		if v.Kind == scope.GeneratorValue && (name == "__enter__" || name == "__aenter__" || name == "__next__" || name == "__anext__") ||
			v.Kind == scope.ContainerValue && (containerGives[name] || containerSame[name]) {
			return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.BoundValue, Recv: v, Name: name}), Sure: true}}
		}
	}
	return nil
}

func (p *Engine) moduleAttribute(f *scope.Flow, m *scope.Module, name string) scope.Set {
	v := p.Exported(m, name, 0)
	if v != nil && !(len(v.Imports) > 0 && p.onlyItself(v, m, name)) {
		return p.Read(f, v)
	}
	if sub := p.Submodule(m, name); sub != nil {
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: sub}), Sure: true}}
	}
	return nil
}

// onlyItself reports whether a name of a package is bound only by the package's import of its own
// submodule of that name.
func (p *Engine) onlyItself(v *scope.Variable, m *scope.Module, name string) bool {
	for _, i := range v.Imports {
		if i.Mod != m || i.Name != name {
			return false
		}
	}
	return len(v.Decls) == 0 && len(v.Aliases) == 0
}

// classMember returns the values of an attribute of an instance or a class: what was assigned to
// it, and what the first class in the order binds. A function becomes a bound method.
func (p *Engine) classMember(f *scope.Flow, recv *scope.Value, order []scope.Base, name string) scope.Set {
	var out scope.Set
	for _, b := range order {
		if b.Decl != nil {
			for _, m := range p.Read(f, b.Decl.Attribute(name)) {
				out = out.With(m.Value, m.Sure)
			}
		}
	}
	v, in, sure := scope.ClassAttribute(order, name)
	if v == nil {
		return out
	}
	for _, m := range p.Read(f, v) {
		if m.Value.Kind != scope.FunctionValue {
			out = out.With(m.Value, m.Sure && sure)
			continue
		}
		d := m.Value.Decl
		to := recv
		switch {
		case d.Outer == in.Scope && d.HasModifier("staticmethod"):
			out = out.With(m.Value, m.Sure && sure)
			continue
		case d.Outer == in.Scope && (d.HasModifier("classmethod") || d.HasModifier("static")):
			to = p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: recv.Decl})
		case recv.Kind == scope.ClassValue:
			out = out.With(m.Value, m.Sure && sure)
			continue
		}
		bound := p.Intern(scope.ValueID{Kind: scope.BoundValue, Decl: d, Recv: to})
		if d.Outer == in.Scope && d.Kind == recountv1.SymbolKind_SYMBOL_KIND_PROPERTY {
			p.pass(f, bound, Arguments{})
			for _, r := range p.result(f, bound, Arguments{}) {
				out = out.With(r.Value, r.Sure && m.Sure && sure)
			}
			continue
		}
		out = out.With(bound, m.Sure && sure)
	}
	return out
}

// element returns the values at an index of a value; the index "" is any.
func (p *Engine) element(f *scope.Flow, v *scope.Value, key string) scope.Set {
	switch v.Kind {
	case scope.ContainerValue:
		if key == "" {
			return p.Read(f, v.Element(scope.EveryElement))
		}
		out := slices.Clone(p.Read(f, v.Element(key)))
		for _, m := range p.Read(f, v.Element("")) {
			out = out.With(m.Value, m.Sure)
		}
		return out
	case scope.GeneratorValue:
		return p.Read(f, &v.Decl.Yields)
	case scope.InstanceValue:
		var out scope.Set
		call := func(of scope.Set, name string) (results scope.Set) {
			for _, o := range of {
				for _, m := range p.attribute(f, o.Value, name) {
					for _, r := range p.result(f, m.Value, Arguments{}) {
						results = results.With(r.Value, r.Sure && m.Sure && o.Sure)
					}
				}
			}
			return results
		}
		self := scope.Set{{Value: v, Sure: true}}
		out = append(out, call(self, "__getitem__")...)
		if key != "" {
			return out
		}
		for _, it := range call(self, "__iter__") {
			switch it.Value.Kind {
			case scope.GeneratorValue, scope.ContainerValue:
				for _, e := range p.element(f, it.Value, "") {
					out = out.With(e.Value, e.Sure && it.Sure)
				}
			case scope.InstanceValue:
				for _, e := range call(scope.Set{it}, "__next__") {
					out = out.With(e.Value, e.Sure)
				}
			}
		}
		return out
	}
	return nil
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
		return scope.Set{{Value: p.Instance(v.Decl, false), Sure: true}}
	case scope.InstanceValue:
		var out scope.Set
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
			if containerSame[v.Name] {
				return scope.Set{{Value: v.Recv, Sure: true}}
			}
			return p.element(f, v.Recv, "")
		}
	case scope.FunctionValue:
	default:
		return nil
	}
	d := v.Decl
	if d.Generator {
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.GeneratorValue, Decl: d}), Sure: true}}
	}
	out := slices.Clone(p.Read(f, &d.Results))
	for _, i := range d.Through {
		switch {
		case v.Kind == scope.BoundValue && (i < 0 || i == 0 && p.Lang.ReceiverFirst):
			out = out.With(v.Recv, true)
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
		for _, a := range r.Args {
			switch a.Name {
			case "":
				give(int(a.Index)+skip, p.Eval(f, with.Here, with.Here.Scope.Mod.Path(a.Path)))
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
	}
}
