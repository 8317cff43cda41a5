// Package scope resolves languages that have no type checker here, by what their
// scopes and imports say and by following which values reach a name: Python,
// TypeScript with JavaScript, and Rust; or, where sources declare the types of what
// they name, by those: Java and C#.
//
// A name is looked up as the language does it. What it stands for is a set of
// values: modules, functions, classes, instances, methods bound to one, containers,
// and names of modules that are not of the repository. Values flow along
// assignments, imports, returns, decorators, attributes of classes and instances
// (through the order of bases), elements of containers, and from a call's arguments
// into the parameters, until nothing changes. There is one instance of a class, one
// set of values for a parameter whoever calls, and no order of statements: a set
// says what may be there at some time.
//
// A value is sure where only names, imports and declarations lead to it, and not
// where it came in as an argument. What an edge says:
//
//	contains    file → declaration → what is declared in it
//	imports     file → file; a package is its __init__.py
//	calls       the one sure target of a call: a function, a method, the constructor
//	            that a class has or inherits, or the class where it has none
//	may_call    the other targets: several alternatives, function values that were
//	            passed in, and what overrides the method of a receiver whose class
//	            is known but could be a subclass. What tests pass in counts for calls
//	            in tests alone.
//	references  to a declaration, where it is named and not called
//	extends     class → base
//	implements  class → interface
//	overrides   method → that of the first base that has one
//	throws      to the class of what is raised
//	decorates   from what is decorated to the decorator
//	handles_route
//	            from a handler to its route, a node of the file that registers it
//	            whose name is method and whole pattern
//	implements_rpc, consumes_rpc
//	            from what serves a procedure, or calls one of a generated client, to
//	            the procedure: an external of language "proto"
//	reads_env, executes_process, consumes_endpoint
//	            externals of the packages "env", "process" and "http"
//
// What leads to a module that the repository does not have is external; the rest is
// unresolved. Nothing is matched by name alone, but for what is said of Java and Rust below.
//
// Python's modules are found below the root of the importing file's package, the
// directories around it and the src there, or, a package of one name, anywhere.
// Script's are found by relative paths, and as the nearest tsconfig.json (or
// jsconfig.json) says by paths, baseUrl and what it extends; the workspaces of
// package.json are external. Script's object
// with methods is an instance of its own, and an interface's method the sure target
// of a call through it.
//
// Rust's modules are the tree that `mod` makes below the roots of its crates, which
// Cargo.toml names; a name is looked up as its paths and uses say. What a value is
// follows from declared types (of parameters, fields, results) and from how variables
// get their values, types' arguments and what Option, Result and the collections hold
// included; arguments are not followed. A method is the type's own, else of the one of
// its traits that has it, else what it dereferences to; of a type parameter or dyn it is
// the trait's, and the implementations may be called. What several traits have is not
// sure. Macros are not expanded. A method of something unknown that is called by a name
// which only one method of the repository has is name_matched. Of items for several
// platforms those of Linux on amd64 have the name.
//
// Java and C# are resolved by typer, and nothing flows: an expression has the one type
// that declarations give it, and a type's methods are those of its class and of what
// that extends and implements, with type parameters replaced by what they stand for.
// Lambdas' parameters come from the method that they are passed to. What is known of
// the standard libraries is a list of the classes by which sources pass their own types
// around: collections, optionals, streams and functions (javaLibrary, csharpLibrary). A
// call means
//
//	the method of that name that takes so many arguments; of several the one that
//	nothing known of the arguments' types speaks against; of several still the most
//	specific, where the types of all arguments are known. Else it is unresolved.
//
// A single name is looked up in the classes around, innermost first. Where a class on
// the way has bases of elsewhere, which could have a method of that name, the edge is
// name_matched. What overrides the method may be called, as may a method that is handed
// on (Foo::bar) by whoever does so. Java's constructors without source, records' and
// structs' among them, are the class; reading a component of a record by its method
// leads to its field. C#'s types of one name that differ in their number of type
// parameters are not told apart.
//
// The work is bounded: a set that would grow past maxValues says nothing any more, a
// name has at most maxTargets targets that are not sure, and each flow is followed a
// bounded number of times (maxVisits). Everything is done in the order of paths, so
// that these limits, too, fall alike whoever asks.
//
// A snapshot that changes a file of the language, or what its modules are found by, is
// resolved as a whole. docs/code.md says what is known of each language and what is not.
package scope
