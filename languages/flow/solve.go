package flow

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// solve follows the values until nothing changes.
func (p *Engine) solve(ctx context.Context) error {
	var decorations []*scope.Flow
	if p.rules != nil {
		return p.rules.SolveItems(ctx)
	}
	p.registers = p.findPuts()
	p.noteMethods()
	for _, m := range p.Modules {
		for _, d := range m.Decls {
			if f := p.declFlows(d); f != nil {
				decorations = append(decorations, f)
			}
		}
		for in, s := range m.Scopes {
			if in == 0 || m.Decls[in-1].Scope == s {
				p.importFlows(s.Vars)
			}
		}
		p.importFlows(m.Exports)
		p.routeFlows(m)
		last := assignedLast(m)
		for i, b := range m.Facts.Bindings {
			var later *recountv1.Binding
			if at := last[bindingOf{b.In, b.Value}]; at > i {
				later = m.Facts.Bindings[at]
			}
			p.bindingFlow(m, b, later)
		}
		for _, r := range m.Facts.References {
			if r.Edge == recountv1.EdgeKind_EDGE_KIND_CALLS {
				p.callFlow(m, r)
			}
		}
	}
	if err := p.Drain(ctx); err != nil {
		return err
	}
	p.settling = true
	for _, f := range decorations {
		f.Visits = 0
		p.Wake(f)
	}
	return p.Drain(ctx)
}

// noteMethods notes the object literals that have functions.
func (p *Engine) noteMethods() {
	for _, m := range p.Modules {
		for _, b := range m.Facts.Bindings {
			if d := m.Decl(b.In); d == nil || !scope.IsRegistered(b.Value) {
				continue
			}
			if target := m.Path(b.Target); len(target.Steps) == 1 && target.Steps[0].Op == '.' {
				p.withMethods[p.Container(m.ScopeOf(b.In), target.Head)] = true
			}
		}
	}
}

// declFlows gives a declaration's name, receiver and parameters their values. It returns the flow
// of its decorators, nil if it has none.
func (p *Engine) declFlows(d *scope.Decl) (decoration *scope.Flow) {
	if p.Lang.Exports && d.Kind == recountv1.SymbolKind_SYMBOL_KIND_FIELD {
		typed := p.declared(d.Outer, d.Mod, d.Type)
		p.addAll(d.Outer.Own(d.Name), typed, true)
		d.Outer.Own(d.Name).Typed = len(typed) > 0
	}
	if d.Overload || d.Scope == nil {
		return nil
	}
	name := d.Outer.Vars[d.LocalName()]
	own := p.Intern(scope.ValueID{Kind: scope.FunctionValue, Decl: d})
	if d.IsClass() {
		own = p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: wholeOf(d)})
		if d.Object {
			own = p.Instance(d, false)
		}
		if d.Kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE && p.Lang.Exports && len(name.Decls) > 1 {
			name = &scope.Variable{} // the value of the name is that of a constant
		}
		if p.Lang.MembersHidden {
			p.Add(d.Scope.Own("self"), p.Instance(wholeOf(d), true), true)
		}
	}
	if len(d.Decorators) == 0 {
		p.Add(name, own, true)
	} else {
		decoration = p.AddFlow(func(f *scope.Flow) {
			for _, m := range p.decorated(f, d, own) {
				p.Add(name, m.Value, m.Sure)
			}
		})
	}
	p.receiverFlow(d)
	if !d.IsFunction() {
		return decoration
	}
	if d.IsMethod() {
		class := wholeOf(d.Outer.Decl)
		if d.Attributes[scope.Constructs] != "" {
			p.Add(d.Outer.Own(p.Lang.Constructor), own, true)
		}
		receiver := p.Instance(class, true)
		if d.HasModifier("classmethod") || d.HasModifier("static") || d.Name == "__new__" || d.Name == "__init_subclass__" || d.Name == "__class_getitem__" {
			receiver = p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: class})
		}
		p.Add(d.Scope.Own("self"), receiver, true)
	}
	if d.Attributes[scope.OfObject] == scope.OwnThis {
		d.Scope.Own("self") // see assign
	}
	if d.Attributes[scope.OfModule] != "" {
		p.Add(d.Scope.Own("self"), p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: d.Mod}), true)
		if p.mixes {
			p.AddFlow(func(f *scope.Flow) { p.addAll(d.Scope.Own("self"), p.Read(f, d.Mod.Attribute(receiversOf)), true) })
		}
	}
	for i, prm := range d.Parameters {
		v := d.Scope.Own(d.ParameterName(i, prm.Name))
		if prm.Variadic || prm.Keyword {
			p.Add(v, p.Container(d.Scope, prm.Name), true)
			for _, m := range p.declared(d.Outer, d.Mod, prm.Type) {
				if !p.Lang.Exports { // it is the type of an element
					m.Value = p.ContainerOf(m.Value, "")
				}
				p.Add(v, m.Value, true)
			}
			continue
		}
		for _, m := range p.declared(d.Outer, d.Mod, prm.Type) {
			p.Add(v, m.Value, m.Sure)
		}
		if prm.Type == "" {
			p.contextFlow(d, i, v)
			if class := p.givenClass(d.Scope, prm.Name); class != nil {
				p.Add(v, p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: class}), false)
			}
		}
		if prm.Default != "" && prm.Default != "?" {
			p.AddFlow(func(f *scope.Flow) {
				for _, m := range p.Eval(f, Site{d.Outer, d.Outer.In()}, d.Mod.Path(prm.Default)) {
					p.Add(v, m.Value, false)
					p.noteGiven(d, i, d.Mod.Test)
				}
			})
		}
	}
	return decoration
}

