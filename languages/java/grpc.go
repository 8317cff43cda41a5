package java

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/typed"
)

// grpc recognizes generated gRPC code: the class CartsGrpc has the class CartsImplBase, and the
// classes CartsStub, CartsBlockingStub and others of clients, which its methods newStub,
// newBlockingStub and so on return.
var grpc = typed.RPC{
	Context: "StreamObserver",
	Base:    func(full string) (pkg, service string, ok bool) { return serviceOf(full, "ImplBase") },
	Client: func(full string) (pkg, service string, ok bool) {
		for _, kind := range stubKinds {
			if pkg, service, ok = serviceOf(full, kind); ok {
				return pkg, service, ok
			}
		}
		return "", "", false
	},
	Makes: func(class, method string) string {
		service, ok := strings.CutSuffix(class, "Grpc")
		kind, makes := strings.CutPrefix(method, "new")
		if !ok || !makes || !slices.Contains(stubKinds, kind) {
			return ""
		}
		return class + "." + service + kind
	},
	Same: func(method string) bool { return strings.HasPrefix(method, "with") },
	Procedure: func(method string) string {
		if strings.HasPrefix(method, "with") || method == "getChannel" || method == "getCallOptions" {
			return ""
		}
		return method
	},
}

// stubKinds are the kinds of clients, longer names first.
var stubKinds = []string{"BlockingV2Stub", "BlockingStub", "FutureStub", "Stub"}

func serviceOf(full, kind string) (pkg, service string, ok bool) {
	outer, name := typed.CutLast(full)
	service, ok = strings.CutSuffix(name, kind)
	if outer == "" {
		return "", service, ok && service != "" && kind == "ImplBase"
	}
	pkg, class := typed.CutLast(outer)
	return pkg, service, ok && service != "" && class == service+"Grpc"
}
