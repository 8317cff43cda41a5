package golang

import (
	"path"
	"strings"
)

// framework is a library that routes HTTP requests. Most are not here to be typed:
// their routers are known by the package that a variable's type or its value names,
// and followed through the unit's variables.
type framework struct {
	name string
	// routers are the types, and the functions that make one.
	routers []string
	// verbs are the methods that register a route for the HTTP method they stand for.
	verbs map[string]string
	// any are methods that register one for all, as f(pattern, handler).
	any []string
	// method is one whose first argument is the HTTP method.
	method string
	// groups are methods that give a router below a prefix; inside are those that hand
	// it to a function instead.
	groups, inside []string
	// same are methods that give a router of the same prefix.
	same []string
	// last says that the handler is the last argument; else it follows the pattern.
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

// frameworkOf is the one that a package belongs to, whatever its major version.
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
