package span

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// web recognises an HTTP request: "GET /users/{id}". The path is the route if the service states
// it, else the requested path with values replaced.
func web(u *interpretation) bool {
	switch {
	case u.a.has(httpMethod, httpURL):
	case u.internal():
		return false // a step of a framework, which names the route it works for
	case !u.a.has(httpRoute, httpTemplate, httpPath, httpStatus):
		return false
	}
	u.set(recountv1.RuntimeKind_RUNTIME_KIND_CALLS, "http", "")
	method := methodOf(u.a.text(httpMethod))
	path := u.path()
	switch route := u.a.text(httpRoute); {
	case route != "":
		u.request(method, route, true)
	case u.a.has(httpTemplate):
		u.request(method, pathOfURL(u.a.text(httpTemplate)), true)
	default:
		// In older conventions the name is the route, if the framework knows it.
		named, asked, ok := requestName(strings.TrimSpace(u.name))
		if ok && asked != path && (path == "" || isPattern(asked)) {
			if method == anyMethod {
				method = named
			}
			u.request(method, asked, isPattern(asked))
			break
		}
		u.request(method, path, false)
	}
	return true
}

const anyMethod = "ANY"

// request sets the operation of a request, and whether its path is a pattern.
func (u *interpretation) request(method, path string, pattern bool) {
	switch {
	case path == "":
		u.o.Operation = method
		return
	case !pattern:
		path = withoutValues(path)
	case path[0] != '/' && path[0] != '^':
		path = "/" + path // Django's, "users/<int:id>/"
	}
	u.o.Templated = pattern
	u.o.Operation = method + " " + path
}

// methodOf returns a method in capitals. Unknown methods become "any", so that there are few.
func methodOf(s string) string {
	if s == "" || len(s) > 16 {
		return anyMethod
	}
	for i := range len(s) {
		if c := s[i] &^ 0x20; c < 'A' || c > 'Z' {
			return anyMethod // also for "_OTHER"
		}
	}
	return strings.ToUpper(s)
}

// path returns the requested path without its query, "" if it is unknown.
func (u *interpretation) path() string {
	if p := u.a.text(httpPath); p != "" {
		if p[0] != '/' { // the absolute form sent to a proxy
			p = pathOfURL(p)
		}
		return withoutQuery(p)
	}
	return pathOfURL(u.a.text(httpURL))
}

// pathOfURL returns the path of a URL or of a URL template, "/" if it has none.
func pathOfURL(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		at := strings.IndexAny(rest, "/?#")
		if at < 0 || rest[at] != '/' {
			return "/"
		}
		url = rest[at:]
	}
	return withoutQuery(url)
}

// hostOfURL returns the host and port of a URL, without user information; "" for a path.
func hostOfURL(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		rest = rest[:at]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

func withoutQuery(path string) string {
	if at := strings.IndexAny(path, "?#"); at >= 0 {
		return path[:at]
	}
	return path
}

// requestName parses a span name that is a request: "GET /users/{id}", "HTTP GET /users",
// "/users/<id>".
func requestName(name string) (method, path string, ok bool) {
	name = strings.TrimPrefix(name, "HTTP ")
	method, path, ok = strings.Cut(name, " ")
	if !ok {
		method, path = "", name
	}
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " \t") {
		return "", "", false
	}
	if method == "" {
		return anyMethod, withoutQuery(path), true
	}
	if method = methodOf(method); method == anyMethod {
		return "", "", false
	}
	return method, withoutQuery(path), true
}

// isPattern reports whether a path contains marks that frameworks use for parameters.
func isPattern(path string) bool {
	return strings.ContainsAny(path, "{<*[(") || strings.Contains(path, "/:")
}
