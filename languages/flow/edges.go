package flow

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Linker makes the edges that begin in one file.
type Linker struct {
	scope.Linker
	e *Engine
	// uses has the paths that references of the extractor name; nil until it is needed.
	uses map[use]bool
}

// link makes the edges of the file.
func (l *Linker) link() {
	if l.e.rules != nil {
		l.e.rules.UseEdges(l)
	} else {
		l.importEdges()
	}
	for _, r := range l.Module.Facts.References {
		here := Site{l.Module.ScopeOf(r.In), r.In}
		switch r.Edge {
		case scope.Calls:
			l.call(here, r)
			l.passed(here, r)
		case scope.References:
			l.symbolEdge(here, r)
			l.members(here, l.Module.Path(r.Path), r.At)
		case recountv1.EdgeKind_EDGE_KIND_EXTENDS, recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS:
			if r.Attributes["type"] != "" {
				break // Rules.ItemEdges makes these
			}
			if d := l.Module.Decl(r.In); d != nil {
				here.Scope = d.Outer
			}
			l.symbolEdge(here, r)
		case recountv1.EdgeKind_EDGE_KIND_DECORATES:
			if d := l.Module.Decl(r.In); d != nil {
				here = Site{d.Outer, d.Outer.In()}
			}
			l.decorates(here, r)
		case recountv1.EdgeKind_EDGE_KIND_THROWS:
			l.throws(here, r)
		default:
			l.Effect(r)
		}
	}
	if l.e.rules != nil {
		l.e.rules.ItemEdges(l)
		return
	}
	for _, b := range l.Module.Facts.Bindings {
		l.protocol(b)
		l.assigned(b)
	}
	for _, d := range l.Module.Decls {
		if d.IsMethod() || d.IsFunction() && d.Outer.IsClass() {
			l.overrides(d)
		}
	}
}

// callee adds the targets of calling a value.
func (l *Linker) callee(t *scope.Targets, v *scope.Value, sure bool) {
	switch v.Kind {
	case scope.FunctionValue:
		t.Add(scope.Target{Decl: v.Decl}, sure)
	case scope.BoundValue:
		if t.Known = true; v.Decl == nil {
			if v.Recv.Kind == scope.GenericValue {
				t.Add(scope.Target{External: l.e.External(l.e.Lang.Builtins, v.Recv.Name+"."+v.Name)}, sure)
			}
			return
		}
		t.Add(scope.Target{Decl: v.Decl}, sure && !(v.Recv.Mixed && l.e.Lang.Exports && l.e.Lang.Common[v.Decl.Name]))
		if v.Recv.Kind == scope.InstanceValue && v.Recv.Open && v.Decl.Class() != nil && v.Decl.Name != l.e.Lang.Constructor {
			l.dispatch(t, v.Recv.Decl, v.Decl.Name, map[*scope.Decl]bool{})
		}
	case scope.ClassValue:
		if c := l.e.constructor(v.Decl); c != nil {
			t.Add(scope.Target{Decl: c}, sure)
		} else {
			t.Add(scope.Target{Decl: v.Decl}, sure)
		}
	case scope.SuperValue: // super(…) calls the constructor of the base
		if c, _, known := scope.ClassAttribute(v.Decl.Order[1:], l.e.Lang.Constructor); c != nil && known {
			for _, d := range c.Decls {
				t.Add(scope.Target{Decl: d}, sure && !d.Overload)
			}
		}
	case scope.InstanceValue:
		for _, m := range l.e.attribute(nil, v, "__call__") {
			if m.Value.Kind == scope.BoundValue {
				l.callee(t, m.Value, sure && m.Sure)
			}
		}
	case scope.ExternalValue:
		if v.Name == "" && l.e.Lang.Exports {
			v = l.e.External(v.Pkg, scope.DefaultName) // a module that is called
		}
		if l.e.rules != nil && l.e.rules.IsLiteral(v) {
			t.Known = true // such a call says no more than a literal
		} else if v.Name != "" {
			t.Add(scope.Target{External: v}, sure)
		}
	}
}

// dispatch adds the methods of subclasses that override a method of a class.
func (l *Linker) dispatch(t *scope.Targets, class *scope.Decl, name string, seen map[*scope.Decl]bool) {
	for _, sub := range l.e.Subs[class] {
		if seen[sub] {
			continue
		}
		seen[sub] = true
		if v := sub.Scope.Vars[name]; v != nil {
			for _, d := range v.Decls {
				if d.IsFunction() && !d.Overload && !(d.Of != nil && d.Attributes["trait"] == "") {
					t.Add(scope.Target{Decl: d}, false)
				}
			}
		}
		l.dispatch(t, sub, name, seen)
	}
}

