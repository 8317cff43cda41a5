package typed

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// NewResolver returns a resolver of a language by this engine.
func NewResolver(lang *Language) scope.Resolver {
	return scope.Resolver{Lang: &lang.Language, Start: func(p *scope.Program) func(context.Context) ([]resolve.FileGraph, error) {
		return func(ctx context.Context) ([]resolve.FileGraph, error) { return resolveTyped(ctx, p, lang) }
	}}
}

// resolveTyped returns the graphs of the program's files.
func resolveTyped(ctx context.Context, p *scope.Program, lang *Language) ([]resolve.FileGraph, error) {
	t := newTyper(p, lang)
	graphs := make([]resolve.FileGraph, len(p.Modules))
	byPath := make(map[string]*resolve.FileGraph, len(p.Modules))
	for i, m := range p.Modules {
		graphs[i] = resolve.Base(m.File, m.Facts, m.Name)
		byPath[m.File.Path] = &graphs[i]
	}
	routing := scope.NewRouting(p, newRouters(t))
	for i, m := range p.Modules {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := linker{scope.Linker{Program: p, Module: m, Graph: &graphs[i]}, t}
		l.link()
		routing.Routes(m, byPath)
	}
	for i := range graphs {
		graphs[i].Normalize()
	}
	return graphs, nil
}

// linker makes the edges that begin in one file.
type linker struct {
	scope.Linker
	t *Typer
}

func (l *linker) link() {
	l.importEdges()
	for _, r := range l.Module.Facts.References {
		at := Spot{Module: l.Module, In: r.In, at: r.At}
		switch r.Edge {
		case scope.Calls:
			l.call(at, r)
		case scope.References:
			l.use(at, r)
		case recountv1.EdgeKind_EDGE_KIND_EXTENDS, recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS:
			at.base = true
			l.toBase(at, r)
			l.serves(at, r)
		case recountv1.EdgeKind_EDGE_KIND_DECORATES:
			name := r.Path
			if full := name + l.t.lang.Attribute; l.t.named(at, full) != nil {
				name = full
			}
			l.toType(at, r, name)
		case recountv1.EdgeKind_EDGE_KIND_THROWS:
			l.toType(at, r, strings.TrimPrefix(r.Path, "new "))
		default:
			l.Effect(r)
		}
	}
	for _, d := range l.Module.Decls {
		if m := l.t.methods[d]; m != nil && m.Class != nil {
			for _, o := range m.overridden[:min(1, len(m.overridden))] {
				l.Edge(recountv1.EdgeKind_EDGE_KIND_OVERRIDES, d.Index, o.Decl.Key, scope.ScopeResolved, d.Start)
			}
		}
	}
}

// importEdges makes the edges from the file to the files of the types that it imports.
func (l *linker) importEdges() {
	const kind = recountv1.EdgeKind_EDGE_KIND_IMPORTS
	for _, i := range l.Module.Facts.Imports {
		of := l.t.Qualified(l.Module.File.Path, i.Path)
		switch {
		case of != nil && of.Class != nil && of.Class.Decl != nil:
			if m := of.Class.Decl.Mod; m != l.Module {
				l.Edge(kind, 0, scope.FileKey(m), scope.ScopeResolved, i.At)
			}
		case of != nil && of.Class != nil:
			l.External(kind, 0, of.Class.Pkg, of.Class.Name, i.At)
		case of != nil:
			l.External(kind, 0, of.Pkg, of.Name, i.At)
		case l.t.Prefixes[i.Path]: // a package of the repository has no node that stands for its files
		case i.Wildcard:
			l.External(kind, 0, i.Path, "", i.At)
		case i.Alias != "":
			pkg, name := CutLast(i.Path)
			l.External(kind, 0, pkg, name, i.At)
		default:
			l.Unresolved(kind, 0, i.Path, i.At)
		}
	}
}

// call makes the edges of a call.
func (l *linker) call(at Spot, r *recountv1.Reference) {
	of := l.Module.Path(r.Path)
	client := l.consumes(at, of, r)
	s := l.t.callee(at, of, r)
	if client && (!s.found() || s.method == nil) {
		return // the generated method is not in the repository
	}
	if !s.found() && !s.several {
		s = l.t.onlyNamed(at, of, r)
	}
	if !s.found() {
		l.notFound(scope.Calls, r)
		return
	}
	l.to(r, s)
}

// to makes the edges to the target of a call and to the methods that override it.
func (l *linker) to(r *recountv1.Reference, s selection) {
	var t scope.Targets
	switch {
	case s.class != nil:
		t.Add(scope.Target{Decl: s.class.Decl}, true)
	case s.method == nil:
		t.Add(scope.Target{External: l.Program.External(s.pkg, s.name)}, true)
	case s.method.Decl == nil:
		c := s.method.Class
		t.Add(scope.Target{External: l.Program.External(c.Pkg, c.Name+"."+s.method.Name)}, true)
	case s.doubt:
		e := resolve.EdgeAt(recountv1.Provenance_PROVENANCE_NAME_MATCHED, r.At)
		l.Graph.Edges = append(l.Graph.Edges, resolve.Edge{From: l.Module.Key(r.In), To: s.method.Decl.Key, Kind: scope.Calls, Edge: e})
		return
	default:
		t.Add(scope.Target{Decl: s.method.Decl}, true)
		if s.method.Name == l.t.lang.Constructor && strings.HasPrefix(r.Path, "new ") {
			l.Edge(scope.References, r.In, s.method.Class.Decl.Key, scope.ScopeResolved, r.At)
		}
		if !s.method.Final && !s.exact {
			for _, by := range s.method.overriders {
				t.Add(scope.Target{Decl: by.Decl}, false)
			}
		}
	}
	l.Emit(r.In, r.At, &t)
}

