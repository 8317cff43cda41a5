package golang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFlow compares the functions that A may call in each case. The targets whose names begin with
// X must be found; those with Y fit by their type, but do not reach the call.
func TestFlow(t *testing.T) {
	const types = `
type I interface{ M() }
type X struct{}
type Y struct{}

func (X) M() {}
func (*Y) M() {}
func fx() {}
func fy() {}
var _ I = &Y{}
var _ = fy
`
	for _, c := range []struct{ name, source, want string }{
		{"a parameter", `func A(i I) { i.M() }; func b() { A(X{}) }`, "X.M"},
		{"a result", `func A() { b().M() }; func b() I { return X{} }`, "X.M"},
		{"one of two results", `func A() { _, i := b(); i.M() }; func b() (int, I) { return 0, X{} }`, "X.M"},
		{"a field, whatever value it is of", `type s struct{ i I }; func A(v *s) { v.i.M() }; func b() *s { return &s{i: X{}} }`, "X.M"},
		{"a field by place", `type s struct{ n int; i I }; func A(v s) { v.i.M() }; var b = s{1, X{}}`, "X.M"},
		{"an embedded interface", `type s struct{ I }; func A(v *s) { v.M() }; func b(v *s) { v.I = X{} }`, "X.M"},
		{"elements of a slice", `func A(is []I) { for _, i := range is { i.M() } }; func b() { A(append([]I(nil), X{})) }`, "X.M"},
		{"variadic arguments", `func A(is ...I) { is[0].M() }; func b() { A(X{}) }`, "X.M"},
		{"values of a map", `var m = map[string]I{"": X{}}; func A() { m[""].M() }`, "X.M"},
		{"a channel", `func A(c <-chan I) { i := <-c; i.M() }; func b(c chan I) { c <- X{} }`, "X.M"},
		{"a pointer to an interface", `func A() { var i I; b(&i); i.M() }; func b(p *I) { *p = X{} }`, "X.M"},
		{"a type switch and an assertion", `func A(v any) { switch i := v.(type) { case I: i.M() }; v.(I).M() }; func b() { A(X{}) }`, "X.M"},
		{"a function value", `func A(f func()) { f() }; func b() { A(fx) }`, "fx"},
		{"a method value", `func A(f func()) { f() }; func b() { A(X{}.M) }`, "X.M"},
		{"a method value of an interface", `func A(f func()) { f() }; func b(i I) { A(i.M) }; func c() { b(X{}) }`, "X.M"},
		{"a literal, which belongs to what encloses it", `func A(f func()) { f() }; func b() { A(func() { fx() }) }`, "b"},
		{"what a literal captures", `func A(f func()) { f() }; func b() { g := fx; c(func() { A(g) }) }; func c(f func()) { f() }`, "fx"},
		{"a closure's result", `func b() func() I { return func() I { return X{} } }; func A() { f := b(); f().M() }`, "X.M b"},
		{"options", `type opt interface{ apply(*int) }; type optFunc func(*int); func (f optFunc) apply(n *int) { f(n) }
func b() opt { return optFunc(func(*int) {}) }; func A(o opt) { o.apply(nil) }; func c() { A(b()) }`, "optFunc.apply"},
		{"a type parameter", `func A[T I](v T) { v.M() }; func b() { A(X{}) }`, "X.M"},
		{"a generic container", `func each[T any](s []T, f func(T)) { for _, v := range s { f(v) } }
func A(i I) { i.M() }; func b() { each([]I{X{}}, A) }`, "X.M"},
		{"an iterator", `func all(yield func(I) bool) { yield(X{}) }; func A() { for i := range all { i.M() } }`, "X.M all"},
		{"a callback of the standard library", `func b() { sort.Slice(nil, nil); http.HandleFunc("/", c); http.NewRequest("", "", nil) }
func c(w http.ResponseWriter, r *http.Request) { A(w) }; func A(w http.ResponseWriter) { w.Header() }
type rec struct{ http.ResponseWriter }; func (rec) Header() http.Header { return nil }
func d(h http.Handler, w http.ResponseWriter) { h.ServeHTTP(rec{w}, nil) }`, "rec.Header"},
		{"a function of another signature does not fit", `func A(v any) { if f, ok := v.(func()); ok { f() } }; func b() { A(fx); A(func(int) {}) }`, "fx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := "package a\nimport (\"net/http\"; \"sort\")\nvar _ = http.Get\nvar _ = sort.Ints\n" + types + c.source
			var got []string
			for _, line := range edgesOf(t, "-- go.mod --\nmodule m\n-- a.go --\n"+source, "may_call") {
				if rest, ok := strings.CutPrefix(line, "may_call a.go:A -> a.go:"); ok {
					name, _, _ := strings.Cut(rest, " ")
					got = append(got, name)
					if !strings.HasSuffix(line, "(flow 700)") {
						t.Errorf("%s: want provenance and confidence of flow", line)
					}
				}
			}
			if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
				t.Errorf("A may call (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFlowAcrossPackagesAndTests(t *testing.T) {
	got := edgesOf(t, `
-- go.mod --
module m
-- api/api.go --
package api

type Doer interface{ Do() }

func Run(d Doer) { d.Do() }
-- impl/impl.go --
package impl

import "m/api"

type T struct{}

func (*T) Do() {}
func use()     { api.Run(&T{}) }
-- api/api_test.go --
package api_test

import (
	"testing"

	"m/api"
)

type fake struct{}

func (fake) Do() {}

func TestRun(t *testing.T) {
	var d api.Doer = fake{}
	d.Do()
	api.Run(d)
}
`, "may_call")
	want := []string{
		"may_call api/api.go:Run -> impl/impl.go:T.Do @5:21 (flow 700)",
		"may_call api/api_test.go:TestRun -> api/api_test.go:fake.Do @15:3 (flow 700)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("may_call (-want +got):\n%s", diff)
	}
}
