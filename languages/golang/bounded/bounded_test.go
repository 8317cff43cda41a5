package bounded

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/recountdb/recount/languages/extract"
)

func parse(t *testing.T, source string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "a.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNesting(t *testing.T) {
	for _, c := range [][3]string{
		{"func f() ", "{ if a ", "{}"},
		{"func f() { ", "if a {} else ", "{}"},
		{"var a = ", "(", "1"},
		{"var a = ", "func() { f(", "1"},
		{"type a ", "struct { a ", "int"},
		{"type a ", "func(a ", "int"},
		{"type a ", "[]", "int"},
		{"func f() { ", "a: ", "{}"},
		{"func f() { defer ", "f(", "1"},
	} {
		deep := c[0] + strings.Repeat(c[1], 2000) + c[2]
		if f, _ := parser.ParseFile(token.NewFileSet(), "a.go", "package a\n"+deep, parser.SkipObjectResolution); !Nesting(f) || depth(f) > extract.MaxDepth+10 {
			t.Errorf("%.40s… is still %d deep", deep, depth(f))
		}
	}
	if Nesting(parse(t, "package a\nvar a = `a`"+strings.Repeat(" +\n`a`", 5000))) {
		t.Error("a text of many lines is cut")
	}
}

// depth returns how deep a file is nested.
func depth(f *ast.File) (deepest int) {
	n := 0
	ast.Inspect(f, func(of ast.Node) bool {
		if n++; of == nil {
			n -= 2
		}
		deepest = max(deepest, n)
		return true
	})
	return deepest
}

// TestDeclarations has what ordinary packages have, which must not be cut, beside what must be.
func TestDeclarations(t *testing.T) {
	var doubled strings.Builder
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&doubled, "type D%d struct { a, b D%d }\nconst C%d = C%d + C%d\n", i, i-1, i, i-1, i-1)
	}
	for _, c := range []struct {
		source string
		cut    bool
	}{
		{"type D0 int\nconst C0 = `a`\n" + doubled.String(), true},
		{"type D0 int\nfunc f() { const C0 = `a`\n" + doubled.String() + "}\n", true},
		{"type A[T any] struct { *A[[]T] }\n", true},
		{"type A[T any] struct { *B[T] }\ntype B[T any] struct { *A[*T] }\n", true},
		{"type A[T any] struct { *A[T]; next *A[[]T] }\ntype B[T any] struct { A[[]T] }\n", false},
		{"type A struct { a, b *A; c []A; d map[string]A; e func(A) A }\ntype I interface { J; f() I }\ntype J interface { g() I }\n", false},
		{"const (\n A = iota\n B\n C = A + B + C\n)\ntype S struct { S }\n", false},
	} {
		files := []*ast.File{parse(t, "package a\n"+c.source)}
		if got := Declarations(files)[0] != files[0]; got != c.cut {
			t.Errorf("cut %v: %.80s", got, c.source)
		}
	}
}
