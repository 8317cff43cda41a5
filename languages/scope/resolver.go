package scope

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/recountdb/recount/languages/resolve"
)

// Resolver resolves the files of a language. It keeps nothing between snapshots.
type Resolver struct {
	Lang *Language
	// Start prepares a program before files are added, and returns the function that resolves it
	// once they are.
	Start func(p *Program) func(context.Context) ([]resolve.FileGraph, error)
}

var _ resolve.Resolver = Resolver{}

// Name implements resolve.Resolver.
func (r Resolver) Name() string { return r.Lang.Name }

// Languages implements resolve.Resolver.
func (r Resolver) Languages() []string { return r.Lang.Languages }

// Resolve implements resolve.Resolver. It returns the graphs of all files if one of them changed,
// and none otherwise.
func (r Resolver) Resolve(ctx context.Context, tree resolve.Tree, c resolve.Change) ([]resolve.FileGraph, error) {
	if c.Base != nil && !r.concerns(tree, c) {
		return nil, nil
	}
	var files []resolve.File
	for f := range tree.Files("") {
		if slices.Contains(r.Lang.Languages, f.Language) {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b resolve.File) int { return cmp.Compare(a.Path, b.Path) })
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	manifests, err := r.manifests(tree)
	if err != nil {
		return nil, err
	}
	p := newProgram(r.Lang, paths, manifests)
	run := r.Start(p)
	for _, f := range files {
		facts, err := tree.Facts(f)
		if err != nil {
			return nil, fmt.Errorf("facts of %s: %w", f.Path, err)
		}
		p.addFile(f, facts)
	}
	return run(ctx)
}

// manifests returns the files that the layout is read from, sorted by path.
func (r Resolver) manifests(tree resolve.Tree) ([]Manifest, error) {
	var all []Manifest
	for f := range tree.Files("") {
		if !slices.Contains(r.Lang.Manifests, f.Language) || f.Skipped != "" {
			continue
		}
		content, err := tree.Content(f)
		if err != nil {
			return nil, fmt.Errorf("content of %s: %w", f.Path, err)
		}
		all = append(all, Manifest{f.Path, content})
	}
	slices.SortFunc(all, func(a, b Manifest) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// concerns reports whether a change touches a file of the language or one that its layout is read
// from.
func (r Resolver) concerns(tree resolve.Tree, c resolve.Change) bool {
	for _, path := range c.Paths {
		for _, t := range []resolve.Tree{tree, c.Base} {
			f, ok := t.File(path)
			if ok && (slices.Contains(r.Lang.Languages, f.Language) || slices.Contains(r.Lang.Manifests, f.Language)) {
				return true
			}
		}
	}
	return false
}
