package code_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
)

func TestRoutes(t *testing.T) {
	m := newMemory(t)
	// A toy's names have no spaces, so its routes have any method.
	m.commit(shop, "Ada", `routes
-- web/routes.toy --
package github.com/acme/shop/web
route /orders
route /orders/{id} -> handles_route:show
route /files/*
route /users/:name/posts
route /nobody
function list -> handles_route:/orders
function show -> decorates:login decorates:github.com/acme/auth#Admin
function files -> handles_route:/files/*
function login
-- web/routes_test.toy --
package github.com/acme/shop/web
route /fake
test serveFake -> handles_route:/fake
`)
	line := func(r code.Route) string {
		var by []string
		for _, h := range r.Handlers {
			by = append(by, h.Name+" "+h.Place())
		}
		return strings.TrimSpace(r.Method + " " + r.Path + " " + r.Place() + " " + strings.Join(by, ", ") + " " + strings.Join(r.Middleware, ", "))
	}
	for _, tt := range []struct {
		name    string
		request code.RoutesRequest
		want    []string
	}{
		{"all but tests'", code.RoutesRequest{}, []string{
			"ANY /files/* web/routes.toy:4 web.files web/routes.toy:9",
			"ANY /nobody web/routes.toy:6",
			"ANY /orders web/routes.toy:2 web.list web/routes.toy:7",
			"ANY /orders/{id} web/routes.toy:3 web.show web/routes.toy:8 web.login, github.com/acme/auth.Admin",
			"ANY /users/:name/posts web/routes.toy:5",
		}},
		{"a part of the path", code.RoutesRequest{Pattern: "nobo"}, []string{"ANY /nobody web/routes.toy:6"}},
		{"what a request reaches", code.RoutesRequest{Pattern: "GET /orders/42"}, []string{"ANY /orders/{id} web/routes.toy:3 web.show web/routes.toy:8 web.login, github.com/acme/auth.Admin"}},
		{"the rest of a path", code.RoutesRequest{Pattern: "/files/a/b"}, []string{"ANY /files/* web/routes.toy:4 web.files web/routes.toy:9"}},
		{"another form of parameter", code.RoutesRequest{Pattern: "/users/ada/posts"}, []string{"ANY /users/:name/posts web/routes.toy:5"}},
		{"not further than it goes", code.RoutesRequest{Pattern: "/orders/42/lines"}, []string{}},
		{"tests', too", code.RoutesRequest{Pattern: "fake", Tests: true}, []string{"ANY /fake web/routes_test.toy:2 web.serveFake web/routes_test.toy:3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := code.Routes(t.Context(), m.s, tt.request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, lines(r.Routes, line)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if (r.Status == query.StatusEmpty) != (len(tt.want) == 0) || r.Total != len(tt.want) {
				t.Errorf("status %s, total %d", r.Status, r.Total)
			}
		})
	}
	var re *query.RequestError
	if _, err := code.Routes(t.Context(), m.s, code.RoutesRequest{Method: "P T"}); !errors.As(err, &re) {
		t.Errorf("a bad method: %v", err)
	}
}

func TestTakes(t *testing.T) {
	for _, tt := range []struct {
		pattern, request string
		want             bool
	}{
		{"/", "/", true},
		{"/a/<int:id>", "/a/7", true},
		{"/a/<path:rest>", "/a/b/c", true},
		{"/blog/[...slug]", "/blog/x/y", true},
		{"/a/*", "/a/b/c", true},
		{"/a/{id:[0-9]+}/b", "/a/7/b", true},
		{"/a/{id}", "/a", false},
		{"/a/b", "/a/c", false},
	} {
		if got := code.Takes(tt.pattern, tt.request); got != tt.want {
			t.Errorf("takes(%s, %s) = %v", tt.pattern, tt.request, got)
		}
	}
}
