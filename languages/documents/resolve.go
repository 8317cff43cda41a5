package documents

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Resolver makes an external (resolve.InText) of each name in a document. Queries join them to what the
// repository declares under that name (query/code), because that is in other languages, and changes
// without the document.
type Resolver struct{}

// NewResolver returns a resolver of documents.
func NewResolver() resolve.Resolver { return Resolver{} }

// Name implements resolve.Resolver.
func (Resolver) Name() string { return "documents/1" }

// Languages implements resolve.Resolver.
func (Resolver) Languages() []string { return []string{"markdown", "restructuredtext"} }

// Is reports whether a language is one of documents.
func Is(language string) bool { return language == "markdown" || language == "restructuredtext" }

// Resolve implements resolve.Resolver. The graph of a document depends on nothing else, so it returns
// those that changed.
func (r Resolver) Resolve(ctx context.Context, tree resolve.Tree, c resolve.Change) (graphs []resolve.FileGraph, err error) {
	add := func(f resolve.File) error {
		if !Is(f.Language) {
			return nil
		}
		facts, err := tree.Facts(f)
		if err != nil {
			return fmt.Errorf("facts of %s: %w", f.Path, err)
		}
		graphs = append(graphs, graphOf(f, facts))
		return ctx.Err()
	}
	if c.Base == nil {
		for f := range tree.Files("") {
			if err := add(f); err != nil {
				return nil, err
			}
		}
		return graphs, nil
	}
	for _, p := range c.Paths {
		if f, ok := tree.File(p); ok {
			if err := add(f); err != nil {
				return nil, err
			}
		}
	}
	return graphs, nil
}

func graphOf(f resolve.File, facts *recountv1.FileFacts) resolve.FileGraph {
	g := resolve.Base(f, facts, "")
	for _, r := range facts.GetReferences() {
		name := r.Path
		if file, ok := strings.CutPrefix(name, "/"); ok {
			if !strings.HasPrefix(file, "/") { // a link that begins with a slash is of the repository
				file = path.Join(path.Dir(f.Path), file)
			}
			name = path.Join("/", file)
		}
		g.Externals = append(g.Externals, resolve.External{
			From: resolve.FileKey(f.Path), Kind: r.Edge, Package: resolve.InText, Name: name,
			Edge: resolve.EdgeAt(recountv1.Provenance_PROVENANCE_NAME_MATCHED, r.At),
		})
	}
	g.Normalize()
	return g
}
