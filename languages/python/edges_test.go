package python

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
)

func TestOtherEdges(t *testing.T) {
	const archive = `
-- pkg/__init__.py --
-- pkg/base.py --
LIMIT = 3
class Wrong(Exception):
    def __init__(self): pass
class Base:
    def run(self): pass
def mark(f): return f
-- pkg/app.py --
import os, subprocess
import requests
from . import base
from .base import Base, Wrong, mark
from .gone import x
class App(Base):
    @mark
    def run(self, err: Wrong):
        if base.LIMIT: raise Wrong
        os.getenv("HOME")
        subprocess.run(["git", "log"])
        requests.get("https://example.com/a")
        raise ValueError()
class Other(requests.Session): pass
`
	got := resolvetest.Full(t, fresh(), resolvetest.Archive(t, archive, factsOf)).Text(
		"imports", "extends", "overrides", "throws", "decorates", "references", "reads_env", "executes_process", "consumes_endpoint")
	want := strings.Split(strings.TrimSpace(`
imports pkg/app.py -> pkg/base.py @3:5,4:5
extends pkg/app.py:App -> pkg/base.py:Base @6:10
references pkg/app.py:App.run -> pkg/base.py:LIMIT @9:16
references pkg/app.py:App.run -> pkg/base.py:Wrong @8:23,9:29
overrides pkg/app.py:App.run -> pkg/base.py:Base.run @8:4
throws pkg/app.py:App.run -> pkg/base.py:Wrong @9:29
decorates pkg/app.py:App.run -> pkg/base.py:mark @7:5
imports pkg/app.py -> python os @1:7 (external)
imports pkg/app.py -> python requests @2:7 (external)
imports pkg/app.py -> python subprocess @1:11 (external)
consumes_endpoint pkg/app.py:App.run -> http GET https://example.com/a @12:17 (external)
reads_env pkg/app.py:App.run -> env HOME @10:11 (external)
executes_process pkg/app.py:App.run -> process git @11:19 (external)
throws pkg/app.py:App.run -> python builtins ValueError @13:14 (external)
extends pkg/app.py:Other -> python requests Session @14:21 (external)
imports pkg/app.py -> .gone @5:5 (unresolved)
extends pkg/base.py:Wrong -> python builtins Exception @2:12 (external)
`), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}

func TestRoutes(t *testing.T) {
	for _, c := range []struct{ name, archive, want string }{
		{"Flask: a blueprint's prefix, and where it is put", `
-- app.py --
from flask import Flask
from users import bp
app = Flask(__name__)
app.register_blueprint(bp, url_prefix="/v1")
@app.route("/")
def index(): pass
-- users.py --
from flask import Blueprint
bp = Blueprint("users", __name__, url_prefix="/users")
@bp.get("/<id>")
def user(id): pass
`, `
handles_route app.py:index -> app.py:GET / @5:1
handles_route users.py:user -> users.py:GET /v1/<id> @3:1
`}, {"FastAPI: prefixes add up", `
-- app.py --
from fastapi import FastAPI
import items
app = FastAPI()
app.include_router(items.router, prefix="/v1")
-- items.py --
from fastapi import APIRouter
router = APIRouter(prefix="/items")
@router.post("/")
def add(): pass
`, `
handles_route items.py:add -> items.py:POST /v1/items/ @3:1
`}, {"Starlette: routes in a mount's list have one slash between", `
-- app.py --
from starlette.applications import Starlette
from starlette.routing import Mount, Route
def me(request): pass
app = Starlette(routes=[Mount("/users/", routes=[Mount("/all", routes=[Route("/me", me)])])])
`, `
handles_route app.py:me -> app.py:GET /users/all/me @4:71
`}, {"Django: a route's handler is in another file", `
-- site/__init__.py --
-- site/settings.py --
ROOT_URLCONF = "site.urls"
-- site/urls.py --
from django.urls import include, path
urlpatterns = [path("shop/", include("shop.urls"))]
-- shop/__init__.py --
-- shop/urls.py --
from django.urls import path
from . import views
urlpatterns = [path("cart/", views.cart), path("x/", views.gone)]
-- shop/views.py --
def cart(request): pass
`, `
handles_route shop/urls.py -> views.gone @3:42 (unresolved)
handles_route shop/views.py:cart -> shop/urls.py:ANY /shop/cart/
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := resolvetest.Full(t, fresh(), resolvetest.Archive(t, c.archive, factsOf)).Text("handles_route")
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), got); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
		})
	}
}

// A function that a decorator makes serve a route is no test, whatever its name.
func TestWhatServesIsNoTest(t *testing.T) {
	got := resolvetest.Full(t, fresh(), resolvetest.Archive(t, `
-- app.py --
from flask import Flask
app = Flask(__name__)
@app.route("/test-db")
def test_db(): pass
def test_app():
    @app.route("/probe")
    def probe(): pass
`, factsOf))
	want := map[string]bool{"GET /test-db": false, "GET /probe": true, "test_db": false, "test_app": true}
	for _, n := range got["app.py"].Nodes {
		if test, asked := want[n.Node.Name]; asked && n.Node.Test != test {
			t.Errorf("%s: test is %v", n.Node.Name, n.Node.Test)
		}
	}
}

const shop = `
-- shop/__init__.py --
from .cart import Cart
-- shop/cart.py --
from .store import Store
class Cart:
    def __init__(self, store: Store): self.store = store
    def total(self): return self.store.get().price()
-- shop/store.py --
class Item:
    def price(self): return 1
class Store:
    def get(self): return Item()
-- main.py --
from shop import Cart
from shop.store import Store
Cart(Store()).total()
-- README.md --
A shop.
`

func TestCommitByCommitEqualsTheWhole(t *testing.T) {
	trees := []*resolvetest.Tree{resolvetest.Archive(t, shop, factsOf)}
	for _, c := range []map[string]string{
		{"README.md": "The shop.\n"},
		{"shop/store.py": "class Item:\n    def price(self): return 2\nclass Store:\n    def get(self): return None\n"},
		{"shop/__init__.py": ""},
		{"shop/cart.py": "class Cart(:\n    def total(self): pass\n"},
	} {
		trees = append(trees, trees[len(trees)-1].With(c))
	}
	trees = append(trees, trees[len(trees)-1].With(nil, "shop/__init__.py", "shop/cart.py", "shop/store.py", "main.py"))
	resolvetest.Series(t, fresh, trees...)
}

// backwards is a tree that yields its files in another order.
type backwards struct{ *resolvetest.Tree }

func (b backwards) Files(dir string) iter.Seq[resolve.File] {
	files := slices.Collect(b.Tree.Files(dir))
	slices.Reverse(files)
	return slices.Values(files)
}

func TestTheOrderOfFilesDoesNotMatter(t *testing.T) {
	tree := resolvetest.Archive(t, shop, factsOf)
	want := resolvetest.Full(t, fresh(), tree)
	graphs, err := fresh().Resolve(context.Background(), backwards{tree}, resolve.Change{})
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

// Ten thousand lines in which everything flows into everything end, and say of a
// call with too many targets nothing at all.
func TestALongFileEnds(t *testing.T) {
	var b strings.Builder
	b.WriteString("def run(f): f(); return f\nx = run\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "def f%d(g): g(f%d); return run(g)\nx = run(f%d)\nx(x)\nx.a[0] = x\nx = run(run(run(run(f%d))))\n", i, (i*7919)%2000, i, i)
	}
	g := resolvetest.Full(t, fresh(), resolvetest.New(map[string]string{"a.py": b.String()}, factsOf))
	for _, line := range g.Text("may_call") {
		if strings.HasPrefix(line, "may_call a.py:run ->") {
			t.Errorf("a set without bounds: %s", line)
			break
		}
	}
}
