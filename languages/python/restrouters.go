package python

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// ownRouter notes the router that a call makes of a class whose name ends in Router, in a file of Django REST framework:
// whether the class is one of its routers is known where all files are.
func (p *walker) ownRouter(n extract.Ref, path, module, name string, s state) {
	if p.framework != "django" || !strings.HasSuffix(name, "Router") || strings.ContainsAny(path, "([?") || frameworkOf(module) != "" {
		return
	}
	h := p.holder(n, s)
	p.AddRoute(&recountv1.RouteFact{Group: true, Role: "part", Handler: h, Router: path, Framework: "django", In: s.in}, n)
	p.AddRoute(&recountv1.RouteFact{Role: "index", Method: "GET", Handler: extract.Unknown, Router: h, Framework: "django", In: s.in}, n)
}

// routings reads the routes of a class of routers of Django REST framework:
//
//	routes = [Route(url=r"^{prefix}$", mapping={"get": "list"}, detail=False, …), DynamicRoute(url=…, detail=True, …)]
//
// The pattern is ${} if they are not all known.
func (p *walker) routings(target string, list extract.Ref, s state) {
	if target != "routes" || !s.class || p.framework != "django" {
		return
	}
	var all []*recountv1.RouteFact
	known := p.Kind(list) == "list"
	for c := range p.Children(list) {
		name := p.Text(p.lastName(p.Field(c, "function")))
		args := p.Field(c, "arguments")
		url, ok := p.literal(p.argument(args, 0, "url"))
		r := &recountv1.RouteFact{Group: true, Role: "routing", Pattern: strings.TrimSuffix(strings.TrimPrefix(url, "^"), "$"), Framework: "django", In: s.in}
		detail := p.argument(args, 2, "detail")
		if name == "Route" {
			detail = p.argument(args, 3, "detail")
			mapping := p.argument(args, 1, "mapping")
			var serves []string
			for pair := range p.Children(mapping) {
				verb, is := p.literal(p.Field(pair, "key"))
				action, also := p.literal(p.Field(pair, "value"))
				ok = ok && is && also
				serves = append(serves, strings.ToUpper(verb)+" "+action)
			}
			ok = ok && p.Kind(mapping) == "dictionary"
			r.Method = strings.Join(serves, ",")
		}
		if p.Text(detail) == "True" {
			r.Router = "detail"
		}
		known = known && ok && (name == "Route" || name == "DynamicRoute")
		all = append(all, r)
	}
	if !known {
		all = []*recountv1.RouteFact{{Group: true, Role: "routing", Pattern: "${}", Framework: "django", In: s.in}}
	}
	for _, r := range all {
		p.AddRoute(r, list)
	}
}
