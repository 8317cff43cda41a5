package scope

import (
	"context"
	"maps"
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// solve follows the values until nothing changes.
func (p *engine) solve(ctx context.Context) error {
	var decorations []*flow
	if p.rules != nil {
		return p.rules.solveItems(ctx)
	}
	for _, m := range p.modules {
		for _, d := range m.decls {
			if f := p.declFlows(d); f != nil {
				decorations = append(decorations, f)
			}
		}
		for in, s := range m.scopes {
			if in == 0 || m.decls[in-1].scope == s {
				p.importFlows(s.vars)
			}
		}
		p.importFlows(m.exports)
		for _, b := range m.facts.Bindings {
			p.bindingFlow(m, b)
		}
		for _, r := range m.facts.References {
			if r.Edge == recountv1.EdgeKind_EDGE_KIND_CALLS {
				p.callFlow(m, r)
			}
		}
	}
	if err := p.drain(ctx); err != nil {
		return err
	}
	p.settling = true
	for _, f := range decorations {
		f.visits = 0
		p.wake(f)
	}
	return p.drain(ctx)
}

// declFlows gives a declaration's name, receiver and parameters their values. It
// returns the flow of its decorators, where it has some.
func (p *engine) declFlows(d *decl) (decoration *flow) {
	if d.overload || d.scope == nil {
		return nil
	}
	name := d.outer.vars[d.Name]
	own := p.intern(valueID{kind: functionValue, decl: d})
	if d.isClass() {
		own = p.intern(valueID{kind: classValue, decl: d})
		if d.object {
			own = p.instance(d, false)
		}
		if p.lang.membersHidden {
			p.add(d.scope.own("self"), p.instance(d, true), true)
		}
	}
	if len(d.decorators) == 0 {
		p.add(name, own, true)
	} else {
		decoration = p.addFlow(func(f *flow) {
			for _, m := range p.decorated(f, d, own) {
				p.add(name, m.value, m.sure)
			}
		})
	}
	if !d.isFunction() {
		return decoration
	}
	if d.isMethod() {
		class := d.outer.decl
		receiver := p.instance(class, true)
		if d.is("classmethod") || d.is("static") || d.Name == "__new__" || d.Name == "__init_subclass__" || d.Name == "__class_getitem__" {
			receiver = p.intern(valueID{kind: classValue, decl: class})
		}
		p.add(d.scope.own("self"), receiver, true)
	}
	for i, prm := range d.Parameters {
		v := d.scope.own(d.parameterName(i, prm.Name))
		if prm.Variadic || prm.Keyword {
			p.add(v, p.container(d.scope, prm.Name), true)
			continue
		}
		if class := p.classOf(d.outer, d.mod, prm.Type); class != nil {
			p.add(v, p.instance(class, true), true)
		}
		if prm.Default != "" && prm.Default != "?" {
			p.addFlow(func(f *flow) {
				for _, m := range p.eval(f, at{d.outer, d.outer.in()}, d.mod.path(prm.Default)) {
					p.add(v, m.value, false)
				}
			})
		}
	}
	return decoration
}

// classOf is the class of the repository that a type names.
func (p *engine) classOf(s *scope, m *module, typ string) *decl {
	if typ == "" || typ == "?" {
		return nil
	}
	if at := p.symbol(s, m.path(typ)); at.rest == 0 && at.decl != nil && at.decl.isClass() {
		return at.decl
	}
	return nil
}

// decorated is what a declaration's name stands for: what its decorators make of
// it, the last one first. One of elsewhere leaves it as it is.
func (p *engine) decorated(f *flow, d *decl, own *value) set {
	now := set{{own, true}}
	for i := len(d.decorators) - 1; i >= 0; i-- {
		place := at{d.outer, d.outer.in()}
		var next set
		ours := false
		for _, by := range p.eval(f, place, d.mod.path(d.decorators[i].Path)) {
			switch by.value.kind {
			case functionValue, boundValue, classValue:
			default:
				continue
			}
			ours = true
			p.pass(f, by.value, arguments{direct: now})
			for _, m := range p.result(f, by.value, arguments{direct: now}) {
				next = next.with(m.value, m.sure && by.sure)
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
func (p *engine) importFlows(names map[string]*variable) {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v := names[name]
		for _, i := range v.imports {
			switch {
			case i.mod == nil && i.outside == "":
			case i.mod == nil && i.name == "":
				p.add(v, p.external(i.outside, ""), true)
			case i.mod == nil:
				p.add(v, p.attributeOf(p.external(i.outside, ""), i.name), true)
			case i.name == "":
				p.add(v, p.intern(valueID{kind: moduleValue, mod: i.mod}), true)
			default:
				p.addFlow(func(f *flow) {
					for _, m := range p.moduleAttribute(f, i.mod, i.name) {
						p.add(v, m.value, m.sure)
					}
				})
			}
		}
	}
}

// bindingFlow makes a binding's value flow into its target.
func (p *engine) bindingFlow(m *module, b *recountv1.Binding) {
	if b.Target == "?" || strings.Contains(b.Target, " ") {
		return // nothing is bound: global, nonlocal
	}
	s, target, value := m.scopeOf(b.In), m.path(b.Target), m.path(b.Value)
	if target.head == "return" && target.plain() && s.decl != nil && s.decl.isFunction() && value.plain() {
		if value.head == "self" && !p.lang.receiverFirst && s.decl.isMethod() {
			s.decl.through = append(s.decl.through, -1)
			return
		}
		for i, prm := range s.decl.Parameters {
			v := s.vars[value.head]
			if s.decl.parameterName(i, prm.Name) == value.head && v != nil && len(v.aliases) == 0 && !prm.Variadic && !prm.Keyword {
				s.decl.through = append(s.decl.through, i)
				return
			}
		}
	}
	class := p.classOf(s, m, b.Type)
	// What is called by a name with several values is none of them for sure, also
	// where only one is known: join = options.join ?? ownJoin.
	several := false
	if target.plain() && target.head != "return" && target.head != "yield" {
		v := s.bound(target.head)
		several = v.parameter || slices.ContainsFunc(v.aliases, func(other path) bool { return other.text != value.text })
	}
	p.addFlow(func(f *flow) {
		var values set
		if value.head != "?" {
			values = p.eval(f, at{s, b.In}, value)
		}
		if several {
			values = doubt(values)
		}
		if class != nil {
			values = values.with(p.instance(class, true), true)
		}
		p.assign(f, at{s, b.In}, target, values)
	})
}

// doubt is a set whose functions and classes are not sure.
func doubt(values set) set {
	out := slices.Clone(values)
	for i, m := range out {
		switch m.value.kind {
		case functionValue, boundValue, classValue, externalValue:
			out[i].sure = false
		}
	}
	return out
}

// callFlow makes a call's arguments flow into the parameters of what is called.
func (p *engine) callFlow(m *module, r *recountv1.Reference) {
	here, callee := at{m.scopeOf(r.In), r.In}, m.path(r.Path)
	if callee.head == "?" {
		return
	}
	p.addFlow(func(f *flow) {
		for _, c := range p.eval(f, here, callee) {
			p.pass(f, c.value, arguments{here: here, refs: []*recountv1.Reference{r}})
		}
		p.put(f, here, callee, r)
	})
}

// put is what append and the like do: an argument becomes an element.
func (p *engine) put(f *flow, here at, callee path, r *recountv1.Reference) {
	if callee.plain() || callee.steps[len(callee.steps)-1].op != '.' {
		return
	}
	i, ok := containerPuts[callee.steps[len(callee.steps)-1].name]
	if !ok {
		return
	}
	for _, a := range r.Args {
		if a.Index == i && a.Name == "" {
			element := callee.base()
			element.steps = append(element.steps[:len(element.steps):len(element.steps)], step{op: '[', at: len(element.text)})
			element.text += "[]"
			p.assign(f, here, element, p.eval(f, here, here.scope.mod.path(a.Path)))
		}
	}
}
