package rust

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/flow"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// SolveItems implements flow.Rules: it gives every name its values, and follows those of local
// variables until nothing changes.
func (p *items) SolveItems(ctx context.Context) error {
	for _, m := range p.Modules {
		for i, s := range m.Scopes {
			if i == 0 || m.Decls[i-1].Scope == s {
				p.itemValues(s)
			}
		}
		for _, d := range m.Decls {
			if d.IsFunction() {
				for _, prm := range d.Parameters {
					v := d.Scope.Own(prm.Name)
					for _, t := range p.known(p.typed(d.Outer, prm.Type), nil) {
						p.Add(v, t.Value, t.Sure)
					}
				}
			}
		}
	}
	for _, m := range p.Modules {
		for _, b := range m.Facts.Bindings {
			s, target := m.ScopeOf(b.In), m.Path(b.Target)
			if !target.Plain() || target.Head == "return" || target.Head == "?" {
				continue
			}
			v := s.Own(target.Head)
			for _, t := range p.known(p.typed(s, b.Type), nil) {
				p.Add(v, t.Value, true)
			}
			if value := m.Path(b.Value); value.Head != "?" {
				p.AddFlow(func(f *scope.Flow) {
					for _, r := range p.Eval(f, flow.Site{Scope: s, In: b.In}, value) {
						p.Add(v, r.Value, r.Sure)
					}
				})
			}
		}
	}
	return p.Drain(ctx)
}

// itemValues gives the names of a scope the values that they are declared or imported to have.
func (p *items) itemValues(s *scope.Scope) {
	for _, name := range slices.Sorted(maps.Keys(s.Vars)) {
		v := s.Vars[name]
		for _, d := range v.Decls {
			for _, m := range p.itemValue(d) {
				p.Add(v, m.Value, m.Sure)
			}
		}
		for _, i := range v.Imports {
			if i.Mod != nil {
				p.Add(v, p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: i.Mod}), true)
			}
		}
		if !v.Used {
			continue
		}
		for _, of := range v.Aliases {
			for _, behind := range [][]scope.Step{nil, {{Op: '.'}}} { // for a function, then for what has members
				p.addSymbol(v, p.usedSymbolBefore(v, of, behind))
			}
		}
	}
}

// addSymbol adds what a path means to a variable.
func (p *items) addSymbol(v *scope.Variable, at scope.Symbol) {
	switch {
	case at.Rest != 0:
	case at.Decl != nil:
		for _, m := range p.itemValue(at.Decl) {
			p.Add(v, m.Value, m.Sure)
		}
	case at.Mod != nil:
		p.Add(v, p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: at.Mod}), true)
	case at.External != nil:
		p.Add(v, at.External, true)
	}
}

// itemValue returns the values of the name of an item.
func (p *items) itemValue(d *scope.Decl) scope.Set {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_MODULE:
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: d.Scope.Inline}), Sure: true}}
	case recountv1.SymbolKind_SYMBOL_KIND_TYPE:
		if class := p.typeNamed(d.Outer, scope.ParsePath(d.Name)); class != nil {
			return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: class}), Sure: true}}
		}
		return nil
	case recountv1.SymbolKind_SYMBOL_KIND_CONSTANT, recountv1.SymbolKind_SYMBOL_KIND_VARIABLE:
		return p.known(p.typed(d.Outer, d.Type), nil)
	case recountv1.SymbolKind_SYMBOL_KIND_FIELD:
		return p.typed(d.Outer, d.Type)
	case recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER:
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.FunctionValue, Decl: d}), Sure: true}}
	}
	switch {
	case d.IsClass():
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: d}), Sure: true}}
	case d.IsFunction():
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.FunctionValue, Decl: d}), Sure: true}}
	}
	return nil
}

// Step implements flow.Rules.
func (p *items) Step(f *scope.Flow, here flow.Site, v *scope.Value, of scope.Path, st scope.Step) scope.Set {
	switch st.Op {
	case '.':
		switch {
		case v.Kind == scope.ExternalValue:
			if own := p.implemented(f, here, v, of, st); own != nil {
				return scope.Set{{Value: own, Sure: true}}
			}
		case of.Head == "self" && st.At == len(of.Head):
			return ofImpl(here, p.member(f, v, st.Name))
		}
		return p.member(f, v, st.Name)
	case '[':
		return p.holds(f, v)
	}
	return p.gives(f, here, v, of.Text[:st.At])
}

