package golang

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
)

// TestWhatAFileUsesWithoutNamingIt checks that a change in one file is noticed in another file that
// never names what changed. Each case is applied and reverted.
func TestWhatAFileUsesWithoutNamingIt(t *testing.T) {
	for _, c := range []struct{ name, use, rest, other, changed string }{
		{
			"a constraint that its argument comes to satisfy",
			"package a\n\nfunc use() { gen(make1())() }\n",
			"package a\n\nfunc gen[T stringer](x T) func(T) { return nil }\n",
			"package a\n\ntype one struct{}\ntype stringer interface{ String() string }\n\nfunc make1() one { return one{} }\n",
			"package a\n\ntype one struct{}\ntype stringer interface{ String() string }\n\nfunc (one) String() string { return \"\" }\nfunc make1() one { return one{} }\n",
		}, {
			"a conversion to an interface that becomes possible",
			"package a\n\nfunc use() { doer(make1()).do() }\n",
			"package a\n\ntype doer interface{ do(); more() }\n",
			"package a\n\ntype one struct{}\n\nfunc (one) do() {}\nfunc make1() one { return one{} }\n",
			"package a\n\ntype one struct{}\n\nfunc (one) do() {}\nfunc (one) more() {}\nfunc make1() one { return one{} }\n",
		}, {
			"a key of a map that becomes an interface's",
			"package a\n\nfunc use() { all[make1()].do() }\n",
			"package a\n\nvar all map[key]doer\n\ntype doer interface{ do() }\ntype key interface{ id() }\n",
			"package a\n\ntype one struct{}\n\nfunc make1() one { return one{} }\n",
			"package a\n\ntype one struct{}\n\nfunc (one) id() {}\nfunc make1() one { return one{} }\n",
		}, {
			"fields by position",
			"package a\n\nvar list = []one{{f1, f2}}\n\nfunc f1() {}\nfunc f2() {}\n",
			"package a\n\nfunc use() { list[0].f() }\n",
			"package a\n\ntype one struct{ f, g func() }\n",
			"package a\n\ntype one struct{ g, f func() }\n",
		}, {
			"a conversion of structs",
			"package a\n\nfunc use() { two(make1()).do() }\n\ntype two struct{ x int }\n\nfunc (two) do() {}\n",
			"",
			"package a\n\ntype one struct{ x int }\n\nfunc make1() one { return one{} }\n",
			"package a\n\ntype one struct{ x, y int }\n\nfunc make1() one { return one{} }\n",
		}, {
			"a slice that becomes a map",
			"package a\n\nfunc use() {\n\tfor _, f := range make1() {\n\t\tf()\n\t}\n}\n",
			"",
			"package a\n\ntype one []func()\n\nfunc make1() one { return one{hit} }\nfunc hit() {}\n",
			"package a\n\ntype one map[int]func()\n\nfunc make1() one { return one{0: hit} }\nfunc hit() {}\n",
		}, {
			"a method promoted to the type that embeds its type",
			"package a\n\ntype outer struct{ one }\n",
			"package a\n\nvar _ doer = outer{}\n\ntype doer interface{ do() }\n",
			"package a\n\ntype one struct{}\n",
			"package a\n\ntype one struct{}\n\nfunc (one) do() {}\n",
		}, {
			"a method promoted to a local type",
			"package a\n\nfunc use() {\n\ttype outer struct{ one }\n\ttake(outer{})\n}\n",
			"package a\n\nfunc take(d doer) { d.do() }\n\ntype doer interface{ do() }\n",
			"package a\n\ntype one struct{}\n",
			"package a\n\ntype one struct{}\n\nfunc (one) do() {}\n",
		}, {
			"an embedded type that hides another",
			"package a\n\nfunc use(o outer) { o.do() }\n\ntype outer struct{ middle }\n",
			"",
			"package a\n\ntype inner struct{}\n\nfunc (inner) do() {}\n\ntype middle struct{ inner }\n",
			"package a\n\ntype inner struct{}\n\nfunc (inner) do() {}\n\ntype middle struct{ inner }\n\nfunc (middle) do() {}\n",
		}, {
			"a name that hides a builtin",
			"package a\n\nfunc use() { print(len(\"\")) }\n",
			"",
			"package a\n",
			"package a\n\nfunc len(string) int { return 0 }\n",
		}, {
			"an alias",
			"package a\n\nfunc use() { make1().do() }\n",
			"",
			"package a\n\ntype alias = one\ntype one struct{}\ntype two struct{}\n\nfunc (one) do() {}\nfunc (two) do() {}\nfunc make1() alias { return alias{} }\n",
			"package a\n\ntype alias = two\ntype one struct{}\ntype two struct{}\n\nfunc (one) do() {}\nfunc (two) do() {}\nfunc make1() alias { return alias{} }\n",
		}, {
			"an interface that asks for more",
			"package a\n\nfunc use() { take(one{}) }\n",
			"package a\n\ntype one struct{}\n\nfunc (one) do() {}\n",
			"package a\n\ntype doer interface{ do() }\n\nfunc take(d doer) { d.do() }\n",
			"package a\n\ntype doer interface{ do(); more() }\n\nfunc take(d doer) { d.do() }\n",
		}, {
			"a field by its name",
			"package a\n\nvar list = []one{{f: hit}}\n\nfunc hit() {}\n",
			"package a\n\nfunc use() { list[0].f() }\n",
			"package a\n\ntype one struct{ f func() }\n",
			"package a\n\ntype one struct{ f any }\n",
		}, {
			"a method that comes to hide an embedded one",
			"package a\n\nfunc (outer) do() {}\n",
			"package a\n\ntype outer struct{ *middle }\ntype middle struct{ one }\n",
			"package a\n\ntype one struct{}\n",
			"package a\n\ntype one struct{}\n\nfunc (*one) do() {}\n",
		}, {
			"a type that comes to embed",
			"package a\n\nfunc (outer) do() {}\n",
			"package a\n\ntype one struct{}\n\nfunc (*one) do() {}\n",
			"package a\n\ntype outer struct{}\n",
			"package a\n\ntype outer struct{ one }\n",
		}, {
			"a method promoted to a struct without a name",
			"package a\n\nfunc use() {\n\tvar v struct{ one }\n\tv.do()\n}\n",
			"",
			"package a\n\ntype one struct{}\n",
			"package a\n\ntype one struct{}\n\nfunc (one) do() {}\n",
		}, {
			"a method of a type parameter",
			"package a\n\nfunc use[T doer](v T) { v.do() }\n",
			"package a\n\ntype doer interface{ inner }\n",
			"package a\n\ntype inner interface{}\n",
			"package a\n\ntype inner interface{ do() }\n",
		}, {
			"a field behind a pointer with a name",
			"package a\n\nfunc use(v pointer) { v.f.do() }\n",
			"package a\n\ntype pointer *one\ntype two struct{}\ntype three struct{}\n\nfunc (two) do() {}\nfunc (three) do() {}\n",
			"package a\n\ntype one struct{ f two }\n",
			"package a\n\ntype one struct{ f three }\n",
		}, {
			"a field that becomes a method",
			"package a\n\nfunc use(v one) { v.f(); _ = one.f }\n",
			"package a\n\nfunc hit() {}\n",
			"package a\n\ntype one struct{ f func() }\n",
			"package a\n\ntype one struct{}\n\nfunc (one) f() {}\n",
		}, {
			"a name that two embedded types come to have",
			"package a\n\nfunc use(o outer) { o.do() }\n",
			"package a\n\ntype outer struct{ one; two }\ntype two struct{}\n\nfunc (two) do() {}\n",
			"package a\n\ntype one struct{}\n",
			"package a\n\ntype one struct{}\n\nfunc (one) do() {}\n",
		}, {
			"a method of an instance",
			"package a\n\nfunc use(o *one[two]) { o.get().do() }\n",
			"package a\n\ntype two struct{}\n\nfunc (two) do() {}\n",
			"package a\n\ntype one[T any] struct{ t T }\n\nfunc (o *one[T]) get() *T { return &o.t }\n",
			"package a\n\ntype one[T any] struct{ t T }\n\nfunc (o *one[T]) get() []T { return nil }\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			one := resolvetest.New(map[string]string{"go.mod": "module m\n", "a/use.go": c.use, "a/rest.go": c.rest, "a/other.go": c.other}, readFacts)
			two := one.With(map[string]string{"a/other.go": c.changed})
			resolvetest.Series(t, fresh, one, two, one)
			// The same with the change in the same file.
			in := func(other string) map[string]string {
				return map[string]string{"a/use.go": c.use + strings.TrimPrefix(other, "package a\n")}
			}
			one = one.With(in(c.other), "a/other.go")
			resolvetest.Series(t, fresh, one, one.With(in(c.changed)), one)
		})
	}
}

