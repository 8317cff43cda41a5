package scope

import (
	"context"
	"maps"
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// solveItems gives every name of a typed language its value, and follows those of
// local variables until nothing changes.
func (p *items) solveItems(ctx context.Context) error {
	for _, m := range p.modules {
		for i, s := range m.scopes {
			if i == 0 || m.decls[i-1].scope == s {
				p.itemValues(s)
			}
		}
		for _, d := range m.decls {
			if d.isFunction() {
				for _, prm := range d.Parameters {
					v := d.scope.own(prm.Name)
					for _, t := range p.known(p.typed(d.outer, prm.Type), nil) {
						p.add(v, t.value, t.sure)
					}
				}
			}
		}
	}
	for _, m := range p.modules {
		for _, b := range m.facts.Bindings {
			s, target := m.scopeOf(b.In), m.path(b.Target)
			if !target.plain() || target.head == "return" || target.head == "?" {
				continue
			}
			v := s.own(target.head)
			for _, t := range p.known(p.typed(s, b.Type), nil) {
				p.add(v, t.value, true)
			}
			if value := m.path(b.Value); value.head != "?" {
				p.addFlow(func(f *flow) {
					for _, r := range p.eval(f, at{s, b.In}, value) {
						p.add(v, r.value, r.sure)
					}
				})
			}
		}
	}
	return p.drain(ctx)
}

// itemValues gives the names of a scope what they are declared or imported to be.
func (p *items) itemValues(s *scope) {
	for _, name := range slices.Sorted(maps.Keys(s.vars)) {
		v := s.vars[name]
		for _, d := range v.decls {
			for _, m := range p.itemValue(d) {
				p.add(v, m.value, m.sure)
			}
		}
		for _, i := range v.imports {
			if i.mod != nil {
				p.add(v, p.intern(valueID{kind: moduleValue, mod: i.mod}), true)
			}
		}
		if !v.used {
			continue
		}
		for _, of := range v.aliases {
			for _, behind := range [][]step{nil, {{op: '.'}}} { // a function, or what has members
				p.addSymbol(v, p.usedSymbolBefore(v, of, behind))
			}
		}
	}
}

// addSymbol gives a variable what a path means.
func (p *items) addSymbol(v *variable, at symbol) {
	switch {
	case at.rest != 0:
	case at.decl != nil:
		for _, m := range p.itemValue(at.decl) {
			p.add(v, m.value, m.sure)
		}
	case at.mod != nil:
		p.add(v, p.intern(valueID{kind: moduleValue, mod: at.mod}), true)
	case at.external != nil:
		p.add(v, at.external, true)
	}
}

// itemValue is what an item's name stands for.
func (p *items) itemValue(d *decl) set {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_MODULE:
		return set{{p.intern(valueID{kind: moduleValue, mod: d.scope.inline}), true}}
	case recountv1.SymbolKind_SYMBOL_KIND_TYPE:
		if class := p.typeNamed(d.outer, parsePath(d.Name)); class != nil {
			return set{{p.intern(valueID{kind: classValue, decl: class}), true}}
		}
		return nil
	case recountv1.SymbolKind_SYMBOL_KIND_CONSTANT, recountv1.SymbolKind_SYMBOL_KIND_VARIABLE:
		return p.known(p.typed(d.outer, d.Type), nil)
	case recountv1.SymbolKind_SYMBOL_KIND_FIELD:
		return p.typed(d.outer, d.Type)
	case recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER:
		return set{{p.intern(valueID{kind: functionValue, decl: d}), true}}
	}
	switch {
	case d.isClass():
		return set{{p.intern(valueID{kind: classValue, decl: d}), true}}
	case d.isFunction():
		return set{{p.intern(valueID{kind: functionValue, decl: d}), true}}
	}
	return nil
}

// step is what a path's next step makes of a value.
func (p *items) step(f *flow, here at, v *value, of path, st step) set {
	switch st.op {
	case '.':
		return p.member(f, v, st.name)
	case '[':
		return p.holds(f, v)
	}
	return p.gives(f, here, v, of.text[:st.at])
}