// decorated returns the values of a declaration's name: what its decorators return, applied from
// the last to the first. A decorator outside the repository returns what it decorates.
func (p *Engine) decorated(f *scope.Flow, d *scope.Decl, own *scope.Value) scope.Set {
	now := scope.Set{{Value: own, Sure: true}}
	for i := len(d.Decorators) - 1; i >= 0; i-- {
		place := Site{d.Outer, d.Outer.In()}
		var next scope.Set
		ours := false
		for _, by := range p.Eval(f, place, d.Mod.Path(d.Decorators[i].Path)) {
			switch by.Value.Kind {
			case scope.FunctionValue, scope.BoundValue, scope.ClassValue:
			default:
				continue
			}
			ours = true
			p.pass(f, by.Value, Arguments{direct: now})
			for _, m := range p.result(f, by.Value, Arguments{direct: now}) {
				next = next.With(m.Value, m.Sure && by.Sure)
			}
		}
		if ours && len(next) == 0 && !p.settling {
			return nil
		}
		if len(next) > 0 {
			now = next
		}
	}
	return now
}

// importFlows gives imported names their values.
func (p *Engine) importFlows(names map[string]*scope.Variable) {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v := names[name]
		for _, i := range v.Imports {
			switch {
			case i.Mod == nil && i.Outside == "":
			case i.Mod == nil && i.Name == "":
				p.Add(v, p.External(i.Outside, ""), true)
			case i.Mod == nil:
				p.Add(v, p.AttributeOf(p.External(i.Outside, ""), i.Name), true)
			case i.Name == "":
				p.Add(v, p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: i.Mod}), true)
				if whole := i.Mod.Exports[scope.WholeExport]; whole != nil {
					p.AddFlow(func(f *scope.Flow) { p.addAll(v, slices.Clone(p.Read(f, whole)), true) })
				}
			case i.Name == scope.DefaultName && p.Exported(i.Mod, i.Name) == nil:
				p.Add(v, p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: i.Mod}), true)
			default:
				p.AddFlow(func(f *scope.Flow) {
					for _, m := range p.moduleAttribute(f, i.Mod, i.Name) {
						p.Add(v, m.Value, m.Sure)
					}
				})
			}
		}
	}
}