func TestWhatAPackageUsesOfAnother(t *testing.T) {
	tree := resolvetest.Archive(t, `
-- go.mod --
module m
-- base/base.go --
package base

type Inner struct{}
type Outer struct{ Inner }

func Make() Outer { return Outer{} }
-- middle/middle.go --
package middle

import "m/base"

type Middle struct{ base.Outer }

func Make() *Middle { return nil }
func Other() []base.Outer { return nil }
-- middle/more.go --
package middle

func more() { helper() }
func helper() {}
-- use/use.go --
package use

import "m/middle"

type doer interface{ Do() }

func use() {
	middle.Make().Do()
	for _, o := range middle.Other() { o.Do(); doer(o).Do() }
}
-- use/idle.go --
package use

func idle() { use() }
`, readFacts)
	trees := []*resolvetest.Tree{tree}
	for _, base := range []string{
		"package base\n\ntype Inner struct{}\ntype Outer struct{ Inner }\n\nfunc (Inner) Do() {}\nfunc Make() Outer { return Outer{} }\n",
		"package base\n\ntype Inner struct{}\ntype Outer struct{ Inner }\n\nfunc (Inner) Do() {}\nfunc (*Outer) Do() {}\nfunc Make() Outer { return Outer{} }\n",
		"package base\n\ntype Inner struct{}\ntype Outer = Inner\n\nfunc (Inner) Do() {}\nfunc Make() Outer { return Outer{} }\n",
		"package base\n\ntype Inner interface{ Do() }\ntype Outer struct{ Inner }\n\nfunc Make() Outer { return Outer{} }\n",
		"package base2\n\ntype Inner interface{ Do() }\ntype Outer struct{ Inner }\n",
		"package base\n\ntype Inner interface{ Do() }\ntype Outer struct{ Inner }\n",
	} {
		trees = append(trees, trees[len(trees)-1].With(map[string]string{"base/base.go": base}))
	}
	last := trees[len(trees)-1]
	trees = append(trees, last.With(nil, "base/base.go"), last, tree)
	resolvetest.Series(t, fresh, trees...)
}

