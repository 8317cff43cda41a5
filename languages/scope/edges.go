package scope

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// flowLinker makes the edges that begin in one file.
type flowLinker struct {
	linker
	e *engine
}

// link makes a file's edges.
func (l *flowLinker) link() {
	if l.e.rules != nil {
		l.e.rules.useEdges(l)
	} else {
		l.importEdges()
	}
	for _, r := range l.m.facts.References {
		here := at{l.m.scopeOf(r.In), r.In}
		switch r.Edge {
		case calls:
			l.call(here, r)
		case references:
			l.symbolEdge(here, r)
		case recountv1.EdgeKind_EDGE_KIND_EXTENDS, recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS:
			if r.Attributes["type"] != "" {
				break // see itemEdges
			}
			if d := l.m.decl(r.In); d != nil {
				here.scope = d.outer
			}
			l.symbolEdge(here, r)
		case recountv1.EdgeKind_EDGE_KIND_DECORATES:
			if d := l.m.decl(r.In); d != nil {
				here = at{d.outer, d.outer.in()}
			}
			l.decorates(here, r)
		case recountv1.EdgeKind_EDGE_KIND_THROWS:
			l.throws(here, r)
		default:
			l.effect(r)
		}
	}
	if l.e.rules != nil {
		l.e.rules.itemEdges(l)
		return
	}
	for _, b := range l.m.facts.Bindings {
		l.protocol(b)
	}
	for _, d := range l.m.decls {
		if d.isMethod() || d.isFunction() && d.outer.isClass() {
			l.overrides(d)
		}
	}
}

// callee adds what calling a value leads to.
func (l *flowLinker) callee(t *targets, v *value, sure bool) {
	switch v.kind {
	case functionValue:
		t.add(target{decl: v.decl}, sure)
	case boundValue:
		if t.known = true; v.decl == nil {
			if v.recv.kind == genericValue {
				t.add(target{external: l.e.external(l.e.lang.builtins, v.recv.name+"."+v.name)}, sure)
			}
			return
		}
		t.add(target{decl: v.decl}, sure)
		if v.recv.kind == instanceValue && v.recv.open && v.decl.class() != nil && v.decl.Name != l.e.lang.constructor {
			l.dispatch(t, v.recv.decl, v.decl.Name, map[*decl]bool{})
		}
	case classValue:
		if c := l.e.constructor(v.decl); c != nil {
			t.add(target{decl: c}, sure)
		} else {
			t.add(target{decl: v.decl}, sure)
		}
	case superValue: // super(…) calls the constructor of the base
		if c, _, known := classAttribute(v.decl.order[1:], l.e.lang.constructor); c != nil && known {
			for _, d := range c.decls {
				t.add(target{decl: d}, sure && !d.overload)
			}
		}
	case instanceValue:
		for _, m := range l.e.attribute(nil, v, "__call__") {
			if m.value.kind == boundValue {
				l.callee(t, m.value, sure && m.sure)
			}
		}
	case externalValue:
		if v.name == "" && l.e.lang.exports {
			v = l.e.external(v.pkg, defaultName) // a module that is called
		}
		if l.e.rules != nil && l.e.rules.isLiteral(v) {
			t.known = true // as good as literals
		} else if v.name != "" {
			t.add(target{external: v}, sure)
		}
	}
}

// dispatch adds the methods of subclasses that stand in the place of a class's.
func (l *flowLinker) dispatch(t *targets, class *decl, name string, seen map[*decl]bool) {
	for _, sub := range l.e.subs[class] {
		if seen[sub] {
			continue
		}
		seen[sub] = true
		if v := sub.scope.vars[name]; v != nil {
			for _, d := range v.decls {
				if d.isFunction() && !d.overload && !(d.of != nil && d.Attributes["trait"] == "") {
					t.add(target{decl: d}, false)
				}
			}
		}
		l.dispatch(t, sub, name, seen)
	}
}

// constructor is the __init__ that a class has or inherits; nil where it has none,
// or a base that is not known could have one.
func (p *engine) constructor(class *decl) *decl {
	v, _, sure := classAttribute(class.order, p.lang.constructor)
	if v == nil || !sure {
		return nil
	}
	for _, m := range v.values {
		if m.value.kind == functionValue && m.sure {
			return m.value.decl
		}
	}
	return nil
}

func (l *flowLinker) call(here at, r *recountv1.Reference) {
	of := l.m.path(r.Path)
	var t targets
	for _, m := range l.e.called(here, of) {
		l.callee(&t, m.value, m.sure)
		if m.value.kind == classValue && m.sure && l.e.constructor(m.value.decl) != nil && m.value.decl.in != r.In {
			l.edge(references, r.In, m.value.decl.key, scopeResolved, r.At)
		}
	}
	if !t.known && !of.plain() && l.e.rules == nil {
		l.inherited(&t, here, of)
	}
	if !t.known && l.consumed(here, of, r) {
		return
	}
	if !t.known && l.e.rules != nil {
		if d := l.e.rules.byName(of); d != nil {
			l.nameMatched(r.In, d, r.At)
			return
		}
	}
	if !t.known {
		l.unresolved(calls, r.In, r.Path, r.At)
		return
	}
	l.dropStubs(r.In, r.At, &t)
	l.emit(r.In, r.At, &t)
	if s := l.e.symbol(here.scope, of); s.rest == 0 && s.decl != nil && s.decl.isFunction() && l.m.key(r.In) != s.decl.key {
		if _, called := t.sure[target{decl: s.decl}]; !called && len(s.decl.decorators) > 0 {
			// A decorator's wrapper is what is called; what is named is its function.
			l.edge(references, r.In, s.decl.key, scopeResolved, r.At)
		}
	}
}

