package scope

import (
	"strings"
)

// csharpRPC: the class Carts has the classes CartsBase and CartsClient.
var csharpRPC = typedRPC{
	context: "ServerCallContext",
	base:    func(full string) (pkg, service string, ok bool) { return csharpService(full, "Base") },
	client:  func(full string) (pkg, service string, ok bool) { return csharpService(full, "Client") },
	makes:   func(string, string) string { return "" },
	same:    func(method string) bool { return method == "WithHost" },
	procedure: func(method string) string {
		if method == "WithHost" {
			return ""
		}
		return strings.TrimSuffix(method, "Async")
	},
}

func csharpService(full, kind string) (pkg, service string, ok bool) {
	outer, name := cutLast(full)
	service, ok = strings.CutSuffix(name, kind)
	pkg, class := cutLast(outer)
	return pkg, service, ok && service != "" && class == service
}
