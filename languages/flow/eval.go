package flow

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Site is where a path is evaluated: a scope, and the index of its declaration plus 1.
type Site struct {
	Scope *scope.Scope
	In    uint32
}

// Eval returns the values of a path. If f is not nil, it runs again when they change.
func (p *Engine) Eval(f *scope.Flow, here Site, of scope.Path) scope.Set {
	if p.Depth > scope.MaxDepth {
		return nil
	}
	p.Depth++
	defer func() { p.Depth-- }()
	now := p.head(f, here, of.Head)
	for i, st := range of.Steps {
		if how, by := st.Narrows(); how != "" {
			now = p.narrowed(f, here, now, how, by)
			continue
		}
		if len(now) == 0 {
			if slices.ContainsFunc(of.Steps[i:], isCast) {
				continue
			}
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
			if r := p.ofRouter(here, m.Value, of, st); r != nil {
				next = next.With(r, m.Sure)
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
		if now = next; len(now) > scope.MaxValues && p.Lang.Exports {
			now = slices.DeleteFunc(now, func(m scope.Member) bool { return !m.Sure })
		}
		if len(now) > scope.MaxValues {
			return nil
		}
	}
	return now
}

// oneOf reports whether an object is one of several that look alike, as what a function makes is another one each time:
// what is put into one of them elsewhere is not in the others. A test puts things into instances of its own.
func (p *Engine) oneOf(here Site, v *scope.Value, of scope.Path) bool {
	if p.Lang.Exports && v.Kind == scope.InstanceValue && here.Scope.Mod.Test && !v.Decl.Mod.Test {
		return true
	}
	if !p.Lang.Exports || v.Kind != scope.ExternalValue {
		return p.Lang.Exports && v.IsMadeApart(here.Scope)
	}
	return p.Lookup(here.Scope, of).External != v
}

// isCast reports whether a step says of what type its value is, whatever is known of it.
func isCast(st scope.Step) bool {
	how, _ := st.Narrows()
	return how == scope.Cast
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
	if v == nil && p.Lang.Exports && name == "exports" {
		out := scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: here.Scope.Mod}), Sure: true}}
		return append(out, p.Read(f, here.Scope.Mod.Exports[scope.WholeExport])...)
	}
	if v == nil {
		if p.Lang.Builtin[name] && (p.rules != nil || !p.Starred(here.Scope.Mod)) {
			return scope.Set{{Value: p.External(p.Lang.Builtins, name), Sure: true}}
		}
		return nil
	}
	return p.withoutMembers(v, slices.Clone(p.Read(f, v)))
}

// withoutMembers returns the values of a name in a function that makes instances without the methods of that name, which are
// named through the instances alone: function Reader(data) { this._data = data }, Reader.prototype.data = function …
func (p *Engine) withoutMembers(v *scope.Variable, values scope.Set) scope.Set {
	if !p.Lang.Exports || v.Scope == nil || v.Scope.Decl == nil || !v.Scope.Decl.Constructs {
		return values
	}
	return slices.DeleteFunc(values, func(m scope.Member) bool { return isMethodOf(m.Value, v.Scope) })
}

// isMethodOf reports whether a value is a method that is declared in the scope of a class.
func isMethodOf(v *scope.Value, s *scope.Scope) bool {
	return v.Kind == scope.FunctionValue && v.Decl.Outer == s && v.Decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_FUNCTION && v.Decl.IsMethod()
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
			p.receivers(values, p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: here.Scope.Mod}), true)
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
	if last.Op == '[' && scope.IsParameter(last.Name) {
		return
	}
	if last.Op == '[' && strings.HasPrefix(last.Name, computed) {
		for _, o := range p.Eval(f, here, owner) {
			p.chain(f, o.Value, values)
		}
		return
	}
	if last.Op == '[' && !isMix(target) && ownable(owner) && !(p.Lang.Exports && isExports(owner)) || last.Op == '.' && p.literal(here, owner) {
		// What is assigned to by an index is a container, one for each place where it is made.
		if made := (scope.Set{{Value: p.Container(here.Scope, owner.Text), Sure: true}}); !p.isImported(here, owner) {
			p.assign(f, here, owner, made)
		}
	}
	for _, o := range p.Eval(f, here, owner) {
		if isMix(target) && (last.Op == '[' || o.Value.Kind == scope.ClassValue) {
			at := owner
			if last.Op == '.' {
				at = target
			}
			p.mix(f, o.Value, p.receiver(o.Value, at), values, o.Sure && last.Name != mixedPerhaps)
			continue
		}
		switch last.Op {
		case '.':
			p.addAll(p.attributeTarget(o.Value, last.Name), values, o.Sure && !o.Value.IsDeclared() && !p.oneOf(here, o.Value, owner))
			p.receivers(values, p.receiver(o.Value, owner), o.Sure)
			if p.mixes {
				for _, r := range p.Read(f, p.ofValue(o.Value, receiversOf)) {
					p.receivers(values, r.Value, r.Sure && o.Sure)
				}
			}
		case '[':
			if o.Value.Kind == scope.ContainerValue && !o.Value.IsDeclared() {
				p.addAll(o.Value.Element(last.Name), values, o.Sure)
				p.addAll(o.Value.Element(scope.EveryElement), values, o.Sure)
			}
		}
	}
}

// isImported reports whether a path is a name that a file with exports imports, and that no function hides: something that
// is put into it makes it no container.
func (p *Engine) isImported(here Site, of scope.Path) bool {
	if !p.Lang.Exports || !of.Plain() {
		return false
	}
	v := p.Find(here.Scope, of.Head)
	return v != nil && len(v.Imports) > 0
}

// isExports reports whether a path is what its module exports.
func isExports(p scope.Path) bool {
	return p.Head == "exports" && p.Plain() || p.Exports() == scope.WholeExport
}

// receivers makes an object the `this` of functions that are assigned to a member of it.
func (p *Engine) receivers(values scope.Set, object *scope.Value, sure bool) {
	for _, m := range values {
		if d := m.Value.Decl; m.Value.Kind == scope.FunctionValue && d.Attributes[scope.OfObject] == scope.OwnThis {
			p.Add(d.Scope.Own("self"), object, sure)
		}
	}
}

// receiver returns what `this` is in a function that is assigned to a member of an object: of a
// prototype, an instance.
func (p *Engine) receiver(object *scope.Value, at scope.Path) *scope.Value {
	if object.Kind == scope.InstanceValue || object.Kind == scope.ClassValue && at.Last() == "prototype" {
		return p.Instance(object.Decl, true)
	}
	return object
}

// literal reports whether an object literal is the value of a path: what a function returns, or a
// variable. The members of an object that has functions are those of its declaration.
func (p *Engine) literal(here Site, of scope.Path) bool {
	switch {
	case !p.Lang.Exports || !of.Plain():
		return false
	case of.Head == "return":
		return here.Scope.Decl != nil
	}
	v := here.Scope.Vars[of.Head]
	declared := func(d *scope.Decl) bool { return here.Scope.Decl != nil || d.IsClass() || d.IsFunction() }
	return v != nil && !v.Parameter && !slices.ContainsFunc(v.Decls, declared) && slices.ContainsFunc(v.Aliases, func(a scope.Path) bool { return a.Text == "?" })
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