// inherited finds a method that a class must have from its base of elsewhere.
func (l *flowLinker) inherited(t *targets, here at, of path) {
	last := of.steps[len(of.steps)-1]
	if last.op != '.' {
		return
	}
	for _, m := range l.e.eval(nil, here, of.base()) {
		switch m.value.kind {
		case instanceValue, classValue, superValue:
			order := m.value.decl.order
			if m.value.kind == superValue {
				order = order[1:]
			}
			if v := l.e.beyond(order, last.name); v != nil {
				t.add(target{external: v}, m.sure)
			}
		}
	}
}

// symbolEdge leads to what a path names by declarations and imports; a use, to what is
// known of it.
func (l *flowLinker) symbolEdge(here at, r *recountv1.Reference) {
	if name, ok := strings.CutSuffix(r.Path, "!"); ok && l.e.rules != nil {
		l.e.rules.macro(l, r, name[strings.LastIndexByte(name, '.')+1:])
		return
	}
	s := l.e.symbol(here.scope, l.m.path(r.Path))
	switch {
	case s.decl != nil:
		if s.rest > 0 && r.Edge != references {
			break
		}
		if s.decl.key != l.m.key(r.In) {
			l.edge(r.Edge, r.In, s.decl.key, scopeResolved, r.At)
		}
		return
	case s.mod != nil && s.rest == 0:
		if s.mod.facts != nil && s.mod != l.m {
			l.edge(r.Edge, r.In, fileKey(s.mod), scopeResolved, r.At)
		}
		return
	case s.external != nil:
		if s.rest == 0 || r.Edge == references {
			l.external(r.Edge, r.In, s.external.pkg, s.external.name, r.At)
			return
		}
	case s.variable != nil && r.Edge == references:
		return // a local name: nothing of the graph
	}
	l.unresolved(r.Edge, r.In, r.Path, r.At)
}

func (l *flowLinker) decorates(here at, r *recountv1.Reference) {
	of := l.m.path(r.Path)
	if n := len(of.steps); n > 0 && of.steps[n-1].op == '(' {
		of = of.base()
	}
	var t targets
	for _, m := range l.e.eval(nil, here, of) {
		if m.sure {
			l.callee(&t, m.value, true)
		}
	}
	if !t.known && !of.plain() {
		l.inherited(&t, here, of)
	}
	found := 0
	var one target
	for _, to := range t.list {
		if t.sure[to] {
			one, found = to, found+1
		}
	}
	switch {
	case found != 1:
		l.unresolved(r.Edge, r.In, r.Path, r.At)
	case one.external != nil:
		l.external(r.Edge, r.In, one.external.pkg, one.external.name, r.At)
	default:
		l.edge(r.Edge, r.In, one.decl.key, scopeResolved, r.At)
	}
}

// throws leads to the class of what is raised. A class that is raised is called.
func (l *flowLinker) throws(here at, r *recountv1.Reference) {
	found := l.e.eval(nil, here, l.m.path(r.Path))
	var class *decl
	for _, m := range found {
		switch v := m.value; {
		case !m.sure:
		case v.kind == classValue || v.kind == instanceValue:
			if class != nil && class != v.decl {
				class = nil
				found = nil
			} else {
				class = v.decl
			}
			if c := l.e.constructor(v.decl); v.kind == classValue && c != nil {
				l.edge(calls, r.In, c.key, scopeResolved, r.At)
			}
		case v.kind == externalValue && v.name != "" && len(found) == 1:
			l.external(r.Edge, r.In, v.pkg, v.name, r.At)
			return
		}
	}
	if class == nil {
		l.unresolved(r.Edge, r.In, r.Path, r.At)
		return
	}
	l.edge(r.Edge, r.In, class.key, scopeResolved, r.At)
}

// overrides leads from a method to the one that its class would have without it.
func (l *flowLinker) overrides(d *decl) {
	class := d.outer.decl
	if len(class.order) < 2 || d.overload {
		return
	}
	v, in, _ := classAttribute(class.order[1:], d.Name)
	if v == nil || in == class {
		return
	}
	for i := len(v.decls) - 1; i >= 0; i-- {
		if over := v.decls[i]; over.isFunction() && !over.overload && over != d {
			l.edge(recountv1.EdgeKind_EDGE_KIND_OVERRIDES, d.in, over.key, scopeResolved, d.Start)
			return
		}
	}
}

// called is what a callee's path stands for: of a field and a method of one name, the
// method.
func (p *engine) called(here at, of path) set {
	found := p.eval(nil, here, of)
	if p.rules == nil {
		return found
	}
	var methods set
	for _, m := range found {
		switch m.value.kind {
		case functionValue, boundValue, classValue:
			methods = append(methods, m)
		}
	}
	if len(methods) > 0 {
		return methods
	}
	return found
}

// nameMatched is an edge that only a name makes.
func (l *flowLinker) nameMatched(in uint32, to *decl, at *recountv1.Place) {
	l.graph.Edges = append(l.graph.Edges, resolve.Edge{
		From: l.m.key(in), To: to.key, Kind: mayCall, Edge: resolve.EdgeAt(recountv1.Provenance_PROVENANCE_NAME_MATCHED, at),
	})
}
