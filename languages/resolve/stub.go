package resolve

import (
	"unicode"
	"unicode/utf8"
)

// Procedures of gRPC are externals of language "proto". Go's generated code says a
// procedure's full name: package "shop.v1", name "Carts.Get". Other languages see
// what is generated for them, often without its source; they say by what name they
// know it, and the node of the procedure says its names in its attribute "stubs".
// The package of such an external is StubPackage's, the name StubName's:
//
//	python:demo              in the module demo_pb2_grpc
//	java:com.acme.shop       in the Java package, in the class <service>Grpc
//	csharp:Acme.Shop         in the C# namespace, in the class <service>
//	js:shop.v1               below what loadPackageDefinition gives
//	*:                       the package is not known: the only service of that name

// StubPackage is the package of a procedure as a language's generated code names it.
func StubPackage(language, pkg string) string { return language + ":" + pkg }

// AnyStub is the package of a procedure of which only the service's name is known.
const AnyStub = "*:"

// StubName is the name of a procedure as stubs have it: languages write its first
// letter in their own ways, so it is small here.
func StubName(service, method string) string {
	r, n := utf8.DecodeRuneInString(method)
	return service + "." + string(unicode.ToLower(r)) + method[n:]
}
