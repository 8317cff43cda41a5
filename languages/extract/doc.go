// Package extract is the engine of extractors: it parses files, walks their trees and
// writes the facts of a file (recountv1.FileFacts: declarations, references, imports,
// bindings, routes), a pure function of the file's bytes and its language.
//
// A Language says which files belong to it and how they are read; each is in a folder of
// its own beside this one. Most are made by Parsed from a tree-sitter grammar and a
// function that walks a File once, in source order, and calls Declare, Refer, Bind,
// AddImport and AddRoute. The others use a Builder.
package extract

// MaxDepth is the maximum nesting that extractors follow; deeper trees are partial.
const MaxDepth = 1000

// TooDeep is the problem of a file that is nested deeper.
const TooDeep = "nested more than 1000 deep"
