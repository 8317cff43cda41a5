package scope

import (
	"context"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// newTypedResolver makes a resolver of a language of declared types.
func newTypedResolver(lang *typedLanguage) Resolver {
	return Resolver{&lang.language, func(p *program) func(context.Context) ([]resolve.FileGraph, error) {
		return func(ctx context.Context) ([]resolve.FileGraph, error) { return resolveTyped(ctx, p, lang) }
	}}
}

// resolveTyped makes the graphs of a language of declared types.
func resolveTyped(ctx context.Context, p *program, lang *typedLanguage) ([]resolve.FileGraph, error) {
	t := newTyper(p, lang)
	graphs := make([]resolve.FileGraph, len(p.modules))
	byPath := make(map[string]*resolve.FileGraph, len(p.modules))
	for i, m := range p.modules {
		graphs[i] = resolve.Base(m.file, m.facts, m.name)
		byPath[m.file.Path] = &graphs[i]
	}
	routing := newRouting(p)
	routing.named = func(m *module, in uint32, of path) *decl {
		if s := t.callee(spot{m: m, in: in}, of, nil); s.method != nil {
			return s.method.decl
		}
		return nil
	}
	for i, m := range p.modules {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := typedLinker{linker{p, m, &graphs[i]}, t}
		l.link()
		routing.routes(m, byPath)
	}
	for i := range graphs {
		graphs[i].Normalize()
	}
	return graphs, nil
}

// typedLinker makes the edges that begin in one file.
type typedLinker struct {
	linker
	t *typer
}

func (l *typedLinker) link() {
	l.importEdges()
	for _, r := range l.m.facts.References {
		at := spot{m: l.m, in: r.In, at: r.At}
		switch r.Edge {
		case calls:
			l.call(at, r)
		case references:
			l.use(at, r)
		case recountv1.EdgeKind_EDGE_KIND_EXTENDS, recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS:
			at.base = true
			l.toType(at, r, r.Path)
			l.serves(at, r)
		case recountv1.EdgeKind_EDGE_KIND_DECORATES:
			name := r.Path
			if full := name + l.t.lang.attribute; l.t.named(at, full) != nil {
				name = full
			}
			l.toType(at, r, name)
		case recountv1.EdgeKind_EDGE_KIND_THROWS:
			l.toType(at, r, strings.TrimPrefix(r.Path, "new "))
		default:
			l.effect(r)
		}
	}
	for _, d := range l.m.decls {
		if m := l.t.methods[d]; m != nil && m.class != nil {
			for _, o := range m.over[:min(1, len(m.over))] {
				l.edge(recountv1.EdgeKind_EDGE_KIND_OVERRIDES, d.in, o.decl.key, scopeResolved, d.Start)
			}
		}
	}
}

// importEdges lead from a file to those of the types that it imports.
func (l *typedLinker) importEdges() {
	const kind = recountv1.EdgeKind_EDGE_KIND_IMPORTS
	for _, i := range l.m.facts.Imports {
		of := l.t.qualified(l.m.file.Path, i.Path)
		switch {
		case of != nil && of.class != nil && of.class.decl != nil:
			if m := of.class.decl.mod; m != l.m {
				l.edge(kind, 0, fileKey(m), scopeResolved, i.At)
			}
		case of != nil && of.class != nil:
			l.external(kind, 0, of.class.pkg, of.class.name, i.At)
		case of != nil:
			l.external(kind, 0, of.pkg, of.name, i.At)
		case l.t.prefixes[i.Path]: // a package of the repository: its files have no node in common
		case i.Wildcard:
			l.external(kind, 0, i.Path, "", i.At)
		case i.Alias != "":
			pkg, name := cutLast(i.Path)
			l.external(kind, 0, pkg, name, i.At)
		default:
			l.unresolved(kind, 0, i.Path, i.At)
		}
	}
}

// call makes the edges of a call.
func (l *typedLinker) call(at spot, r *recountv1.Reference) {
	of := l.m.path(r.Path)
	client := l.consumes(at, of, r)
	s := l.t.callee(at, of, r)
	if client && (!s.found() || s.method == nil) {
		return // what is generated is not of the repository
	}
	if !s.found() {
		l.lost(calls, at, r)
		return
	}
	l.to(at, r, s)
}

// to makes the edges to what a call means, and to what may stand in its place.
func (l *typedLinker) to(at spot, r *recountv1.Reference, s selection) {
	var t targets
	switch {
	case s.class != nil:
		t.add(target{decl: s.class.decl}, true)
	case s.method == nil:
		t.add(target{external: l.p.external(s.pkg, s.name)}, true)
	case s.method.decl == nil:
		c := s.method.class
		t.add(target{external: l.p.external(c.pkg, c.name+"."+s.method.name)}, true)
	case s.doubt:
		e := resolve.EdgeAt(recountv1.Provenance_PROVENANCE_NAME_MATCHED, r.At)
		l.graph.Edges = append(l.graph.Edges, resolve.Edge{From: l.m.key(r.In), To: s.method.decl.key, Kind: calls, Edge: e})
		return
	default:
		t.add(target{decl: s.method.decl}, true)
		if s.method.name == l.t.lang.constructor && strings.HasPrefix(r.Path, "new ") {
			l.edge(references, r.In, s.method.class.decl.key, scopeResolved, r.At)
		}
		if !s.method.final && !s.exact {
			for _, by := range s.method.by {
				t.add(target{decl: by.decl}, false)
			}
		}
	}
	l.emit(r.In, r.At, &t)
}

// callee is what a call of a path means.
func (t *typer) callee(at spot, of path, call *recountv1.Reference) selection {
	at.after = false
	if of.plain() {
		if typ, ok := strings.CutPrefix(of.head, "new "); ok {
			return t.constructor(at, t.typeOf(at, typ), call)
		}
		return t.simpleMethod(at, of.head, call)
	}
	last := of.steps[len(of.steps)-1]
	if last.op != '.' {
		return selection{}
	}
	base := of.base()
	on := t.eval(at, base)
	if last.name == t.lang.constructor {
		return t.constructor(at, on, call)
	}
	s := t.method(at, on, last.name, call)
	s.exact = s.exact || base.head == "super" && base.plain()
	return s
}

// use leads to what is named and not called: a type, a field, a method that is handed on.
func (l *typedLinker) use(at spot, r *recountv1.Reference) {
	of := l.m.path(r.Path)
	if r.Attributes["method"] != "" {
		l.handed(at, r, of)
		return
	}
	if of.plain() {
		if _, f, known := l.t.variable(at, of.head); known {
			if f != nil && f.decl != nil && f.decl.key != l.m.key(r.In) {
				l.edge(references, r.In, f.decl.key, scopeResolved, r.At)
			}
			return
		}
		l.toType(at, r, of.head)
		return
	}
	last := of.steps[len(of.steps)-1]
	if last.op == '.' {
		on := l.t.eval(at, of.base())
		if on == nil {
			if named := l.t.named(at, r.Path); named != nil {
				l.typeEdge(at, r, named)
				return
			}
			l.lost(references, at, r)
			return
		}
		if _, f := l.t.field(on, last.name); f != nil {
			if f.decl != nil && f.decl.key != l.m.key(r.In) {
				l.edge(references, r.In, f.decl.key, scopeResolved, r.At)
			}
			return
		}
		if c := l.t.memberOf(at, on, last.name); c != nil && c.static {
			l.typeEdge(at, r, c)
			return
		}
		if b := on.bounded(); b != nil && (b.class != nil && b.class.decl == nil || b.pkg != "") {
			pkg, name := b.pkg, b.name
			if b.class != nil {
				pkg, name = b.class.pkg, b.class.name
			}
			l.external(references, r.In, pkg, name+"."+last.name, r.At)
			return
		}
		if on.elem != nil {
			return
		}
	}
	l.lost(references, at, r)
}

// handed leads to a method that is handed on, Foo::bar: it is named, and may be called.
func (l *typedLinker) handed(at spot, r *recountv1.Reference, of path) {
	s := l.t.callee(at, of, nil)
	switch {
	case s.class != nil:
		l.edge(references, r.In, s.class.decl.key, scopeResolved, r.At)
	case s.method != nil && s.method.decl != nil:
		l.edge(references, r.In, s.method.decl.key, scopeResolved, r.At)
		var t targets
		t.add(target{decl: s.method.decl}, false)
		l.emit(r.In, r.At, &t)
	case s.method != nil:
		l.external(references, r.In, s.method.class.pkg, s.method.class.name+"."+s.method.name, r.At)
	case s.name != "":
		l.external(references, r.In, s.pkg, s.name, r.At)
	default:
		l.lost(references, at, r)
	}
}

// toType leads to the type that a name means.
func (l *typedLinker) toType(at spot, r *recountv1.Reference, name string) {
	of := l.t.named(at, name)
	if of == nil {
		l.lost(r.Edge, at, r)
		return
	}
	l.typeEdge(at, r, of)
}

func (l *typedLinker) typeEdge(at spot, r *recountv1.Reference, of *typ) {
	switch {
	case of.class != nil && of.class.decl != nil:
		if to := of.class.decl.key; to != l.m.key(r.In) {
			l.edge(r.Edge, r.In, to, scopeResolved, r.At)
		}
	case of.class != nil:
		l.external(r.Edge, r.In, of.class.pkg, of.class.name, r.At)
	case of.pkg != "":
		l.external(r.Edge, r.In, of.pkg, of.name, r.At)
	case of.param == nil && !of.isPrimitive():
		l.lost(r.Edge, at, r)
	}
}

// lost notes what nothing was found for.
func (l *typedLinker) lost(kind recountv1.EdgeKind, _ spot, r *recountv1.Reference) {
	l.unresolved(kind, r.In, r.Path, r.At)
}
