package scope

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	calls      = recountv1.EdgeKind_EDGE_KIND_CALLS
	mayCall    = recountv1.EdgeKind_EDGE_KIND_MAY_CALL
	references = recountv1.EdgeKind_EDGE_KIND_REFERENCES

	scopeResolved = recountv1.Provenance_PROVENANCE_SCOPE_RESOLVED
	byFlow        = recountv1.Provenance_PROVENANCE_FLOW
)

// linker makes the edges that begin in one file.
type linker struct {
	p     *program
	m     *module
	graph *resolve.FileGraph
}

func fileKey(m *module) schemas.NodeKey { return resolve.FileKey(m.file.Path) }

func (l *linker) edge(kind recountv1.EdgeKind, in uint32, to schemas.NodeKey, how recountv1.Provenance, at *recountv1.Place) {
	l.graph.Edges = append(l.graph.Edges, resolve.Edge{From: l.m.key(in), To: to, Kind: kind, Edge: resolve.EdgeAt(how, at)})
}

func (l *linker) external(kind recountv1.EdgeKind, in uint32, pkg, name string, at *recountv1.Place) {
	l.outside(kind, in, l.p.lang.outside, pkg, name, scopeResolved, at)
}

func (l *linker) outside(kind recountv1.EdgeKind, in uint32, lang, pkg, name string, how recountv1.Provenance, at *recountv1.Place) {
	l.graph.Externals = append(l.graph.Externals, resolve.External{
		From: l.m.key(in), Kind: kind, Language: lang, Package: pkg, Name: name, Edge: resolve.EdgeAt(how, at),
	})
}

func (l *linker) unresolved(kind recountv1.EdgeKind, in uint32, path string, at *recountv1.Place) {
	l.graph.Unresolved = append(l.graph.Unresolved, resolve.Unresolved{From: l.m.key(in), Kind: kind, Path: path, At: at})
}

