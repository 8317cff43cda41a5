package golang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoutes(t *testing.T) {
	const handlers = `
type api struct{}

func (a *api) list(w http.ResponseWriter, r *http.Request) {}
func get(w http.ResponseWriter, r *http.Request)            {}
func auth(h http.HandlerFunc) http.HandlerFunc              { return h }

type page struct{}

func (page) ServeHTTP(w http.ResponseWriter, r *http.Request) {}
`
	for _, c := range []struct{ name, imports, source, want string }{
		{"net/http", ``, handlers + `
func routes(a *api) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", get)
	mux.HandleFunc("/all", a.list)
	mux.Handle("/page", page{})
	mux.Handle("POST /auth", auth(a.list))
	mux.Handle("/func", http.HandlerFunc(get))
	mux.HandleFunc("/lit", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/default", get)
	outer := http.NewServeMux()
	admin := http.NewServeMux()
	outer.Handle("/admin/", http.StripPrefix("/admin", admin))
	admin.HandleFunc("DELETE /users", get)
}`, `
ANY /all -> api.list
ANY /default -> get
ANY /func -> get
ANY /lit -> routes
ANY /page -> page.ServeHTTP
DELETE /admin/users -> get
GET /items/{id} -> get
POST /auth -> api.list`},
		{"chi", `"github.com/go-chi/chi/v5"`, handlers + `
type server struct{ router chi.Router; a *api }

func (s *server) routes() {
	s.router = chi.NewRouter()
	s.router.Get("/", get)
	s.router.Route("/items", func(r chi.Router) {
		r.With(nil).Post("/", s.a.list)
		r.Group(func(r chi.Router) { r.Delete("/{id}", get) })
		r.Route("/deep", s.deep)
	})
	sub := chi.NewRouter()
	sub.Put("/x", get)
	s.router.Mount("/sub", sub)
	s.router.MethodFunc("patch", "/m", get)
}

func (s *server) deep(r chi.Router) { r.Get("/d", get) }`, `
DELETE /items/{id} -> get
GET / -> get
GET /items/deep/d -> get
PATCH /m -> get
POST /items -> api.list
PUT /sub/x -> get`},
		{"gin", `"github.com/gin-gonic/gin"`, `
var _ http.Handler

func get(c *gin.Context) {}
func auth(c *gin.Context) {}

func routes() {
	r := gin.Default()
	r.GET("/ping", get)
	v1 := r.Group("/v1", auth)
	{
		v1.POST("/items", auth, get)
		register(v1.Group("/users"))
	}
	r.Any("/any", get)
	r.Handle("PURGE", "/cache", get)
}

func register(g *gin.RouterGroup) { g.GET("/:id", get) }`, `
ANY /any -> get
GET /ping -> get
GET /v1/users/:id -> get
POST /v1/items -> get
PURGE /cache -> get`},
		{"echo", `"github.com/labstack/echo/v4"`, `
var _ http.Handler

func get(c echo.Context) error { return nil }
func mw() {}

func routes() {
	e := echo.New()
	e.GET("/", get, mw)
	g := e.Group("/admin")
	g.DELETE("/:id", get)
	e.Add("LOCK", "/x", get)
}`, `
DELETE /admin/:id -> get
GET / -> get
LOCK /x -> get`},
		{"gorilla", `"github.com/gorilla/mux"`, handlers + `
func routes(a *api) {
	r := mux.NewRouter()
	r.HandleFunc("/items", a.list).Methods("GET", "POST").Name("x")
	api := r.PathPrefix("/api").Subrouter()
	api.Handle("/page", &page{})
	feed := r.PathPrefix("/feed").Methods("GET").Subrouter()
	feed.Handle("/atom", &page{})
	feed.PathPrefix("/x").Subrouter().HandleFunc("/rss", a.list)
	feed.HandleFunc("/new", a.list).Methods("PUT")
}`, `
ANY /api/page -> page.ServeHTTP
GET /feed/atom -> page.ServeHTTP
GET /feed/x/rss -> api.list
GET /items -> api.list
POST /items -> api.list
PUT /feed/new -> api.list`},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := "package a\nimport \"net/http\"\nimport (" + c.imports + ")\n" + c.source
			var got []string
			for _, line := range edgesOf(t, "-- go.mod --\nmodule m\n-- a.go --\n"+source, "handles_route") {
				line = strings.ReplaceAll(strings.TrimPrefix(line, "handles_route "), "a.go:", "")
				line, _, _ = strings.Cut(line, " @")
				got = append(got, line)
			}
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), got); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
		})
	}
}
