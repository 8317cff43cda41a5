package flow

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// named has the functions of the program by name, and the names of members that hold something
// else.
type named struct {
	functions map[string][]*scope.Decl
	fields    map[string]bool
}

// nameFunctions notes what members of objects may be named.
func (p *Engine) nameFunctions() *named {
	n := &named{map[string][]*scope.Decl{}, map[string]bool{}}
	for _, m := range p.Modules {
		if strings.HasSuffix(m.File.Path, ".d.ts") {
			continue // it declares what is elsewhere
		}
		members := map[string]bool{} // functions of the file that are put into objects
		returned := map[string]bool{}
		for _, b := range m.Facts.Bindings {
			switch _, name := cutLast(b.Target); {
			case b.Target == "return":
				returned[b.Value] = true
			case name == "":
			case b.Value == scope.NoValue:
			case b.Value == name || b.Value == scope.MemberName(name):
				members[name] = true
			case scope.IsRegistered(b.Value): // it has scope.OfObject
			case !strings.HasSuffix(b.Value, "."+name):
				if of := p.Lookup(m.ScopeOf(b.In), m.Path(b.Value)); of.Rest == 0 && of.Decl != nil && of.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION && of.Decl.Owner != 0 && of.Decl.Owner == b.In && !m.Test {
					n.add(name, of.Decl) // a closure: component.onResolve = onResolved
					break
				}
				n.fields[name] = n.fields[name] || !m.Test // a test may put anything into its place
			}
		}
		for _, d := range m.Decls {
			switch {
			case !d.IsFunction() || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_PROPERTY:
				n.fields[d.Name] = n.fields[d.Name] || d.Outer.IsClass()
			case returned[d.LocalName()] && d.Attributes[scope.OfObject] != "": // its name is its own only
			case !d.Overload && (d.Outer.IsClass() || d.Of != nil || d.Attributes[scope.OfObject] != "" || members[d.Name] || p.exports(m, d)):
				n.add(d.Name, d)
			}
		}
	}
	return n
}

func (n *named) add(name string, d *scope.Decl) {
	if !slices.Contains(n.functions[name], d) {
		n.functions[name] = append(n.functions[name], d)
	}
}

// exports reports whether a module exports a declaration under its name.
func (p *Engine) exports(m *scope.Module, d *scope.Decl) bool {
	for _, v := range p.moduleAttribute(nil, m, d.Name) {
		if v.Value.Decl == d {
			return true
		}
	}
	return false
}

func cutLast(path string) (base, name string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return path, ""
	}
	return path[:i], path[i+1:]
}

// onlyNamed returns the function that a call of a member means by its name alone: the only one of
// the program, or of the site's part of it, if the name is of several words, no member that holds
// something else has it, and objects outside the repository do not commonly have it. A function that
// calls its own name on something else passes the call on to what it wraps.
func (l *Linker) onlyNamed(here Site, of scope.Path) *scope.Decl {
	if l.e.Lang.Common == nil || !l.e.Lang.Exports || of.Plain() {
		return nil
	}
	last := of.Steps[len(of.Steps)-1]
	if last.Op != '.' || l.e.Lang.Common[last.Name] || !severalWords(last.Name) {
		return nil
	}
	if l.e.named == nil {
		l.e.named = l.e.nameFunctions()
	}
	if from := l.Module.Decl(here.In); l.e.named.fields[last.Name] || from != nil && from.Name == last.Name {
		return nil
	}
	if l.e.madeOutside(here, of.Base()) {
		return nil
	}
	var all, near []*scope.Decl
	for _, d := range l.e.named.functions[last.Name] {
		if !l.Module.Sees(d.Mod) {
			continue
		}
		all = append(all, d)
		if topOf(d.Mod.File.Path) == topOf(l.Module.File.Path) {
			near = append(near, d)
		}
	}
	if len(near) > 0 {
		all = near
	}
	if len(all) != 1 {
		return nil
	}
	return all[0]
}