// link makes a file's edges.
func (l *linker) link() {
	if l.p.lang.items {
		l.useEdges()
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
	if l.p.lang.items {
		l.itemEdges()
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

// effect leads to what is outside of every program.
func (l *linker) effect(r *recountv1.Reference) {
	switch r.Edge {
	case recountv1.EdgeKind_EDGE_KIND_READS_ENV:
		l.outside(r.Edge, r.In, "", "env", r.Attributes["variable"], scopeResolved, r.At)
	case recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS:
		if command := strings.Fields(r.Attributes["command"]); len(command) > 0 {
			l.outside(r.Edge, r.In, "", "process", command[0], scopeResolved, r.At)
		}
	case recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT:
		l.outside(r.Edge, r.In, "", "http", r.Attributes["method"]+" "+r.Attributes["url"], scopeResolved, r.At)
	}
}

// target is where a call could lead: a declaration, or something of elsewhere.
type target struct {
	decl     *decl
	external *value
}

// targets are a call's, in the order found, and whether each is sure. known is also
// true where the call leads to a method of a container.
type targets struct {
	list  []target
	sure  map[target]bool
	known bool
}

func (t *targets) add(to target, sure bool) {
	if t.sure == nil {
		t.sure = map[target]bool{}
	}
	was, there := t.sure[to]
	if !there {
		t.list = append(t.list, to)
	}
	t.sure[to] = was || sure
	t.known = true
}

// callee adds what calling a value leads to.
func (l *linker) callee(t *targets, v *value, sure bool) {
	switch v.kind {
	case functionValue:
		t.add(target{decl: v.decl}, sure)
	case boundValue:
		if t.known = true; v.decl == nil {
			if v.recv.kind == genericValue {
				t.add(target{external: l.p.external(l.p.lang.builtins, v.recv.name+"."+v.name)}, sure)
			}
			return
		}
		t.add(target{decl: v.decl}, sure)
		if v.recv.kind == instanceValue && v.recv.open && v.decl.class() != nil && v.decl.Name != l.p.lang.constructor {
			l.dispatch(t, v.recv.decl, v.decl.Name, map[*decl]bool{})
		}
	case classValue:
		if c := l.p.constructor(v.decl); c != nil {
			t.add(target{decl: c}, sure)
		} else {
			t.add(target{decl: v.decl}, sure)
		}
	case superValue: // super(…) calls the constructor of the base
		if c, _, known := classAttribute(v.decl.order[1:], l.p.lang.constructor); c != nil && known {
			for _, d := range c.decls {
				t.add(target{decl: d}, sure && !d.overload)
			}
		}
	case instanceValue:
		for _, m := range l.p.attribute(nil, v, "__call__") {
			if m.value.kind == boundValue {
				l.callee(t, m.value, sure && m.sure)
			}
		}
	case externalValue:
		if v.name == "" && l.p.lang.exports {
			v = l.p.external(v.pkg, defaultName) // a module that is called
		}
		if l.p.lang.items && (v.name == "Some" || v.name == "Ok" || v.name == "Err") {
			t.known = true // as good as literals
		} else if v.name != "" {
			t.add(target{external: v}, sure)
		}
	}
}

// dispatch adds the methods of subclasses that stand in the place of a class's.
func (l *linker) dispatch(t *targets, class *decl, name string, seen map[*decl]bool) {
	for _, sub := range l.p.subs[class] {
		if seen[sub] {
			continue
		}
		seen[sub] = true
		if v := sub.scope.vars[name]; v != nil {
			for _, d := range v.decls {
				if d.isFunction() && !d.overload && !(l.p.lang.items && d.of != nil && d.Attributes["trait"] == "") {
					t.add(target{decl: d}, false)
				}
			}
		}
		l.dispatch(t, sub, name, seen)
	}
}

// constructor is the __init__ that a class has or inherits; nil where it has none,
// or a base that is not known could have one.
func (p *program) constructor(class *decl) *decl {
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

func (l *linker) call(here at, r *recountv1.Reference) {
	of := l.m.path(r.Path)
	var t targets
	for _, m := range l.p.called(here, of) {
		l.callee(&t, m.value, m.sure)
		if m.value.kind == classValue && m.sure && l.p.constructor(m.value.decl) != nil && m.value.decl.in != r.In {
			l.edge(references, r.In, m.value.decl.key, scopeResolved, r.At)
		}
	}
	if !t.known && !of.plain() && !l.p.lang.items {
		l.inherited(&t, here, of)
	}
	if !t.known && l.consumed(here, of, r) {
		return
	}
	if !t.known && l.p.lang.items {
		if d := l.byName(of); d != nil {
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
	if s := l.p.symbol(here.scope, of); s.rest == 0 && s.decl != nil && s.decl.isFunction() && l.m.key(r.In) != s.decl.key {
		if _, called := t.sure[target{decl: s.decl}]; !called && len(s.decl.decorators) > 0 {
			// A decorator's wrapper is what is called; what is named is its function.
			l.edge(references, r.In, s.decl.key, scopeResolved, r.At)
		}
	}
}

// inherited finds a method that a class must have from its base of elsewhere.
func (l *linker) inherited(t *targets, here at, of path) {
	last := of.steps[len(of.steps)-1]
	if last.op != '.' {
		return
	}
	for _, m := range l.p.eval(nil, here, of.base()) {
		switch m.value.kind {
		case instanceValue, classValue, superValue:
			order := m.value.decl.order
			if m.value.kind == superValue {
				order = order[1:]
			}
			if v := l.p.beyond(order, last.name); v != nil {
				t.add(target{external: v}, m.sure)
			}
		}
	}
}

// emit makes the edges of a call: calls where one target is sure, and may_call to
// the others.
func (l *linker) emit(in uint32, at *recountv1.Place, t *targets) {
	from := l.m.decl(in)
	testing := l.m.test || from != nil && from.Test
	if !testing {
		t.list = slices.DeleteFunc(t.list, func(to target) bool {
			return !t.sure[to] && to.decl != nil && (to.decl.Test || to.decl.mod.test)
		})
	}
	sure := 0
	for _, to := range t.list {
		if t.sure[to] {
			sure++
		}
	}
	unsure := len(t.list) - sure
	for _, to := range t.list {
		kind, how := mayCall, byFlow
		if t.sure[to] && sure == 1 {
			kind, how = calls, scopeResolved
		} else if !t.sure[to] && unsure > maxTargets {
			continue
		}
		if to.external != nil {
			l.outside(kind, in, l.p.lang.outside, to.external.pkg, to.external.name, how, at)
		} else {
			l.edge(kind, in, to.decl.key, how, at)
		}
	}
}

// symbolEdge leads to what a path names by declarations and imports; a use, to what is
// known of it.
func (l *linker) symbolEdge(here at, r *recountv1.Reference) {
	if name, ok := strings.CutSuffix(r.Path, "!"); ok && l.p.lang.items {
		l.macro(r, name[strings.LastIndexByte(name, '.')+1:])
		return
	}
	s := l.p.symbol(here.scope, l.m.path(r.Path))
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

func (l *linker) decorates(here at, r *recountv1.Reference) {
	of := l.m.path(r.Path)
	if n := len(of.steps); n > 0 && of.steps[n-1].op == '(' {
		of = of.base()
	}
	var t targets
	for _, m := range l.p.eval(nil, here, of) {
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
func (l *linker) throws(here at, r *recountv1.Reference) {
	found := l.p.eval(nil, here, l.m.path(r.Path))
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
			if c := l.p.constructor(v.decl); v.kind == classValue && c != nil {
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
func (l *linker) overrides(d *decl) {
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
