package schemas

import (
	"slices"
	"strings"
)

// Endpoint is a route or a request in the form in which the two are compared. A path is reduced to
// its segments: "*" for one that a parameter fills, and "**" at the end for any number. "GET
// /users/:id", "GET /users/{id}" and "GET /users/<int:id>" are the same route, and the request "GET
// https://shop/users/42?all=1" matches it.
type Endpoint struct {
	// Method is in capitals; "ANY" if the route accepts all methods or the method is unknown.
	Method string
	// Host is the host of a request, without its port: "*" if it is unknown, "" if the request is
	// relative to the host that sent it.
	Host     string
	Segments []string
	// AnyCase is set for a route that ignores the case of letters, as those of ASP.NET Core do.
	AnyCase bool
}

const (
	anySegment  = "*"
	anySegments = "**"
	anyMethod   = "ANY"
)

// UnknownPrefix begins the pattern of a route whose prefix is not known: "GET …/orders".
const UnknownPrefix = "…"

// ParseRoute parses a route's name: a method, a space and a pattern in the syntax of any supported
// framework. ok is false if it is not one, or if its prefix is not known, so that no request is
// joined to it.
func ParseRoute(name string) (Endpoint, bool) {
	method, pattern, ok := strings.Cut(name, " ")
	if !ok || strings.HasPrefix(pattern, UnknownPrefix) {
		return Endpoint{}, false
	}
	pattern = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(pattern, "/"), "^"), "$")
	e := Endpoint{Method: strings.ToUpper(method)}
	for _, s := range splitPattern(pattern) {
		switch s = normalSegment(s); s {
		case "":
		case anySegments:
			e.Segments = append(e.Segments, s)
			return e, true
		default:
			e.Segments = append(e.Segments, s)
		}
	}
	return e, true
}

// splitPattern splits a pattern at slashes outside brackets: the regular expression of a parameter
// may contain slashes.
func splitPattern(pattern string) (all []string) {
	depth, from := 0, 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '{', '(', '<', '[':
			depth++
		case '}', ')', '>', ']':
			depth = max(depth-1, 0)
		case '/':
			if depth == 0 {
				all = append(all, pattern[from:i])
				from = i + 1
			}
		}
	}
	return append(all, pattern[from:])
}

// normalSegment returns the normal form of a pattern's segment: itself, "*", "**", or "" for one
// that matches nothing ({$} in Go, an optional rest).
func normalSegment(s string) string {
	switch {
	case s == "{$}" || s == "?" || s == "":
		return ""
	case s == anySegment || s == anySegments || strings.HasPrefix(s, "*"),
		strings.HasSuffix(s, "...}"), strings.HasPrefix(s, "<path:"), strings.HasSuffix(s, ":path}"),
		strings.HasPrefix(s, "[..."), strings.HasPrefix(s, "[[..."), strings.HasPrefix(s, "{*"), strings.Contains(s, ".*"):
		return anySegments
	case strings.HasPrefix(s, ":") || strings.ContainsAny(s, "{}<>()[]$*"):
		return anySegment
	}
	return s
}

// ParseRequest parses a request: a method, a space, and a URL or a path. "{}" in it stands for a
// part that the program fills in.
func ParseRequest(name string) (Endpoint, bool) {
	method, url, ok := strings.Cut(name, " ")
	if !ok || url == "" {
		return Endpoint{}, false
	}
	e := Endpoint{Method: strings.ToUpper(method)}
	url, _, _ = strings.Cut(url, "#")
	url, _, _ = strings.Cut(url, "?")
	if _, rest, ok := strings.Cut(url, "://"); ok {
		e.Host, url, _ = strings.Cut(rest, "/")
	} else if !strings.HasPrefix(url, "/") {
		if !strings.HasPrefix(url, "{}") {
			return Endpoint{}, false // relative to an unknown base
		}
		e.Host = anySegment
		_, url, _ = strings.Cut(url, "/")
	}
	if at := strings.LastIndexByte(e.Host, '@'); at >= 0 {
		e.Host = e.Host[at+1:]
	}
	if !strings.HasPrefix(e.Host, "[") {
		e.Host, _, _ = strings.Cut(e.Host, ":")
	}
	if strings.Contains(e.Host, "{}") {
		e.Host = anySegment
	}
	for _, s := range strings.Split(url, "/") {
		switch {
		case s == "":
		case strings.Contains(s, "{}"):
			e.Segments = append(e.Segments, anySegment)
		default:
			e.Segments = append(e.Segments, s)
		}
	}
	return e, true
}

// Local reports whether a service of the user may answer the request: the host is unknown, missing,
// or belongs to a local network rather than to the internet.
func (e Endpoint) Local() bool {
	switch {
	case !strings.Contains(e.Host, "."):
		return true // no host, an unknown host, or a name of the local network
	case strings.HasPrefix(e.Host, "127.") || strings.HasPrefix(e.Host, "10.") || strings.HasPrefix(e.Host, "192.168."):
		return true
	}
	for _, suffix := range []string{".local", ".internal", ".svc", ".localhost"} {
		if strings.HasSuffix(e.Host, suffix) {
			return true
		}
	}
	return strings.Contains(e.Host, ".svc.")
}

// Answers reports whether the route answers a request, and how many of its segments match
// literally, not by a parameter.
func (e Endpoint) Answers(request Endpoint) (literal int, ok bool) {
	if e.Method != request.Method && e.Method != anyMethod && request.Method != anyMethod {
		return 0, false
	}
	for i, s := range e.Segments {
		switch {
		case s == anySegments:
			return literal, true
		case i >= len(request.Segments):
			return 0, false
		case s == anySegment:
		case s != request.Segments[i] && !(e.AnyCase && strings.EqualFold(s, request.Segments[i])):
			return 0, false
		default:
			literal++
		}
	}
	if len(e.Segments) != len(request.Segments) {
		return 0, false
	}
	return literal, true
}

// Named reports whether a segment of the path is literal, unlike in "/", "/{id}" and "/*".
func (e Endpoint) Named() bool {
	return slices.ContainsFunc(e.Segments, func(s string) bool { return s != anySegment && s != anySegments })
}

// String returns the endpoint in the form "GET /users/*", without the host.
func (e Endpoint) String() string { return e.Method + " /" + strings.Join(e.Segments, "/") }
