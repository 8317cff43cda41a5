package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"

	"github.com/recountdb/recount/languages/golang/bounded"
)

var sizes = types.SizesFor("gc", goarch)

// missing returns a placeholder for a package that is not available: an empty package for
// whose names the checker reports nothing.
func missing(importPath, name string) *types.Package {
	pkg := types.NewPackage(importPath, name)
	pkg.MarkComplete()
	return pkg
}

// guessedName returns the most likely name of a package, by its path alone: without a
// version at the end, and without the "go" that a repository's name may contain.
func guessedName(importPath string) string {
	name := path.Base(importPath)
	if isVersion(name) && path.Dir(importPath) != "." {
		name = path.Base(path.Dir(importPath))
	}
	if i := strings.LastIndex(name, ".v"); i > 0 && isVersion(name[i+1:]) { // gopkg.in/yaml.v3
		name = name[:i]
	}
	name = strings.TrimPrefix(name, "go-")
	for _, suffix := range []string{"-go", ".go", "-golang"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.ReplaceAll(name, "-", "_")
}

// isVersion reports whether a part of a path is a major version: "v2".
func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}

// importing resolves an import path for the files of one package.
type importing func(path string) (*types.Package, error)

func (f importing) Import(path string) (*types.Package, error) { return f(path) }

// checked is a type-checked package. It is kept only until its edges are made.
type checked struct {
	pkg  *types.Package
	info *info // nil where only what is declared was wanted
	fset *token.FileSet
	// failed is true if the checker panicked: its results until then are used.
	failed bool
}

// check type-checks the files of one package. Errors are ignored: their order depends on
// that of the files, and info shows what remains unknown.
func check(fset *token.FileSet, path string, files []*source, imports importing, spare *infos) *checked {
	bodies, rest := 0, 0
	for _, f := range files {
		b, r := f.sizes()
		bodies, rest = bodies+b, rest+r
	}
	c := &checked{fset: fset, info: spare.take(bodies, rest)}
	c.run(path, syntaxOf(files), imports, false)
	return c
}

// syntaxOf returns the syntax of files that the checker reads now; more may be added while
// the package is checked.
func syntaxOf(files []*source) []*ast.File {
	all := make([]*ast.File, len(files))
	for i, f := range files {
		all[i] = f.syntax
	}
	return all
}

// checkDeclarations type-checks only a package's declarations, for the packages that import
// it. ok is false if the checker panicked.
func checkDeclarations(fset *token.FileSet, path string, syntax []*ast.File, imports importing) (pkg *types.Package, ok bool) {
	c := &checked{fset: fset}
	c.run(path, syntax, imports, true)
	return c.pkg, !c.failed
}

func (c *checked) run(path string, syntax []*ast.File, imports importing, declarationsOnly bool) {
	name := "_"
	if len(syntax) > 0 {
		name = syntax[0].Name.Name
	}
	c.pkg = types.NewPackage(path, name)
	config := types.Config{
		Importer: imports, Sizes: sizes, Error: func(error) {}, IgnoreFuncBodies: declarationsOnly,
		FakeImportC: true, DisableUnusedImportCheck: true,
	}
	defer func() {
		if r := recover(); r != nil {
			c.failed = true
		}
	}()
	var said *types.Info
	if c.info != nil {
		said = c.info.Info
	}
	// The error is the first of those passed to Error.
	_ = types.NewChecker(&config, c.fset, c.pkg, said).Files(bounded.Declarations(syntax))
}
