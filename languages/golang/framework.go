package golang

import (
	"path"
	"strings"
)

// framework is a library that routes HTTP requests. The types of most are not available: their
// routers are recognised by the package in a variable's type or value, and followed through the
// unit's variables.
type framework struct {
	name string
	// routers has the router types, and the functions that return one.
	routers []string
	// verbs maps the methods that register a route to the HTTP method that they register.
	verbs map[string]string
	// any has the methods that register a route for all HTTP methods, as f(pattern, handler).
	any []string
	// method is the method whose first argument is the HTTP method.
	method string
	// groups has the methods that return a router below a prefix; inside has those that pass it to
	// a function instead.
	groups, inside []string
	// same has the methods that return a router with the same prefix.
	same []string
	// last is true if the handler is the last argument; otherwise it follows the pattern.
	last bool
}

var (
	upper = verbs("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE")
	title = verbs("Get", "Head", "Post", "Put", "Patch", "Delete", "Options", "Connect", "Trace")

	chi = &framework{
		name: "chi", routers: []string{"NewRouter", "NewMux", "Router", "Mux"}, verbs: title,
		any: []string{"Handle", "HandleFunc"}, method: "MethodFunc", inside: []string{"Route", "Group"}, same: []string{"With"},
	}
	gin = &framework{
		name: "gin", routers: []string{"Default", "New", "Engine", "RouterGroup", "IRouter", "IRoutes"}, verbs: upper,
		any: []string{"Any"}, method: "Handle", groups: []string{"Group"}, same: []string{"Use"}, last: true,
	}
	echo = &framework{
		name: "echo", routers: []string{"New", "Echo", "Group"}, verbs: upper,
		any: []string{"Any"}, method: "Add", groups: []string{"Group"},
	}
	gorilla = &framework{
		name: "mux", routers: []string{"NewRouter", "Router"}, any: []string{"Handle", "HandleFunc"},
		groups: []string{"PathPrefix"}, same: []string{"Subrouter", "StrictSlash"},
	}
	netHTTP = &framework{name: "net/http", routers: []string{"NewServeMux", "ServeMux"}, any: []string{"Handle", "HandleFunc"}}
)

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
	}
	return nil
}
