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

// version changes with anything of this package that changes an answer.
const version = "go/1"

// Resolver resolves Go. It is not safe for concurrent use.
type Resolver struct {
	name     string
	std      *stdlib.Importer
	packages map[string]*pkg // by directory, of the snapshot resolved last
	book     *book
	spare    infos
	// fset has the files whose syntax is kept. It is the same for all steps, so that no
	// two types that are local to functions have one position.
	fset *token.FileSet
	// last is the snapshot resolved last, at its manifests and each directory's files.
	last resolve.Tree
	at   map[string]string
	// modules are the go.mod files that were read, by path and blob.
	modules map[string]module
}

var _ resolve.Resolver = (*Resolver)(nil)

// New makes a resolver that has nothing in memory.
func New() *Resolver {
	return &Resolver{name: version + "+" + stdlib.Hash()[:8], std: stdlib.New(), fset: token.NewFileSet()}
}

// Name implements resolve.Resolver: the version and, since answers depend on it, the
// hash of the standard library.
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

// layout reads that of a snapshot.
func (r *Resolver) layout(tree resolve.Tree) (*layout, error) {
	l, modules, err := readLayout(tree, r.modules)
	if err == nil {
		r.modules = modules
	}
	return l, err
}

// advance goes from the snapshot resolved last to another, and returns the graphs
// that differ.
func (r *Resolver) advance(ctx context.Context, tree resolve.Tree, l *layout) ([]resolve.FileGraph, error) {
	before := r.packages
	r.packages, r.at, r.last = nil, nil, nil // an error on the way leaves nothing half done
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

// manifests is the key of the layout's go.mod files in a state; no directory has it.
const manifests = "\x00"

// state is what an answer depends on: each directory's files, and the manifests.
func (l *layout) state() map[string]string {
	s := map[string]string{manifests: l.manifests}
	for _, d := range l.sorted {
		s[d.path] = d.key()
	}
	return s
}

// key says which files a directory has.
func (d *dir) key() string {
	var b strings.Builder
	for _, f := range d.files {
		fmt.Fprintf(&b, "%s %s %s\n", f.Path, f.Blob, f.Skipped)
	}
	return b.String()
}
