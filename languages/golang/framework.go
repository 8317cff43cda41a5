package golang

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// framework is a library that routes HTTP requests. The types of most are not available: their
// routers are recognised by the package in a variable's type or value, and followed through
// variables, parameters and results.
type framework struct {
	name string
	// routers has the router types, and the functions that return one; whole has those that are
	// never below a prefix.
	routers, whole []string
	// verbs maps the methods that register a route to the HTTP method that they register.
	verbs map[string]string
	// any has the methods that register a route for all HTTP methods, as f(pattern, handler).
	any []string
	// method has the methods whose first argument is the HTTP method, or a list of them.
	method []string
	// groups has the methods that return a router below a prefix; inside has those that pass it to
	// a function instead, and mounts those that put another router below a prefix.
	groups, inside, mounts []string
	// same has the methods that return the router itself.
	same []string
	// files has the methods that serve files, with what follows their pattern for a folder.
	files map[string]string
	// last is true if the handler is the last argument; otherwise it follows the pattern.
	last bool
}

var (
	upper = verbs("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE")
	title = verbs("Get", "Head", "Post", "Put", "Patch", "Delete", "Options", "Connect", "Trace")

	chi = &framework{
		name: "chi", routers: []string{"NewRouter", "NewMux", "Router", "Mux"}, verbs: title,
		any: []string{"Handle", "HandleFunc"}, method: []string{"MethodFunc", "Method"}, inside: []string{"Route", "Group"},
		mounts: []string{"Mount"}, same: []string{"With"},
	}
	gin = &framework{
		name: "gin", routers: []string{"Default", "New", "Engine", "RouterGroup", "IRouter", "IRoutes"}, whole: []string{"Engine"},
		verbs: upper, any: []string{"Any"}, method: []string{"Handle", "Match"}, groups: []string{"Group"}, same: []string{"Use"}, last: true,
		files: map[string]string{"Static": "/*filepath", "StaticFS": "/*filepath", "StaticFile": "", "StaticFileFS": ""},
	}
	echo = &framework{
		name: "echo", routers: []string{"New", "Echo", "Group"}, whole: []string{"Echo"}, verbs: upper,
		any: []string{"Any"}, method: []string{"Add", "AddRoute", "Match"}, groups: []string{"Group"}, same: []string{"Host"},
		files: map[string]string{"Static": "*", "StaticFS": "*", "File": "", "FileFS": ""},
	}
	fiber = &framework{
		name: "fiber", routers: []string{"New", "App", "Router", "Group"}, verbs: title, any: []string{"All"}, method: []string{"Add"},
		groups: []string{"Group", "RouteChain", "Route"}, inside: []string{"Route"}, mounts: []string{"Mount", "Use"}, same: []string{"Use"}, last: true,
	}
	gorilla = &framework{
		name: "mux", routers: []string{"NewRouter", "Router"}, any: []string{"Handle", "HandleFunc"},
		groups: []string{"PathPrefix", "Path"},
		same:   []string{"Subrouter", "StrictSlash", "Host", "Schemes", "Queries", "Headers", "Methods", "Name", "UseEncodedPath", "SkipClean", "NewRoute"},
	}
	// routegroup is a group of routes on a mux of net/http, whose patterns it takes.
	routegroup = &framework{
		name: "routegroup", routers: []string{"New", "Bundle"}, any: []string{"Handle", "HandleFunc"},
		groups: []string{"Mount"}, inside: []string{"Route"}, same: []string{"Group", "With"},
	}
	netHTTP = &framework{
		name: "net/http", routers: []string{"NewServeMux", "ServeMux"}, any: []string{"Handle", "HandleFunc"}, mounts: []string{"Handle"},
	}
	// huma describes an API that an adapter registers on a router of another framework. Its functions take the API first.
	huma = &framework{
		name: "huma", routers: []string{"API", "Group"}, verbs: title, method: []string{"Register"},
	}
	frameworks = []*framework{chi, gin, echo, fiber, gorilla, routegroup, huma, netHTTP}
)

// registers has the methods of all frameworks that may register routes.
var registers = func() map[string]bool {
	all := map[string]bool{"HandlerFunc": true, "Handler": true}
	for _, f := range frameworks {
		for name := range f.verbs {
			all[name] = true
		}
		for name := range f.files {
			all[name] = true
		}
		for _, name := range slices.Concat(f.any, f.method) {
			all[name] = true
		}
	}
	return all
}()

func verbs(names ...string) map[string]string {
	all := map[string]string{}
	for _, n := range names {
		all[n] = strings.ToUpper(n)
	}
	return all
}

// frameworkOf returns the framework that a package belongs to, of any major version, or nil.
func frameworkOf(pkg string) *framework {
	if isVersion(path.Base(pkg)) {
		pkg = path.Dir(pkg)
	}
	switch pkg {
	case "net/http":
		return netHTTP
	case "github.com/go-chi/chi":
		return chi
	case "github.com/gin-gonic/gin":
		return gin
	case "github.com/labstack/echo":
		return echo
	case "github.com/gorilla/mux":
		return gorilla
	case "github.com/gofiber/fiber":
		return fiber
	case "github.com/go-pkgz/routegroup":
		return routegroup
	case "github.com/danielgtaylor/huma":
		return huma
	}
	if strings.HasPrefix(pkg, "github.com/danielgtaylor/huma/") {
		return huma // one of its adapters
	}
	return nil
}