// bindingFlow makes the value of a binding flow into its target. If the value is that of a member, another binding
// may replace it later.
func (p *Engine) bindingFlow(m *scope.Module, b, later *recountv1.Binding) {
	if b.Target == "?" || strings.Contains(b.Target, " ") {
		return // global and nonlocal bind nothing
	}
	s, target, value := m.ScopeOf(b.In), m.Path(b.Target), m.Path(b.Value)
	if target.Head == "return" && target.Plain() && s.Decl != nil && s.Decl.IsFunction() && value.Plain() {
		if value.Head == "self" && !p.Lang.ReceiverFirst && s.Decl.IsMethod() {
			s.Decl.Through = append(s.Decl.Through, -1)
			return
		}
		for i, prm := range s.Decl.Parameters {
			v := s.Vars[value.Head]
			if s.Decl.ParameterName(i, prm.Name) == value.Head && v != nil && len(v.Aliases) == 0 && !prm.Variadic && !prm.Keyword {
				s.Decl.Through = append(s.Decl.Through, i)
				return
			}
		}
	}
	if b.Value == scope.NoValue && target.Plain() {
		return
	}
	typed := p.declared(s, m, b.Type)
	if len(typed) > 0 && target.Plain() && s.IsClass() {
		s.Own(target.Head).Typed = true
	}
	// A name with several values is none of them for sure, also if only one is known: join =
	// options.join ?? ownJoin.
	several := false
	if target.Plain() && target.Head != "return" && target.Head != "yield" {
		v := s.Bound(target.Head)
		several = v.Parameter || slices.ContainsFunc(v.Aliases, func(other scope.Path) bool { return other.Text != value.Text })
	}
	replacing := p.replacing(m, later)
	p.AddFlow(func(f *scope.Flow) {
		var values scope.Set
		switch {
		case value.Head == "?":
		case value.Text == target.Text && value.Plain() && !p.Lang.Exports && s.Decl == nil && p.Lang.Builtin[value.Head]:
			values = scope.Set{{Value: p.External(p.Lang.Builtins, value.Head), Sure: true}} // str = str, outside functions
		default:
			values = p.Eval(f, Site{s, b.In}, value)
		}
		if several {
			values = p.unsure(values)
		}
		if replacing != nil {
			values = slices.DeleteFunc(slices.Clone(values), func(v scope.Member) bool { return v.Value.Decl == replacing })
		}
		p.assign(f, Site{s, b.In}, target, ofType(values, typed))
	})
}

// unsure returns the set with its functions and classes, and objects that have some as members, marked as
// not sure.
func (p *Engine) unsure(values scope.Set) scope.Set {
	out := slices.Clone(values)
	for i, m := range out {
		switch m.Value.Kind {
		case scope.FunctionValue, scope.BoundValue, scope.ClassValue, scope.ExternalValue:
			out[i].Sure = false
		case scope.ContainerValue:
			out[i].Sure = m.Sure && !p.withMethods[m.Value]
		}
	}
	return out
}

// callFlow makes the arguments of a call flow into the parameters of the callee.
func (p *Engine) callFlow(m *scope.Module, r *recountv1.Reference) {
	here, callee := Site{m.ScopeOf(r.In), r.In}, m.Path(r.Path)
	if callee.Head == "?" || p.Lang.Exports && callee.Last() == "apply" {
		return
	}
	p.registerFlow(here, callee, r)
	if p.Lang.Exports && callee.Last() == "call" { // its first argument is the receiver
		r = withoutFirst(r)
	}
	p.AddFlow(func(f *scope.Flow) {
		for _, c := range p.Eval(f, here, callee) {
			p.pass(f, c.Value, Arguments{Here: here, Refs: []*recountv1.Reference{r}})
		}
		p.store(f, here, callee, r)
		p.passOn(f, here, callee, r)
	})
}

// withoutFirst returns a call without its first argument.
func withoutFirst(r *recountv1.Reference) *recountv1.Reference {
	out := &recountv1.Reference{Edge: r.Edge, In: r.In, Path: r.Path, At: r.At, Count: max(r.Count, 1) - 1}
	for _, a := range r.Args {
		if a.Index > 0 {
			out.Args = append(out.Args, &recountv1.Argument{Index: a.Index - 1, Name: a.Name, Path: a.Path})
		}
	}
	return out
}

// store makes an argument of append and similar methods an element of their receiver.
func (p *Engine) store(f *scope.Flow, here Site, callee scope.Path, r *recountv1.Reference) {
	if callee.Plain() || callee.Steps[len(callee.Steps)-1].Op != '.' {
		return
	}
	i, ok := p.puts(callee.Last())
	if !ok {
		return
	}
	for _, a := range r.Args {
		if a.Index == i && a.Name == "" {
			element := callee.Base()
			element.Steps = append(element.Steps[:len(element.Steps):len(element.Steps)], scope.Step{Op: '[', At: len(element.Text)})
			element.Text += "[]"
			p.assign(f, here, element, p.Eval(f, here, here.Scope.Mod.Path(a.Path)))
		}
	}
}