// ofImpl returns the only function of several that stands in an impl like the one that calls it: of the same
// trait, for the type or for a reference to it. If there is none, it returns all.
func ofImpl(here flow.Site, all scope.Set) scope.Set {
	caller := here.Scope.Decl
	if len(all) < 2 || caller == nil || caller.Attributes["trait"] == "" {
		return all
	}
	var one scope.Set
	for _, m := range all {
		if d := m.Value.Decl; d != nil && d.Attributes["trait"] == caller.Attributes["trait"] && d.Attributes["self"] == caller.Attributes["self"] {
			one = one.With(m.Value, true)
		}
	}
	if len(one) == 1 {
		return one
	}
	return all
}

// implemented returns the function that a call of a foreign trait by its name means, as in
// Trait::method(x): that of the type of the first argument. It returns nil if that is not known.
func (p *items) implemented(f *scope.Flow, here flow.Site, v *scope.Value, of scope.Path, st scope.Step) *scope.Value {
	trait := lastOf(v.Name)
	if !p.foreignTraits[trait] {
		return nil
	}
	callee := of.Text[:st.At] + "." + st.Name
	if !strings.HasPrefix(of.Text, callee) {
		return nil
	}
	on := first(p.passed(f, here, callee, 0))
	if on == nil || on.Kind != scope.InstanceValue {
		return nil
	}
	var found *scope.Decl
	for _, m := range p.typeMember(on.Decl, on, st.Name) {
		d := m.Value.Decl
		if d == nil || !d.IsFunction() || lastOf(d.Attributes["trait"]) != trait || found != nil {
			return nil
		}
		found = d
	}
	if found == nil {
		return nil
	}
	return p.Intern(scope.ValueID{Kind: scope.FunctionValue, Decl: found})
}

// member returns the values of a member of a value.
func (p *items) member(f *scope.Flow, v *scope.Value, name string) scope.Set {
	switch v.Kind {
	case scope.ModuleValue:
		if w := p.Global(v.Mod, name); w != nil {
			return p.Read(f, w)
		}
	case scope.ExternalValue:
		if own := p.foreignMembers[lastOf(v.Name)+"."+name]; len(own) == 1 { // of a trait of the repository
			return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.FunctionValue, Decl: own[0]}), Sure: true}}
		}
		return scope.Set{{Value: p.AttributeOf(v, name), Sure: true}}
	case scope.ClassValue:
		if found := p.typeMember(v.Decl, nil, name); len(found) > 0 || name != "default" && name != "from" {
			return found
		}
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.BoundValue, Recv: p.Instance(v.Decl, true), Name: "default"}), Sure: true}} // a derived method
	case scope.FunctionValue:
		if v.Decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER {
			return nil
		}
		if v.Decl.Scope != nil {
			if w := v.Decl.Scope.Vars[name]; w != nil {
				return p.known(w.Values, nil)
			}
		}
		return p.member(f, p.Instance(v.Decl.Outer.Decl, true), name)
	case scope.InstanceValue:
		if found := p.typeMember(v.Decl, v, name); len(found) > 0 {
			return found
		}
		if t := p.target(v.Decl); t != nil { // the type that it dereferences to
			if p.Depth < scope.MaxDepth {
				p.Depth++
				defer func() { p.Depth-- }()
				for _, m := range p.known(scope.Set{{Value: t, Sure: true}}, v) {
					if found := p.member(f, m.Value, name); len(found) > 0 {
						return found
					}
				}
			}
		}
		if copyMethods[name] || iteratorMethods[name] && len(p.typeMember(v.Decl, v, "next")) > 0 {
			return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.BoundValue, Recv: v, Name: name}), Sure: true}}
		}
	case scope.GenericValue:
		if v.Name == "()" {
			i := 0
			for _, c := range name {
				i = i*10 + int(c-'0')
			}
			if e := v.More.Nth(i); e != nil && name[0] >= '0' && name[0] <= '9' {
				return scope.Set{{Value: e, Sure: true}}
			}
			return nil
		}
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.BoundValue, Recv: v, Name: name}), Sure: true}}
	}
	return nil
}

