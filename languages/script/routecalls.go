package script

import (
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// mounted returns what mount("/hello", app) of koa-mount mounts, and its prefix.
func (j *walker) mounted(n extract.Ref, s state) (of extract.Ref, prefix string, ok bool) {
	if full := strings.TrimSuffix(j.canonical(j.path(j.Field(n, "function"), s)), ".default"); j.Kind(n) != "call_expression" || full != "koa-mount" {
		return n, "", false
	}
	args := j.Field(n, "arguments")
	if of = j.argument(args, 1); of == extract.None {
		return j.argument(args, 0), "", true
	}
	prefix, ok = j.pattern(j.argument(args, 0), s)
	return of, prefix, ok
}

// composed returns the arguments of use with those of compose([…]) of koa-compose in its place, and the elements of lists.
func (j *walker) composed(args []extract.Ref, s state) (all []extract.Ref) {
	for _, c := range args {
		list := c
		if full := strings.TrimSuffix(j.canonical(j.path(j.Field(c, "function"), s)), ".default"); j.Kind(c) == "call_expression" && full == "koa-compose" {
			list = j.argument(j.Field(c, "arguments"), 0)
		}
		if j.Kind(list) != "array" {
			all = append(all, c)
			continue
		}
		for of := range j.Children(list) {
			all = append(all, of)
		}
	}
	return all
}

// samePath returns the path of the route that a chain of calls registered before: app.get("/x", h).post(h) of Hono.
func (j *walker) samePath(n extract.Ref, s state) (all []string) {
	for on := j.Field(j.Field(n, "function"), "object"); j.Kind(on) == "call_expression"; on = j.Field(j.Field(on, "function"), "object") {
		first := j.argument(j.Field(on, "arguments"), 0)
		if _, ok := verbs[j.routeVerb(j.Field(on, "function"))]; !ok {
			return nil
		}
		if k := j.Kind(first); k == "string" || k == "template_string" || k == "array" {
			return j.patterns(first, s)
		}
	}
	return nil
}

// bare notes that a plugin is wrapped by fastify-plugin: it gets the router of who registers it, without a prefix.
func (j *walker) bare(n extract.Ref, path string, args extract.Ref, s state) {
	if !j.isPluginWrapper(n, path, s) {
		return
	}
	r := &recountv1.RouteFact{Group: true, Role: "bare", Framework: "fastify", In: s.in}
	j.handles(r, j.argument(args, 0), n, s)
	j.AddRoute(r, n)
}

// isPluginWrapper reports whether a call is one of fastify-plugin, which returns the plugin that it is given.
func (j *walker) isPluginWrapper(n extract.Ref, path string, s state) bool {
	full := j.canonical(path)
	if module, ok := j.moduleOf(j.Field(n, "function"), s); ok {
		full = module
	}
	return strings.TrimSuffix(full, ".default") == "fastify-plugin" || full == "fastify-plugin.fastifyPlugin"
}

// pluginOptions are the usual names of a Fastify plugin's second parameter, pluginDone those of its third.
var (
	pluginOptions = scope.WordSet("opts options _opts _options")
	pluginDone    = scope.WordSet("done next _done _next")
)

// plugin notes the router that a function is given which has the form of a Fastify plugin: (instance, opts, done) or
// async (instance, opts), in a file that imports no framework.
func (j *walker) plugin(function extract.Ref, all []*recountv1.Parameter) {
	if n := len(all); n < 2 || n > 3 || !pluginOptions[all[1].Name] || n == 3 && !pluginDone[all[2].Name] || n == 2 && !j.Has(function, "async") {
		return
	}
	if j.plugins == nil {
		j.plugins = map[string]bool{}
	}
	j.plugins[all[0].Name] = true
}

// given notes the texts that a call passes to a function, which may be paths there: register(app, "/users").
func (j *walker) given(path string, args, n extract.Ref, s state) {
	if j.framework == "" || path == extract.Unknown || strings.ContainsAny(path, "([?") || extract.Root(path) != path && j.canonical(path) == path {
		return
	}
	if module, _ := extract.SplitLast(j.canonical(path)); frameworkOf(module) != "" || frameworkOf(j.canonical(path)) != "" {
		return
	}
	i := 0
	for c := range j.Children(args) {
		if text, ok := j.literal(c); ok && j.Kind(c) == "string" && len(text) < 128 && (text == "" || strings.HasPrefix(text, "/")) {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "given", Method: strconv.Itoa(i), Handler: path, Pattern: text, In: s.in}, n)
		}
		i++
	}
}

// listOf returns the list whose elements a name stands for in the loop around a call.
func (j *walker) listOf(n, name extract.Ref) extract.Ref {
	for at, up := n, j.Parent(n); up > 0; at, up = up, j.Parent(up) {
		target, list := j.loop(up, at)
		if k := j.Kind(target); k == "required_parameter" {
			target = j.Field(target, "pattern")
		} else if k == "lexical_declaration" {
			target = j.Child(target, 0)
		}
		if list != extract.None && j.Text(target) == j.Text(name) {
			return list
		}
	}
	return extract.None
}

// routeObjects notes the routes of Fastify that a variable has, itself or in a list: they are served where a route is made
// of it, perhaps in another file.
func (j *walker) routeObjects(target string, value extract.Ref, s state) {
	var all []extract.Ref
	switch j.Kind(value) {
	case "object":
		all = append(all, value)
	case "array":
		all = j.elements(value, 0)
	}
	made := false
	for _, object := range all {
		url, handler := j.property(object, "url"), j.property(object, "handler")
		if url == extract.None || handler == extract.None || j.property(object, "method") == extract.None || j.framework != "" && j.framework != "fastify" {
			continue
		}
		if !made {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "part", Handler: target, Framework: "fastify", In: s.in}, value)
			made = true
		}
		j.objectRoute(object, object, func(method, pattern string, handler extract.Ref) {
			r := &recountv1.RouteFact{Role: "documented", Method: method, Pattern: pattern, Router: target, Framework: "fastify", In: s.in}
			j.handles(r, handler, object, s)
			j.AddRoute(r, object)
		}, s)
	}
}
