package flow

import (
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Generated gRPC code is recognized by its names, also if it is not in the repository;
// Language.Stub knows them. The value of a client is an external whose name contains the call
// that makes it, as "CartsStub()", and its procedures are names below that. The procedures that a
// class serves or calls are externals of language "proto", named as resolve.StubPackage says.

// stubOf returns the stub that a name outside the repository is or begins with. rest is what
// follows: "()" and the name of a procedure.
func (p *Engine) stubOf(pkg, name string) (s scope.Stub, rest string, ok bool) {
	if p.Lang.Stub == nil {
		return scope.Stub{}, "", false
	}
	return p.Lang.Stub(pkg, name)
}

// makesStub reports whether calling a name outside the repository returns a client, or something
// that leads to one.
func (p *Engine) makesStub(v *scope.Value) bool {
	if p.Lang.Loads != nil && p.Lang.Loads(v.Pkg, v.Name) {
		return true
	}
	s, rest, ok := p.stubOf(v.Pkg, v.Name)
	return ok && !s.Server && rest == ""
}

// stubClass returns the service of a generated class of the repository.
func (p *Engine) stubClass(d *scope.Decl) (scope.Stub, bool) {
	if p.Lang.Stub == nil || d.Outer != d.Mod.Scope {
		return scope.Stub{}, false
	}
	s, rest, ok := p.stubOf(d.Mod.Name, d.Name)
	return s, ok && rest == ""
}

// procedure adds the call of a procedure, if the value is one, and reports whether it is.
func (l *Linker) procedure(in uint32, v *scope.Value, how recountv1.Provenance, at *recountv1.Place) bool {
	s, rest, ok := l.e.stubOf(v.Pkg, v.Name)
	method, called := strings.CutPrefix(rest, "().")
	if !ok || s.Server || !called || strings.ContainsAny(method, ".(") {
		return false
	}
	l.Outside(scope.ConsumesRPC, in, "proto", s.Pkg, resolve.StubName(s.Service, method), how, at)
	return true
}

// consumed adds the procedure that a call means if its receiver is a generated client of the
// repository. Such a class may assign its methods, so that none is declared.
func (l *Linker) consumed(here Site, of scope.Path, r *recountv1.Reference) bool {
	if of.Plain() || of.Steps[len(of.Steps)-1].Op != '.' {
		return false
	}
	for _, m := range l.e.Eval(nil, here, of.Base()) {
		if m.Value.Kind != scope.InstanceValue {
			continue
		}
		if s, ok := l.e.stubClass(m.Value.Decl); ok && !s.Server {
			how := scope.ScopeResolved
			if !m.Sure {
				how = scope.ByFlow
			}
			l.Outside(scope.ConsumesRPC, r.In, "proto", s.Pkg, resolve.StubName(s.Service, of.Steps[len(of.Steps)-1].Name), how, r.At)
			return true
		}
	}
	return false
}

// serving makes the edges from what implements procedures. They may begin in other files than the
// one that registers the implementation.
type serving struct {
	p      *Engine
	graphs map[string]*resolve.FileGraph
}

// module finds what the classes and calls of a file serve.
func (s *serving) module(m *scope.Module) {
	for _, d := range m.Decls {
		if !d.IsClass() || d.Order == nil {
			continue
		}
		if _, generated := s.p.stubClass(d); generated {
			continue
		}
		for _, b := range d.Order[1:] {
			switch {
			case b.Decl != nil:
				if st, ok := s.p.stubClass(b.Decl); ok && st.Server {
					s.class(d, st, b.Decl)
				}
			case b.External != nil:
				if st, rest, ok := s.p.stubOf(b.External.Pkg, b.External.Name); ok && st.Server && rest == "" {
					s.class(d, st, nil)
				}
			}
		}
	}
	for _, r := range m.Facts.References {
		switch r.Edge {
		case scope.Calls:
			s.registration(m, r)
		case scope.ImplementsRPC:
			s.served(m, r)
		}
	}
}

// class adds the procedures that a class serves. Those are the methods of the generated class,
// or, if that is not in the repository, the methods with as many parameters as a procedure's.
func (s *serving) class(d *scope.Decl, st scope.Stub, generated *scope.Decl) {
	for _, name := range slices.Sorted(maps.Keys(d.Scope.Vars)) {
		v := d.Scope.Vars[name]
		if len(v.Decls) == 0 {
			continue
		}
		method := v.Decls[len(v.Decls)-1]
		if !method.IsMethod() || method.Name == s.p.Lang.Constructor || strings.HasPrefix(name, "_") {
			continue
		}
		if generated != nil {
			if generated.Scope.Vars[name] == nil {
				continue
			}
		} else if n := s.p.Lang.Served; n > 0 && len(method.Parameters) != n {
			continue
		}
		s.edge(method, st, name, method.Start, scope.ScopeResolved)
	}
}

func (s *serving) edge(from *scope.Decl, st scope.Stub, method string, at *recountv1.Place, how recountv1.Provenance) {
	g := s.graphs[from.Mod.File.Path]
	x := resolve.External{
		From: from.Key, Kind: scope.ImplementsRPC, Language: "proto", Package: st.Pkg,
		Name: resolve.StubName(st.Service, method), Edge: resolve.EdgeAt(how, at),
	}
	g.Externals = append(g.Externals, x)
}

// registration adds what Python's add_CartsServicer_to_server(carts, server) serves, which need
// not extend the servicer.
func (s *serving) registration(m *scope.Module, r *recountv1.Reference) {
	name := r.Path[strings.LastIndexByte(r.Path, '.')+1:]
	name, adds := strings.CutPrefix(name, "add_")
	class, to := strings.CutSuffix(name, "_to_server")
	if !adds || !to || len(r.Args) == 0 || r.Args[0].Index != 0 {
		return
	}
	here := Site{m.ScopeOf(r.In), r.In}
	for _, f := range s.p.Eval(nil, here, m.Path(r.Path)) {
		var st scope.Stub
		var ok bool
		var generated *scope.Decl
		switch f.Value.Kind {
		case scope.ExternalValue:
			before, _ := strings.CutSuffix(f.Value.Name, "add_"+class+"_to_server")
			st, _, ok = s.p.stubOf(f.Value.Pkg, before+class)
		case scope.FunctionValue:
			if st, _, ok = s.p.stubOf(f.Value.Decl.Mod.Name, class); ok {
				if v := f.Value.Decl.Mod.Scope.Vars[class]; v != nil && len(v.Decls) > 0 {
					generated = v.Decls[0]
				}
			}
		}
		if !ok || !st.Server {
			continue
		}
		for _, o := range s.p.Eval(nil, here, m.Path(r.Args[0].Path)) {
			if o.Value.Kind == scope.InstanceValue && o.Sure && f.Sure {
				s.class(o.Value.Decl, st, generated)
			}
		}
	}
}

// served adds a procedure whose handler is passed to a call.
func (s *serving) served(m *scope.Module, r *recountv1.Reference) {
	here := Site{m.ScopeOf(r.In), r.In}
	handler := m.Decl(r.In)
	if h := r.Attributes["handler"]; h != "" {
		handler = nil
		for _, f := range s.p.Eval(nil, here, m.Path(h)) {
			if (f.Value.Kind == scope.FunctionValue || f.Value.Kind == scope.BoundValue) && f.Value.Decl != nil && f.Sure {
				handler = f.Value.Decl
				break
			}
		}
	}
	for _, f := range s.p.Eval(nil, here, m.Path(r.Path)) {
		if f.Value.Kind != scope.ExternalValue || handler == nil {
			continue
		}
		if st, rest, ok := s.p.stubOf(f.Value.Pkg, f.Value.Name); ok && st.Server && rest == "" {
			s.edge(handler, st, r.Attributes["rpc"], handler.SiteIn(m, r.At), scope.ScopeResolved)
			return
		}
	}
	if service, ok := strings.CutSuffix(r.Path, ".service"); ok && handler != nil {
		service = service[strings.LastIndexByte(service, '.')+1:]
		s.edge(handler, scope.Stub{Pkg: resolve.AnyStub, Service: service}, r.Attributes["rpc"], handler.SiteIn(m, r.At), recountv1.Provenance_PROVENANCE_NAME_MATCHED)
		return
	}
	g := s.graphs[m.File.Path]
	g.Unresolved = append(g.Unresolved, resolve.Unresolved{From: m.Key(r.In), Kind: scope.ImplementsRPC, Path: r.Path, At: r.At})
}

// isStubValue reports whether the name of an external contains the call that makes it.
func isStubValue(v *scope.Value) bool { return strings.Contains(v.Name, "()") }

// dropStubs removes procedures from the targets of a call and adds them as consumed procedures.
func (l *Linker) dropStubs(in uint32, at *recountv1.Place, t *scope.Targets) {
	t.List = slices.DeleteFunc(t.List, func(to scope.Target) bool {
		if to.External == nil || !isStubValue(to.External) {
			return false
		}
		how := scope.ScopeResolved
		if !t.Sure[to] {
			how = scope.ByFlow
		}
		l.procedure(in, to.External, how, at)
		return true
	})
}