// madeOutside reports whether a path is what a function or a class of another package returns, or a name
// whose first value is that.
func (p *Engine) madeOutside(here Site, of scope.Path) bool {
	outside := func(at Site, call scope.Path) bool {
		if call.Plain() || call.Steps[len(call.Steps)-1].Op != '(' {
			return false
		}
		found := p.Eval(nil, at, call.Base())
		if len(found) == 0 {
			return p.ofInterface(at, call.Base())
		}
		for _, m := range found {
			if m.Value.Kind != scope.ExternalValue || m.Value.Pkg == p.Lang.Builtins {
				return false
			}
		}
		return len(found) > 0
	}
	if !of.Plain() {
		return outside(here, of)
	}
	v := p.Find(here.Scope, of.Head)
	return v != nil && v.Scope != nil && len(v.Aliases) > 0 && outside(Site{v.Scope, v.Scope.In()}, v.Aliases[0])
}

// ofInterface reports whether a path is a member of which an interface says only that it has it: the type
// of the member is in another package.
func (p *Engine) ofInterface(at Site, of scope.Path) bool {
	if of.Plain() || of.Steps[len(of.Steps)-1].Op != '.' {
		return false
	}
	found := p.Eval(nil, at, of.Base())
	for _, m := range found {
		d := m.Value.Decl
		if m.Value.Kind != scope.InstanceValue || d.Kind != recountv1.SymbolKind_SYMBOL_KIND_INTERFACE {
			return false
		}
		if v, _, _ := scope.ClassAttribute(d.Order, of.Last()); v == nil {
			return false
		}
	}
	return len(found) > 0
}

// topOf returns the first directory of a path.
func topOf(path string) string {
	top, _, _ := strings.Cut(path, "/")
	return top
}

// severalWords reports whether a name is private by its form or made of more than one word.
func severalWords(name string) bool {
	if strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#") {
		return len(name) > 2
	}
	for i := 1; i < len(name); i++ {
		if c, before := name[i], name[i-1]; before >= 'a' && before <= 'z' && (c >= 'A' && c <= 'Z' || c == '_') {
			return true
		}
	}
	return false
}

// arrived returns the method that a call of a member means if nothing but instances of one class
// are known to arrive there, nil if more than one function may be called, or a function that was
// passed as such. If objects outside the repository commonly have a method of the name, all that
// arrives must be known.
func (l *Linker) arrived(here Site, of scope.Path, values scope.Set, t *scope.Targets) *scope.Decl {
	d := l.arriving(t)
	if l.e.Lang.Common == nil || of.Plain() || d == nil {
		return nil
	}
	if !l.e.Lang.Exports && !l.receivers(here, of, values) {
		return nil
	}
	mixed := func(m scope.Member) bool { return m.Value.Recv != nil && m.Value.Recv.Mixed }
	if l.e.Lang.Common[of.Last()] && (!l.e.allKnown(here, of.Head) && !l.e.fieldKnown(here, of.Base()) || slices.ContainsFunc(values, mixed)) {
		return nil
	}
	if d == l.Module.Decl(here.In) && d.Attributes[scope.OfObject] != "" || l.e.typedElsewhere(here, of.Head) {
		return nil
	}
	member := (d.Attributes[scope.OfModule] != "" || d.Attributes[scope.OfObject] != "") && d.Name == of.Last()
	if !d.IsMethod() && !member || !l.Module.Sees(d.Mod) {
		return nil
	}
	for _, m := range values {
		if m.Value.Kind != scope.BoundValue && !member || len(t.List) > 1 && m.Value.Decl != d {
			return nil
		}
	}
	return d
}

// arriving returns the only target of a call, or the method that all others override, if none is sure. It returns nil if
// there is no such target. What is known to arrive must then have that method itself, the others may.
func (l *Linker) arriving(t *scope.Targets) *scope.Decl {
	all := scope.Targets{List: t.List, Sure: map[scope.Target]bool{}}
	for _, to := range t.List {
		if t.Sure[to] || l.e.overwritten[to.Decl] {
			return nil
		}
		all.Sure[to] = true
	}
	switch {
	case len(t.List) == 1:
		return t.List[0].Decl
	case l.e.Lang.Exports:
		return l.e.Overridden(&all)
	}
	return nil
}

