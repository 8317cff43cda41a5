package flow

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// attributeTarget returns the variable that an assignment to an attribute sets, nil if there is
// none.
func (p *Engine) attributeTarget(v *scope.Value, name string) *scope.Variable {
	switch v.Kind {
	case scope.InstanceValue, scope.ClassValue:
		return v.Decl.Attribute(name)
	case scope.ModuleValue:
		switch {
		case p.Lang.Exports && p.Exported(v.Mod, name) != nil:
			return p.Exported(v.Mod, name)
		case p.Lang.Exports:
			return v.Mod.Attribute(name)
		case v.Mod.Scope != nil:
			return v.Mod.Scope.Vars[name]
		}
	case scope.ContainerValue:
		if p.Lang.Exports && (!v.IsDeclared() || v.IsTypedef()) {
			return v.Element(name)
		}
	case scope.ExternalValue:
		if p.Lang.Exports {
			to := p.added(v)
			if strings.HasSuffix(v.Name, ".prototype") && !slices.Contains(p.extended, to) {
				p.extended = append(p.extended, to)
			}
			return to.Element(name)
		}
	}
	return nil
}

// attribute returns the values of an attribute of a value.
func (p *Engine) attribute(f *scope.Flow, v *scope.Value, name string) scope.Set {
	if p.Lang.Exports {
		if same := functionSame(v, name); same != nil {
			return scope.Set{{Value: same, Sure: true}}
		}
	}
	switch v.Kind {
	case scope.ModuleValue:
		return p.moduleAttribute(f, v.Mod, name)
	case scope.ExternalValue:
		return p.withAdded(f, v, name, p.AttributeOf(v, name))
	case scope.ClassValue:
		return p.classMember(f, v, v.Decl.Order, name)
	case scope.InstanceValue:
		if name == "__class__" {
			return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: v.Decl}), Sure: !v.Open}}
		}
		found := p.classMember(f, v, v.Decl.Order, name)
		if p.Lang.Exports && name == p.Lang.Constructor { // this.constructor is the class
			found = found.With(p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: v.Decl}), true)
		}
		return found
	case scope.SuperValue:
		receiver := p.Instance(v.Decl, false)
		if v.Open {
			receiver = p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: v.Decl})
		}
		if len(v.Decl.Order) > 1 {
			return p.classMember(f, receiver, v.Decl.Order[1:], name)
		}
	case scope.GeneratorValue, scope.ContainerValue:
		if isSignature(v) {
			return nil
		}
		if v.Kind == scope.ContainerValue && p.Lang.Exports {
			if found := p.Read(f, v.Element(name)); len(found) > 0 {
				return slices.Clone(found)
			}
			if found := p.fromMixes(f, v, v, name); len(found) > 0 {
				return found
			}
		}
		if v.Kind == scope.GeneratorValue && (name == "__enter__" || name == "__aenter__" || name == "__next__" || name == "__anext__") ||
			v.Kind == scope.ContainerValue && p.ofContainer(name) {
			return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.BoundValue, Recv: v, Name: name}), Sure: true}}
		}
	}
	return nil
}

// functionSame returns v if an attribute of it stands for v itself: the prototype of a class, or
// call and apply of a function.
func functionSame(v *scope.Value, name string) *scope.Value {
	switch {
	case name == "prototype" && v.Kind == scope.ClassValue,
		(name == "call" || name == "apply") && (v.Kind == scope.FunctionValue || isSignature(v) || v.Kind == scope.BoundValue && v.Decl != nil ||
			v.Kind == scope.ClassValue && v.Decl.Constructs):
		return v
	}
	return nil
}

