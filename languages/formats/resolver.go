// Package formats is the engine of languages that declare things and run none: Protocol Buffers,
// SQL, Terraform, several formats in YAML, style sheets. A format's folder looks names up by the
// rules of the format, over all files of a snapshot. What a format leaves to an environment that
// is not in the repository is unresolved, and nothing is matched by name alone unless the comment
// of a format's resolver says so.
//
// What leads out of a format is external, in a package of its own: a procedure ("proto"), a
// container image ("image"), an environment variable ("env"), a program ("process"), a Terraform
// module ("terraform"). Queries join it to whatever declares or uses the same name.
//
// A snapshot that changes a file of a format is resolved as a whole: such files are few, and any
// of them may mean a name.
package formats

import (
	"context"
	"fmt"
	slash "path"
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
	link      func(*Snapshot)
}

var _ resolve.Resolver = Resolver{}

// New returns a resolver of the files of some languages. link makes the edges of a snapshot. The
// name contains its version, as "sql/1".
func New(name string, languages []string, link func(*Snapshot)) Resolver {
	return Resolver{name, languages, link}
}

// Name implements resolve.Resolver.
func (r Resolver) Name() string { return r.name }

// Languages implements resolve.Resolver.
func (r Resolver) Languages() []string { return r.languages }

// Resolve implements resolve.Resolver. It returns the graphs of all files if one of them changed,
// and none otherwise.
func (r Resolver) Resolve(ctx context.Context, tree resolve.Tree, c resolve.Change) ([]resolve.FileGraph, error) {
	if c.Base != nil && !r.concerns(tree, c) {
		return nil, nil
	}
	s := &Snapshot{ByPath: map[string]*File{}}
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
	graphs := make([]resolve.FileGraph, len(s.Files))
	for i, f := range s.Files {
		f.graph.Normalize()
		graphs[i] = f.graph
	}
	return graphs, nil
}

// concerns reports whether a change touches a file of the format.
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

// Snapshot has the files of a format, by path, while they are resolved.
type Snapshot struct {
	Files  []*File
	ByPath map[string]*File
}

// File is one file, and its graph while it is made.
type File struct {
	resolve.File
	*recountv1.FileFacts
	Names resolve.Declared
	graph resolve.FileGraph
}

func (s *Snapshot) add(f resolve.File, facts *recountv1.FileFacts) {
	if facts == nil {
		facts = &recountv1.FileFacts{}
	}
	src := &File{File: f, FileFacts: facts, Names: resolve.Declare(f.Path, facts)}
	src.graph = resolve.Base(f, facts, facts.Package)
	s.Files = append(s.Files, src)
	s.ByPath[f.Path] = src
}

// Path returns the path of the file in the snapshot. FileFacts.Path is where its content was
// first seen.
func (f *File) Path() string { return f.File.Path }

// Key returns the key of the node of a declaration by its index plus 1, the file's for 0.
func (f *File) Key(in uint32) schemas.NodeKey {
	if in == 0 || int(in) > len(f.Names.Keys) {
		return resolve.FileKey(f.Path())
	}
	return f.Names.Keys[in-1]
}

// Chain returns a declaration's name after those of its owners.
func (f *File) Chain(i int) string {
	if o := f.Names.Owners[i]; o != "" {
		return o + "." + f.Declarations[i].Name
	}
	return f.Declarations[i].Name
}

// Node returns the node of a declaration.
func (f *File) Node(i int) *recountv1.CodeNode { return f.graph.Nodes[i+1].Node }

func (f *File) Edge(kind recountv1.EdgeKind, in uint32, to schemas.NodeKey, how recountv1.Provenance, at *recountv1.Place) {
	if from := f.Key(in); from != to {
		f.graph.Edges = append(f.graph.Edges, resolve.Edge{From: from, To: to, Kind: kind, Edge: resolve.EdgeAt(how, at)})
	}
}

func (f *File) External(kind recountv1.EdgeKind, in uint32, lang, pkg, name string, how recountv1.Provenance, at *recountv1.Place) {
	f.graph.Externals = append(f.graph.Externals, resolve.External{
		From: f.Key(in), Kind: kind, Language: lang, Package: pkg, Name: name, Edge: resolve.EdgeAt(how, at),
	})
}

func (f *File) Unresolved(kind recountv1.EdgeKind, in uint32, path string, at *recountv1.Place) {
	f.graph.Unresolved = append(f.graph.Unresolved, resolve.Unresolved{From: f.Key(in), Kind: kind, Path: path, At: at})
}

// DefaultRole is the role of a route whose path has what holds unless a deployment says otherwise.
const DefaultRole = "default"

// AddRoutes adds the nodes of the file's routes, and the edges from their handlers, whose paths begin in a folder.
func (f *File) AddRoutes(folder string) {
	for _, r := range f.Routes {
		pattern := r.Pattern
		attributes := map[string]string{"framework": r.Framework}
		edge := resolve.EdgeAt(Declared, r.At)
		if at := strings.LastIndex(pattern, "${}"); at >= 0 {
			pattern = pattern[at+len("${}"):]
			attributes["prefix"], edge.ConfidencePermille = "unknown", resolve.UnsureRoute
		} else if r.Role == DefaultRole {
			attributes["prefix"], edge.ConfidencePermille = "default", resolve.AssumedRoute
		}
		if !strings.HasPrefix(pattern, "/") {
			pattern = "/" + pattern
		}
		if attributes["prefix"] == "unknown" {
			pattern = schemas.UnknownPrefix + pattern
		}
		name := r.Method + " " + pattern
		key := schemas.NewNodeKey(f.Path(), "", name, recountv1.SymbolKind_SYMBOL_KIND_ROUTE, "")
		f.graph.Nodes = append(f.graph.Nodes, resolve.Node{Key: key, Node: &recountv1.CodeNode{
			Kind: recountv1.SymbolKind_SYMBOL_KIND_ROUTE, Language: f.File.Language, Package: f.Package, Name: name,
			Start: r.At, End: r.At, Exported: true, Attributes: attributes,
		}})
		f.Edge(recountv1.EdgeKind_EDGE_KIND_CONTAINS, 0, key, Declared, r.At)
		f.graph.Edges = append(f.graph.Edges, resolve.Edge{From: f.Key(r.In), To: key, Kind: recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE, Edge: edge})
		if r.Handler != "" { // a function of another language, by its file
			f.graph.Externals = append(f.graph.Externals, resolve.External{
				From: key, Kind: recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE, Package: resolve.InFile, Name: slash.Join(folder, r.Handler),
				Edge: resolve.EdgeAt(ScopeResolved, r.At),
			})
		}
	}
}

const (
	Declared      = recountv1.Provenance_PROVENANCE_DECLARED
	ScopeResolved = recountv1.Provenance_PROVENANCE_SCOPE_RESOLVED
	NameMatched   = recountv1.Provenance_PROVENANCE_NAME_MATCHED

	References = recountv1.EdgeKind_EDGE_KIND_REFERENCES
	Imports    = recountv1.EdgeKind_EDGE_KIND_IMPORTS
	DependsOn  = recountv1.EdgeKind_EDGE_KIND_DEPENDS_ON
)

// Dir returns the directory of a path, "" at the top.
func Dir(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// Base returns the last element of a path.
func Base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
