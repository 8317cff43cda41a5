// Package formats resolves what is declared rather than run: Protocol Buffers,
// SQL, Terraform, YAML of several families, style sheets. Their names are looked up
// as each format does it, over all files of a snapshot; what a format leaves to an
// environment that nobody sees is unresolved, and nothing is guessed by name alone
// unless the file of the format says so itself.
//
// What leads out of a format is external, in a namespace of its own: a procedure
// ("proto"), a container image ("image"), an environment variable ("env"), a program
// ("process"), a Terraform module ("terraform"). Whoever declares or uses the same
// name is joined to it when a question is asked.
//
// A snapshot that changes a file of a format is resolved as a whole: these files are
// few, and a name may be meant by any of them.
package formats

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Resolver resolves the files of a format. It keeps nothing between snapshots.
type Resolver struct {
	name      string
	languages []string
	link      func(*snapshot)
}

var _ resolve.Resolver = Resolver{}

// All makes the resolvers of every format.
func All() []resolve.Resolver {
	return []resolve.Resolver{Proto(), Infra(), SQL(), Style(), Terraform()}
}

// Name implements resolve.Resolver.
func (r Resolver) Name() string { return r.name }

// Languages implements resolve.Resolver.
func (r Resolver) Languages() []string { return r.languages }

// Resolve implements resolve.Resolver: it returns every file where one of them
// changed, and none where none did.
func (r Resolver) Resolve(ctx context.Context, tree resolve.Tree, c resolve.Change) ([]resolve.FileGraph, error) {
	if c.Base != nil && !r.concerns(tree, c) {
		return nil, nil
	}
	s := &snapshot{tree: tree, byPath: map[string]*file{}}
	for f := range tree.Files("") {
		if !slices.Contains(r.languages, f.Language) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		facts, err := tree.Facts(f)
		if err != nil {
			return nil, fmt.Errorf("facts of %s: %w", f.Path, err)
		}
		s.add(f, facts)
	}
	r.link(s)
	graphs := make([]resolve.FileGraph, len(s.files))
	for i, f := range s.files {
		f.graph.Normalize()
		graphs[i] = f.graph
	}
	return graphs, nil
}

// concerns reports whether a change has to do with a file of the format.
func (r Resolver) concerns(tree resolve.Tree, c resolve.Change) bool {
	for _, path := range c.Paths {
		for _, t := range []resolve.Tree{tree, c.Base} {
			if f, ok := t.File(path); ok && slices.Contains(r.languages, f.Language) {
				return true
			}
		}
	}
	return false
}

// snapshot is the files of a format, by path, while they are resolved.
type snapshot struct {
	tree   resolve.Tree
	files  []*file
	byPath map[string]*file
}

// source is one file, and the graph under it as it grows.
type file struct {
	resolve.File
	*recountv1.FileFacts
	names resolve.Declared
	graph resolve.FileGraph
}

func (s *snapshot) add(f resolve.File, facts *recountv1.FileFacts) {
	if facts == nil {
		facts = &recountv1.FileFacts{}
	}
	src := &file{File: f, FileFacts: facts, names: resolve.Declare(f.Path, facts)}
	src.graph = resolve.Base(f, facts, facts.Package)
	s.files = append(s.files, src)
	s.byPath[f.Path] = src
}

// path is the file's. (FileFacts.Path is where the content was first seen.)
func (f *file) path() string { return f.File.Path }

// key is the node that `in` of the facts names.
func (f *file) key(in uint32) schemas.NodeKey {
	if in == 0 || int(in) > len(f.names.Keys) {
		return resolve.FileKey(f.path())
	}
	return f.names.Keys[in-1]
}

// chain is a declaration's name with its owners' before it.
func (f *file) chain(i int) string {
	if o := f.names.Owners[i]; o != "" {
		return o + "." + f.Declarations[i].Name
	}
	return f.Declarations[i].Name
}

// node is the graph's node of a declaration.
func (f *file) node(i int) *recountv1.CodeNode { return f.graph.Nodes[i+1].Node }

func (f *file) edge(kind recountv1.EdgeKind, in uint32, to schemas.NodeKey, how recountv1.Provenance, at *recountv1.Place) {
	if from := f.key(in); from != to {
		f.graph.Edges = append(f.graph.Edges, resolve.Edge{From: from, To: to, Kind: kind, Edge: resolve.EdgeAt(how, at)})
	}
}

func (f *file) external(kind recountv1.EdgeKind, in uint32, lang, pkg, name string, how recountv1.Provenance, at *recountv1.Place) {
	f.graph.Externals = append(f.graph.Externals, resolve.External{
		From: f.key(in), Kind: kind, Language: lang, Package: pkg, Name: name, Edge: resolve.EdgeAt(how, at),
	})
}

func (f *file) unresolved(kind recountv1.EdgeKind, in uint32, path string, at *recountv1.Place) {
	f.graph.Unresolved = append(f.graph.Unresolved, resolve.Unresolved{From: f.key(in), Kind: kind, Path: path, At: at})
}

// routes adds the nodes of a file's routes, and the edges from what handles them.
func (f *file) routes() {
	for _, r := range f.Routes {
		pattern := r.Pattern
		if !strings.HasPrefix(pattern, "/") {
			pattern = "/" + pattern
		}
		name := r.Method + " " + pattern
		key := schemas.NewNodeKey(f.path(), "", name, recountv1.SymbolKind_SYMBOL_KIND_ROUTE, "")
		f.graph.Nodes = append(f.graph.Nodes, resolve.Node{Key: key, Node: &recountv1.CodeNode{
			Kind: recountv1.SymbolKind_SYMBOL_KIND_ROUTE, Language: f.File.Language, Package: f.Package, Name: name,
			Start: r.At, End: r.At, Exported: true, Attributes: map[string]string{"framework": r.Framework},
		}})
		f.edge(recountv1.EdgeKind_EDGE_KIND_CONTAINS, 0, key, declared, r.At)
		f.edge(recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE, r.In, key, declared, r.At)
	}
}

const (
	declared      = recountv1.Provenance_PROVENANCE_DECLARED
	scopeResolved = recountv1.Provenance_PROVENANCE_SCOPE_RESOLVED
	nameMatched   = recountv1.Provenance_PROVENANCE_NAME_MATCHED

	references = recountv1.EdgeKind_EDGE_KIND_REFERENCES
	imports    = recountv1.EdgeKind_EDGE_KIND_IMPORTS
)

// dir is the directory of a path, "" at the top.
func dir(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// base is the last element of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