func (p *Engine) moduleAttribute(f *scope.Flow, m *scope.Module, name string) scope.Set {
	if p.Depth > scope.MaxDepth { // modules may export each other as a whole
		return nil
	}
	p.Depth++
	defer func() { p.Depth-- }()
	v := p.Exported(m, name)
	if v != nil && !(len(v.Imports) > 0 && p.onlyItself(v, m, name)) {
		return p.Read(f, v)
	}
	if whole := m.Exports[scope.WholeExport]; whole != nil && name != scope.DefaultName {
		var out scope.Set
		for _, of := range slices.Clone(p.Read(f, whole)) {
			for _, m := range p.attribute(f, of.Value, name) {
				out = out.With(m.Value, m.Sure && of.Sure)
			}
		}
		for _, m := range p.Read(f, m.Attribute(name)) {
			out = out.With(m.Value, m.Sure)
		}
		return out
	}
	if sub := p.Submodule(m, name); sub != nil {
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: sub}), Sure: true}}
	}
	if p.Lang.Exports {
		if found := slices.Clone(p.Read(f, m.Attribute(name))); len(found) > 0 || !p.mixes {
			return found
		}
		module := p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: m})
		return p.fromMixes(f, module, module, name)
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
	v, in, sure := scope.ClassAttribute(order, name)
	own := false
	for _, b := range order {
		if b.Decl == nil {
			continue
		}
		for _, m := range p.Read(f, b.Decl.Attribute(name)) {
			out = out.With(m.Value, m.Sure && !p.replaces(v, m.Value))
		}
		if own = own || b.Decl == in; own || !p.mixes || p.mixing || len(out) > 0 {
			continue
		}
		sure := func(m scope.Member) bool { return m.Sure }
		if out = p.fromMixes(f, recv, p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: b.Decl}), name); slices.ContainsFunc(out, sure) {
			return out
		}
	}
	if v == nil {
		if recv.Kind == scope.InstanceValue {
			for _, m := range p.ofChain(f, recv.Decl, name) {
				out = out.With(m.Value, m.Sure)
			}
		}
		return out
	}
	if field := callable(v, in); field != nil && recv.Kind == scope.InstanceValue {
		out = p.unsure(out) // what it holds is used by what the interface says of it
		return out.With(p.Intern(scope.ValueID{Kind: scope.BoundValue, Decl: field, Recv: recv}), sure)
	}
	if v.Typed && !p.describes(p.Read(f, v)) {
		out = ofType(out, p.Read(f, v))
	}
	for _, m := range p.Read(f, v) {
		if p.Lang.Exports && in.Constructs && (v.Parameter || len(v.Aliases) > 0) && !isMethodOf(m.Value, in.Scope) {
			continue // a variable of the function
		}
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
		out = out.With(bound, m.Sure && sure && !p.overwritten[d])
	}
	return out
}

// replaces reports whether a function that is put in the place of a method is another one: single objects have it.
func (p *Engine) replaces(v *scope.Variable, by *scope.Value) bool {
	if !p.Lang.Exports || v == nil || by.Decl == nil || by.Kind != scope.FunctionValue && by.Kind != scope.BoundValue {
		return false
	}
	method := v.Function()
	return method != nil && method != by.Decl && method.IsMethod() && !p.overwritten[method]
}

// callable returns the member of an interface or a type that is declared with the type of a function, nil if the variable is no
// such member.
func callable(v *scope.Variable, in *scope.Decl) *scope.Decl {
	if len(v.Decls) == 1 && in.IsType() && (v.Decls[0].Attributes[scope.Returns] != "" || v.Decls[0].Called) {
		return v.Decls[0]
	}
	return nil
}

// describes reports whether values of a class are descriptors, which say what the attribute of an instance is.
func (p *Engine) describes(values scope.Set) bool {
	return slices.ContainsFunc(values, func(m scope.Member) bool {
		if m.Value.Kind != scope.InstanceValue {
			return false
		}
		v, _, _ := scope.ClassAttribute(m.Value.Decl.Order, "__get__")
		return v != nil
	})
}

// element returns the values at an index of a value; the index "" is any.
func (p *Engine) element(f *scope.Flow, v *scope.Value, key string) scope.Set {
	if scope.IsParameter(key) {
		return p.expected(f, v, key)
	}
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
		if p.Lang.Exports && key == "1" && len(out) == 0 {
			return self // the type of a mapping says what its values are: an entry has one of them under 1
		}
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
