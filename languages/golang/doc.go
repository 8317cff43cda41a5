// Package golang resolves Go: declarations, calls, references, what implements and
// embeds what, by go/types over the repository's own files, without the go command.
//
// What is not of the repository is the standard library, whose types are embedded
// (package stdlib), or missing: then the name of an import still says where an edge
// leads, and what only the missing types could say stays unresolved. Any module of
// the repository sees every other as it stands in the same commit, whatever version
// its go.mod asks for. vendor directories are not looked into.
//
// Files are chosen for linux/amd64 with cgo. What another platform builds, and what
// the go command leaves out (testdata, names with _ before them), has nodes but no
// edges; their nodes carry the file's base name as variant, as every init and _
// does, so that a symbol's identity depends on its own file alone.
//
// What an edge says:
//
//	contains    package → file → declaration → field, method of an interface, local type
//	imports     file → package
//	calls       to a function, a method, or, for a call through an interface, the
//	            interface's method. A literal's calls are its enclosing declaration's,
//	            an initialiser's its variable's.
//	may_call    to what such a call, or one of a function value, could arrive at: the
//	            functions and concrete types that flow there (see flow). A literal
//	            stands for its enclosing declaration. What tests pass in counts for
//	            calls in tests alone.
//	references  to a type, constant, package variable, or a function used as a value
//	extends     from a type to what it embeds
//	overrides   from a method to one that embedding would have given its type
//	implements  from a type to an interface, from its methods to the interface's
//	handles_route
//	            from a route ("GET /users/{id}", a node of the file that registers it)
//	            to what handles it: net/http, chi, gin, echo, gorilla/mux, below the
//	            prefixes of groups as far as one package says them
//	implements_rpc, consumes_rpc
//	            from the server interface's and the client's methods that gRPC generates
//	            to the procedure: an external of language "proto"
//	reads_env, executes_process
//	            to what a constant names: externals of the packages "env" and "process"
//
// Which functions a test exercises is a question about calls, not an edge. A panic
// is no throws: nothing says what catches it.
package golang
