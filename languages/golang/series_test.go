package golang

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
)

const shop = `
-- go.mod --
module example.com/shop
-- store/store.go --
package store

type Store interface{ Get(id string) (Item, error) }
type Item struct{ ID string; price int }

func (i Item) Price() int { return i.price }
-- memory/memory.go --
package memory

import "example.com/shop/store"

type Memory struct{ items map[string]store.Item }

func New() *Memory { return &Memory{} }
func (m *Memory) Get(id string) (store.Item, error) { return m.items[id], nil }
-- cart/cart.go --
package cart

import "example.com/shop/store"

type Cart struct{ s store.Store }

func (c *Cart) Total(ids ...string) (sum int) {
	for _, id := range ids {
		item, err := c.s.Get(id)
		if err == nil {
			sum += item.Price()
		}
	}
	return sum
}
-- cart/cart_test.go --
package cart_test

import (
	"testing"

	"example.com/shop/cart"
	"example.com/shop/memory"
)

func TestTotal(t *testing.T) { new(cart.Cart).Total(); memory.New() }
-- cmd/shop/main.go --
package main

import (
	"example.com/shop/cart"
	"example.com/shop/memory"
)

func main() { _ = memory.New(); new(cart.Cart).Total("a") }
`

// changes are commits to shop, each on top of the previous one: the files written, and the files
// deleted ("" as content).
var changes = []struct {
	name  string
	files map[string]string
}{
	{"a body", map[string]string{"memory/memory.go": "package memory\n\nimport \"example.com/shop/store\"\n\ntype Memory struct{ items map[string]store.Item }\n\nfunc New() *Memory { return new(Memory) }\nfunc (m *Memory) Get(id string) (store.Item, error) { _ = New(); return m.items[id], nil }\n"}},
	{"a method leaves its interface unimplemented", map[string]string{"memory/memory.go": "package memory\n\nimport \"example.com/shop/store\"\n\ntype Memory struct{}\n\nfunc New() *Memory { return new(Memory) }\nfunc (m *Memory) Get(id string) store.Item { return store.Item{} }\n"}},
	{"the API of what all import", map[string]string{"store/store.go": "package store\n\ntype Store interface{ Get(id string) Item }\ntype Item struct{ ID string }\n\nfunc (i Item) Cost() int { return 0 }\n"}},
	{"a declaration moves to another file", map[string]string{"store/item.go": "package store\n\ntype Item struct{ ID string }\n\nfunc (i Item) Price() int { return 0 }\n", "store/store.go": "package store\n\ntype Store interface{ Get(id string) Item }\n"}},
	{"a package goes", map[string]string{"memory/memory.go": ""}},
	{"a package comes back elsewhere", map[string]string{"memory/memory.go": "package memory\n\nfunc New() int { return 0 }\n", "memory/sub/x.go": "package sub\n\nimport \"example.com/shop/memory\"\n\nvar X = memory.New()\n"}},
	{"the module is renamed", map[string]string{"go.mod": "module example.com/store\n"}},
	{"and back, with a circle of imports", map[string]string{"go.mod": "module example.com/shop\n", "store/circle.go": "package store\n\nimport \"example.com/shop/cart\"\n\nvar C cart.Cart\n"}},
	{"the circle is gone", map[string]string{"store/circle.go": ""}},
	{"a file that does not parse", map[string]string{"store/item.go": "package store\n\ntype Item struct{ ID string \n\nfunc (i Item) Price( int { return 0 }\n"}},
	{"no Go left", map[string]string{"store/item.go": "", "store/store.go": "", "memory/memory.go": "", "memory/sub/x.go": "", "cart/cart.go": "", "cart/cart_test.go": "", "cmd/shop/main.go": ""}},
}

func history(tb testing.TB) []*resolvetest.Tree {
	trees := []*resolvetest.Tree{resolvetest.Archive(tb, shop, readFacts)}
	for _, c := range changes {
		written := map[string]string{}
		var gone []string
		for p, content := range c.files {
			if content == "" {
				gone = append(gone, p)
			} else {
				written[p] = content
			}
		}
		trees = append(trees, trees[len(trees)-1].With(written, gone...))
	}
	return trees
}

func TestCommitByCommitEqualsTheWhole(t *testing.T) {
	resolvetest.Series(t, fresh, history(t)...)
}

