// Package typed resolves languages whose sources declare types: Java and C#.
//
// No values flow. An expression has the one type that declarations give it, and a type has
// the methods of its class and of what the class extends and implements, with type
// parameters replaced by their arguments. The parameters of a lambda have the types that
// the method gives it to which it is passed. Of the standard libraries the resolver knows
// a list of classes through which sources pass their own types: collections, optionals,
// streams and functions (Language.Library).
//
// A call means the method that has its name and takes its number of arguments. Of several
// methods, those that the known type of an argument excludes are left out. If more than
// one is left, the most specific one is meant, provided that the types of all arguments
// are known; otherwise the call is unresolved.
//
// A name without a receiver is looked up in the enclosing classes, the innermost first. If
// a class on the way has bases outside the repository, which might have a method of that
// name, the edge is name_matched. Methods that override the called one may be called, and
// so may a method whose reference (Foo::bar) is passed on. A constructor without source,
// such as a record's, is the class; the accessor of a record's component leads to its
// field. Types of one name that differ in the number of type parameters are
// different types if the language allows them (Language.Arity).
//
// A type that neither the repository declares nor an import of the file names is known by
// its name alone: it is no class of the repository, and two such types of one name are the
// same. If the receiver of an extension might be of such a type, the edge is name_matched.
package typed
