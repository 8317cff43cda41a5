package languages

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestPrefixesThatADeploymentMayChange has prefixes of settings: with a default that is written out the path is the
// one that holds by default, at a lower confidence, and without one it is unknown.
func TestPrefixesThatADeploymentMayChange(t *testing.T) {
	for _, c := range []struct {
		name string
		app  map[string]string
		want map[string]string // the prefix attribute by route
	}{
		{"fastapi", map[string]string{"settings.py": `import os
BASE = os.getenv("BASE_PATH", "").rstrip("/")
API = os.environ.get("API") or "/api"
OTHER = os.getenv("OTHER")
`, "main.py": `from fastapi import APIRouter, FastAPI
from settings import API, BASE, OTHER
app = FastAPI()
orders = APIRouter()

@app.get(BASE + "/health")
def health(): pass

@app.get("/plain")
def plain(): pass

@app.get(OTHER + "/x")
def other(): pass

@orders.get("/orders/{id}")
def order(): pass

app.include_router(orders, prefix=API)
`}, map[string]string{"GET /health": "default", "GET /plain": "", "GET …/x": "unknown", "GET /api/orders/{id}": "default"}},
		{"express", map[string]string{"config.js": `module.exports = { base: process.env.BASE_PATH || '/v1', key: process.env.KEY };
`, "app.js": `const express = require('express');
const config = require('./config');
const API = process.env.API ?? '/api';
const app = express();
const orders = express.Router();
orders.get('/orders', (req, res) => {});
app.use(API, orders);
app.get(config.base + '/health', (req, res) => {});
app.get(config.key + '/x', (req, res) => {});
`}, map[string]string{"GET /api/orders": "default", "GET /v1/health": "default", "GET …/x": "unknown"}},
		{"fiber", map[string]string{"go.mod": "module shop\n", "config/config.go": "package config\n\nvar BasePath = \"\"\n", "main.go": `package shop

import (
	"shop/config"

	"github.com/gofiber/fiber/v3"
)

func orders(c fiber.Ctx) error { return nil }

func routes() {
	app := fiber.New()
	app.Get("/health", orders)
	var api fiber.Router = app
	if config.BasePath != "" {
		api = app.Group(config.BasePath)
	}
	api.Get("/orders", orders)
	app.Group(config.BasePath).Get("/x", orders)
}
`}, map[string]string{"GET /health": "", "GET /orders": "default", "GET …/x": "unknown"}},
		{"django", map[string]string{"manage.py": "", "app/settings.py": `ROOT_URLCONF = "app.urls"
`, "app/urls.py": `from django.conf import settings
from django.urls import include, path
from app import views

prefix = ""
if settings.SITE_ROOT:
    prefix = f"{settings.SITE_ROOT}/"

urlpatterns = [
    path(f"{prefix}login/", views.login),
    path(prefix, include("app.orders")),
]
`, "app/orders.py": `from django.urls import path
from app import views
urlpatterns = [path("orders/", views.orders)]
`, "app/views.py": `def login(request): pass
def orders(request): pass
`}, map[string]string{"ANY /login/": "default", "ANY /orders/": "default"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, confidence := map[string]string{}, map[string]uint32{}
			for _, g := range graphsOf(t, c.app) {
				for _, n := range g.Nodes {
					if n.Node.Kind == recountv1.SymbolKind_SYMBOL_KIND_ROUTE {
						got[n.Node.Name] = n.Node.Attributes["prefix"]
					}
				}
				for _, e := range g.Edges {
					if e.Kind == recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE {
						confidence[string(e.To)] = e.Edge.ConfidencePermille
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("prefixes (-want +got):\n%s", diff)
			}
			if low := slices.Min(append(slices.Collect(maps.Values(confidence)), 980)); len(confidence) > 0 && low > 600 {
				t.Errorf("the least confidence is %d, want at most 600", low)
			}
		})
	}
}