// methodNamed returns the HTTP method that a constant of a framework stands for: fiber.MethodPatch, echo.PROPFIND.
func methodNamed(of *framework, name string) (string, bool) {
	switch {
	case of == fiber:
		if method, ok := strings.CutPrefix(name, "Method"); ok {
			return strings.ToUpper(method), true
		}
	case of == echo && name != "" && name == strings.ToUpper(name):
		return name, true
	}
	return "", false
}

// chainsRoute reports whether a call of Fiber begins a chain of methods of one path: app.RouteChain("/x").
func chainsRoute(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && len(call.Args) == 1 && (sel.Sel.Name == "RouteChain" || sel.Sel.Name == "Route")
}

// chainedRoute reports whether an expression is such a chain.
func chainedRoute(e ast.Expr) bool {
	for {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return false
		}
		if chainsRoute(call) {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || fiber.verbs[sel.Sel.Name] == "" && sel.Sel.Name != "All" {
			return false
		}
		e = sel.X
	}
}

// routeOf returns the arguments of a call that registers a route: for e.AddRoute(echo.Route{Method: m, Path: p, Handler:
// h}) the three fields, and for a method of a chained route a path that is empty.
func routeOf(call *ast.CallExpr) []ast.Expr {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return call.Args
	}
	if chainedRoute(sel.X) && len(call.Args) == 1 {
		return append([]ast.Expr{call.Args[0]}, call.Args...)[:2]
	}
	if sel.Sel.Name != "AddRoute" || len(call.Args) != 1 {
		return call.Args
	}
	lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	if !ok {
		return call.Args
	}
	fields := fieldsOf(lit)
	if fields["Method"] == nil || fields["Path"] == nil || fields["Handler"] == nil {
		return call.Args
	}
	return []ast.Expr{fields["Method"], fields["Path"], fields["Handler"]}
}

// fieldsOf returns the values of a literal by the names of their fields.
func fieldsOf(lit *ast.CompositeLit) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if name, ok := kv.Key.(*ast.Ident); ok {
				fields[name.Name] = kv.Value
			}
		}
	}
	return fields
}

// humaCall returns the name of the function of huma, or of one of its adapters, that a call names, and its package.
func (r *routing) humaCall(call *ast.CallExpr) (pkg, name string) {
	fun := call.Fun
	switch generic := fun.(type) { // huma.Get[In, Out](api, "/x", h)
	case *ast.IndexExpr:
		fun = generic.X
	case *ast.IndexListExpr:
		fun = generic.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return "", ""
	}
	of := (&linker{unit: r.unit}).packageOf(sel)
	if of == nil || frameworkOf(of.Imported().Path()) != huma {
		return "", ""
	}
	return of.Imported().Path(), sel.Sel.Name
}

// humaAPI notes the API that a call of huma makes, and reports whether it makes one: humachi.New(router, config),
// humago.NewWithPrefix(mux, "/api", config), humaecho.NewWithGroup(e, group, config), huma.NewGroup(api, "/v1", "/v2").
func (r *routing) humaAPI(call *ast.CallExpr, at string) bool {
	pkg, name := r.humaCall(call)
	on, prefixes := call.Args[:min(len(call.Args), 1)], []text{{known: true}}
	switch {
	case name == "NewGroup":
		if len(call.Args) > 1 {
			prefixes = nil
		}
		for _, p := range call.Args[min(1, len(call.Args)):] {
			prefixes = append(prefixes, r.text(p))
		}
	case !strings.Contains(pkg, "/adapters/") || !strings.HasPrefix(name, "New"):
		return false
	case name == "NewWithGroup" && len(call.Args) > 1:
		on = call.Args[1:]
	case name == "NewWithPrefix" && len(call.Args) > 1:
		prefixes = []text{r.text(call.Args[1])}
	}
	for _, p := range prefixes {
		r.body.chains = append(r.body.chains, chained{on: r.value(on[0]), name: humaMaker, prefix: p, at: at})
	}
	return true
}

// humaMaker is the name of a chained call that makes an API of huma of any router.
const humaMaker = "huma.New"

// humaRoute returns the API and the arguments, as those of a method, of a call of huma that registers a route.
func (r *routing) humaRoute(call *ast.CallExpr) (on ast.Expr, name string, args []ast.Expr) {
	pkg, name := r.humaCall(call)
	switch {
	case strings.Contains(pkg, "/adapters/") || name == "":
		return nil, "", nil
	case huma.verbs[name] != "":
		return call.Args[0], name, call.Args[1:]
	case name != "Register" || len(call.Args) < 3:
		return nil, "", nil
	}
	op := r.meant(call.Args[1])
	if id, ok := ast.Unparen(op).(*ast.Ident); ok {
		op = r.setOnce(r.info.Uses[id])
	}
	lit, ok := op.(*ast.CompositeLit)
	if !ok {
		return nil, "", nil
	}
	fields := fieldsOf(lit)
	if fields["Method"] == nil || fields["Path"] == nil {
		return nil, "", nil
	}
	return call.Args[0], name, []ast.Expr{fields["Method"], fields["Path"], call.Args[2]}
}

// made returns the framework if an expression pkg.Name is one of its router types or of the functions
// that make a router, otherwise nil.
func (r *routing) made(e ast.Expr) *framework {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	pkg := (&linker{unit: r.unit}).packageOf(sel)
	if pkg == nil {
		return nil
	}
	if of := frameworkOf(pkg.Imported().Path()); of != nil && slices.Contains(of.routers, sel.Sel.Name) {
		return of
	}
	return nil
}
