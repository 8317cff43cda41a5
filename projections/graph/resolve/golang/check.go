package golang

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
)

var (
	sizes      = types.SizesFor("gc", goarch)
	errMissing = errors.New("not in the repository, nor in the standard library")
)

// importing looks an import path up for one package's files. What it does not find
// the checker replaces with an empty package, and is silent about what comes of it.
type importing func(path string) (*types.Package, error)

func (f importing) Import(path string) (*types.Package, error) { return f(path) }

// checked is a package with what the checker says of its syntax. It lives only as
// long as its edges are made.
type checked struct {
	pkg  *types.Package
	info *types.Info
	fset *token.FileSet
	// failed says that the checker panicked: what it had said until then is used.
	failed bool
}

// check types files of one package. Errors are not looked at: their order depends
// on that of the files, and what they leave unknown shows in info.
func check(fset *token.FileSet, path string, files []*source, imports importing) *checked {
	c := &checked{fset: fset, info: &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Implicits:  map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Instances:  map[*ast.Ident]types.Instance{},
	}}
	c.run(path, files, imports, false)
	return c
}

// checkDeclarations types only what a package declares, for the packages that
// import it. ok is false where the checker panicked.
func checkDeclarations(fset *token.FileSet, path string, files []*source, imports importing) (pkg *types.Package, ok bool) {
	c := &checked{fset: fset}
	c.run(path, files, imports, true)
	return c.pkg, !c.failed
}

func (c *checked) run(path string, files []*source, imports importing, declarationsOnly bool) {
	name := "_"
	syntax := make([]*ast.File, len(files))
	for i, f := range files {
		syntax[i], name = f.syntax, f.pkg
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
	// The error is the first of those that Error got.
	_ = types.NewChecker(&config, c.fset, c.pkg, c.info).Files(syntax)
}
