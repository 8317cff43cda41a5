package golang

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"
)

var sizes = types.SizesFor("gc", goarch)

// missing is what stands for a package that is not here: an empty one, of whose
// names the checker says nothing.
func missing(importPath, name string) *types.Package {
	pkg := types.NewPackage(importPath, name)
	pkg.MarkComplete()
	return pkg
}

// guessedName is what a package is most likely called, by its path alone: without
// the version at its end, and without the "go" that a repository's name may have.
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

// importing looks an import path up for one package's files.
type importing func(path string) (*types.Package, error)

func (f importing) Import(path string) (*types.Package, error) { return f(path) }

// checked is a package with what the checker says of its syntax. It lives only as
// long as its edges are made.
type checked struct {
	pkg  *types.Package
	info *info // nil where only what is declared was wanted
	fset *token.FileSet
	// failed says that the checker panicked: what it had said until then is used.
	failed bool
}

// check types files of one package. Errors are not looked at: their order depends
// on that of the files, and what they leave unknown shows in info.
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

// syntaxOf is what the checker is to read of files now: while the package is checked
// it may become more.
func syntaxOf(files []*source) []*ast.File {
	all := make([]*ast.File, len(files))
	for i, f := range files {
		all[i] = f.syntax
	}
	return all
}

// checkDeclarations types only what a package declares, for the packages that
// import it. ok is false where the checker panicked.
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
	// The error is the first of those that Error got.
	_ = types.NewChecker(&config, c.fset, c.pkg, said).Files(syntax)
}
