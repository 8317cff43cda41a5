package scope

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
)

// scriptStub: what loadPackageDefinition gives has the names of the .proto file below
// it; a service is a constructor of clients, and its property `service` describes it
// to servers.
func scriptStub(pkg, name string) (s stub, rest string, ok bool) {
	name, ok = strings.CutPrefix(name, loadDefinition+"().")
	if !ok || !grpcPackages[pkg] {
		return stub{}, "", false
	}
	if i := strings.IndexByte(name, '('); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	words := strings.Split(name, ".")
	if n := len(words); n > 1 && words[n-1] == "service" {
		s.server, words = true, words[:n-1]
	}
	n := len(words) - 1
	s.pkg, s.service = resolve.StubPackage("js", strings.Join(words[:n], ".")), words[n]
	// Below the package a service has a capital letter; what has none is a package.
	return s, rest, s.service != "" && s.service[0] >= 'A' && s.service[0] <= 'Z'
}

const loadDefinition = "loadPackageDefinition"

var grpcPackages = map[string]bool{"@grpc/grpc-js": true, "grpc": true}

func loadsDefinition(pkg, name string) bool {
	return name == loadDefinition && grpcPackages[pkg]
}
