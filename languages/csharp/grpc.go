package csharp

import (
	"strings"

	"github.com/recountdb/recount/languages/typed"
)

// grpc recognizes generated gRPC code: the class Carts has the classes CartsBase and CartsClient.
var grpc = typed.RPC{
	Context: "ServerCallContext",
	Base:    func(full string) (pkg, service string, ok bool) { return serviceOf(full, "Base") },
	Client:  func(full string) (pkg, service string, ok bool) { return serviceOf(full, "Client") },
	Makes:   func(string, string) string { return "" },
	Same:    func(method string) bool { return method == "WithHost" },
	Procedure: func(method string) string {
		if method == "WithHost" {
			return ""
		}
		return strings.TrimSuffix(method, "Async")
	},
}

func serviceOf(full, kind string) (pkg, service string, ok bool) {
	outer, name := typed.CutLast(full)
	service, ok = strings.CutSuffix(name, kind)
	pkg, class := typed.CutLast(outer)
	return pkg, service, ok && service != "" && class == service
}
