package languages

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRoutesOfApplications has forms that frameworks document and applications use beyond the first steps.
func TestRoutesOfApplications(t *testing.T) {
	for _, c := range []struct {
		name string
		app  map[string]string
		want []string
	}{
		{"routegroup", map[string]string{"go.mod": "module shop\n", "main.go": `package shop

import (
	"net/http"

	"github.com/go-pkgz/routegroup"
)

func orders(w http.ResponseWriter, r *http.Request) {}

func routes() http.Handler {
	router := routegroup.New(http.NewServeMux())
	router.HandleFunc("GET /ping", orders)
	api := router.Mount("/api")
	api.Group().Route(func(open *routegroup.Bundle) {
		open.HandleFunc("GET /orders/{id}", orders)
		open.With(nil).HandleFunc("POST /orders", orders)
		open.Mount("/rss").Route(func(rss *routegroup.Bundle) {
			rss.HandleFunc("GET /new", orders)
		})
	})
	return router
}
`}, []string{"GET /ping", "GET /api/orders/{id}", "POST /api/orders", "GET /api/rss/new"}},
		{"a function in a variable gets a router", map[string]string{"go.mod": "module shop\n", "main.go": `package shop

import "github.com/gofiber/fiber/v3"

func routes() {
	app := fiber.New()
	register := func(r fiber.Router) {
		r.Get("/orders", func(c fiber.Ctx) error { return nil })
	}
	register(app.Group("/api"))
}
`}, []string{"GET /api/orders"}},
		{"lists of methods", map[string]string{"Program.cs": `var app = WebApplication.CreateBuilder(args).Build();
string[] reads = [HttpMethod.Get.Method, HttpMethods.Head];
string[] all = [.. reads, "POST"];
app.MapMethods("/orders", reads, () => 1);
app.MapMethods("/error", all, () => 1);
`}, []string{"GET /orders", "HEAD /orders", "GET /error", "HEAD /error", "POST /error"}},
		{"conventional actions", map[string]string{"OrdersController.cs": `using Microsoft.AspNetCore.Mvc;
public class OrdersController : Controller {
    [HttpDelete]
    public IActionResult Delete(string id) { return Ok(); }
    [HttpGet("/orders")]
    public IActionResult List() { return Ok(); }
}
[Route("users")]
public class UsersController : Controller {
    [HttpGet]
    public IActionResult List() { return Ok(); }
}
`}, []string{"DELETE …/", "GET /orders", "GET /users"}},
		{"queries of Rocket", map[string]string{"src/main.rs": `mod api;
use rocket::routes;
fn main() { rocket::build().mount("/api", routes![api::search]); }
`, "src/api.rs": `use rocket_contrib::json::Json;
#[get("/search?<text>&<page>")]
pub fn search(text: String, page: u32) {}
`}, []string{"GET /api/search"}},
		{"languages without a prefix", map[string]string{"manage.py": "", "app/settings.py": "ROOT_URLCONF = \"app.urls\"\n", "app/urls.py": `from django.conf.urls.i18n import i18n_patterns
from django.urls import include, path
from app import views

urlpatterns = [path("health/", views.health)]
urlpatterns += i18n_patterns(
    path("shop/", include("app.shop")),
    prefix_default_language=False,
)
`, "app/shop.py": `from django.urls import path
from app import views
urlpatterns = [path("orders/", views.orders)]
`, "app/views.py": "def health(request): pass\ndef orders(request): pass\n"}, []string{"ANY /health/", "ANY /shop/orders/"}},
		{"calls of basePath that are alike", map[string]string{"server.ts": `import { Hono } from "hono";
import { orders } from "./orders";
const BASE = "/api/v2" as const;
const app = new Hono();
app.basePath(BASE).route("/orders", orders);
app.basePath(BASE).get("/about", (c) => c.text("about"));
`, "orders.ts": `import { Hono } from "hono";
const orders = new Hono();
orders.get("/:id", (c) => c.text("order"));
export { orders };
`}, []string{"GET /api/v2/orders/:id", "GET /api/v2/about"}},
		{"a prefix that a condition empties", map[string]string{"server.py": `from aiohttp import web

class Server:
    def setup(self, config):
        self.app = web.Application()
        base = config["base"]
        if base == "/":
            base = ""
        self.app.router.add_get(f"{base}/orders", self.orders)

    async def orders(self, request): pass
`}, []string{"GET …/orders"}},
		{"clients of MicroProfile", map[string]string{"src/main/java/a/Users.java": `package a;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;
@Path("/users")
@RegisterRestClient(baseUri = "https://users.example")
public interface Users {
    @GET
    @Path("/{id}")
    String user(String id);
}
`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := map[string]bool{}
			for _, r := range c.want {
				want[oneForm(r)] = true
			}
			got := routesIn(t, c.app)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
		})
	}
}