// callee returns what a call of a path means.
func (t *Typer) callee(at Spot, of scope.Path, call *recountv1.Reference) selection {
	at.after = false
	if of.Plain() {
		if typ, ok := strings.CutPrefix(of.Head, "new "); ok {
			return t.constructor(at, t.TypeOf(at, typ), call)
		}
		return t.simpleMethod(at, of.Head, call)
	}
	last := of.Steps[len(of.Steps)-1]
	if last.Op != '.' {
		return selection{}
	}
	base := of.Base()
	on := t.eval(at, base)
	if last.Name == t.lang.Constructor {
		return t.constructor(at, on, call)
	}
	s := t.method(at, on, last.Name, call)
	s.exact = s.exact || base.Head == "super" && base.Plain()
	return s
}

// use makes the edge to what is named and not called: a type, a field, or a method that is passed
// on.
func (l *linker) use(at Spot, r *recountv1.Reference) {
	of := l.Module.Path(r.Path)
	if r.Attributes["method"] != "" {
		l.handed(at, r, of)
		return
	}
	if of.Plain() {
		if _, f, known := l.t.variable(at, of.Head); known {
			if f != nil && f.Decl != nil && f.Decl.Key != l.Module.Key(r.In) {
				l.Edge(scope.References, r.In, f.Decl.Key, scope.ScopeResolved, r.At)
			}
			return
		}
		l.toType(at, r, of.Head)
		return
	}
	last := of.Steps[len(of.Steps)-1]
	if last.Op == '.' {
		on := l.t.eval(at, of.Base())
		if on == nil {
			if named := l.t.named(at, r.Path); named != nil {
				l.typeEdge(at, r, named)
				return
			}
			l.notFound(scope.References, r)
			return
		}
		if _, f := l.t.field(on, last.Name); f != nil {
			if f.Decl != nil && f.Decl.Key != l.Module.Key(r.In) {
				l.Edge(scope.References, r.In, f.Decl.Key, scope.ScopeResolved, r.At)
			}
			return
		}
		if c := l.t.memberOf(at, on, last.Name); c != nil && c.static {
			l.typeEdge(at, r, c)
			return
		}
		if b := on.bounded(); b != nil && !b.isUnplaced() && (b.Class != nil && b.Class.Decl == nil || b.Pkg != "") {
			pkg, name := b.Pkg, b.Name
			if b.Class != nil {
				pkg, name = b.Class.Pkg, b.Class.Name
			}
			l.External(scope.References, r.In, pkg, name+"."+last.Name, r.At)
			return
		}
		if on.elem != nil {
			return
		}
	}
	l.notFound(scope.References, r)
}

// handed makes the edges to a method that is passed on, as Foo::bar: it is named, and may be
// called.
func (l *linker) handed(at Spot, r *recountv1.Reference, of scope.Path) {
	s := l.t.callee(at, of, nil)
	switch {
	case s.class != nil:
		l.Edge(scope.References, r.In, s.class.Decl.Key, scope.ScopeResolved, r.At)
	case s.method != nil && s.method.Decl != nil:
		l.Edge(scope.References, r.In, s.method.Decl.Key, scope.ScopeResolved, r.At)
		var t scope.Targets
		t.Add(scope.Target{Decl: s.method.Decl}, false)
		l.Emit(r.In, r.At, &t)
	case s.method != nil:
		l.External(scope.References, r.In, s.method.Class.Pkg, s.method.Class.Name+"."+s.method.Name, r.At)
	case s.name != "":
		l.External(scope.References, r.In, s.pkg, s.name, r.At)
	default:
		l.notFound(scope.References, r)
	}
}

// toType makes the edge to the type that a name means.
func (l *linker) toType(at Spot, r *recountv1.Reference, name string) {
	of := l.t.named(at, name)
	if of == nil {
		l.notFound(r.Edge, r)
		return
	}
	l.typeEdge(at, r, of)
}

// toBase makes the edge to a base.
func (l *linker) toBase(at Spot, r *recountv1.Reference) {
	of := l.t.TypeOf(at, cmp.Or(r.Attributes["type"], r.Path))
	if of == nil {
		l.notFound(r.Edge, r)
		return
	}
	l.typeEdge(at, r, of)
}

func (l *linker) typeEdge(at Spot, r *recountv1.Reference, of *Type) {
	switch {
	case of.Class != nil && of.Class.Decl != nil:
		if to := of.Class.Decl.Key; to != l.Module.Key(r.In) {
			l.Edge(r.Edge, r.In, to, scope.ScopeResolved, r.At)
		}
	case of.Class != nil:
		l.External(r.Edge, r.In, of.Class.Pkg, of.Class.Name, r.At)
	case of.Pkg != "" && !of.isUnplaced():
		l.External(r.Edge, r.In, of.Pkg, of.Name, r.At)
	case of.param == nil && !of.isPrimitive():
		l.notFound(r.Edge, r)
	}
}

// notFound adds a reference that nothing was found for.
func (l *linker) notFound(kind recountv1.EdgeKind, r *recountv1.Reference) {
	l.Unresolved(kind, r.In, arity.ReplaceAllString(r.Path, ""), r.At)
}

// arity is the number of type parameters in a path.
var arity = regexp.MustCompile("`[0-9]+")
