// Package scope has what the engines of languages/flow and languages/typed share: the
// modules, scopes and declarations of a snapshot, the symbols that names stand for, the
// values that variables hold, and the edges and routes that are made of them. It knows no
// language and decides nothing about values; the engines do.
//
// Resolver is the frame: it reads the files of a language, adds them to a Program in the
// order of their paths, and calls the engine. A snapshot that changes a file of the
// language, or one that its Layout is read from, is resolved as a whole.
//
// The edges mean:
//
//	contains    file → declaration → what is declared in it
//	imports     file → file; the file of a package is its __init__.py
//	calls       the only sure target of a call: a function, a method, the constructor
//	            that a class has or inherits, or the class if it has none
//	may_call    the other targets: alternatives, functions that were passed in, and
//	            methods that override the called one, if the receiver may be of a
//	            subclass. What only tests pass in counts for calls in tests.
//	references  to a declaration that is named and not called
//	extends     class → base
//	implements  class → interface
//	overrides   method → the inherited method that it overrides
//	throws      to the class of what is raised
//	decorates   from what is decorated to the decorator
//	handles_route
//	            from a handler to its route, a node of the file that registers it, named
//	            by its method and whole pattern
//	implements_rpc, consumes_rpc
//	            from what serves or calls a procedure to the procedure, an external of
//	            language "proto"
//	reads_env, executes_process, consumes_endpoint
//	            externals of the packages "env", "process" and "http"
//
// What leads to a module outside the repository is external; anything else that was not
// found is unresolved. Nothing is matched by name alone, except as languages/typed and
// languages/rust say, and such edges have the provenance name_matched.
//
// The work is bounded: a variable that would get more than MaxValues values has only those
// that are sure, or none, a call has at most 8 targets that are not sure, and a flow runs at most MaxVisits times.
// Everything is done in the order of paths, so that these limits, too, give the same
// result each time. docs/code.md lists what is resolved for each language and what is not.
package scope
