package schemas

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// NodeKey identifies a node in a snapshot's maps. Keys are ordered by path, then by the chain of
// names, so that the nodes of a file are adjacent. Its form is
//
//	path 00 owner '.' name 00 kind variant
//
// Kind is one byte. The node of a file itself has empty names. Path is relative to the repository;
// a package's node has its directory with a trailing slash as path.
type NodeKey string

// NewNodeKey returns the key. No part may contain a zero byte; paths in git and names in the
// supported languages never do.
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

// Path returns the file that declares the node.
func (k NodeKey) Path() string {
	path, _, _ := strings.Cut(string(k), "\x00")
	return path
}

// Chain returns the node's name, prefixed by those of its owners: "Client.Produce".
func (k NodeKey) Chain() string {
	_, rest, _ := strings.Cut(string(k), "\x00")
	chain, _, _ := strings.Cut(rest, "\x00")
	return chain
}

// Kind returns the kind of the node.
func (k NodeKey) Kind() recountv1.SymbolKind {
	_, rest, _ := strings.Cut(string(k), "\x00")
	_, tail, _ := strings.Cut(rest, "\x00")
	if tail == "" {
		return recountv1.SymbolKind_SYMBOL_KIND_UNSPECIFIED
	}
	return recountv1.SymbolKind(tail[0])
}

// Variant returns what distinguishes the node from others with the same name.
func (k NodeKey) Variant() string {
	_, rest, _ := strings.Cut(string(k), "\x00")
	_, tail, _ := strings.Cut(rest, "\x00")
	if tail == "" {
		return ""
	}
	return tail[1:]
}
