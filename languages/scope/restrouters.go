package scope

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Routers of Django REST framework may be of classes of the application, which may say what they make of a view set.

// ofClass notes the class of the application that a router is of. If it is no router of Django REST framework, nothing
// is known of its prefix.
func (rt *Routing) ofClass(o *router, m *Module, r *recountv1.RouteFact) {
	if o.class = rt.know.Handler(m, r.In, m.Path(r.Router)); o.class == nil || !extendsExternal(o.class, "rest_framework.routers", "Router") {
		o.own = []prefix{{unknown: true}}
	}
}

// lists reports whether a router has a page that lists what is registered: DefaultRouter.
func (o *router) lists() bool {
	return o.class == nil || extendsExternal(o.class, "rest_framework.routers", "DefaultRouter")
}

// routings returns the routes that the class of a view set's router says, none if it says nothing.
func (rt *Routing) routings(m *Module, r *recountv1.RouteFact) []*recountv1.RouteFact {
	for _, of := range rt.know.Routers(m, m.RouteScope(r), m.Path(r.Router)) {
		class := rt.router(of).class
		if class == nil {
			continue
		}
		for _, b := range class.orderOrSelf() {
			if b.Decl != nil && len(rt.routing[b.Decl]) > 0 {
				return rt.routing[b.Decl]
			}
		}
	}
	return nil
}

// routed returns what a view set serves by the routes of its router's class.
func (rt *Routing) routed(routings []*recountv1.RouteFact, class *Decl, prefix string) (all []served) {
	has := methods(class)
	for _, of := range routings {
		pattern := strings.NewReplacer("{prefix}", prefix, "{lookup}", "<pk>", "{trailing_slash}", "/").Replace(of.Pattern)
		for action := range strings.SplitSeq(of.Method, ",") {
			method, name, _ := strings.Cut(action, " ")
			if d, ok := has[name]; ok && rt.lets(class, method) {
				if d == nil {
					d = class
				}
				all = append(all, served{method, pattern, d})
			}
		}
		if of.Method != "" {
			continue
		}
		for _, b := range class.orderOrSelf() {
			for _, a := range rt.actions[b.Decl] {
				if a.Router != of.Router {
					continue
				}
				for method := range strings.SplitSeq(a.Method, ",") {
					all = append(all, served{method, strings.ReplaceAll(pattern, "{url_path}", strings.Trim(a.Pattern, "/")), b.Decl.Mod.Decl(a.In)})
				}
			}
		}
	}
	return all
}
