// Package extract is the engine of extractors: it parses files, walks their trees and
// writes down what a file says by itself (recountv1.FileFacts: declarations, references,
// imports, bindings, routes), a pure function of the file's bytes and its language.
//
// A Language is how files are known and what reads one; each is in a folder of its own
// beside this one. Most are made by Parsed: a tree-sitter grammar, and a function that
// walks a File once, in source order, and calls Declare, Refer, Bind, AddImport and
// AddRoute. The others write with a Builder.
package extract

// MaxDepth is the maximum nesting that extractors follow; deeper trees are partial.
const MaxDepth = 1000
