package span

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// rpc recognises a remote procedure call: "shop.CartService/GetCart".
func rpc(u *interpretation) bool {
	system := u.a.text(rpcSystem)
	if u.a.has(rpcSystem, rpcService, rpcMethod) {
		if system == "" && u.a.has(rpcCode) {
			system = "grpc" // only gRPC's codes are sent without the system's name
		}
		return u.set(recountv1.RuntimeKind_RUNTIME_KIND_RPC, system, u.procedure())
	}
	// A proxy or a web framework received a request of gRPC, Connect or Twirp.
	if u.internal() || !u.a.has(httpRoute, httpPath, httpURL) {
		return false
	}
	if m := u.a.text(httpMethod); m != "" && m != "POST" {
		return false
	}
	path := u.a.text(httpRoute)
	if path == "" {
		path = u.path()
	}
	system = "grpc"
	if rest, ok := strings.CutPrefix(path, "/twirp"); ok {
		path, system = rest, "twirp"
	}
	if !strings.HasPrefix(path, "/") || !isProcedure(path[1:]) {
		return false
	}
	return u.set(recountv1.RuntimeKind_RUNTIME_KIND_RPC, system, path[1:])
}

// procedure returns the called procedure: from rpc.method, which is fully qualified in newer
// conventions, with rpc.service, else from the span's name.
func (u *interpretation) procedure() string {
	service, method := u.a.text(rpcService), strings.TrimPrefix(u.a.text(rpcMethod), "/")
	switch {
	case method == "" || method == "_OTHER":
		if operation, _, ok := rpcName(u.name); ok {
			return operation
		}
		return words(service, "", u.name)
	case service == "" || strings.Contains(method, "/"):
		return method
	}
	return service + "/" + method
}

// rpcName parses a span name that is a procedure: "shop.CartService/GetCart" with or without a
// leading slash; "grpc.shop.CartService/GetCart" in older JavaScript;
// "Sent.shop.CartService.GetCart" and "Recv." in OpenCensus. The system is "" if it may be another
// than gRPC.
func rpcName(name string) (operation, system string, ok bool) {
	name = strings.TrimPrefix(name, "/")
	rest, ok := strings.CutPrefix(name, "Sent.")
	if !ok {
		rest, ok = strings.CutPrefix(name, "Recv.")
	}
	if ok {
		if dot := strings.LastIndexByte(rest, '.'); dot > 0 && !strings.Contains(rest, "/") {
			rest = rest[:dot] + "/" + rest[dot+1:]
		}
		return rest, "grpc", isProcedure(rest)
	}
	if rest, ok = strings.CutPrefix(name, "grpc."); ok && !ofGRPC(rest) {
		return rest, "grpc", isProcedure(rest)
	}
	return name, "", isProcedure(name)
}

// ofGRPC reports whether the text after "grpc." is in a package of gRPC itself, such as
// "health.v1.Health/Check".
func ofGRPC(rest string) bool {
	pkg, _, _ := strings.Cut(rest, ".")
	switch pkg {
	case "health", "reflection", "channelz", "lookup", "lb", "testing", "binarylog", "gcp", "core":
		return true
	}
	return false
}

// isProcedure reports whether s has the form "pkg.Service/Method": identifiers, at least one
// package, and nothing else.
func isProcedure(s string) bool {
	service, method, ok := strings.Cut(s, "/")
	if !ok || !isIdentifier(method) {
		return false
	}
	parts := 0
	for part := range strings.SplitSeq(service, ".") {
		if !isIdentifier(part) {
			return false
		}
		parts++
	}
	return parts > 1
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if !(c >= 'a' && c <= 'z') && s[i] != '_' && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return s != ""
}

// grpcCodes are the names of gRPC's status codes, by number. Connect uses them in lower case.
var grpcCodes = []string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// serversFault are the codes that are errors on the called side; on the caller's side all codes
// except OK are.
var serversFault = map[uint32]bool{2: true, 4: true, 12: true, 13: true, 14: true, 15: true}

func grpcCode(name string) (uint32, bool) {
	if strings.EqualFold(name, "CANCELED") {
		return 1, true
	}
	for code, n := range grpcCodes {
		if strings.EqualFold(n, name) {
			return uint32(code), true
		}
	}
	return 0, false
}
