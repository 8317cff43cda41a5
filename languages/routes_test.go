package languages

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// graphsOf returns what every resolver finds in an application.
func graphsOf(t *testing.T, app map[string]string) []resolve.FileGraph {
	t.Helper()
	tree := resolvetest.New(app, Facts)
	var all []resolve.FileGraph
	for _, r := range Resolvers() {
		graphs, err := r.Resolve(context.Background(), tree, tree.Change(nil))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, graphs...)
	}
	return all
}

// routesIn returns the routes that an application has, in the form in which requests are compared;
// those whose prefix is not known as they are shown.
func routesIn(t *testing.T, app map[string]string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, g := range graphsOf(t, app) {
		for _, n := range g.Nodes {
			if n.Node.Kind == recountv1.SymbolKind_SYMBOL_KIND_ROUTE {
				all[oneForm(n.Node.Name)] = true
			}
		}
	}
	return all
}

func oneForm(name string) string {
	if e, ok := schemas.ParseRoute(name); ok {
		return strings.ToLower(e.String())
	}
	return name
}

// Each framework's routes are those of an application in the style of its documentation. The
// applications are those of bench/routes that the code was developed with, and others that use more of the
// documentation.
func TestRoutesOfFrameworks(t *testing.T) {
	files, err := filepath.Glob("../bench/routes/testdata/*.txt")
	more, also := filepath.Glob("testdata/routes/*.txt")
	if err != nil || also != nil || len(files) < 25 || len(more) < 25 {
		t.Fatalf("%d and %d files, %v, %v", len(files), len(more), err, also)
	}
	for _, file := range append(files, more...) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			app, want := map[string]string{}, map[string]bool{}
			for _, f := range a.Files {
				path, ok := strings.CutPrefix(f.Name, "a/")
				switch {
				case !ok:
				case path == "want":
					for line := range strings.Lines(string(f.Data)) {
						want[oneForm(line[:strings.LastIndexByte(strings.TrimSpace(line), ' ')])] = true
					}
				default:
					app[path] = string(f.Data)
				}
			}
			got := routesIn(t, app)
			sameRoutes(t, got, want)
		})
	}
}

// A route whose router or prefix is not known is shown as such, and no request is joined to it.
func TestRoutesWithUnknownPrefixes(t *testing.T) {
	for name, app := range map[string]map[string]string{
		"a router that nothing mounts": {"a.js": `const { Router } = require('express')
const router = Router()
router.get('/orders', list)
function list () {}`},
		"a prefix that is computed": {"a.js": `const express = require('express')
const app = express()
const router = express.Router()
router.get('/orders', list)
function list () {}
app.use(process.env.PREFIX, router)`},
		"a plugin that something else registers": {"a.js": `const { x } = require('@fastify/autoload')
module.exports = async function (fastify) { fastify.get('/orders', list) }
async function list () {}`},
		"a blueprint that nothing registers": {"a.py": `from flask import Blueprint
bp = Blueprint("bp", __name__, url_prefix=None)
@bp.route("/orders")
def list(): ...`},
		"patterns of an application that no settings name": {"urls.py": `from django.urls import path
urlpatterns = [path("orders", view)]
def view(request): ...`},
		"a group that another repository passes": {"go.mod": "module m", "a.go": `package a
import "github.com/gin-gonic/gin"
func Register(g *gin.RouterGroup) { g.GET("/orders", list) }
func list(c *gin.Context) {}`},
		"a resource without a path": {"A.java": `import jakarta.ws.rs.*;
class A { @GET @Path("orders") public String list() { return ""; } }`},
		"an attribute that nothing mounts": {"src/main.rs": `use rocket::get;
#[get("/orders")]
fn list() {}`},
		"a builder that nothing passes": {"A.cs": `static class A {
  static void Map(this IEndpointRouteBuilder routes) { routes.MapGet("/orders", List); }
  static string List() => "";
}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := routesIn(t, app)
			if len(got) != 1 {
				t.Fatalf("routes %v, want one", got)
			}
			for r := range got {
				if !strings.HasSuffix(r, " …/orders") {
					t.Errorf("%s, want its prefix shown as unknown", r)
				}
			}
		})
	}
}

// TestRoutersPassedOn has what example applications of the frameworks do: a chain that makes an
// application and exports it, an application of another file whose routes are added by a method's
// local name, groups behind a middleware, services and closures as handlers.
func TestRoutersPassedOn(t *testing.T) {
	for _, c := range []struct {
		name string
		app  map[string]string
		want []string
	}{
		{"express", map[string]string{"app.js": `const express = require('express');
const app = module.exports = express();
app.get('/restricted', (req, res) => res.end());
`}, []string{"GET /restricted"}},
		{"express imported by an example of its own", map[string]string{"examples/auth/index.js": `var express = require('../../');
var app = module.exports = express();
app.get('/login', function (req, res) {});
`}, []string{"GET /login"}},
		{"aiohttp", map[string]string{"main.py": `from aiohttp import web
from routes import setup_routes, more_routes
app = web.Application()
setup_routes(app)
more_routes(app)
`, "routes.py": `from views import index
def setup_routes(app):
    app.router.add_get('/login', index)
def more_routes(app):
    add_route = app.router.add_route
    add_route('*', '/graphql', index)
`, "views.py": "async def index(request): pass\n"}, []string{"GET /login", "ANY /graphql"}},
		{"fiber", map[string]string{"go.mod": "module shop\n", "main.go": `package main

import "github.com/gofiber/fiber/v3"

func main() {
	app := fiber.New()
	r := app.Group("/todo").Use(auth)
	r.Get("/list", list)
}

func auth(c fiber.Ctx) error { return nil }
func list(c fiber.Ctx) error { return nil }
`}, []string{"GET /todo/list"}},
		{"a method of the router's own type", map[string]string{"Program.cs": `public class Area {
    public Area MapGroup(string prefix) { return new Area(); }
    public void MapGet(string path, System.Delegate handler) { }
    public void Include(Area other) { other.MapGet("/list", List); }
    static string List() => "";
}
public static class Program {
    public static void Main() {
        var root = new Area();
        var one = root.MapGroup("/one");
        var two = root.MapGroup("/two");
        one.Include(two);
    }
}
`}, []string{"GET …/two/list"}},
		{"axum", map[string]string{"src/main.rs": `use axum::{routing::get, Router};
fn app() -> Router {
    Router::new()
        .route("/", get(|| async { "hello" }))
        .route("/{key}", get(kv_get.layer(Compression::new())).post_service(kv_set.with_state(1)))
}
async fn kv_get() {}
async fn kv_set() {}
`}, []string{"GET /", "GET /{key}", "POST /{key}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := map[string]bool{}
			for _, r := range c.want {
				want[oneForm(r)] = true
			}
			if diff := cmp.Diff(want, routesIn(t, c.app)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// sameRoutes checks that the routes that were found are those that an application serves.
func sameRoutes(t *testing.T, got, want map[string]bool) {
	t.Helper()
	for r := range want {
		if !got[r] {
			t.Errorf("%s is missing", r)
		}
	}
	for r := range got {
		if !want[r] {
			t.Errorf("%s is no route of the application", r)
		}
	}
}