// receivers reports whether the methods that a call of a member may mean are those of all that is known of its
// receiver. If objects outside the repository commonly have a method of the name, the receiver must be a parameter; a base
// outside the repository may have any.
func (l *Linker) receivers(here Site, of scope.Path, values scope.Set) bool {
	if l.e.Lang.Common[of.Last()] && (len(of.Steps) > 1 || of.Head == "self") || strings.HasPrefix(of.Last(), "__") || of.Head == "super" {
		return false
	}
	if l.ofOverridden(here, of.Base()) || !l.Module.Test && l.e.triedOnly(here, of.Head) {
		return false
	}
	for _, on := range l.e.Eval(nil, here, of.Base()) {
		has := func(m scope.Member) bool { return m.Value.Recv != nil && m.Value.Recv.Decl == on.Value.Decl }
		if !slices.ContainsFunc(values, has) {
			return false
		}
	}
	return !slices.ContainsFunc(values, func(m scope.Member) bool {
		return m.Value.Recv != nil && m.Value.Recv.Kind == scope.ClassValue && l.overridden(m.Value.Recv.Decl, of.Last())
	})
}

// ofOverridden reports whether a path passes through what a method returns that subclasses of its receiver's class
// override, or begins with a name that is given that: theirs may return something else.
func (l *Linker) ofOverridden(here Site, of scope.Path) bool {
	if l.callsOverridden(here, of) {
		return true
	}
	v := l.e.Find(here.Scope, of.Head)
	return v != nil && v.Scope == here.Scope && slices.ContainsFunc(v.Aliases, func(a scope.Path) bool { return l.callsOverridden(here, a) })
}

func (l *Linker) callsOverridden(here Site, of scope.Path) bool {
	for ; !of.Plain(); of = of.Base() {
		if of.Steps[len(of.Steps)-1].Op != '(' {
			continue
		}
		for _, m := range l.e.Eval(nil, here, of.Base()) {
			recv := m.Value.Recv
			if m.Value.Kind == scope.BoundValue && m.Value.Decl != nil && recv.Kind == scope.InstanceValue && recv.Open &&
				l.overridden(recv.Decl, m.Value.Decl.Name) {
				return true
			}
		}
	}
	return false
}

// overridden reports whether a subclass of a class declares a method of a name.
func (l *Linker) overridden(class *scope.Decl, name string) bool {
	var t scope.Targets
	l.dispatch(&t, class, name, map[*scope.Decl]bool{})
	return len(t.List) > 0
}

// typedElsewhere reports whether a name is that of a parameter whose declared type is an alias, of which only some
// alternatives may be known to arrive, or, where classes have to be named, of no class that is known.
func (p *Engine) typedElsewhere(here Site, name string) bool {
	v := p.Find(here.Scope, name)
	if v == nil || !v.Parameter || v.Scope == nil || v.Scope.Decl == nil {
		return false
	}
	d := v.Scope.Decl
	for i, prm := range d.Parameters {
		if d.ParameterName(i, prm.Name) != name || prm.Type == "" {
			continue
		}
		if !p.Lang.Exports {
			return prm.Type != "Any" && len(p.declared(d.Outer, d.Mod, prm.Type)) == 0
		}
		at := p.Lookup(d.Outer, d.Mod.Path(prm.Type))
		return at.Rest == 0 && at.Decl != nil && at.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE
	}
	return false
}

// aroundThis returns the method that a call of a member of an unknown `this` means by the class whose method is around it, if that
// gives the function to its own object: this.each(function () { this.show() }). No other class may have a method of the name.
func (l *Linker) aroundThis(here Site, of scope.Path, r *recountv1.Reference) *scope.Decl {
	if r.Attributes[scope.CalledOn] != scope.SharedThis || of.Head != "?" || l.e.Lang.Common[of.Last()] {
		return nil
	}
	class := classAround(here.Scope)
	if class == nil {
		return nil
	}
	if l.e.named == nil {
		l.e.named = l.e.nameFunctions()
	}
	for _, d := range l.e.named.functions[of.Last()] {
		if of := d.Class(); !d.Mod.Test && of != class && (of == nil || !l.e.Extends(of, class) && !l.e.Extends(class, of)) {
			return nil
		}
	}
	return l.e.methodOf(l.e.Instance(class, true), of.Last())
}