// constructor returns the constructor that a class has or inherits, nil if it has none or if an
// unknown base might have one.
func (p *Engine) constructor(class *scope.Decl) *scope.Decl {
	v, _, sure := scope.ClassAttribute(class.Order, p.Lang.Constructor)
	if v == nil || !sure {
		return nil
	}
	for _, m := range v.Values {
		if m.Value.Kind == scope.FunctionValue && m.Sure {
			return m.Value.Decl
		}
	}
	return nil
}

func (l *Linker) call(here Site, r *recountv1.Reference) {
	of := l.Module.Path(r.Path)
	var t scope.Targets
	all := l.e.called(here, of)
	values := l.withoutTypes(l.withoutTests(slices.Clone(all), r.In))
	for _, m := range values {
		l.callee(&t, l.overload(m.Value, r), l.isOnlyGiven(here, of, m.Value) || m.Sure && !l.passesOn(here, of, m.Value) && !kept(of, m.Value) && !l.isGivenClass(here, of, m.Value))
		if m.Value.Kind == scope.ClassValue && m.Sure && l.e.constructor(m.Value.Decl) != nil && m.Value.Decl != l.Module.Decl(r.In) {
			l.Edge(scope.References, r.In, m.Value.Decl.Key, l.How(m.Value.Decl), r.At)
		}
	}
	if !t.Known && !of.Plain() && l.e.rules == nil {
		l.inherited(&t, here, of)
	}
	if !t.Known && l.consumed(here, of, r) {
		return
	}
	if !t.Known && l.e.rules != nil {
		if d := l.e.rules.ByName(of); d != nil {
			l.nameMatched(r.In, d, r.At)
			return
		}
	}
	if !t.Known {
		if by := l.maker(here, of); by != nil {
			l.External(scope.Calls, r.In, by.Pkg, cmp.Or(by.Name, scope.DefaultName)+"()", r.At)
			if d := l.e.constant(here, of); d != nil {
				l.Edge(scope.References, r.In, d.Key, l.How(d), r.At)
			}
		} else if d := l.e.constant(here, of); d != nil {
			l.Edge(scope.Calls, r.In, d.Key, l.How(d), r.At)
		} else if d := l.onlyNamed(here, of); d != nil {
			l.Edge(scope.Calls, r.In, d.Key, recountv1.Provenance_PROVENANCE_NAME_MATCHED, r.At)
		} else if d := l.aroundThis(here, of, r); d != nil {
			l.Edge(scope.Calls, r.In, d.Key, recountv1.Provenance_PROVENANCE_NAME_MATCHED, r.At)
		} else if d := l.shaped(here, of, r); d != nil {
			l.Edge(scope.Calls, r.In, d.Key, recountv1.Provenance_PROVENANCE_NAME_MATCHED, r.At)
		} else {
			l.Unresolved(scope.Calls, r.In, r.Path, r.At)
		}
		return
	}
	if d := l.several(here, of, &t); d != nil {
		l.Edge(scope.Calls, r.In, d.Key, l.How(d), r.At)
	}
	l.standsIn(&t)
	if d := l.arrived(here, of, values, &t); d != nil && (len(values) == len(all) || d.IsMethod() && len(t.List) == 1) {
		l.Edge(scope.Calls, r.In, d.Key, scope.ByFlow, r.At)
		t.List = slices.DeleteFunc(t.List, func(to scope.Target) bool { return to.Decl == d })
		l.Emit(r.In, r.At, &t)
		return
	}
	if d := l.shapedAmong(here, of, r, &t); d != nil {
		l.Edge(scope.Calls, r.In, d.Key, recountv1.Provenance_PROVENANCE_NAME_MATCHED, r.At)
		t.List = slices.DeleteFunc(t.List, func(to scope.Target) bool { return to.Decl == d })
	}
	l.dropStubs(r.In, r.At, &t)
	l.Emit(r.In, r.At, &t)
	if s := l.e.Lookup(here.Scope, of); s.Rest == 0 && s.Decl != nil && s.Decl.IsFunction() && l.Module.Key(r.In) != s.Decl.Key {
		if _, called := t.Sure[scope.Target{Decl: s.Decl}]; !called && len(s.Decl.Decorators) > 0 {
			// The decorator's wrapper is called; the name refers to the decorated function.
			l.Edge(scope.References, r.In, s.Decl.Key, scope.ScopeResolved, r.At)
		}
	}
}

// withoutTests returns the values without what tests and examples may put into their place, unless the declaration with the index in is
// a test.
func (l *Linker) withoutTests(values scope.Set, in uint32) scope.Set {
	if d := l.Module.Decl(in); !l.e.Lang.Exports || l.Module.Test || d != nil && d.Test {
		return values
	}
	return slices.DeleteFunc(values, func(m scope.Member) bool {
		d := m.Value.Decl
		return !m.Sure && d != nil && (d.Test || !l.Module.Sees(d.Mod))
	})
}

