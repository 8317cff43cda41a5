package scope

import (
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// httpMethods are the methods of a class-based view that serve requests.
var httpMethods = []string{"get", "post", "put", "patch", "delete", "head", "options", "trace"}

// viewSetMethods has the methods of a view set of Django REST framework, with the HTTP method of
// each and whether it serves one object.
var viewSetMethods = []struct {
	name, method string
	detail       bool
}{
	{"list", "GET", false},
	{"create", "POST", false},
	{"retrieve", "GET", true},
	{"update", "PUT", true},
	{"partial_update", "PATCH", true},
	{"destroy", "DELETE", true},
}

// restBases has the methods that the classes of Django REST framework bring, by their names.
var restBases = map[string]string{
	"ModelViewSet": "list create retrieve update partial_update destroy", "ReadOnlyModelViewSet": "list retrieve",
	"ListModelMixin": "list", "CreateModelMixin": "create", "RetrieveModelMixin": "retrieve",
	"UpdateModelMixin": "update partial_update", "DestroyModelMixin": "destroy",
	"ListAPIView": "get", "CreateAPIView": "post", "RetrieveAPIView": "get", "DestroyAPIView": "delete",
	"UpdateAPIView": "put patch", "ListCreateAPIView": "get post", "RetrieveUpdateAPIView": "get put patch",
	"RetrieveDestroyAPIView": "get delete", "RetrieveUpdateDestroyAPIView": "get put patch delete",
}

// djangoViews has the methods that Django's generic views serve, by their names.
var djangoViews = map[string]string{
	"TemplateView": "get", "ListView": "get", "DetailView": "get", "ArchiveIndexView": "get", "YearArchiveView": "get", "MonthArchiveView": "get",
	"WeekArchiveView": "get", "DayArchiveView": "get", "TodayArchiveView": "get", "DateDetailView": "get",
	"FormView": "get post put", "CreateView": "get post put", "UpdateView": "get post put", "DeleteView": "get post delete",
	// django.contrib.auth.views
	"LoginView": "get post put", "LogoutView": "post", "PasswordChangeView": "get post put", "PasswordChangeDoneView": "get",
	"PasswordResetView": "get post put", "PasswordResetDoneView": "get", "PasswordResetConfirmView": "get post put", "PasswordResetCompleteView": "get",
	// rest_framework.authtoken.views, rest_framework_simplejwt.views and drf_spectacular.views
	"obtain_auth_token": "post", "ObtainAuthToken": "post",
	"TokenObtainPairView": "post", "TokenRefreshView": "post", "TokenVerifyView": "post", "TokenBlacklistView": "post",
	"TokenObtainSlidingView": "post", "TokenRefreshSlidingView": "post",
	"SpectacularAPIView": "get", "SpectacularSwaggerView": "get", "SpectacularRedocView": "get", "SpectacularJSONAPIView": "get", "SpectacularYAMLAPIView": "get",
}

// DjangoView returns the methods that a view serves that is one of Django REST framework, or of the modules of
// djangoModule; none for others.
func DjangoView(module, name string) []string {
	if verbs := restBases[name]; strings.HasSuffix(name, "APIView") && strings.HasPrefix(module+".", "rest_framework.generics.") {
		return strings.Fields(strings.ToUpper(verbs))
	}
	if !djangoModule(module) {
		return nil
	}
	return strings.Fields(strings.ToUpper(djangoViews[name]))
}

// djangoModule reports whether a module of Django, or of a common package for it, has generic views.
func djangoModule(name string) bool {
	switch name {
	case "rest_framework.authtoken.views", "rest_framework_simplejwt.views", "drf_spectacular.views":
		return true
	}
	return strings.HasPrefix(name+".", "django.views.") || strings.HasPrefix(name+".", "django.contrib.auth.views.")
}

// methods returns the methods that a class has or inherits, by name; those of known classes outside
// the repository have no declaration.
func methods(class *Decl) map[string]*Decl {
	all := map[string]*Decl{}
	for _, b := range class.orderOrSelf() {
		switch {
		case b.Decl != nil && b.Decl.Scope != nil:
			for name, v := range b.Decl.Scope.Vars {
				for _, d := range v.Decls {
					if _, found := all[name]; !found && d.IsFunction() {
						all[name] = d
					}
				}
			}
		case b.External != nil:
			name, brings := b.External.Name[strings.LastIndexByte(b.External.Name, '.')+1:], ""
			switch pkg := b.External.Pkg; {
			case djangoModule(pkg):
				brings = djangoViews[name]
			case strings.HasPrefix(pkg+".", "rest_framework."):
				brings = restBases[name]
			}
			for name := range strings.FieldsSeq(brings) {
				if _, found := all[name]; !found {
					all[name] = nil
				}
			}
		}
	}
	return all
}

// lets reports whether a class lets its views serve a method: all, but where http_method_names lists some.
func (rt *Routing) lets(class *Decl, method string) bool {
	for _, b := range class.orderOrSelf() {
		if some := rt.verbs[b.Decl]; b.Decl != nil && len(some) > 0 {
			return slices.Contains(some, method)
		}
	}
	return true
}

// narrowing has the frameworks in which the methods of a route narrow those of its view.
var narrowing = map[string]bool{"flask": true, "quart": true, "sanic": true}

// viewMethods returns what the methods of a class-based view serve.
func (rt *Routing) viewMethods(r *recountv1.RouteFact, class *Decl) (all []served) {
	has := methods(class)
	for _, name := range httpMethods {
		if d, ok := has[name]; ok && (r.Framework != "django" || rt.lets(class, strings.ToUpper(name))) && (!narrowing[r.Framework] || r.Method == "ANY" || r.Method == strings.ToUpper(name)) {
			if d == nil {
				d = class
			}
			all = append(all, served{strings.ToUpper(name), r.Pattern, d})
		}
	}
	return all
}

// extendsExternal reports whether a class has a base outside of the repository.
func extendsExternal(class *Decl, pkg, name string) bool {
	return slices.ContainsFunc(class.orderOrSelf(), func(b Base) bool {
		return b.External != nil && strings.HasSuffix(b.External.Name, name) && strings.HasPrefix(b.External.Pkg, pkg[:strings.IndexByte(pkg, '.')])
	})
}

// mappedRole begins the role of a route that one method of a view serves, whose name follows.
const mappedRole = "mapped "

// mapped returns the method of a name of a class, or the class if it comes from outside of the repository.
func mapped(class *Decl, name string) *Decl {
	if d := methods(class)[name]; d != nil {
		return d
	}
	return class
}

// dispatched returns what a view of Flask serves that has one function for all methods: GET, or those that its
// attribute methods lists.
func (rt *Routing) dispatched(r *recountv1.RouteFact, class *Decl) (all []served) {
	d := methods(class)["dispatch_request"]
	if d == nil || r.Framework != "flask" && r.Framework != "quart" || r.Method != "ANY" {
		return nil
	}
	for _, b := range class.orderOrSelf() {
		for _, v := range rt.verbs[b.Decl] {
			all = append(all, served{v, r.Pattern, d})
		}
		if len(all) > 0 {
			return all
		}
	}
	return []served{{"GET", r.Pattern, d}}
}

// ResponderRole begins the role of a route that a resource of Falcon serves, whose suffix follows. Such a route without
// a method is none if the resource is not known.
const ResponderRole = "responder "

// responderMethods are the methods of resources of Falcon.
var responderMethods = append([]string{"connect", "websocket"}, httpMethods...)

// responders returns what the methods on_get, on_post, … of a resource of Falcon serve, with a suffix those that end in
// it: on_get_list.
func responders(r *recountv1.RouteFact, resource *Decl, suffix string) (all []served) {
	if suffix != "" {
		suffix = "_" + suffix
	}
	if resource == nil || !resource.IsClass() {
		if r.Method != "" {
			all = []served{{r.Method, r.Pattern, resource}}
		}
		return all
	}
	has := methods(resource)
	for _, name := range responderMethods {
		if d := has["on_"+name+suffix]; d != nil {
			all = append(all, served{strings.ToUpper(name), r.Pattern, d})
		}
	}
	return all
}

// viewSet returns what a view set serves: a list, one object, and its further actions.
func (rt *Routing) viewSet(m *Module, r *recountv1.RouteFact, class *Decl) (all []served) {
	list := strings.Trim(r.Pattern, "/") + "/"
	if list == "/" {
		list = ""
	}
	routings := rt.routings(m, r)
	if len(routings) > 0 && routings[0].Pattern != "${}" {
		return rt.routed(routings, class, strings.Trim(r.Pattern, "/"))
	}
	if len(routings) > 0 {
		list = "${}" + list
	}
	detail := list + "<pk>/"
	has := methods(class)
	for _, m := range viewSetMethods {
		d, ok := has[m.name]
		if !ok || !rt.lets(class, m.method) {
			continue
		}
		if d == nil {
			d = class
		}
		pattern := list
		if m.detail {
			pattern = detail
		}
		all = append(all, served{m.method, pattern, d})
	}
	for _, b := range class.orderOrSelf() {
		for _, a := range rt.actions[b.Decl] {
			pattern := list
			if a.Router == "detail" {
				pattern = detail
			}
			d := b.Decl.Mod.Decl(a.In)
			for method := range strings.SplitSeq(a.Method, ",") {
				if rt.lets(class, method) && !slices.ContainsFunc(all, func(s served) bool { return s.method == method && s.handler == d }) {
					all = append(all, served{method, pattern + strings.Trim(a.Pattern, "/") + "/", d})
				}
			}
		}
	}
	return all
}

// served is a method and a pattern with the function that serves it.
type served struct {
	method, pattern string
	handler         *Decl
}

// Actor is an engine of Routers that knows what view sets serve.
type Actor interface {
	// Actions returns what the view set serves that a path names: "GET list,POST create", "" if that is not said.
	Actions(m *Module, in uint32, of Path) string
}

// served returns what a route fact of a module serves: itself, or the methods of a class.
func (rt *Routing) served(m *Module, r *recountv1.RouteFact, handler *Decl) []served {
	one := []served{{r.Method, r.Pattern, handler}}
	if suffix, ok := strings.CutPrefix(r.Role, ResponderRole); ok {
		return responders(r, handler, suffix)
	}
	if handler == nil {
		return one
	}
	if act, ok := rt.know.(Actor); ok && r.Role == "view" && handler.IsClass() && r.Handler != "" {
		if some := act.Actions(m, m.RouteScope(r), m.Path(r.Handler)); some != "" {
			one = nil
			for action := range strings.SplitSeq(some, ",") {
				method, name, _ := strings.Cut(action, " ")
				one = append(one, served{method, r.Pattern, mapped(handler, name)})
			}
			return one
		}
	}
	switch {
	case r.Framework == "tornado" && handler.IsClass() && extendsExternal(handler, "tornado.websocket", "WebSocketHandler"):
		return []served{{"WEBSOCKET", r.Pattern, handler}}
	case r.Role == "viewset" && handler.IsClass():
		if all := rt.viewSet(m, r, handler); len(all) > 0 {
			return all
		}
	case strings.HasPrefix(r.Role, mappedRole) && handler.IsClass():
		return []served{{r.Method, r.Pattern, mapped(handler, strings.TrimPrefix(r.Role, mappedRole))}}
	case (r.Role == "view" || r.Role == "ruled") && handler.IsClass():
		if all := rt.viewMethods(r, handler); len(all) > 0 {
			return all
		}
		if all := rt.dispatched(r, handler); len(all) > 0 {
			return all
		}
	case r.Method == "ANY" && len(rt.verbs[handler]) > 0:
		one = nil
		for _, v := range rt.verbs[handler] {
			one = append(one, served{v, r.Pattern, handler})
		}
	}
	return one
}
