package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
)

// unit is the files that are checked together: a package with its own tests, or an external test
// package.
type unit struct {
	files []*source
	names []*declared // of each file
	*checked
	// own has the keys of everything that the unit declares.
	own map[types.Object]schemas.NodeKey
	// foreign finds a symbol of another package; ours is true if that package is in the repository.
	foreign func(pkg *types.Package, chain string) (key schemas.NodeKey, ours bool)
	graphs  []resolve.FileGraph // of each file; empty if it is kept from before
	found   []found             // of each file, once it is linked
}

// newUnit checks the files and prepares their graphs, which have only nodes yet.
func newUnit(fset *token.FileSet, path string, files []*source, names []*declared, imports importing, spare *infos, foreign func(*types.Package, string) (schemas.NodeKey, bool)) *unit {
	u := &unit{
		files: files, names: names, foreign: foreign,
		checked: check(fset, path, files, imports, spare), own: map[types.Object]schemas.NodeKey{},
	}
	for i := range files {
		for ident, key := range names[i].ofName {
			if obj := u.info.Defs[ident]; obj != nil {
				u.own[obj] = key
			}
		}
		for field, key := range names[i].ofField {
			if obj := u.info.Defs[embeddedName(field.Type)]; obj != nil {
				u.own[obj] = key
			}
		}
		if files[i].kept == nil {
			u.graphs = append(u.graphs, syntaxGraph(files[i], names[i]))
		} else {
			u.graphs = append(u.graphs, resolve.FileGraph{})
		}
	}
	return u
}

// syntaxGraph returns the part of a file's graph that needs no types.
func syntaxGraph(f *source, names *declared) resolve.FileGraph {
	return resolve.FileGraph{Path: f.Path, Nodes: slices.Clip(names.nodes), Edges: slices.Clip(names.edges)}
}

// target returns where an object is declared.
func (u *unit) target(obj types.Object) target {
	obj = origin(obj)
	if key, ok := u.own[obj]; ok {
		return target{key: key}
	}
	pkg := obj.Pkg()
	if pkg == u.pkg {
		return target{}
	}
	chain := chainOf(obj)
	if chain == "" {
		return target{}
	}
	if pkg == nil {
		return target{external: true, pkg: "builtin", name: chain}
	}
	if key, ours := u.foreign(pkg, chain); ours {
		return target{key: key}
	}
	return target{external: true, pkg: pkg.Path(), name: chain}
}

// importPath returns the path in an import declaration.
func importPath(spec *ast.ImportSpec) string {
	return strings.Trim(spec.Path.Value, "`\"")
}
