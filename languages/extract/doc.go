// Package extract reads of a file's content what it says by itself
// (recountv1.FileFacts: declarations, references, imports, routes), a pure function of
// its bytes and of the language that its path gives.
package extract

// MaxDepth is the maximum nesting that extractors follow; deeper trees are partial.
const MaxDepth = 1000
