// Package resolve defines resolvers: they turn the facts of a snapshot's files into a graph of
// nodes, edges, externals (what is outside the repository) and unresolved references. The result
// is a pure function of the snapshot's files. The folders of languages have the resolvers.
//
// A resolver may keep what it computed, such as type-checked packages, to answer faster for the
// next snapshot. This must not change its answers: after any series of calls, an answer equals
// that of a new resolver for the whole snapshot.
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
	// Blob is the git object id of the content.
	Blob string
	// Language is the language of the path, "" if it is not known.
	Language string
	// Skipped says why the file has no facts; it is empty if it has facts.
	Skipped string
}

// Tree has the files of one snapshot. Implementations are safe for concurrent use.
type Tree interface {
	// Repository returns the name of the repository in the events.
	Repository() string
	// Files yields the files below a directory, sorted by path; "" stands for all files.
	Files(dir string) iter.Seq[File]
	// File returns the file at a path, if there is one.
	File(path string) (File, bool)
	// Facts returns the facts of a file, nil if it was skipped. The caller must not change them.
	Facts(f File) (*recountv1.FileFacts, error)
	// Content returns the bytes of a file whose facts contain them (FileFacts.content_zstd).
	Content(f File) ([]byte, error)
}

// Node is a node of the graph with its key.
type Node struct {
	Key  schemas.NodeKey
	Node *recountv1.CodeNode
}

// Edge connects two nodes of the repository.
type Edge struct {
	From, To schemas.NodeKey
	Kind     recountv1.EdgeKind
	Edge     *recountv1.CodeEdge
}

// External is an edge to a symbol outside the repository: of the standard library, of a
// dependency, or of another repository, which may be recorded too.
type External struct {
	From     schemas.NodeKey
	Kind     recountv1.EdgeKind
	Language string
	// Package is in canonical form, as in CodeNode.package; Name is the name after those of its
	// owners.
	Package, Name string
	Edge          *recountv1.CodeEdge
}

// Unresolved is a reference that nothing was found for. It is counted, and is no edge.
type Unresolved struct {
	From schemas.NodeKey
	Kind recountv1.EdgeKind
	// Path is the access path in the facts.
	Path string
	At   *recountv1.Place
}

// FileGraph is the part of the graph that belongs to one file: its nodes, and the edges that
// begin in them. Every slice is sorted by keys, and keys are unique (see Normalize).
type FileGraph struct {
	// Path is the path of the file, or, for what belongs to no single file, the PackagePath of a
	// package.
	Path       string
	Nodes      []Node
	Edges      []Edge
	Externals  []External
	Unresolved []Unresolved
}

// Change is the difference between a snapshot and the one before it.
type Change struct {
	// Base is the snapshot before, nil if there is none and the whole snapshot is wanted.
	Base Tree
	// Paths are the files that were added, changed or removed, sorted.
	Paths []string
}

// Resolver resolves the files of some languages.
type Resolver interface {
	// Name returns the name with a version, such as "go/1". The version changes whenever the
	// answers do.
	Name() string
	// Languages returns the languages whose files it takes.
	Languages() []string
	// Resolve returns the graph of every file of its languages whose graph may differ from that
	// in c.Base, sorted by path; all of them if Base is nil. A removed file may be left out; a
	// removed package is returned without nodes. The ends of edges are nodes that the resolver
	// declares in this tree, and edges begin under the path of their graph.
	Resolve(ctx context.Context, tree Tree, c Change) ([]FileGraph, error)
}