// member is what a value has by a name.
func (p *items) member(f *flow, v *value, name string) set {
	switch v.kind {
	case moduleValue:
		if w := p.global(v.mod, name, 0); w != nil {
			return p.read(f, w)
		}
	case externalValue:
		return set{{p.attributeOf(v, name), true}}
	case classValue:
		if found := p.typeMember(v.decl, nil, name); len(found) > 0 || name != "default" && name != "from" {
			return found
		}
		return set{{p.intern(valueID{kind: boundValue, recv: p.instance(v.decl, true), name: "default"}), true}} // derived
	case functionValue:
		if v.decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER {
			return nil
		}
		if v.decl.scope != nil {
			if w := v.decl.scope.vars[name]; w != nil {
				return p.known(w.values, nil)
			}
		}
		return p.member(f, p.instance(v.decl.outer.decl, true), name)
	case instanceValue:
		if found := p.typeMember(v.decl, v, name); len(found) > 0 {
			return found
		}
		if t := p.target(v.decl); t != nil { // what it dereferences to
			if p.depth < maxDepth {
				p.depth++
				defer func() { p.depth-- }()
				for _, m := range p.known(set{{t, true}}, v) {
					if found := p.member(f, m.value, name); len(found) > 0 {
						return found
					}
				}
			}
		}
		if copyMethods[name] || iteratorMethods[name] && len(p.typeMember(v.decl, v, "next")) > 0 {
			return set{{p.intern(valueID{kind: boundValue, recv: v, name: name}), true}}
		}
	case genericValue:
		if v.name == "()" {
			i := 0
			for _, c := range name {
				i = i*10 + int(c-'0')
			}
			if e := v.more.nth(i); e != nil && name[0] >= '0' && name[0] <= '9' {
				return set{{e, true}}
			}
			return nil
		}
		return set{{p.intern(valueID{kind: boundValue, recv: v, name: name}), true}}
	}
	return nil
}

// target is what a type's Deref leads to; nil where it has none.
func (p *items) target(d *decl) *value {
	v := d.scope.vars["Target"]
	if v == nil {
		return nil
	}
	for _, t := range v.decls {
		if strings.HasSuffix("."+t.Attributes["trait"], ".Deref") {
			for _, m := range p.typed(t.outer, t.Type) {
				return m.value
			}
		}
	}
	return nil
}

// typeMember is a member of a type, or of a value of it. Its own come before those of
// its traits; of several traits' none is sure.
func (p *items) typeMember(d *decl, recv *value, name string) set {
	var out set
	for _, b := range d.order {
		if b.decl == nil || b.decl.scope == nil {
			continue
		}
		v := b.decl.scope.vars[name]
		if v == nil {
			continue
		}
		var own, traits []*decl
		for _, m := range v.decls {
			switch {
			case !m.isFunction():
				if recv == nil && m.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE {
					continue
				}
				for _, t := range p.known(p.itemValue(m), recv) {
					out = out.with(t.value, t.sure)
				}
			case m.Attributes["trait"] != "":
				traits = append(traits, m)
			case conditionHolds(m.Attributes["cfg"]) || len(own) == 0:
				own = append(own, m)
			}
		}
		if len(own) == 0 {
			own = traits
		}
		for _, m := range own {
			kind := functionValue
			if recv != nil && !m.is("static") {
				kind = boundValue
			} else if recv != nil {
				continue
			}
			id := valueID{kind: kind, decl: m}
			if kind == boundValue {
				id.recv = recv
			}
			out = out.with(p.intern(id), len(own) == 1)
		}
		if len(out) > 0 {
			return out
		}
	}
	return out
}

// gives is what calling a value gives. callee is the path that is called.
func (p *items) gives(f *flow, here at, v *value, callee string) set {
	if p.depth > maxDepth {
		return nil
	}
	p.depth++
	defer func() { p.depth-- }()
	switch v.kind {
	case classValue:
		return set{{p.instance(v.decl, true), true}}
	case functionValue, boundValue:
		if v.decl == nil {
			return p.standard(f, here, v.recv, v.name, callee)
		}
		d := v.decl
		if d.Kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER {
			return set{{p.instance(d.outer.decl, true), true}}
		}
		results := p.known(p.typed(d.outer, d.Type), v.recv)
		if v.recv == nil {
			return results
		}
		out := results[:0:0]
		for _, r := range results {
			switch {
			case r.value.kind == instanceValue && r.value.decl == d.class() && v.recv.kind == instanceValue &&
				(d.outer.decl == r.value.decl || r.value.decl == v.recv.decl && !isKnown(r.value.more)):
				out = out.with(v.recv, r.sure) // Self, of a trait or of a type with arguments
			default:
				out = out.with(r.value, r.sure)
			}
		}
		return out
	case externalValue:
		return p.constructs(f, here, v, callee)
	}
	return nil
}

// isKnown reports whether all of a type's arguments are known.
func isKnown(list *value) bool {
	all := list != nil
	for ; list != nil; list = list.more {
		all = all && list.recv != nil
	}
	return all
}

// passed is the first argument of a path's calls.
func (p *items) passed(f *flow, here at, callee string, place int) set {
	refs := here.scope.mod.calls[callSite{here.in, callee}]
	return p.argument(f, arguments{here: here, refs: refs}, place, "")
}

// first is one value of a set, the sure ones before others.
func first(s set) *value {
	for _, m := range s {
		if m.sure {
			return m.value
		}
	}
	return nil
}

// isLiteral reports whether calling v is as good as a literal.
func (p *items) isLiteral(v *value) bool {
	return v.name == "Some" || v.name == "Ok" || v.name == "Err"
}
