package resolve

import (
	"unicode"
	"unicode/utf8"
)

// Procedures of gRPC are externals of language "proto". Go's generated code contains the full
// name of a procedure: package "shop.v1", name "Carts.Get". Other languages see the code that
// is generated for them, often without its source. Their resolvers use the name in that code,
// and the node of the procedure lists these names in its attribute "stubs". The package of
// such an external is made by StubPackage, the name by StubName:
//
//	python:demo              in the module demo_pb2_grpc
//	java:com.acme.shop       in the Java package, in the class <service>Grpc
//	csharp:Acme.Shop         in the C# namespace, in the class <service>
//	js:shop.v1               in the result of loadPackageDefinition
//	*:                       the package is not known: the only service of that name

// StubPackage returns the package of a procedure as the generated code of a language names it.
func StubPackage(language, pkg string) string { return language + ":" + pkg }

// AnyStub is the package of a procedure of which only the service's name is known.
const AnyStub = "*:"

// StubName returns the name of a procedure in externals. Languages differ in the case of its
// first letter, so it is lower-case here.
func StubName(service, method string) string {
	r, n := utf8.DecodeRuneInString(method)
	return service + "." + string(unicode.ToLower(r)) + method[n:]
}

// InFile is the package of an external, of no language, that names a function by its file: the path
// without its extension, a dot and the function's name, as in "src/orders.list".
const InFile = "file"

// InText is the package of an external, of no language, that names what the repository declares as its
// documents do: "Router.nest", "nest()", or a file as "/src/router.rs".
const InText = "text"
