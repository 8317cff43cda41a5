package scope

import (
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// What is generated for gRPC is known by its names, also where it is not of the
// repository. A language says which they are (language.stub). A client's value is an
// external whose name has the call that makes it: "CartsStub()", and below it its
// procedures. The procedures that a class serves, or calls, are externals of language
// "proto", named as resolve.StubPackage says.

// stubOf finds the stub that a name of elsewhere is or begins with; rest is what
// follows: "()" and a procedure's name.
func (p *engine) stubOf(pkg, name string) (s stub, rest string, ok bool) {
	if p.lang.stub == nil {
		return stub{}, "", false
	}
	return p.lang.stub(pkg, name)
}

// makesStub reports whether the result of calling a name of elsewhere is a client, or
// leads to one.
func (p *engine) makesStub(v *value) bool {
	if p.lang.loads != nil && p.lang.loads(v.pkg, v.name) {
		return true
	}
	s, rest, ok := p.stubOf(v.pkg, v.name)
	return ok && !s.server && rest == ""
}

// stubClass finds the service of a class of the repository that was generated.
func (p *engine) stubClass(d *decl) (stub, bool) {
	if p.lang.stub == nil || d.outer != d.mod.scope {
		return stub{}, false
	}
	s, rest, ok := p.stubOf(d.mod.name, d.Name)
	return s, ok && rest == ""
}

// procedure notes the call of a value's procedure; false where it is none.
func (l *flowLinker) procedure(in uint32, v *value, how recountv1.Provenance, at *recountv1.Place) bool {
	s, rest, ok := l.e.stubOf(v.pkg, v.name)
	method, called := strings.CutPrefix(rest, "().")
	if !ok || s.server || !called || strings.ContainsAny(method, ".(") {
		return false
	}
	l.outside(consumesRPC, in, "proto", s.pkg, resolve.StubName(s.service, method), how, at)
	return true
}

// consumed finds the procedure that a call of a generated client of the repository
// stands for: its class may assign its methods.
func (l *flowLinker) consumed(here at, of path, r *recountv1.Reference) bool {
	if of.plain() || of.steps[len(of.steps)-1].op != '.' {
		return false
	}
	for _, m := range l.e.eval(nil, here, of.base()) {
		if m.value.kind != instanceValue {
			continue
		}
		if s, ok := l.e.stubClass(m.value.decl); ok && !s.server {
			how := scopeResolved
			if !m.sure {
				how = byFlow
			}
			l.outside(consumesRPC, r.In, "proto", s.pkg, resolve.StubName(s.service, of.steps[len(of.steps)-1].name), how, r.At)
			return true
		}
	}
	return false
}

// serving makes the edges from what implements procedures; their graphs may be those
// of other files than the one that says so.
type serving struct {
	p      *engine
	graphs map[string]*resolve.FileGraph
}

// module finds what a file's classes and calls serve.
func (s *serving) module(m *module) {
	for _, d := range m.decls {
		if !d.isClass() || d.order == nil {
			continue
		}
		if _, generated := s.p.stubClass(d); generated {
			continue
		}
		for _, b := range d.order[1:] {
			switch {
			case b.decl != nil:
				if st, ok := s.p.stubClass(b.decl); ok && st.server {
					s.class(d, st, b.decl)
				}
			case b.external != nil:
				if st, rest, ok := s.p.stubOf(b.external.pkg, b.external.name); ok && st.server && rest == "" {
					s.class(d, st, nil)
				}
			}
		}
	}
	for _, r := range m.facts.References {
		switch r.Edge {
		case calls:
			s.registration(m, r)
		case implementsRPC:
			s.served(m, r)
		}
	}
}

// class notes the methods of a class that serves: those that the generated one has,
// or, where that is not of the repository, those that take what a procedure takes.
func (s *serving) class(d *decl, st stub, generated *decl) {
	for _, name := range slices.Sorted(maps.Keys(d.scope.vars)) {
		v := d.scope.vars[name]
		if len(v.decls) == 0 {
			continue
		}
		method := v.decls[len(v.decls)-1]
		if !method.isMethod() || method.Name == s.p.lang.constructor || strings.HasPrefix(name, "_") {
			continue
		}
		if generated != nil {
			if generated.scope.vars[name] == nil {
				continue
			}
		} else if n := s.p.lang.served; n > 0 && len(method.Parameters) != n {
			continue
		}
		s.edge(method, st, name, method.Start, scopeResolved)
	}
}

func (s *serving) edge(from *decl, st stub, method string, at *recountv1.Place, how recountv1.Provenance) {
	g := s.graphs[from.mod.file.Path]
	x := resolve.External{
		From: from.key, Kind: implementsRPC, Language: "proto", Package: st.pkg,
		Name: resolve.StubName(st.service, method), Edge: resolve.EdgeAt(how, at),
	}
	g.Externals = append(g.Externals, x)
}

// registration notes what Python's add_CartsServicer_to_server(carts, server) serves,
// also where its class says nothing of it.
func (s *serving) registration(m *module, r *recountv1.Reference) {
	name := r.Path[strings.LastIndexByte(r.Path, '.')+1:]
	name, adds := strings.CutPrefix(name, "add_")
	class, to := strings.CutSuffix(name, "_to_server")
	if !adds || !to || len(r.Args) == 0 || r.Args[0].Index != 0 {
		return
	}
	here := at{m.scopeOf(r.In), r.In}
	for _, f := range s.p.eval(nil, here, m.path(r.Path)) {
		var st stub
		var ok bool
		var generated *decl
		switch f.value.kind {
		case externalValue:
			before, _ := strings.CutSuffix(f.value.name, "add_"+class+"_to_server")
			st, _, ok = s.p.stubOf(f.value.pkg, before+class)
		case functionValue:
			if st, _, ok = s.p.stubOf(f.value.decl.mod.name, class); ok {
				if v := f.value.decl.mod.scope.vars[class]; v != nil && len(v.decls) > 0 {
					generated = v.decls[0]
				}
			}
		}
		if !ok || !st.server {
			continue
		}
		for _, o := range s.p.eval(nil, here, m.path(r.Args[0].Path)) {
			if o.value.kind == instanceValue && o.sure && f.sure {
				s.class(o.value.decl, st, generated)
			}
		}
	}
}

// served notes a procedure that a call gives a handler for.
func (s *serving) served(m *module, r *recountv1.Reference) {
	here := at{m.scopeOf(r.In), r.In}
	handler := m.decl(r.In)
	if h := r.Attributes["handler"]; h != "" {
		handler = nil
		for _, f := range s.p.eval(nil, here, m.path(h)) {
			if (f.value.kind == functionValue || f.value.kind == boundValue) && f.value.decl != nil && f.sure {
				handler = f.value.decl
				break
			}
		}
	}
	for _, f := range s.p.eval(nil, here, m.path(r.Path)) {
		if f.value.kind != externalValue || handler == nil {
			continue
		}
		if st, rest, ok := s.p.stubOf(f.value.pkg, f.value.name); ok && st.server && rest == "" {
			s.edge(handler, st, r.Attributes["rpc"], handler.siteIn(m, r.At), scopeResolved)
			return
		}
	}
	if service, ok := strings.CutSuffix(r.Path, ".service"); ok && handler != nil {
		service = service[strings.LastIndexByte(service, '.')+1:]
		s.edge(handler, stub{pkg: resolve.AnyStub, service: service}, r.Attributes["rpc"], handler.siteIn(m, r.At), recountv1.Provenance_PROVENANCE_NAME_MATCHED)
		return
	}
	g := s.graphs[m.file.Path]
	g.Unresolved = append(g.Unresolved, resolve.Unresolved{From: m.key(r.In), Kind: implementsRPC, Path: r.Path, At: r.At})
}

// isStubValue reports whether an external's name has the call that makes it.
func isStubValue(v *value) bool { return strings.Contains(v.name, "()") }

// dropStubs takes the targets of a call that are procedures out, and notes them.
func (l *flowLinker) dropStubs(in uint32, at *recountv1.Place, t *targets) {
	t.list = slices.DeleteFunc(t.list, func(to target) bool {
		if to.external == nil || !isStubValue(to.external) {
			return false
		}
		how := scopeResolved
		if !t.sure[to] {
			how = byFlow
		}
		l.procedure(in, to.external, how, at)
		return true
	})
}
