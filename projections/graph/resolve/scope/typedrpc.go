package scope

import (
	"strings"

	"github.com/recountdb/recount/projections/graph/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// rpcServers is how a language's generated code for gRPC is known.
type rpcServers struct {
	// base finds the service of the class that a server extends, by its whole name as
	// far as that is known; pkg is empty where only the service's is.
	base func(full string) (pkg, service string, ok bool)
	// context begins the type of the last parameter of what serves a procedure.
	context string
}

// serves notes the procedures that a class serves, as what it extends says: its
// methods that take what a procedure takes.
func (l *typedLinker) serves(at spot, r *recountv1.Reference) {
	d := l.m.decl(r.In)
	if l.t.lang.rpc.base == nil || d == nil {
		return
	}
	full := r.Path
	if of := l.t.typeOf(at, r.Path); of != nil && of.class == nil && of.pkg != "" {
		full = of.pkg + "." + of.name
	}
	pkg, service, ok := l.t.lang.rpc.base(full)
	if !ok {
		return
	}
	st, how := stub{pkg: resolve.StubPackage(l.p.lang.outside, pkg), service: service}, scopeResolved
	if pkg == "" {
		st.pkg, how = resolve.AnyStub, recountv1.Provenance_PROVENANCE_NAME_MATCHED
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
				Name: resolve.StubName(service, m.Name), Edge: resolve.EdgeAt(how, m.Start),
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

// javaServers: the class CartsGrpc has the class CartsImplBase.
var javaServers = rpcServers{context: "StreamObserver", base: func(full string) (pkg, service string, ok bool) {
	outer, name := cutLast(full)
	service, ok = strings.CutSuffix(name, "ImplBase")
	if outer == "" {
		return "", service, ok && service != ""
	}
	pkg, class := cutLast(outer)
	return pkg, service, ok && service != "" && class == service+"Grpc"
}}

// csharpServers: the class Carts has the class CartsBase.
var csharpServers = rpcServers{context: "ServerCallContext", base: func(full string) (pkg, service string, ok bool) {
	outer, name := cutLast(full)
	service, ok = strings.CutSuffix(name, "Base")
	pkg, class := cutLast(outer)
	return pkg, service, ok && service != "" && class == service
}}
