package scope

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/recountdb/recount/projections/graph/resolve"
)

const python = "python"

// Resolver resolves Python. It keeps nothing between snapshots.
type Resolver struct{}

var _ resolve.Resolver = Resolver{}

// New makes a resolver.
func New() Resolver { return Resolver{} }

// Name implements resolve.Resolver.
func (Resolver) Name() string { return "python/1" }

// Languages implements resolve.Resolver.
func (Resolver) Languages() []string { return []string{python} }

// Resolve implements resolve.Resolver: it returns every file where one of them
// changed, and none where none did.
func (Resolver) Resolve(ctx context.Context, tree resolve.Tree, c resolve.Change) ([]resolve.FileGraph, error) {
	if c.Base != nil && !concerns(tree, c) {
		return nil, nil
	}
	var files []resolve.File
	for f := range tree.Files("") {
		if f.Language == python {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b resolve.File) int { return cmp.Compare(a.Path, b.Path) })
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	p := newProgram(newPythonLayout(paths))
	for _, f := range files {
		facts, err := tree.Facts(f)
		if err != nil {
			return nil, fmt.Errorf("facts of %s: %w", f.Path, err)
		}
		p.addFile(f, facts)
	}
	return p.resolve(ctx)
}

// concerns reports whether a change has to do with a file of the language.
func concerns(tree resolve.Tree, c resolve.Change) bool {
	for _, path := range c.Paths {
		if f, ok := tree.File(path); ok && f.Language == python {
			return true
		}
		if f, ok := c.Base.File(path); ok && f.Language == python {
			return true
		}
	}
	return false
}

// resolve makes the graphs of the program's files.
func (p *program) resolve(ctx context.Context) ([]resolve.FileGraph, error) {
	for _, m := range p.modules {
		p.addImports(m)
	}
	p.addBases()
	if err := p.solve(ctx); err != nil {
		return nil, err
	}
	p.solved = true
	graphs := make([]resolve.FileGraph, len(p.modules))
	byPath := make(map[string]*resolve.FileGraph, len(p.modules))
	for i, m := range p.modules {
		graphs[i] = resolve.Base(m.file, m.facts, m.name)
		byPath[m.file.Path] = &graphs[i]
	}
	routing := newRouting(p)
	for i, m := range p.modules {
		l := linker{p, m, &graphs[i]}
		l.link()
		routing.routes(m, byPath)
	}
	for i := range graphs {
		graphs[i].Normalize()
	}
	return graphs, nil
}
