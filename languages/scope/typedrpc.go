package scope

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// typedRPC is how a language's generated code for gRPC is known.
type typedRPC struct {
	// base finds the service of the class that a server extends, by its whole name as
	// far as that is known; pkg is empty where only the service's is.
	base func(full string) (pkg, service string, ok bool)
	// context begins the type of the last parameter of what serves a procedure.
	context string
	// client finds the service of a client's class, as base does.
	client func(full string) (pkg, service string, ok bool)
	// makes is the client's class that a method of a class of elsewhere gives, or "".
	makes func(class, method string) string
	// same reports whether a client's method gives a client of its class.
	same func(method string) bool
	// procedure is the one that a client's method calls, or "".
	procedure func(method string) string
}

// service is what the procedures of a class of generated code are known by.
func (l *typedLanguage) service(outside string, find func(full string) (pkg, service string, ok bool), full string) (st stub, how recountv1.Provenance, ok bool) {
	if find == nil {
		return stub{}, 0, false
	}
	pkg, service, ok := find(full)
	if pkg == "" {
		return stub{pkg: resolve.AnyStub, service: service}, recountv1.Provenance_PROVENANCE_NAME_MATCHED, ok
	}
	return stub{pkg: resolve.StubPackage(outside, pkg), service: service}, scopeResolved, ok
}

// clientOf finds the service whose client a type is, of the repository or not.
func (t *typer) clientOf(of *typ) (st stub, how recountv1.Provenance, ok bool) {
	of = of.bounded()
	if of == nil || of.static || of.prefix {
		return stub{}, 0, false
	}
	pkg, name := of.pkg, of.name
	if of.class != nil {
		pkg, name = of.class.pkg, of.class.name
	}
	return t.lang.service(t.p.lang.outside, t.lang.rpc.client, joined(name, pkg))
}

// clientMade is the client that calling a method gives: one that makes it, or one that
// gives another of its kind.
func (t *typer) clientMade(on *typ, method string) *typ {
	if on == nil || on.class != nil || on.name == "" || t.lang.rpc.client == nil {
		return nil
	}
	if on.static {
		if class := t.lang.rpc.makes(on.name, method); class != "" {
			return &typ{pkg: on.pkg, name: class}
		}
		return nil
	}
	if _, _, ok := t.clientOf(on); ok && t.lang.rpc.same(method) {
		return on
	}
	return nil
}

// consumes notes the procedure that a call of a client's method stands for; false where
// it is none.
func (l *typedLinker) consumes(at spot, of path, r *recountv1.Reference) bool {
	if of.plain() || l.t.lang.rpc.client == nil {
		return false
	}
	last := of.steps[len(of.steps)-1]
	if last.op != '.' {
		return false
	}
	procedure := l.t.lang.rpc.procedure(last.name)
	if procedure == "" {
		return false
	}
	st, how, ok := l.t.clientOf(l.t.eval(at, of.base()))
	if ok {
		l.outside(consumesRPC, r.In, "proto", st.pkg, resolve.StubName(st.service, procedure), how, r.At)
	}
	return ok
}

// serves notes the procedures that a class serves, as what it extends says: its
// methods that take what a procedure takes.
func (l *typedLinker) serves(at spot, r *recountv1.Reference) {
	d := l.m.decl(r.In)
	if d == nil {
		return
	}
	full := r.Path
	if of := l.t.typeOf(at, r.Path); of != nil && of.class == nil && of.pkg != "" {
		full = of.pkg + "." + of.name
	}
	st, how, ok := l.t.lang.service(l.t.p.lang.outside, l.t.lang.rpc.base, full)
	if !ok {
		return
	}
	for _, m := range l.t.members[d] {
		n := len(m.Parameters)
		if m.Kind != recountv1.SymbolKind_SYMBOL_KIND_METHOD || n == 0 {
			continue
		}
		last := m.Parameters[n-1].Type
		if strings.HasPrefix(last[strings.LastIndexByte(last[:typeEnd(last)], '.')+1:], l.t.lang.rpc.context) {
			l.graph.Externals = append(l.graph.Externals, resolve.External{
				From: m.key, Kind: implementsRPC, Language: "proto", Package: st.pkg,
				Name: resolve.StubName(st.service, m.Name), Edge: resolve.EdgeAt(how, m.Start),
			})
		}
	}
}

// typeEnd is where a type's name ends and its arguments begin.
func typeEnd(text string) int {
	if i := strings.IndexAny(text, "<[?"); i >= 0 {
		return i
	}
	return len(text)
}