// overload returns, for a method that an interface declares several times, the first one that takes as many
// arguments as a call passes, and any other value unchanged.
func (l *Linker) overload(v *scope.Value, r *recountv1.Reference) *scope.Value {
	if v.Kind != scope.BoundValue || v.Decl == nil || !l.e.Lang.Exports || v.Decl.Outer.Decl == nil || v.Decl.Outer.Decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_INTERFACE {
		return v
	}
	for _, d := range v.Decl.Outer.Vars[v.Decl.Name].Decls {
		n := len(d.Parameters)
		if d.Kind == v.Decl.Kind && (n == int(r.Count) || n > 0 && d.Parameters[n-1].Variadic && n <= int(r.Count)) {
			return l.e.Intern(scope.ValueID{Kind: scope.BoundValue, Decl: d, Recv: v.Recv})
		}
	}
	return v
}

// passesOn reports whether a member of an object calls the member of its own name on its receiver: it is
// often given another one.
func (l *Linker) passesOn(here Site, of scope.Path, v *scope.Value) bool {
	return v.Kind == scope.FunctionValue && v.Decl == l.Module.Decl(here.In) && v.Decl.Attributes[scope.OfObject] != "" && of.Head == "self"
}

// isGivenClass reports whether a call makes an instance of a class that a parameter is: a subclass may be given.
func (l *Linker) isGivenClass(here Site, of scope.Path, v *scope.Value) bool {
	if v.Kind != scope.ClassValue || !l.e.Lang.Exports || !of.Plain() {
		return false
	}
	at := l.e.Find(here.Scope, of.Head)
	return at != nil && at.Parameter
}

// kept reports whether a member of another name holds what a member of an interface or a type did: this.check =
// options.check keeps what somebody gave.
func kept(of scope.Path, v *scope.Value) bool {
	return v.Kind == scope.BoundValue && v.Decl != nil && v.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_FIELD && !of.Plain() && v.Decl.Name != of.Last()
}

// standsIn makes a function that a module exports the only sure target of a call if it stands in for functions of the engine,
// which the call may mean, too, and has their name: exports.hasOwn = Object.hasOwn || function …
func (l *Linker) standsIn(t *scope.Targets) {
	var of *scope.Decl
	for _, to := range t.List {
		switch {
		case !l.e.Lang.Exports || !t.Sure[to] || to.Decl != nil && of != nil:
			return
		case to.Decl != nil && to.Decl.Attributes[scope.OfModule] == "":
			return
		case to.Decl != nil:
			of = to.Decl
		case to.External.Pkg != l.e.Lang.Builtins:
			return
		}
	}
	for _, to := range t.List {
		if of != nil && to.External != nil && strings.HasSuffix("."+to.External.Name, "."+of.Name) {
			t.Sure[to] = false
		}
	}
}

// inherited finds a method that a class can only have from its base outside the repository.
func (l *Linker) inherited(t *scope.Targets, here Site, of scope.Path) {
	last := of.Steps[len(of.Steps)-1]
	if last.Op != '.' {
		return
	}
	for _, m := range l.e.Eval(nil, here, of.Base()) {
		switch m.Value.Kind {
		case scope.InstanceValue, scope.ClassValue, scope.SuperValue:
			order := m.Value.Decl.Order
			if m.Value.Kind == scope.SuperValue {
				order = order[1:]
			} else if l.e.Lang.Exports && !l.e.Lang.Common[last.Name] && l.overridden(m.Value.Decl, last.Name) {
				continue // it may be an instance of a subclass that has it
			}
			if v := l.e.externalAttr(order, last.Name); v != nil {
				t.Add(scope.Target{External: v}, m.Sure)
			}
		}
	}
}

// symbolEdge makes the edge to what a path names according to declarations and imports. For a
// plain reference, the part of the path that is known is enough.
func (l *Linker) symbolEdge(here Site, r *recountv1.Reference) {
	if name, ok := strings.CutSuffix(r.Path, "!"); ok && l.e.rules != nil {
		l.e.rules.Macro(l, r, name[strings.LastIndexByte(name, '.')+1:])
		return
	}
	s := l.e.Lookup(here.Scope, l.Module.Path(r.Path))
	switch {
	case s.Decl != nil:
		if s.Rest > 0 && r.Edge != scope.References {
			break
		}
		if s.Decl.Key != l.Module.Key(r.In) {
			l.Edge(r.Edge, r.In, s.Decl.Key, l.How(s.Decl), r.At)
		}
		return
	case s.Mod != nil && s.Rest == 0:
		if s.Mod.Facts != nil && s.Mod != l.Module {
			l.Edge(r.Edge, r.In, scope.FileKey(s.Mod), scope.ScopeResolved, r.At)
		}
		return
	case s.External != nil:
		if s.Rest == 0 || r.Edge == scope.References {
			l.External(r.Edge, r.In, s.External.Pkg, s.External.Name, r.At)
			return
		}
	case s.Variable != nil && r.Edge == scope.References:
		return // a local name is no node of the graph
	}
	l.Unresolved(r.Edge, r.In, r.Path, r.At)
}

