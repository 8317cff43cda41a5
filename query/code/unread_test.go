package code_test

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/languages"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query/code"
)

// TestMajorVersions checks that a package is called what code calls it, and is found with its version too.
func TestMajorVersions(t *testing.T) {
	m := memoryOf(t, snapshots.Options{Resolvers: languages.Resolvers})
	m.commit("github.com/acme/shop", "Ada", `a base
-- go.mod --
module github.com/acme/shop/v5
-- shop.go --
package shop

func Run() {}
-- run_test.go --
package shop_test

func Helper() {}
-- api/v2/types.go --
package v2

type Order struct{}
-- cart/cart.go --
package cart

func Add() {}
`)
	for typed, want := range map[string]string{
		"shop.Run":                     "shop.Run",
		"v5.Run":                       "shop.Run",
		"acme/shop.Run":                "shop.Run",
		"github.com/acme/shop/v5.Run":  "shop.Run",
		"shop_test.Helper":             "shop_test.Helper",
		"v2.Order":                     "v2.Order",
		"cart.Add":                     "cart.Add",
		"github.com/acme/shop/v5/cart": "cart/",
	} {
		c, err := code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: typed})
		if err != nil || c.Symbol.Name != want {
			t.Errorf("%s is %q, want %q (%v)", typed, c.Symbol.Name, want, err)
		}
	}
	s, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: "shop.Run"})
	if err != nil || len(s.Symbols) == 0 || s.Symbols[0].Name != "shop.Run" {
		t.Errorf("symbols: %+v (%v)", s.Symbols, err)
	}
}

// TestPackageMain checks that what a program declares is also found by the name that its code has,
// package main; the graph calls the package as its directory is called.
func TestPackageMain(t *testing.T) {
	m := memoryOf(t, snapshots.Options{Resolvers: languages.Resolvers})
	m.commit("github.com/acme/shop", "Ada", `a base
-- go.mod --
module github.com/acme/shop
-- cmd/till/main.go --
package main

func main() { run() }

func run() { helper() }

type app struct{}

func (app) Close() {}

func helper() {}
-- till/till.go --
package till

func helper() {}
`)
	for typed, want := range map[string]string{
		"main.main":      "till.main cmd/till/main.go:3",
		"main.run":       "till.run cmd/till/main.go:5",
		"main.app.Close": "till.app.Close cmd/till/main.go:9",
		"main.helper":    "till.helper cmd/till/main.go:11",
		"till.run":       "till.run cmd/till/main.go:5",
	} {
		c, err := code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: typed})
		if got := c.Symbol.Name + " " + c.Symbol.Place(); err != nil || got != want {
			t.Errorf("%s is %s, want %s (%v)", typed, got, want, err)
		}
	}
	if _, err := code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: "main.nothing"}); err == nil {
		t.Error("main.nothing was found")
	}
}

// TestImpactCountsTests checks that impact counts the same tests as the verb tests: what a runner runs, and
// no variables and types beside them.
func TestImpactCountsTests(t *testing.T) {
	m := memoryOf(t, snapshots.Options{Resolvers: languages.Resolvers})
	m.commit("github.com/acme/shop", "Ada", `a base
-- go.mod --
module github.com/acme/shop
-- cart/cart.go --
package cart

type Cart struct{}
-- cart/cart_test.go --
package cart

import "testing"

var empty = Cart{}

type scenario struct{ cart Cart }

func TestCart(t *testing.T) { _ = empty }
`)
	impact, err := code.Impact(t.Context(), m.s, code.ImpactRequest{Symbol: "cart.Cart"})
	if err != nil {
		t.Fatal(err)
	}
	tests, err := code.Tests(t.Context(), m.s, code.TestsRequest{Symbol: "cart.Cart"})
	if err != nil {
		t.Fatal(err)
	}
	if impact.TestCount != 1 || tests.Total != 1 || len(impact.Tests) != 1 || impact.Tests[0].Name != "cart.TestCart" {
		t.Errorf("impact has %d tests %+v, tests %d; want TestCart in both", impact.TestCount, impact.Tests, tests.Total)
	}
}

// TestUnresolvedDirectories checks that an answer about a Go file that the go command leaves out says so.
func TestUnresolvedDirectories(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `a base
-- go.mod --
module example.org/shop
-- shop.go --
package shop

func Run() {}
-- _examples/a/main.go --
package main

import "example.org/shop"

func main() { shop.Run() }
`)
	const want = "edges of _examples/a/main.go are not known: go build ./... leaves out _examples/a"
	if c, err := code.Callees(t.Context(), m.s, code.CallsRequest{Symbol: "_examples/a/main.go:main"}); err != nil || c.Hint != want {
		t.Errorf("callees says %q (%v)", c.Hint, err)
	}
	if i, err := code.Impact(t.Context(), m.s, code.ImpactRequest{Symbol: "_examples/a/main.go"}); err != nil || i.Hint != want {
		t.Errorf("impact says %q (%v)", i.Hint, err)
	}
	if c, err := code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: "shop.go:Run"}); err != nil || strings.Contains(c.Hint, "leaves out") {
		t.Errorf("callers of what is built says %q (%v)", c.Hint, err)
	}
}

// TestUnreadLanguages checks that an answer about a file that is not read says so instead of 0.
func TestUnreadLanguages(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `a base
-- a.toy --
package a
function run
-- lib/base.rb --
class Base
end
-- lib/more.rb --
class More
end
`)
	const want = "Ruby is not read"
	i, err := code.Impact(t.Context(), m.s, code.ImpactRequest{Symbol: "lib/base.rb"})
	if err != nil || !strings.Contains(i.Hint, want) {
		t.Errorf("impact says %q (%v)", i.Hint, err)
	}
	c, err := code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: "lib/base.rb"})
	if err != nil || !strings.Contains(c.Hint, want) {
		t.Errorf("callers says %q (%v)", c.Hint, err)
	}
	s, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: "Basement"})
	if err != nil || !strings.Contains(s.Hint, "not read: 2 Ruby files") {
		t.Errorf("symbols says %q (%v)", s.Hint, err)
	}
	if i, err = code.Impact(t.Context(), m.s, code.ImpactRequest{Symbol: "a.toy"}); err != nil || strings.Contains(i.Hint, "not read") {
		t.Errorf("impact of a file that is read says %q (%v)", i.Hint, err)
	}
}