// reading is a tree that records the files whose content is read.
type reading struct {
	*resolvetest.Tree
	mu   sync.Mutex
	read []string
}

func (r *reading) Content(f resolve.File) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = append(r.read, f.Path)
	return r.Tree.Content(f)
}

func TestOnlyFilesThatUseWhatChangedAreRead(t *testing.T) {
	tree := resolvetest.Archive(t, `
-- go.mod --
module m
-- a/client.go --
package a

type Client struct{ name string }

func (c *Client) Do() {}
-- a/use.go --
package a

func use(c *Client) { c.Do() }
-- a/name.go --
package a

func (c *Client) title() string { return c.name }
-- a/server.go --
package a

type Server struct{ name string }

func (s *Server) Do() {}
func both(s *Server) { s.Do(); _ = Server{name: s.name}; _ = struct{ a, b int }{} }
var client = func() *Client { return nil }
-- b/b.go --
package b

import "m/a"

func Run(c *a.Client) { c.Do() }
-- b/more.go --
package b

func More() { Run(nil) }
`, readFacts)
	for _, c := range []struct {
		name, client string
		want         []string
	}{
		{"a body", "package a\n\ntype Client struct{ name string }\n\nfunc (c *Client) Do() { c.Do() }\n", []string{"a/client.go"}},
		{"a new method", "package a\n\ntype Client struct{ name string }\n\nfunc (c *Client) Do() {}\nfunc (c *Client) New() {}\n", []string{"a/client.go"}},
		{"a method's signature", "package a\n\ntype Client struct{ name string }\n\nfunc (c *Client) Do(...int) {}\n", []string{"a/client.go", "a/use.go", "b/b.go"}},
		{"a field's type", "package a\n\ntype Client struct{ name int }\n\nfunc (c *Client) Do() {}\n", []string{"a/client.go", "a/name.go"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fresh()
			resolvetest.Full(t, r, tree)
			next := &reading{Tree: tree.With(map[string]string{"a/client.go": c.client})}
			if _, err := r.Resolve(context.Background(), next, next.Change(tree)); err != nil {
				t.Fatal(err)
			}
			next.read = slices.DeleteFunc(next.read, func(p string) bool { return p == "go.mod" })
			slices.Sort(next.read)
			if diff := cmp.Diff(c.want, slices.Compact(next.read)); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}
