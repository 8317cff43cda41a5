package golang

import (
	"context"
	"fmt"
	"go/token"
	"maps"
	"strings"

	"github.com/recountdb/recount/languages/golang/stdlib"
	"github.com/recountdb/recount/languages/resolve"
)

// version changes with every change of this package that changes a result.
const version = "go/13"

// Resolver resolves Go. It is not safe for concurrent use.
type Resolver struct {
	name     string
	std      *stdlib.Importer
	packages map[string]*pkg // by directory, of the snapshot resolved last
	book     *book
	spare    infos
	// fset has the files whose syntax is kept. All steps share it, so that no two types that are
	// local to functions have the same position.
	fset *token.FileSet
	// last is the snapshot resolved last, and at its state: the manifests and each directory's
	// files.
	last resolve.Tree
	at   map[string]string
	// modules has the go.mod files that were read, by path and blob.
	modules map[string]module
}

var _ resolve.Resolver = (*Resolver)(nil)

// New returns a resolver without any state.
func New() *Resolver {
	return &Resolver{name: version + "+" + stdlib.Hash()[:8], std: stdlib.New(), fset: token.NewFileSet()}
}

// Name implements resolve.Resolver: it returns the version and the hash of the standard library, on
// which the results depend.
func (r *Resolver) Name() string { return r.name }

// Languages implements resolve.Resolver.
func (r *Resolver) Languages() []string { return []string{language} }

// Resolve implements resolve.Resolver.
func (r *Resolver) Resolve(ctx context.Context, tree resolve.Tree, c resolve.Change) ([]resolve.FileGraph, error) {
	if c.Base == nil {
		r.packages, r.at = nil, nil
	} else if c.Base != r.last || r.at == nil {
		base, err := r.layout(c.Base)
		if err != nil {
			return nil, err
		}
		if !maps.Equal(base.state(), r.at) {
			// Another branch's commit, or the first one since the start.
			if _, err := r.advance(ctx, c.Base, base); err != nil {
				return nil, err
			}
		}
	}
	l, err := r.layout(tree)
	if err != nil {
		return nil, err
	}
	return r.advance(ctx, tree, l)
}

// layout reads the layout of a snapshot.
func (r *Resolver) layout(tree resolve.Tree) (*layout, error) {
	l, modules, err := readLayout(tree, r.modules)
	if err == nil {
		r.modules = modules
	}
	return l, err
}

// advance goes from the snapshot resolved last to another, and returns the graphs that differ.
func (r *Resolver) advance(ctx context.Context, tree resolve.Tree, l *layout) ([]resolve.FileGraph, error) {
	before := r.packages
	r.packages, r.at, r.last = nil, nil, nil // after an error no partial state remains
	if r.book == nil || r.book.full() {
		r.book = newBook()
	}
	s := newStep(r.fset, r.std, &r.spare, r.book, tree, l, before)
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	graphs := s.join()
	r.packages, r.at, r.last = s.byPath, l.state(), tree
	return graphs, nil
}

// manifests is the key of the go.mod files in a state; no directory has this name.
const manifests = "\x00"

// state returns what the results depend on: each directory's files, and the manifests.
func (l *layout) state() map[string]string {
	s := map[string]string{manifests: l.manifests}
	for _, d := range l.sorted {
		s[d.path] = d.key()
	}
	return s
}

// key returns a text that identifies a directory's files and their contents.
func (d *dir) key() string {
	var b strings.Builder
	for _, f := range d.files {
		fmt.Fprintf(&b, "%s %s %s\n", f.Path, f.Blob, f.Skipped)
	}
	return b.String()
}
