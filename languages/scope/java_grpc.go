package scope

import (
	"slices"
	"strings"
)

// javaRPC: the class CartsGrpc has the classes CartsImplBase, and CartsStub,
// CartsBlockingStub and others of clients, which its methods newStub, newBlockingStub …
// make.
var javaRPC = typedRPC{
	context: "StreamObserver",
	base:    func(full string) (pkg, service string, ok bool) { return javaService(full, "ImplBase") },
	client: func(full string) (pkg, service string, ok bool) {
		for _, kind := range javaStubs {
			if pkg, service, ok = javaService(full, kind); ok {
				return pkg, service, ok
			}
		}
		return "", "", false
	},
	makes: func(class, method string) string {
		service, ok := strings.CutSuffix(class, "Grpc")
		kind, makes := strings.CutPrefix(method, "new")
		if !ok || !makes || !slices.Contains(javaStubs, kind) {
			return ""
		}
		return class + "." + service + kind
	},
	same: func(method string) bool { return strings.HasPrefix(method, "with") },
	procedure: func(method string) string {
		if strings.HasPrefix(method, "with") || method == "getChannel" || method == "getCallOptions" {
			return ""
		}
		return method
	},
}

// javaStubs are the kinds of clients, the longer names first.
var javaStubs = []string{"BlockingV2Stub", "BlockingStub", "FutureStub", "Stub"}

func javaService(full, kind string) (pkg, service string, ok bool) {
	outer, name := cutLast(full)
	service, ok = strings.CutSuffix(name, kind)
	if outer == "" {
		return "", service, ok && service != "" && kind == "ImplBase"
	}
	pkg, class := cutLast(outer)
	return pkg, service, ok && service != "" && class == service+"Grpc"
}
