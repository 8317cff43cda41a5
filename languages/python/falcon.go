package python

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Falcon's applications have no prefixes. A resource is an object whose methods on_get, on_post, … serve its path, with
// a suffix on_get_list, on_post_list, ….

// falconApp notes the application that falcon.App(), falcon.API() or falcon.asgi.App() makes.
func (p *walker) falconApp(n extract.Ref, module, name string, s state) bool {
	if frameworkOf(module) != "falcon" || name != "App" && name != "API" {
		return false
	}
	p.AddRoute(&recountv1.RouteFact{Group: true, Role: "root", Handler: p.holder(n, s), Framework: "falcon", In: s.in}, n)
	return true
}

// responders reads app.add_route("/x/{id:int}", Resource(), suffix="list"). In a file that imports no framework it is a
// route only if the resource is known to have such methods.
func (r *registration) responders() {
	pattern, ok := r.pattern(0, "uri_template")
	of := r.arg(1, "resource")
	if !ok || of == extract.None || r.router == "" {
		return
	}
	f := &recountv1.RouteFact{Method: "ANY", Pattern: pattern, Router: r.ownApp(), Handler: r.routePath(of, r.s)}
	if r.framework == "" {
		if text, known := r.literal(r.arg(0, "uri_template")); f.Handler == extract.Unknown || known && !strings.HasPrefix(text, "/") {
			return
		}
		f.Method, r.framework = "", "falcon"
	}
	suffix, known := r.literal(r.arg(-1, "suffix"))
	if known || r.arg(-1, "suffix") == extract.None || r.Text(r.arg(-1, "suffix")) == "None" {
		f.Role = scope.ResponderRole + suffix
	} else {
		f.Handler = extract.Unknown
	}
	r.add(f)
}

// staticFiles reads app.add_static_route("/x", folder).
func (r *registration) staticFiles() {
	if pattern, ok := r.pattern(0, "prefix"); ok && r.framework == "falcon" && r.router != "" {
		r.add(&recountv1.RouteFact{Method: "GET", Pattern: strings.TrimSuffix(pattern, "/") + "/{filename}", Router: r.ownApp(), Handler: extract.Unknown})
	}
}

// ownApp returns the router of the call, "" if it is the object of a class that is an application of Falcon.
func (r *registration) ownApp() string {
	if r.router != "self" {
		return r.router
	}
	for n := r.call; n > 0; n = r.Parent(n) {
		if r.Kind(n) != "class_definition" {
			continue
		}
		for base := range r.Children(r.Field(n, "superclasses")) {
			if module, name := extract.SplitLast(r.known.Canonical(r.walker.path(base, r.s))); frameworkOf(module) == "falcon" && (name == "App" || name == "API") {
				return ""
			}
		}
		break
	}
	return r.router
}
