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

// unit is what is checked together: a package with its own tests, or an external
// test package.
type unit struct {
	path  string // its canonical path, with _test where it is external
	files []*source
	names []*declared // of each file
	*checked
	// own are the keys of everything that the unit declares.
	own map[types.Object]schemas.NodeKey
	// foreign finds a symbol of another package of the repository; ours says whether
	// the package is of the repository at all.
	foreign func(pkg *types.Package, chain string) (key schemas.NodeKey, ours bool)
	graphs  []resolve.FileGraph // of each file; empty where it is kept from before
	found   []found             // of each file, once it is linked
}

// newUnit checks the files and readies their graphs, with nothing but nodes yet.
func newUnit(fset *token.FileSet, path string, files []*source, names []*declared, imports importing, spare *infos, foreign func(*types.Package, string) (schemas.NodeKey, bool)) *unit {
	u := &unit{
		path: path, files: files, names: names, foreign: foreign,
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

// syntaxGraph is the part of a file's graph that needs no types.
func syntaxGraph(f *source, names *declared) resolve.FileGraph {
	return resolve.FileGraph{Path: f.Path, Nodes: slices.Clip(names.nodes), Edges: slices.Clip(names.edges)}
}

// target says where an object stands.
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

// importPath is what an import declaration asks for.
func importPath(spec *ast.ImportSpec) string {
	return strings.Trim(spec.Path.Value, "`\"")
}
