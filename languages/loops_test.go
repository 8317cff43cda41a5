package languages

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRoutesInLoops has loops over lists that are written out: each element gives its own routes, and a
// call below a comparison only those of the elements that pass it.
func TestRoutesInLoops(t *testing.T) {
	for _, c := range []struct {
		name string
		app  map[string]string
		want []string
	}{
		{"express mounts a list of routers", map[string]string{"app.js": `const express = require('express');
const routes = require('./routes');
const app = express();
app.use('/v1', routes);
`, "routes/index.js": `const express = require('express');
const users = require('./users');
const docs = require('./docs');
const router = express.Router();
const all = [{ path: '/users', route: users }];
const dev = [{ path: '/docs', route: docs }];
all.forEach((each) => { router.use(each.path, each.route); });
if (process.env.DEV === 'yes') {
  dev.forEach(({ path, route: of }) => router.use(path, of));
}
module.exports = router;
`, "routes/users.js": `const router = require('express').Router();
router.get('/:id', (req, res) => {});
module.exports = router;
`, "routes/docs.js": `const router = require('express').Router();
router.get('/', (req, res) => {});
module.exports = router;
`}, []string{"GET /v1/users/:id", "GET /v1/docs"}},
		{"express calls the method that the list names", map[string]string{"app.ts": `import express from 'express';
const app = express();
const table = [
  { method: 'get', path: '/a', handler: a },
  { method: 'POST', path: '/b', handler: b },
] as const;
for (const r of table) {
  (app as any)[r.method.toLowerCase()](r.path, r.handler);
}
function a() {}
function b() {}
`}, []string{"GET /a", "POST /b"}},
		{"express chooses by a switch and a comparison", map[string]string{"app.js": `const express = require('express');
const app = express();
for (const [verb, path, open] of [['get', '/a', 'yes'], ['post', '/b', 'no']]) {
  switch (verb) {
    case 'get': app.get(path, h); break;
    case 'post': app.post(path, h); break;
    default: app.all(path, h);
  }
  if (open === 'yes') app.put(path, h); else app.delete(path, h);
}
function h() {}
`}, []string{"GET /a", "POST /b", "PUT /a", "DELETE /b"}},
		{"a path once for each of several prefixes", map[string]string{"app.js": `const express = require('express');
const app = express();
['/v1', '/v2'].forEach((v) => {
  app.get(v + '/a', h);
  app.get('/same', h);
});
function h() {}
`}, []string{"GET /v1/a", "GET /v2/a", "GET /same"}},
		{"express with controllers in classes", map[string]string{"app.ts": `import express from 'express';
import UserRoute from './users';
class App {
  public app: express.Application = express();
  private users = new UserRoute();
  constructor() { this.app.use('/api', this.users.router); }
}
export default App;
`, "users.ts": `import { Router } from 'express';
class UserRoute implements Route {
  public path = '/users';
  public router = Router();
  constructor() { this.initializeRoutes(); }
  private initializeRoutes() {
    this.router.get(` + "`${this.path}/:id(\\d+)`" + `, this.list);
    this.router.post(this.path, this.list);
  }
  list = async () => {};
}
export default UserRoute;
`}, []string{"GET /api/users/:id", "POST /api/users"}},
		{"a prefix from a module of settings", map[string]string{"config/index.ts": `export default {
  port: 8000,
  api: { prefix: '/api' },
};
`, "config/other.js": `const config = { base: { path: '/other' } };
module.exports = config;
`, "config/literal.js": `module.exports = { base: { path: '/literal' } };
`, "api.ts": `import { Router } from 'express';
import users from './users';
export default () => {
  const app = Router();
  users(app);
  return app;
}
`, "users.ts": `import { Router } from 'express';
const route = Router();
export default (app: Router) => {
  app.use('/users', route);
  route.get('/me', (req, res) => res.end());
};
`, "app.ts": `import express from 'express';
import routes from './api';
import config from './config';
const app = express();
app.use(config.api.prefix, routes());
`, "more.js": `const express = require('express');
const config = require('./config/other');
const literal = require('./config/literal');
const app = express();
app.get(config.base.path + '/x', (req, res) => {});
app.get(` + "`${literal.base.path}/y`" + `, (req, res) => {});
`}, []string{"GET /api/users/me", "GET /other/x", "GET /literal/y"}},
		{"constants in Rust", map[string]string{"src/main.rs": `use axum::{routing::get, Router};
mod paths;
const HEALTH: &str = "/health";
fn app() -> Router {
    Router::new().route(HEALTH, get(h)).nest(paths::API, Router::new().route("/x", get(h)))
}
async fn h() {}
`, "src/paths.rs": `pub const API: &'static str = "/api";
`}, []string{"GET /health", "GET /api/x"}},
		{"fastify registers a folder", map[string]string{"app.js": `'use strict'
const path = require('node:path')
const AutoLoad = require('@fastify/autoload')
module.exports = async function (fastify, opts) {
  fastify.register(AutoLoad, { dir: path.join(__dirname, 'routes'), options: Object.assign({ prefix: '/api' }, opts) })
}
`, "server.js": `const fastify = require('fastify')()
fastify.register(require('./app'))
`, "routes/root.js": `module.exports = async function (fastify, opts) { fastify.get('/', async () => 1) }
`, "routes/users/index.js": `module.exports = async function (fastify, opts) { fastify.get('/:id', async () => 1) }
`, "routes/users/schema.js": `module.exports = async function (fastify) { fastify.get('/no', async () => 1) }
`, "routes/a/b/more.js": `module.exports = async (fastify) => { fastify.post('/c', async () => 1) }
`}, []string{"GET /api", "GET /api/users/:id", "POST /api/a/b/c", "GET …/no"}},
		{"rocket, by hand", map[string]string{"src/main.rs": `use rocket::{http::Method::*, Route};
fn rocket() -> _ {
    let hello = Route::ranked(2, Get, "/", hi);
    let echo = Route::new(Get, "/echo/<str>", hi);
    let name = Route::new(Post, "/<name>?<x>", hi);
    rocket::build()
        .mount("/", vec![hello, echo])
        .mount("/hello", vec![name.clone()])
        .mount("/hi", vec![name])
        .mount("/in", vec![Route::new(Put, "/place", hi)])
}
fn hi() {}
`}, []string{"GET /", "GET /echo/<str>", "POST /hello/<name>", "POST /hi/<name>", "PUT /in/place"}},
		{"jersey in a servlet", map[string]string{"src/main/java/a/Web.java": `package a;
class Web {
  void start(ServletContextHandler h, ResourceConfig c) {
    h.addServlet(new ServletHolder(new ServletContainer(c)), "/api/*");
    h.addServlet(media, "/media/*");
  }
}
`, "src/main/java/a/Users.java": `package a;
import jakarta.ws.rs.*;
@Path("users")
class Users { @GET public String list() { return ""; } }
`}, []string{"GET /api/users"}},
		{"a prefix of a deployment", map[string]string{"go.mod": "module m\n", "main.go": `package main

import "github.com/labstack/echo/v4"

var Base = read()

func main() {
	app := echo.New()
	app.GET(Base+"/login", login)
}

func read() string           { return "" }
func login(echo.Context) error { return nil }
`}, []string{"GET …/login"}},
		{"modules that export each other as a whole", map[string]string{"a.js": `module.exports = require('./b');
`, "b.js": `module.exports = require('./a');
`, "app.js": `const express = require('express');
const a = require('./a');
const app = express();
app.get('/x', a.list.all);
app.use(a.prefix, a.router);
`}, []string{"GET /x"}},
		{"koa", map[string]string{"app.js": `const Koa = require('koa');
const users = require('./users');
const app = new Koa();
for (const each of [users]) app.use(each.routes());
`, "users.js": `const Router = require('@koa/router');
const router = new Router({ prefix: '/users' });
router.get('/', h);
async function h() {}
module.exports = router;
`}, []string{"GET /users"}},
		{"a list that is not known", map[string]string{"app.js": `const express = require('express');
const app = express();
load().forEach((r) => app.get(r.path, h));
function h() {}
`}, []string{"GET …/"}},
		{"fastapi", map[string]string{"main.py": `from fastapi import FastAPI
from routers import users, items
app = FastAPI()
for router, prefix in [(users.router, "/users"), (items.router, "/items")]:
    app.include_router(router, prefix=prefix)
MODULES = (users,)
for module in MODULES:
    app.include_router(module.router, prefix="/v2")
`, "routers/__init__.py": "", "routers/users.py": `from fastapi import APIRouter
router = APIRouter()
@router.get("/me")
def me(): ...
`, "routers/items.py": `from fastapi import APIRouter
router = APIRouter()
@router.get("/{id}")
def one(id): ...
`}, []string{"GET /users/me", "GET /items/{id}", "GET /v2/me"}},
		{"flask", map[string]string{"app.py": `from flask import Flask, Blueprint
app = Flask(__name__)
a = Blueprint("a", __name__)
b = Blueprint("b", __name__, url_prefix="/b")
@a.route("/one")
def one(): ...
@b.route("/two")
def two(): ...
for bp in (a, b):
    app.register_blueprint(bp)
for path, view in {"/x": one, "/y": two}.items():
    app.add_url_rule(path, view_func=view)
`}, []string{"GET /one", "GET /b/two", "GET /x", "GET /y"}},
		{"gorilla", map[string]string{"go.mod": "module shop\n", "routes.go": `package main

import "net/http"

type Route struct {
	Name, Method, Pattern string
	Handler               http.HandlerFunc
}
type Routes []Route

var routes = Routes{
	Route{"Index", "GET", "/", index},
	{Name: "Show", Method: http.MethodPost, Pattern: "/show/{id}", Handler: show},
}

func index(w http.ResponseWriter, r *http.Request) {}
func show(w http.ResponseWriter, r *http.Request)  {}
`, "router.go": `package main

import "github.com/gorilla/mux"

func newRouter() *mux.Router {
	router := mux.NewRouter()
	for _, route := range routes {
		router.Methods(route.Method).Path(route.Pattern).Name(route.Name).Handler(route.Handler)
	}
	more := router.PathPrefix("/v2").Subrouter()
	for _, route := range routes {
		more.HandleFunc(route.Pattern, route.Handler).Methods(route.Method)
	}
	return router
}
`}, []string{"GET /", "POST /show/{id}", "GET /v2/", "POST /v2/show/{id}"}},
		{"gin, as generators of code write it", map[string]string{"go.mod": "module shop\n", "routers.go": `package shop

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

type Route struct {
	Method      string
	Pattern     string
	HandlerFunc gin.HandlerFunc
}

func NewRouter() *gin.Engine {
	router := gin.Default()
	for _, route := range getRoutes() {
		if route.HandlerFunc == nil {
			route.HandlerFunc = DefaultHandleFunc
		}
		switch route.Method {
		case http.MethodGet:
			router.GET(route.Pattern, route.HandlerFunc)
		case http.MethodPost, "PUSH":
			router.POST(route.Pattern, route.HandlerFunc)
		default:
			router.Any(route.Pattern, route.HandlerFunc)
		}
	}
	return router
}

func DefaultHandleFunc(c *gin.Context) {}

func getRoutes() []Route {
	return []Route{
		{http.MethodGet, "/pets", list},
		{http.MethodPost, "/pets", create},
		{"FETCH", "/any", create},
	}
}

func list(c *gin.Context)   {}
func create(c *gin.Context) {}
`}, []string{"GET /pets", "POST /pets", "ANY /any"}},
		{"net/http, a map of patterns", map[string]string{"go.mod": "module shop\n", "main.go": `package main

import "net/http"

func main() {
	mux := http.NewServeMux()
	for pattern, h := range map[string]http.HandlerFunc{"GET /a": a, "/b": a} {
		mux.HandleFunc(pattern, h)
	}
}

func a(w http.ResponseWriter, r *http.Request) {}
`}, []string{"GET /a", "ANY /b"}},
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
