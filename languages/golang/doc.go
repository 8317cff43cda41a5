// Package golang resolves Go: declarations, calls, references, implementations and
// embedding, with go/types over the repository's own files and without the go command.
//
// A package outside the repository is either in the standard library, whose types are
// embedded (package stdlib), or missing. The name of a missing import still gives the
// target of an edge, but whatever needs its types remains unresolved. Every module of the
// repository sees the others at the same commit, whatever version its go.mod requires.
// vendor directories are not read.
//
// Files are selected for linux/amd64 with cgo. Files of other platforms, and files that
// the go command ignores (testdata, names with a leading _), have nodes but no edges;
// their nodes have the file's base name as variant, as every init and _ does, so that a
// symbol's identity depends only on its own file.
//
// The kinds of edges:
//
//	contains    package → file → declaration → field, method of an interface, local type
//	imports     file → package
//	calls       to a function, a method, or, for a call through an interface, the
//	            interface's method. A literal's calls are its enclosing declaration's,
//	            an initialiser's its variable's.
//	may_call    to the possible targets of such a call, or of a call of a function value:
//	            the functions and concrete types that flow there (see flow). A literal
//	            stands for its enclosing declaration. Values that tests pass in count
//	            only for calls in tests.
//	references  to a type, constant, package variable, or a function used as a value
//	extends     from a type to the types that it embeds
//	overrides   from a method to one that embedding would have given its type
//	implements  from a type to an interface, from its methods to the interface's
//	handles_route
//	            from a route ("GET /users/{id}", a node of the file that registers it)
//	            to its handler: net/http, chi, gin, echo, gorilla/mux, with the prefixes
//	            of groups as far as they are in one package
//	implements_rpc, consumes_rpc
//	            from the server interface's and the client's methods that gRPC generates
//	            to the procedure: an external of language "proto"
//	reads_env, executes_process
//	            to names given by constants: externals of the packages "env" and "process"
//
// Which functions a test exercises is a query about calls, not an edge. A panic is not a
// throws edge, because its handler is not known.
package golang