func TestOnlyWhatDiffersIsReturned(t *testing.T) {
	trees := history(t)
	r := fresh()
	resolvetest.Full(t, r, trees[0])
	for i, want := range [][]string{
		{"memory/memory.go"},
		{"memory/memory.go"},
	} {
		graphs, err := r.Resolve(context.Background(), trees[i+1], trees[i+1].Change(trees[i]))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range graphs {
			got = append(got, g.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", changes[i].name, diff)
		}
	}
}

// shuffled is a tree that yields its files in another order.
type shuffled struct{ *resolvetest.Tree }

func (s shuffled) Files(dir string) iter.Seq[resolve.File] {
	files := slices.Collect(s.Tree.Files(dir))
	slices.Reverse(files)
	return slices.Values(files)
}

func TestTheOrderOfFilesDoesNotMatter(t *testing.T) {
	tree := resolvetest.Archive(t, shop, readFacts)
	want := resolvetest.Full(t, fresh(), tree)
	graphs, err := fresh().Resolve(context.Background(), shuffled{tree}, resolve.Change{})
	if err != nil {
		t.Fatal(err)
	}
	got := resolvetest.Graph{}
	for _, g := range graphs {
		got[g.Path] = g
	}
	if string(want.Bytes(t)) != string(got.Bytes(t)) {
		t.Error(resolvetest.Diff(want, got))
	}
}

// TestFilesThatDoNotChangeMeanWhatTheOthersSay changes one file of a package per commit, which may
// change what the other files mean.
func TestFilesThatDoNotChangeMeanWhatTheOthersSay(t *testing.T) {
	trees := []*resolvetest.Tree{resolvetest.Archive(t, `
-- go.mod --
module m
-- use.go --
// Package a has a use.
package a

import "fmt"

type outer struct{ inner }

func use(o outer) {
	o.up()
	o.f.do()
	fmt.Println(max(1, 2))
	run(func() { helper() })
	type local struct{ inner }
	for _, d := range list { d.do() }
}
-- types.go --
package a

type doer interface{ do() }
type inner struct{ f doer }
type one struct{}
type two struct{}

func (inner) up() {}
func (one) do()   {}
func (two) do()   {}

var list = []doer{one{}}
-- funcs.go --
package a

func helper()      {}
func run(f func()) { f() }
-- a_test.go --
package a

import "testing"

func TestUse(t *testing.T) { use(outer{}) }
-- x_test.go --
package a_test

import "testing"

func TestX(t *testing.T) { TestY(t) }
func TestY(*testing.T)   {}
`, readFacts)}
	for _, c := range []map[string]string{
		{"funcs.go": "package a\n\n// A body.\n\nfunc helper()      { helper() }\nfunc run(f func()) { f(); f() }\n"},
		{"funcs.go": "package a\n\nfunc helper()      { helper() }\nfunc run(f func()) {}\nfunc max(a, b int) int { return a }\n"},
		{"types.go": "package a\n\ntype doer interface{ do() }\ntype inner struct{ f two }\ntype one struct{}\ntype two struct{}\n\nfunc (inner) up() {}\nfunc (one) do()   {}\nfunc (two) do()   {}\n\nvar list = []doer{one{}}\n"},
		{"types.go": "package a\n\ntype doer interface{ do() }\ntype inner struct{ f two }\ntype one struct{}\ntype two struct{}\n\nfunc (inner) up() {}\nfunc (one) do()   {}\nfunc (two) do()   {}\n\nvar list = []doer{one{}, two{}}\n"},
		{"types.go": "package a\n\ntype inner struct{ f two }\ntype two struct{}\n\nfunc (*two) do()   {}\n\nvar list = []two{}\n", "doer.go": "package a\n\ntype doer interface{ do() }\n"},
		{"x_test.go": "package a_test\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n"},
		{"use.go": "package a\n\nfunc use( {\n"},
		{"funcs.go": "package a\n"},
	} {
		trees = append(trees, trees[len(trees)-1].With(c))
	}
	resolvetest.Series(t, fresh, trees...)
}

func TestAPrefixInOneFileIsOfTheRoutesInAnother(t *testing.T) {
	first := resolvetest.Archive(t, `
-- go.mod --
module m
-- a.go --
package a

import "github.com/go-chi/chi/v5"

func routes() { chi.NewRouter().Route("/v1", users) }
-- users.go --
package a

import "github.com/go-chi/chi/v5"

func users(r chi.Router) { r.Get("/users", list) }
func list()              {}
`, readFacts)
	second := first.With(map[string]string{"a.go": "package a\n\nimport \"github.com/go-chi/chi/v5\"\n\nfunc routes() { chi.NewRouter().Route(\"/v2\", users) }\n"})
	resolvetest.Series(t, fresh, first, second)
	want := []string{"handles_route users.go:GET /v2/users -> users.go:list @5:27"}
	got := resolvetest.Full(t, fresh(), second).Text("handles_route")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

// TestAFileJoinsAnotherPackage changes the package clause of files: the names of one package of a directory are not
// those of another, though the directory has them all.
func TestAFileJoinsAnotherPackage(t *testing.T) {
	first := resolvetest.New(map[string]string{
		"go.mod": "module example.com/app\n", "a.go": "package app\n\nvar all = []int{one}\n\nfunc use() int { return help() }\n", "b.go": "package app\n\nvar one = 1\n\nfunc help() int { return 2 }\n",
		"a_test.go": "package app\n\nfunc check() int { return fixture() }\n", "b_test.go": "package app\n\nfunc fixture() int { return 3 }\n",
	}, readFacts)
	other := first.With(map[string]string{"b.go": "package other\n\nvar one = 1\n\nfunc help() int { return 2 }\n"})
	outside := first.With(map[string]string{"b_test.go": "package app_test\n\nfunc fixture() int { return 3 }\n"})
	resolvetest.Series(t, fresh, first, other, first, outside, first)
}
