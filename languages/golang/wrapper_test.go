package golang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRoutesOfWrappers reads routes that functions and types of the application register.
func TestRoutesOfWrappers(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"methods of a type that holds a router", `
-- web/router.go --
package web

import "github.com/gin-gonic/gin"

type Handler func(c *gin.Context) error

type Router struct{ group *gin.RouterGroup }

func New(g *gin.RouterGroup) *Router { return &Router{group: g} }

func (r *Router) Sub(prefix string) *Router { return New(r.group.Group(prefix)) }

func (r *Router) Get(path string, h Handler) { r.add("GET", path, h) }

func (r *Router) add(method, path string, h Handler) {
	r.group.Handle(method, path, func(c *gin.Context) { _ = h(c) })
}
-- main.go --
package main

import (
	"github.com/gin-gonic/gin"
	"m/web"
)

func main() {
	r := web.New(gin.Default().Group("/api"))
	r.Get("/ping", ping)
	books := r.Sub("/books")
	books.Get("/:id", book)
	users := r.Sub("/users")
	users.Get("/:id", user)
}

func ping(c *gin.Context) error { return nil }
func book(c *gin.Context) error { return nil }
func user(c *gin.Context) error { return nil }
`, `
GET /api/books/:id -> book
GET /api/ping -> ping
GET /api/users/:id -> user`},
		{"a type that embeds a router", `
-- main.go --
package main

import "github.com/labstack/echo/v4"

type routes struct{ *echo.Group }

func (r *routes) under(prefix string) *routes { return &routes{r.Group.Group(prefix)} }

func main() {
	all := &routes{echo.New().Group("/v1")}
	all.GET("/a", get)
	all.under("/x").POST("/b", get)
	all.under("/y").POST("/c", get)
}

func get(c echo.Context) error { return nil }
`, `
GET /v1/a -> get
POST /v1/x/b -> get
POST /v1/y/c -> get`},
		{"functions with a method, a path and a handler", `
-- main.go --
package main

import "net/http"

type server struct{ mux *http.ServeMux }

func (s *server) handle(method, path string, h http.HandlerFunc) {
	s.mux.HandleFunc(method+" "+path, logged(h))
}

func logged(h http.HandlerFunc) http.HandlerFunc { return h }

func resource(s *server, name string, list, show http.HandlerFunc) {
	s.handle("GET", "/"+name, list)
	s.handle("GET", "/"+name+"/{id}", show)
}

func main() {
	s := &server{mux: http.NewServeMux()}
	resource(s, "books", books, book)
	resource(s, "users", users, user)
}

func books(w http.ResponseWriter, r *http.Request) {}
func book(w http.ResponseWriter, r *http.Request)  {}
func users(w http.ResponseWriter, r *http.Request) {}
func user(w http.ResponseWriter, r *http.Request)  {}
`, `
GET /books -> books
GET /books/{id} -> book
GET /users -> users
GET /users/{id} -> user`},
		{"paths that are put together", `
-- main.go --
package main

import (
	"fmt"
	"net/http"

	"github.com/go-chi/chi/v5"
)

func below(base string) func(string) string {
	return func(path string) string { return base + "/v2" + path }
}

func versioned(n, path string) string { return fmt.Sprintf("/api/%s%s", n, path) }

func main() {
	r := chi.NewRouter()
	api := below("/api")
	prefix := "/admin"
	r.Get(api("/orders"), get)
	r.Get(prefix+"/users", get)
	r.Get(versioned("v3", "/orders"), get)
	mount(r, "/shops", get)
}

func mount(r chi.Router, prefix string, h http.HandlerFunc) {
	r.Route(prefix, func(r chi.Router) { r.Post("/new", h) })
}

func get(w http.ResponseWriter, r *http.Request) {}
`, `
GET /admin/users -> get
GET /api/v2/orders -> get
GET /api/v3/orders -> get
POST /shops/new -> get`},
		{"what is not known is not sure", `
-- main.go --
package main

import (
	"flag"
	"net/http"
	"os"
)

func add(base, path string) { http.HandleFunc(base+path, get) }

func main() {
	base := "/x"
	flag.StringVar(&base, "base", "", "")
	http.HandleFunc(base+"/a", get)
	add(os.Getenv("BASE"), "/b")
	later := "/one"
	if len(os.Args) > 1 {
		later = "/two"
	}
	http.HandleFunc(later+"/c", get)
}

func get(w http.ResponseWriter, r *http.Request) {}
`, `
ANY …/a -> get
ANY …/b -> get
ANY …/c -> get`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, line := range edgesOf(t, "-- go.mod --\nmodule m\n"+strings.TrimPrefix(c.source, "\n"), "handles_route") {
				line = strings.TrimPrefix(line, "handles_route ")
				line, _, _ = strings.Cut(line, " @")
				line = strings.ReplaceAll(line, "main.go:", "")
				got = append(got, line)
			}
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), got); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
		})
	}
}
