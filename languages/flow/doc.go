// Package flow resolves languages without declared types by following values: Python,
// TypeScript with JavaScript, and, with Rules of its own, Rust.
//
// A name is looked up as the language does it. It stands for a set of values: modules,
// functions, classes, instances, bound methods, containers, and names of modules outside
// the repository. Values flow along assignments, imports, returns, decorators, attributes
// of classes and instances (in the order of bases), elements of containers, and from the
// arguments of calls into parameters, until nothing changes. A class has one instance, a
// parameter one set of values for all callers, and statements have no order: a set
// contains what may be there at some time.
//
// Where nothing else tells what a name means, what is called on it may tell its class (shape.go).
// Types of modules that no file is are those that files of types declare (ambient.go).
//
// A value is sure if only names, imports and declarations lead to it. A value that came in
// as an argument is not sure. Package scope describes the edges.
package flow
