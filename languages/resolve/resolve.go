// Package resolve turns what the files of a snapshot say by themselves (file
// facts) into the graph: nodes, edges, what points outside the repository, and
// what could not be resolved. It is a pure function of the snapshot's files; the
// resolvers of single languages are in the folders below.
//
// A resolver may keep what it computed (type-checked packages, modules' scopes)
// to answer the next snapshot faster. What it keeps shows only in its speed:
// after any series of calls the answer equals that of a new resolver given the
// whole snapshot.
package resolve

import (
	"context"
	"iter"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// File is one file of a snapshot.
type File struct {
	// Path is relative to the repository, with slashes.
	Path string
	// Blob is git's object id of the content.
	Blob string
	// Language is what the path says ("" where it is not known).
	Language string
	// Skipped says why the file has no facts.
	Skipped string
}

// Tree is the files of one snapshot. Implementations are safe for concurrent use.
type Tree interface {
	// Repository is the name that the events gave it.
	Repository() string
	// Files yields the files below a directory ("" is all) by path.
	Files(dir string) iter.Seq[File]
	// File finds one by its path.
	File(path string) (File, bool)
	// Facts are what a file says; nil where it was skipped. Callers do not change them.
	Facts(f File) (*recountv1.FileFacts, error)
	// Content is the file's bytes, where its facts carry them (FileFacts.content_zstd).
	Content(f File) ([]byte, error)
}

// Node is a symbol at its place.
type Node struct {
	Key  schemas.NodeKey
	Node *recountv1.CodeNode
}

// Edge is from one node of the repository to another.
type Edge struct {
	From, To schemas.NodeKey
	Kind     recountv1.EdgeKind
	Edge     *recountv1.CodeEdge
}

// External is an edge to a symbol of elsewhere: of the standard library, of a
// dependency, of another repository that may be known one day.
type External struct {
	From     schemas.NodeKey
	Kind     recountv1.EdgeKind
	Language string
	// Package is canonical, as CodeNode.package; Name is owner chain and name.
	Package, Name string
	Edge          *recountv1.CodeEdge
}

// Unresolved is a reference that nothing was found for. It is counted, and never
// an edge.
type Unresolved struct {
	From schemas.NodeKey
	Kind recountv1.EdgeKind
	// Path is the access path as the facts have it.
	Path string
	At   *recountv1.Place
}

// FileGraph is the part of the graph that stands under one file: its nodes, and
// the edges that begin in them. Every slice is sorted by its keys and has no two
// entries of one key (see Normalize).
type FileGraph struct {
	// Path is the file's, or, for what belongs to no single file, a package's
	// PackagePath.
	Path       string
	Nodes      []Node
	Edges      []Edge
	Externals  []External
	Unresolved []Unresolved
}

// Change is what a snapshot differs in from the one before it.
type Change struct {
	// Base is the snapshot before; nil where there is none, and everything is wanted.
	Base Tree
	// Paths are the files that are new, changed or gone, sorted.
	Paths []string
}

// Resolver resolves the files of some languages.
type Resolver interface {
	// Name and version, such as "go/1": what it says changes only with it.
	Name() string
	// Languages are whose files it takes.
	Languages() []string
	// Resolve returns the graph of every file of its languages whose graph may differ
	// from what it was in c.Base, sorted by path: all of them where Base is nil. A
	// file that is gone need not be returned; a package that is gone is, without
	// nodes. The edges' ends are nodes that the resolver declares in this tree,
	// never dangling, and begin under the graph's path.
	Resolve(ctx context.Context, tree Tree, c Change) ([]FileGraph, error)
}
