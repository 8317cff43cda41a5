package schemas

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// NodeKey is where a node stands in a snapshot's maps: ordered by path, then by
// the chain of names, so that the nodes of a file are neighbours. It is
//
//	path 00 owner '.' name 00 kind variant
//
// with kind as one byte. The file itself has empty names. Path is relative to the
// repository; a package's node stands at its directory with a slash at the end.
type NodeKey string

// NewNodeKey makes the key. No part may hold a zero byte (what git allows in a
// path and our languages in a name, has none).
func NewNodeKey(path, owner, name string, kind recountv1.SymbolKind, variant string) NodeKey {
	var b strings.Builder
	b.Grow(len(path) + len(owner) + len(name) + len(variant) + 4)
	b.WriteString(path)
	b.WriteByte(0)
	if owner != "" {
		b.WriteString(owner)
		b.WriteByte('.')
	}
	b.WriteString(name)
	b.WriteByte(0)
	b.WriteByte(byte(kind))
	b.WriteString(variant)
	return NodeKey(b.String())
}

// Path is the file that the node is declared in.
func (k NodeKey) Path() string {
	path, _, _ := strings.Cut(string(k), "\x00")
	return path
}

// Chain is the node's name with its owners' before it: "Client.Produce".
func (k NodeKey) Chain() string {
	_, rest, _ := strings.Cut(string(k), "\x00")
	chain, _, _ := strings.Cut(rest, "\x00")
	return chain
}

// Kind is what the node is.
func (k NodeKey) Kind() recountv1.SymbolKind {
	_, rest, _ := strings.Cut(string(k), "\x00")
	_, tail, _ := strings.Cut(rest, "\x00")
	if tail == "" {
		return recountv1.SymbolKind_SYMBOL_KIND_UNSPECIFIED
	}
	return recountv1.SymbolKind(tail[0])
}

// Variant is what tells the node apart from others of its name.
func (k NodeKey) Variant() string {
	_, rest, _ := strings.Cut(string(k), "\x00")
	_, tail, _ := strings.Cut(rest, "\x00")
	if tail == "" {
		return ""
	}
	return tail[1:]
}
