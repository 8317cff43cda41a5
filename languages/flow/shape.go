package flow

import (
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// What a program calls on a value tells what the value is, where nothing else does:
//
//	function draw(shape, ctx) { if (shape.isVisible()) shape.paintOn(ctx); }
//
// If one class alone has all the members that are called on a name, the name means an instance of it. A name is asked
// first, then all that are called alike in its file, then all in the program. Members that objects outside the repository
// commonly have do not tell classes apart, but the class must have them, too.

// shapes has what is called on the names of the program, and the objects by their members.
type shapes struct {
	called map[receiver]map[string]bool
	// passes has the members of `this` to which a method passes on a call of its own name.
	passes map[receiver]bool
	// having has what has a member of a name, mixers what the members of a declaration are mixed into.
	having map[string][]*scope.Value
	mixers map[*scope.Decl][]*scope.Value
	// classes has instances of the classes by their names in small letters.
	classes map[string][]*scope.Value
	// found has the objects with all members that are called on a receiver.
	found map[receiver][]*scope.Value
}

// receiver is what members are called on: a variable or what a path of it leads to, all that are called alike in a file,
// or all in the program.
type receiver struct {
	of   *scope.Variable
	in   *scope.Decl // the class of a `this`
	mod  *scope.Module
	path string
}

// receiversOf returns the receivers that a member is called on, from the narrow to the wide, nil if there are none. What the
// source calls the receiver tells what a parameter of an anonymous function is.
func (p *Engine) receiversOf(m *scope.Module, r *recountv1.Reference) []receiver {
	all := p.receiversAt(m.ScopeOf(r.In), m.Path(r.Path).Base())
	named := r.Attributes[scope.CalledOn]
	if named == "" {
		return all
	}
	if len(all) == 0 {
		all = []receiver{{in: m.Decl(r.In), mod: m, path: "?" + named}}
	}
	if all = all[:1]; named == "this" || named == scope.SharedThis {
		return all
	}
	return append(all, namedAlike(m, named)...)
}

// namedAlike returns the receivers that are called like a path: in a module, and in the program.
func namedAlike(m *scope.Module, of string) []receiver {
	_, last := cutLast("." + of)
	name := strings.Trim(last, "_")
	return []receiver{{mod: m, path: name}, {path: name}}
}

// receiversAt returns the receivers that a path is in a scope, from the narrow to the wide, nil if it is none.
func (p *Engine) receiversAt(s *scope.Scope, of scope.Path) []receiver {
	own := receiver{path: strings.TrimPrefix(of.Text, of.Head)}
	switch of.Head {
	case "?", "super", "return", "yield":
		return nil
	case "self":
		for at := s; own.in == nil && at.Decl != nil; at = at.Outer {
			if at.Decl.IsMethod() {
				own.in = at.Decl.Class()
			}
		}
		if own.in == nil || own.path == "" {
			return nil
		}
	default:
		v := p.Find(s, of.Head)
		if v == nil || v.Scope == nil || len(v.Imports) > 0 || len(v.Decls) > 0 {
			return nil
		}
		own.of = v
	}
	return append([]receiver{own}, namedAlike(s.Mod, of.Text)...)
}

// findShapes collects what is called on the receivers of the program, and the members of what they may be.
func (p *Engine) findShapes() *shapes {
	s := &shapes{
		called: map[receiver]map[string]bool{}, passes: map[receiver]bool{}, having: map[string][]*scope.Value{}, mixers: map[*scope.Decl][]*scope.Value{},
		classes: map[string][]*scope.Value{}, found: map[receiver][]*scope.Value{},
	}
	for _, object := range p.extended {
		if made := object.Made(); made != nil && !made.Test {
			for _, name := range object.Keys() {
				s.having[name] = append(s.having[name], object)
			}
		}
	}
	for _, m := range p.Modules {
		for _, r := range m.Facts.References {
			if r.Edge != scope.Calls || !strings.Contains(r.Path, ".") || isTyped(m) {
				continue
			}
			of := m.Path(r.Path)
			if of.Plain() || of.Steps[len(of.Steps)-1].Op != '.' {
				continue
			}
			from := m.Decl(r.In)
			at := p.receiversOf(m, r)
			if r.Attributes[scope.CalledOn] != "" && len(at) > 0 {
				at = at[:1] // what is called alike is not always the same
			}
			for _, at := range at {
				s.passes[at] = s.passes[at] || at.in != nil && from != nil && from.Name == of.Last()
				if s.called[at] == nil {
					s.called[at] = map[string]bool{}
				}
				s.called[at][of.Last()] = true
			}
		}
		for _, d := range m.Decls {
			if d.Scope != nil && !strings.HasSuffix(m.File.Path, ".d.ts") {
				p.noteMembers(s, d)
			}
		}
	}
	return s
}

// noteMembers notes the members of a class, and those of the objects that a function returns.
func (p *Engine) noteMembers(s *shapes, d *scope.Decl) {
	for _, m := range d.Results.Values {
		if m.Value.Kind == scope.ContainerValue && !m.Value.IsDeclared() {
			for _, name := range m.Value.Keys() {
				if !slices.Contains(s.having[name], m.Value) {
					s.having[name] = append(s.having[name], m.Value)
				}
			}
		}
	}
	if !d.IsClass() || d.IsType() || d.Object && len(p.ofReceivers(d)) == 0 {
		return // an object that is in no other one is often one of several to choose from
	}
	it := p.Instance(d, true)
	if !d.Object {
		s.classes[strings.ToLower(d.Name)] = append(s.classes[strings.ToLower(d.Name)], it)
	}
	for name, v := range d.Scope.Vars {
		if len(v.Decls) > 0 {
			s.having[name] = append(s.having[name], it)
		}
	}
	for name, v := range d.Assigned {
		if v.Written && d.Scope.Vars[name] == nil {
			s.having[name] = append(s.having[name], it)
		}
	}
	if mixes := d.Assigned[mixesOf]; mixes != nil {
		for _, m := range mixes.Values {
			s.mixers[m.Value.Decl] = append(s.mixers[m.Value.Decl], it)
		}
	}
}

// ofReceivers returns what an object is mixed into.
func (p *Engine) ofReceivers(d *scope.Decl) scope.Set {
	if v := d.Assigned[receiversOf]; v != nil {
		return v.Values
	}
	return nil
}

// shaped returns the function that a call of a member means by all that is called on its receiver, nil if that does not
// tell.
func (l *Linker) shaped(here Site, of scope.Path, r *recountv1.Reference) *scope.Decl {
	if l.e.Lang.Common == nil || !l.e.Lang.Exports || of.Plain() || of.Steps[len(of.Steps)-1].Op != '.' || isTyped(l.Module) {
		return nil
	}
	all := l.e.receiversOf(l.Module, r)
	if len(all) == 0 || l.e.madeOutside(here, of.Base()) {
		return nil
	}
	if l.e.shapes == nil {
		l.e.shapes = l.e.findShapes()
	}
	s, name := l.e.shapes, all[len(all)-1].path
	told := l.e.telling(s.called[all[0]])
	from := l.Module.Decl(here.In)
	wraps := from != nil && from.Name == of.Last() // what wraps something passes the call on to it
	for i, at := range all {
		objects, known := s.found[at]
		if !known {
			objects = l.e.objectsWith(s.called[at])
			s.found[at] = objects
		}
		objects = l.nearest(objects)
		if alike := s.classes[strings.ToLower(name)]; len(alike) > 0 {
			called := slices.DeleteFunc(slices.Clone(objects), func(o *scope.Value) bool { return !slices.Contains(alike, o) })
			if len(called) == 0 && slices.ContainsFunc(alike, func(o *scope.Value) bool { return l.e.hasSome(o, s.called[at]) }) {
				continue // it is called like another class
			}
			if len(called) > 0 {
				objects = called
			}
		}
		d := l.e.oneMethod(objects, of.Last())
		if d == nil || d.Test && !l.Module.Test || !l.Module.Sees(d.Mod) || s.passes[all[0]] && d.Class() == all[0].in {
			continue // what a class wraps is of another one
		}
		named := isNamed(objects, name)
		switch n := l.e.telling(s.called[at]); {
		case told == 0 && i > 0 && !named && r.Attributes[scope.CalledOn] != "":
			continue // only what is called like it tells
		case wraps && i > 0:
			if i == 1 && n > 2 {
				return d
			}
		case i == 0 && (n > 1 || n > 0 && named && !l.e.Lang.Common[of.Last()]), i == 1 && n > 1, i == 2 && n > 1 && (told > 0 || named):
			return d
		}
	}
	return nil
}

// shapedAmong returns the target of a call that shaped tells, if none is sure.
func (l *Linker) shapedAmong(here Site, of scope.Path, r *recountv1.Reference, t *scope.Targets) *scope.Decl {
	if len(t.List) == 0 || slices.ContainsFunc(t.List, func(to scope.Target) bool { return t.Sure[to] }) {
		return nil
	}
	if d := l.shaped(here, of, r); d != nil && slices.Contains(t.List, scope.Target{Decl: d}) {
		return d
	}
	return nil
}

// nearest returns the objects that the module may use: none of tests and examples, and those of its own part of the repository if there are any.
func (l *Linker) nearest(objects []*scope.Value) []*scope.Value {
	var all, near []*scope.Value
	for _, o := range objects {
		m := o.Made()
		if !l.Module.Sees(m) {
			continue
		}
		all = append(all, o)
		if topOf(m.File.Path) == topOf(l.Module.File.Path) {
			near = append(near, o)
		}
	}
	if len(near) > 0 {
		return near
	}
	return all
}

// oneMethod returns the function that a name means in all objects, nil if there are several.
func (p *Engine) oneMethod(objects []*scope.Value, name string) (found *scope.Decl) {
	for _, o := range objects {
		d := p.methodOf(o, name)
		if d == nil || found != nil && found != d {
			return nil
		}
		found = d
	}
	return found
}

// isNamed reports whether a name is that of the class of one of the objects: layer, of a Layer or a TileLayer.
func isNamed(objects []*scope.Value, name string) bool {
	return slices.ContainsFunc(objects, func(o *scope.Value) bool {
		return o.Decl != nil && name != "" && strings.HasSuffix(strings.ToLower(o.Decl.Name), strings.ToLower(name))
	})
}

// isTyped reports whether a module declares the types of its parameters.
func isTyped(m *scope.Module) bool {
	path := strings.TrimSuffix(m.File.Path, "x")
	return strings.HasSuffix(path, ".ts") || strings.HasSuffix(path, ".mts") || strings.HasSuffix(path, ".cts")
}

// methodOf returns the function that a member of an object is, nil if it has none of the name or something else.
func (p *Engine) methodOf(o *scope.Value, name string) (found *scope.Decl) {
	all := p.attribute(nil, o, name)
	if own := slices.IndexFunc(all, func(m scope.Member) bool {
		return m.Sure && m.Value.Kind == scope.BoundValue && m.Value.Decl != nil && !m.Value.Decl.HasModifier("lambda")
	}); own >= 0 {
		all = slices.DeleteFunc(all, func(m scope.Member) bool { return !m.Sure }) // what else may be put into its place is not meant
	}
	for _, m := range all {
		d := m.Value.Decl
		if d != nil && d.Mod.Test && !o.Made().Test {
			continue // a test put it there
		}
		if d == nil || m.Value.Kind != scope.BoundValue && m.Value.Kind != scope.FunctionValue || found != nil && found != d {
			return nil
		}
		found = d
	}
	return found
}

// hasMember reports whether an object has a member of a name, whatever that is.
func (p *Engine) hasMember(o *scope.Value, name string) bool {
	if len(p.attribute(nil, o, name)) > 0 {
		return true
	}
	return o.Decl != nil && slices.ContainsFunc(o.Decl.Order, func(b scope.Base) bool {
		return b.Decl != nil && b.Decl.Assigned[name] != nil && b.Decl.Assigned[name].Written
	})
}

// hasSome reports whether an object has a member of one of the names that tell classes apart.
func (p *Engine) hasSome(o *scope.Value, names map[string]bool) bool {
	for name := range names {
		if !p.Lang.Common[name] && p.hasMember(o, name) {
			return true
		}
	}
	return false
}

// telling returns how many of the names tell classes apart.
func (p *Engine) telling(names map[string]bool) (n int) {
	for name := range names {
		if !p.Lang.Common[name] {
			n++
		}
	}
	return n
}

// maxShaped limits how many objects are compared for a receiver.
const maxShaped = 64

// objectsWith returns the objects with members of all the names, if some of the names tell objects apart.
func (p *Engine) objectsWith(names map[string]bool) (all []*scope.Value) {
	sorted := slices.Sorted(maps.Keys(names))
	var queue []*scope.Value // what has the rarest of the names
	first := true
	for _, name := range sorted {
		if of := p.shapes.having[name]; !p.Lang.Common[name] && (first || len(of) < len(queue)) {
			queue, first = of, false
		}
	}
	seen := map[*scope.Value]bool{}
	for queue = slices.Clone(queue); len(queue) > 0; {
		o := queue[0]
		if queue = queue[1:]; seen[o] {
			continue
		}
		if seen[o] = true; len(seen) > maxShaped {
			return nil
		}
		if o.Decl != nil {
			for _, sub := range p.Subs[o.Decl] {
				queue = append(queue, p.Instance(sub, true))
			}
			queue = append(queue, p.shapes.mixers[o.Decl]...)
		}
		if !slices.ContainsFunc(sorted, func(name string) bool { return !p.hasMember(o, name) }) {
			all = append(all, o)
		}
	}
	return all
}