// target returns the value of the type that the type's Deref leads to, nil if it has none.
func (p *items) target(d *scope.Decl) *scope.Value {
	v := d.Scope.Vars["Target"]
	if v == nil {
		return nil
	}
	for _, t := range v.Decls {
		if strings.HasSuffix("."+t.Attributes["trait"], ".Deref") {
			for _, m := range p.typed(t.Outer, t.Type) {
				return m.Value
			}
		}
	}
	return nil
}

// typeMember returns a member of a type, or, if recv is not nil, of a value of the type. Its own
// members come before those of its traits; one that several traits have is not sure.
func (p *items) typeMember(d *scope.Decl, recv *scope.Value, name string) scope.Set {
	var out scope.Set
	for _, b := range d.Order {
		if b.Decl == nil || b.Decl.Scope == nil {
			continue
		}
		v := b.Decl.Scope.Vars[name]
		if v == nil {
			continue
		}
		var own, traits []*scope.Decl
		for _, m := range v.Decls {
			switch {
			case !m.IsFunction():
				if recv == nil && m.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE {
					continue
				}
				for _, t := range p.known(p.itemValue(m), recv) {
					out = out.With(t.Value, t.Sure)
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
		sure := len(own) == 1 || alternatives(own)
		for _, m := range own {
			kind := scope.FunctionValue
			if recv != nil && !m.HasModifier("static") {
				kind = scope.BoundValue
			} else if recv != nil {
				continue
			}
			id := scope.ValueID{Kind: kind, Decl: m}
			if kind == scope.BoundValue {
				id.Recv = recv
			}
			out = out.With(p.Intern(id), sure)
		}
		if len(out) > 0 {
			return out
		}
	}
	return out
}

// alternatives reports whether functions are those of one name under different conditions: a build has one of
// them.
func alternatives(of []*scope.Decl) bool {
	seen := map[string]bool{}
	for _, d := range of {
		c := d.Attributes["cfg"]
		if c == "" || seen[c] || d.Attributes["trait"] != of[0].Attributes["trait"] || d.Attributes["self"] != of[0].Attributes["self"] {
			return false
		}
		seen[c] = true
	}
	return true
}

// gives returns what a call returns. callee is the path that is called.
func (p *items) gives(f *scope.Flow, here flow.Site, v *scope.Value, callee string) scope.Set {
	if p.Depth > scope.MaxDepth {
		return nil
	}
	p.Depth++
	defer func() { p.Depth-- }()
	switch v.Kind {
	case scope.ClassValue:
		return scope.Set{{Value: p.Instance(v.Decl, true), Sure: true}}
	case scope.FunctionValue, scope.BoundValue:
		if v.Decl == nil {
			return p.standard(f, here, v.Recv, v.Name, callee)
		}
		d := v.Decl
		if d.Kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER {
			return scope.Set{{Value: p.Instance(d.Outer.Decl, true), Sure: true}}
		}
		results := p.known(p.typed(d.Outer, d.Type), v.Recv)
		if v.Recv == nil {
			return results
		}
		out := results[:0:0]
		for _, r := range results {
			switch {
			case r.Value.Kind == scope.InstanceValue && r.Value.Decl == d.Class() && v.Recv.Kind == scope.InstanceValue &&
				(d.Outer.Decl == r.Value.Decl || r.Value.Decl == v.Recv.Decl && !isKnown(r.Value.More)):
				out = out.With(v.Recv, r.Sure) // Self, in a trait or in a type with type arguments
			default:
				out = out.With(r.Value, r.Sure)
			}
		}
		return out
	case scope.ExternalValue:
		return p.constructs(f, here, v, callee)
	}
	return nil
}

// isKnown reports whether all type arguments of a list are known.
func isKnown(list *scope.Value) bool {
	all := list != nil
	for ; list != nil; list = list.More {
		all = all && list.Recv != nil
	}
	return all
}

// passed returns the argument at a place in the calls of a path.
func (p *items) passed(f *scope.Flow, here flow.Site, callee string, place int) scope.Set {
	refs := here.Scope.Mod.Calls[scope.CallSite{In: here.In, Path: callee}]
	return p.Argument(f, flow.Arguments{Here: here, Refs: refs}, place, "")
}

// first returns one sure value of a set, nil if it has none.
func first(s scope.Set) *scope.Value {
	for _, m := range s {
		if m.Sure {
			return m.Value
		}
	}
	return nil
}

// IsLiteral implements flow.Rules.
func (p *items) IsLiteral(v *scope.Value) bool {
	return v.Name == "Some" || v.Name == "Ok" || v.Name == "Err"
}
