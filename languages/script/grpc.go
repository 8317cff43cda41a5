package script

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
)

// stub recognizes gRPC code that is generated at run time: the result of loadPackageDefinition
// has the names of the .proto file. A service is a constructor of clients, and its property
// `service` describes it to servers.
func stub(pkg, name string) (s scope.Stub, rest string, ok bool) {
	name, ok = strings.CutPrefix(name, loadDefinition+"().")
	if !ok || !grpcPackages[pkg] {
		return scope.Stub{}, "", false
	}
	if i := strings.IndexByte(name, '('); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	words := strings.Split(name, ".")
	if n := len(words); n > 1 && words[n-1] == "service" {
		s.Server, words = true, words[:n-1]
	}
	n := len(words) - 1
	s.Pkg, s.Service = resolve.StubPackage("js", strings.Join(words[:n], ".")), words[n]
	// A service begins with a capital letter, a part of the package's name does not.
	return s, rest, s.Service != "" && s.Service[0] >= 'A' && s.Service[0] <= 'Z'
}

const loadDefinition = "loadPackageDefinition"

var grpcPackages = map[string]bool{"@grpc/grpc-js": true, "grpc": true}

func loadsDefinition(pkg, name string) bool {
	return name == loadDefinition && grpcPackages[pkg]
}