func (l *Linker) decorates(here Site, r *recountv1.Reference) {
	of := l.Module.Path(r.Path)
	if n := len(of.Steps); n > 0 && of.Steps[n-1].Op == '(' {
		of = of.Base()
	}
	var t scope.Targets
	for _, m := range l.e.Eval(nil, here, of) {
		if m.Sure {
			l.callee(&t, m.Value, true)
		}
	}
	if !t.Known && !of.Plain() {
		l.inherited(&t, here, of)
	}
	found := 0
	var one scope.Target
	for _, to := range t.List {
		if t.Sure[to] {
			one, found = to, found+1
		}
	}
	switch {
	case found != 1:
		l.Unresolved(r.Edge, r.In, r.Path, r.At)
	case one.External != nil:
		l.External(r.Edge, r.In, one.External.Pkg, one.External.Name, r.At)
	default:
		l.Edge(r.Edge, r.In, one.Decl.Key, scope.ScopeResolved, r.At)
	}
}

// throws makes the edge to the class of what is raised. Raising a class also calls its
// constructor.
func (l *Linker) throws(here Site, r *recountv1.Reference) {
	found := l.e.Eval(nil, here, l.Module.Path(r.Path))
	var class *scope.Decl
	for _, m := range found {
		switch v := m.Value; {
		case !m.Sure:
		case v.Kind == scope.ClassValue || v.Kind == scope.InstanceValue:
			if class != nil && class != v.Decl {
				class = nil
				found = nil
			} else {
				class = v.Decl
			}
			if c := l.e.constructor(v.Decl); v.Kind == scope.ClassValue && c != nil {
				l.Edge(scope.Calls, r.In, c.Key, scope.ScopeResolved, r.At)
			}
		case v.Kind == scope.ExternalValue && v.Name != "" && len(found) == 1:
			l.External(r.Edge, r.In, v.Pkg, v.Name, r.At)
			return
		}
	}
	if class == nil {
		l.Unresolved(r.Edge, r.In, r.Path, r.At)
		return
	}
	l.Edge(r.Edge, r.In, class.Key, scope.ScopeResolved, r.At)
}

// overrides makes the edge from a method to the inherited method that it overrides.
func (l *Linker) overrides(d *scope.Decl) {
	class := d.Outer.Decl
	if len(class.Order) < 2 || d.Overload {
		return
	}
	v, in, _ := scope.ClassAttribute(class.Order[1:], d.Name)
	if v == nil || in == class {
		return
	}
	for i := len(v.Decls) - 1; i >= 0; i-- {
		if over := v.Decls[i]; over.IsFunction() && !over.Overload && over != d {
			l.Edge(recountv1.EdgeKind_EDGE_KIND_OVERRIDES, d.Index, over.Key, scope.ScopeResolved, d.Start)
			return
		}
	}
}

// called returns the values of a callee's path. If a field and a method have the same name, it
// returns the method only.
func (p *Engine) called(here Site, of scope.Path) scope.Set {
	found := p.Eval(nil, here, of)
	if p.rules == nil {
		return slices.DeleteFunc(found, func(m scope.Member) bool { return isSignature(m.Value) })
	}
	if methods := functions(found); len(methods) > 0 {
		return methods
	}
	if of.Plain() { // the parameter of a closure is no variable of the whole function
		s := here.Scope
		for s.Decl != nil && s.Decl.IsFunction() && s.Outer != nil {
			s = s.Outer
		}
		if items := functions(p.Eval(nil, Site{s, s.In()}, of)); len(items) > 0 {
			return items
		}
	}
	return found
}

// functions returns what can be called of a set.
func functions(of scope.Set) (some scope.Set) {
	for _, m := range of {
		switch m.Value.Kind {
		case scope.FunctionValue, scope.BoundValue, scope.ClassValue:
			some = append(some, m)
		}
	}
	return some
}

// nameMatched makes an edge that rests on a name alone.
func (l *Linker) nameMatched(in uint32, to *scope.Decl, at *recountv1.Place) {
	l.Graph.Edges = append(l.Graph.Edges, resolve.Edge{
		From: l.Module.Key(in), To: to.Key, Kind: scope.MayCall, Edge: resolve.EdgeAt(recountv1.Provenance_PROVENANCE_NAME_MATCHED, at),
	})
}
