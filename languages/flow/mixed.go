package flow

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// An object is mixed into another one if its members become members of that: Object.assign(Type.prototype, object),
// which extractors bind as Type.prototype[+] = object, and Type.prototype = object. Members of the one are then looked
// up in the other too, and `this` of their functions is an instance of the type.

// mixed is the index of a target that stands for all members of a value, mixedPerhaps the one where other values may
// replace them.
const (
	mixed        = "+"
	mixedPerhaps = "+?"
)

// mixesOf is the attribute with what is mixed into a value, receiversOf the one with the instances that its functions
// get as their receivers by that.
const (
	mixesOf     = "\x02"
	receiversOf = "\x03"
)

// mixture says that one value is mixed into another.
type mixture struct{ into, from *scope.Value }

// isMix reports whether a target is mixed with what it is given.
func isMix(target scope.Path) bool {
	if target.Plain() {
		return false
	}
	last := target.Steps[len(target.Steps)-1]
	return last.Op == '[' && (last.Name == mixed || last.Name == mixedPerhaps) || last.Op == '.' && last.Name == "prototype"
}

// findMixes notes whether the program mixes objects, and makes the functions whose prototypes it sets classes.
func (p *Engine) findMixes() {
	if !p.Lang.Exports {
		return
	}
	for _, m := range p.Modules {
		for _, b := range m.Facts.Bindings {
			if !strings.Contains(b.Target, ".prototype") && !strings.HasSuffix(b.Target, "]") {
				continue
			}
			target := m.Path(b.Target)
			p.mixes = p.mixes || isMix(target)
			for i, st := range target.Steps {
				if st.Op == '.' && st.Name == "prototype" {
					p.constructs(m.ScopeOf(b.In), target.First(i), 0)
					break
				}
			}
		}
	}
}

// constructs makes the function that a path names a class, as it has a prototype that is set.
func (p *Engine) constructs(s *scope.Scope, of scope.Path, depth int) {
	at := p.Lookup(s, of)
	d := at.Decl
	switch {
	case at.Rest != 0 || d == nil || d.IsClass():
	case d.Kind == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION:
		d.Constructs, d.Assigned = true, map[string]*scope.Variable{}
	case at.Variable != nil && len(at.Variable.Aliases) == 1 && depth < scope.MaxDepth: // another name of it
		p.constructs(at.Variable.Scope, at.Variable.Aliases[0], depth+1)
	}
}

// mix mixes values into another value.
func (p *Engine) mix(f *scope.Flow, into, receiver *scope.Value, values scope.Set, sure bool) {
	mixes := p.ofValue(into, mixesOf)
	if mixes == nil {
		return
	}
	mixes.Wide = true
	for _, m := range values {
		receivers := p.ofValue(m.Value, receiversOf)
		if receivers == nil || m.Value == into || m.Value.Decl != nil && m.Value.Decl == into.Decl {
			continue
		}
		p.Add(mixes, m.Value, m.Sure && sure)
		p.Add(receivers, receiver, m.Sure && sure)
		if pair := (mixture{into, m.Value}); !p.mixtures[pair] { // what is mixed into others in turn brings all of it along
			p.mixtures[pair] = true
			p.AddFlow(func(f *scope.Flow) {
				for _, r := range p.Read(f, p.ofValue(into, receiversOf)) {
					p.Add(receivers, r.Value, r.Sure && m.Sure && sure)
				}
			})
		}
	}
}

// ofValue returns the variable of a value under a name that no source can use, nil if it has no members of its own.
func (p *Engine) ofValue(v *scope.Value, name string) *scope.Variable {
	switch v.Kind {
	case scope.InstanceValue, scope.ClassValue:
		if v.Decl.Assigned == nil {
			return nil
		}
		return v.Decl.Attribute(name)
	case scope.ModuleValue:
		return v.Mod.Attribute(name)
	case scope.ContainerValue:
		if !v.IsDeclared() {
			return v.Element(name)
		}
	}
	return nil
}

// receiverFlow gives the methods of an object that is mixed into others the receivers that they get by that.
func (p *Engine) receiverFlow(d *scope.Decl) {
	if !p.mixes || d.Assigned == nil {
		return
	}
	var methods []*scope.Decl
	for _, m := range d.Mod.Decls {
		if m.Outer == d.Scope && m.Scope != nil && m.IsMethod() {
			methods = append(methods, m)
		}
	}
	if len(methods) == 0 {
		return
	}
	p.AddFlow(func(f *scope.Flow) {
		for _, r := range p.Read(f, d.Attribute(receiversOf)) {
			for _, m := range methods {
				p.Add(m.Scope.Own("self"), r.Value, r.Sure)
			}
		}
	})
}

// fromMixes returns the members of a name that a receiver has by what is mixed into the value of, directly or, if that
// has none, by what is mixed into that. Functions are bound to the receiver.
func (p *Engine) fromMixes(f *scope.Flow, recv, of *scope.Value, name string) (out scope.Set) {
	if !p.mixes || p.mixing || len(p.Read(f, p.ofValue(of, mixesOf))) == 0 {
		return nil
	}
	p.mixing = true // what is mixed into others in turn is looked up below
	defer func() { p.mixing = false }()
	level, seen := p.Read(f, p.ofValue(of, mixesOf)), []*scope.Value{of}
	for len(level) > 0 && len(seen) < maxMixed {
		for _, source := range level {
			for _, m := range p.attribute(f, source.Value, name) {
				out = out.With(p.boundTo(recv, m.Value), m.Sure && source.Sure)
			}
			seen = append(seen, source.Value)
		}
		if len(out) > 0 {
			break
		}
		var next scope.Set
		for _, into := range level {
			for _, source := range p.Read(f, p.ofValue(into.Value, mixesOf)) {
				if !slices.Contains(seen, source.Value) {
					next = next.With(source.Value, source.Sure && into.Sure)
				}
			}
		}
		level = next
	}
	return out
}

// maxMixed limits how many objects a member is looked up in.
const maxMixed = 64

// boundTo returns a function that is a member of a receiver, and any other value unchanged.
func (p *Engine) boundTo(recv, v *scope.Value) *scope.Value {
	switch {
	case v.Kind != scope.FunctionValue && v.Kind != scope.BoundValue || v.Decl == nil:
		return v
	case recv.Kind == scope.InstanceValue:
		return p.Intern(scope.ValueID{Kind: scope.BoundValue, Decl: v.Decl, Recv: recv})
	}
	return p.Intern(scope.ValueID{Kind: scope.FunctionValue, Decl: v.Decl})
}
