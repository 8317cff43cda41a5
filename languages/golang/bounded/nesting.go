// Package bounded cuts Go that the checker of types cannot finish: what is nested too deep, and declarations that
// are too large once the names in them are replaced by what they mean. Nobody writes such code, but repositories
// have it as the tests of compilers, and the checker has no limits of its own.
package bounded

import (
	"go/ast"

	"golang.org/x/tools/go/ast/astutil"

	"github.com/recountdb/recount/languages/extract"
)

// Nesting empties what is nested more than extract.MaxDepth deep in a file, and reports whether there was any.
// Operators do not count: generated texts are joined by thousands of them.
func Nesting(file *ast.File) bool {
	depth, deepest := 0, 0
	var open []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			depth -= levels(open[len(open)-1])
			open = open[:len(open)-1]
			return true
		}
		open = append(open, n)
		depth += levels(n)
		deepest = max(deepest, depth)
		return true
	})
	if deepest <= extract.MaxDepth {
		return false
	}
	depth = 0
	astutil.Apply(file, func(c *astutil.Cursor) bool {
		if depth += levels(c.Node()); depth > extract.MaxDepth && cut(c) {
			depth--
			return false
		}
		return true
	}, func(c *astutil.Cursor) bool {
		depth -= levels(c.Node())
		return true
	})
	return true
}

func levels(n ast.Node) int {
	if _, ok := n.(*ast.BinaryExpr); ok || n == nil {
		return 0
	}
	return 1
}

// cut removes a node or what it has, if that is possible where it is.
func cut(c *astutil.Cursor) bool {
	switch n := c.Node().(type) {
	case *ast.BlockStmt:
		n.List = nil
	case *ast.FieldList:
		n.List = nil
	case *ast.IfStmt, *ast.LabeledStmt:
		c.Replace(&ast.EmptyStmt{Semicolon: n.Pos(), Implicit: true})
	case *ast.CallExpr:
		switch c.Parent().(type) {
		case *ast.DeferStmt, *ast.GoStmt:
			return false
		}
		c.Replace(&ast.BadExpr{From: n.Pos(), To: n.End()})
	case *ast.ParenExpr, *ast.UnaryExpr, *ast.StarExpr, *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr, *ast.SliceExpr,
		*ast.TypeAssertExpr, *ast.CompositeLit, *ast.ArrayType, *ast.MapType, *ast.ChanType:
		c.Replace(&ast.BadExpr{From: n.Pos(), To: n.End()})
	default:
		return false
	}
	return true
}
