package python

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
)

// stub recognizes generated gRPC code: the module demo_pb2_grpc has CartsStub, CartsServicer and
// the function that adds the servicer to a server.
func stub(pkg, name string) (s scope.Stub, rest string, ok bool) {
	// After `from gen import demo_pb2_grpc` the name, and not pkg, contains the module.
	full := strings.TrimSuffix(pkg+"."+name, ".")
	i := strings.Index(full, "_pb2_grpc.")
	if i < 0 {
		return scope.Stub{}, "", false
	}
	stem, name := full[strings.LastIndexByte(full[:i], '.')+1:i], full[i+len("_pb2_grpc."):]
	if i := strings.IndexAny(name, "(."); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	s.Pkg, ok = resolve.StubPackage("python", stem), true
	if s.Service, s.Server = strings.CutSuffix(name, "Servicer"); !s.Server {
		if s.Service, ok = strings.CutSuffix(name, "Stub"); !ok {
			s.Service, ok = strings.CutSuffix(name, "AsyncStub")
		}
	}
	return s, rest, ok && s.Service != ""
}
