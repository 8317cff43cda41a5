package scope

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
)

// pythonStub: the module demo_pb2_grpc has CartsStub, CartsServicer and what adds it
// to a server.
func pythonStub(pkg, name string) (s stub, rest string, ok bool) {
	// `from gen import demo_pb2_grpc` has the module in the name.
	full := strings.TrimSuffix(pkg+"."+name, ".")
	i := strings.Index(full, "_pb2_grpc.")
	if i < 0 {
		return stub{}, "", false
	}
	stem, name := full[strings.LastIndexByte(full[:i], '.')+1:i], full[i+len("_pb2_grpc."):]
	if i := strings.IndexAny(name, "(."); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	s.pkg, ok = resolve.StubPackage("python", stem), true
	if s.service, s.server = strings.CutSuffix(name, "Servicer"); !s.server {
		if s.service, ok = strings.CutSuffix(name, "Stub"); !ok {
			s.service, ok = strings.CutSuffix(name, "AsyncStub")
		}
	}
	return s, rest, ok && s.service != ""
}
