package script

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// frameworkOf returns the framework that a module belongs to, "" if to none.
func frameworkOf(module string) string {
	for _, registry := range []string{"jsr:", "npm:", "@hono/hono"} {
		if rest, ok := strings.CutPrefix(module, registry); ok && registry == "@hono/hono" {
			module = "hono" + rest
		} else if ok {
			module = rest
		}
	}
	switch {
	case module == "express" || module == "fastify" || module == "hono" || module == "koa":
		return module
	case strings.HasPrefix(module, "hono/") || module == "@hono/zod-openapi":
		return "hono"
	case module == "fastify-plugin" || strings.HasPrefix(module, "@fastify/"):
		return "fastify"
	case module == "@koa/router" || module == "koa-router":
		return "koa"
	case module == "@nestjs/common" || module == "@nestjs/core":
		return "nestjs"
	}
	return ""
}

// webFramework returns the first known framework that the file imports or requires.
func (j *walker) webFramework() string {
	for i := range j.Nodes {
		if j.Kind(extract.Ref(i)) != "string" {
			continue
		}
		switch j.Kind(j.Parent(extract.Ref(i))) {
		case "import_statement", "arguments", "import_require_clause":
			module, _ := j.literal(extract.Ref(i))
			if f := frameworkOf(module); f != "" {
				return f
			}
			if name := j.Field(j.Parent(j.Parent(j.Parent(extract.Ref(i)))), "name"); strings.Trim(module, "./") == "" && frameworkOf(j.Text(name)) != "" {
				return j.Text(name) // const express = require("../..")
			}
		}
	}
	if openapiRoute.Match(j.Src) || factoryApp.Match(j.Src) { // its router comes from another file
		return "hono"
	}
	return ""
}

// factoryApp matches factory.createApp(), of a factory of Hono that another file makes.
var factoryApp = regexp.MustCompile(`[fF]actory\.createApp\(\)`)

// openapiRoute matches router.openapi(routes.list, handler), a method that only Hono's routers have.
var openapiRoute = regexp.MustCompile(`\.openapi\(\s*[A-Za-z_$][\w$.]*\s*,`)

// verbs are the methods of routers that register a route.
var verbs = map[string]string{
	"get": "GET", "post": "POST", "put": "PUT", "delete": "DELETE", "del": "DELETE", "patch": "PATCH",
	"head": "HEAD", "options": "OPTIONS", "all": "ANY", "any": "ANY",
}

// isRouter reports whether a value may register routes: if the file imports a framework, or by the
// usual names of routers.
func (j *walker) isRouter(path string) (framework string, ok bool) {
	if path == "" || path == extract.Unknown {
		return "", false
	}
	if j.framework != "" {
		root := extract.Root(path)
		_, http := clients[extract.Root(j.known.Canonical(path))]
		made := j.setOnce(root)
		return j.framework, !http && !(path == root && j.Kind(made) == "new_expression" && containers[j.Text(j.Field(made, "constructor"))])
	}
	if j.plugins[extract.Root(path)] {
		return "fastify", true
	}
	switch strings.ToLower(extract.Root(path)) {
	case "app", "router", "server", "api", "route", "routes":
		return "", true // a framework by its form, which one is not known
	case "fastify":
		return "fastify", true
	}
	return "", false
}

// clients make requests by methods of the same names.
var clients = map[string]bool{"axios": true, "got": true, "ky": true, "request": true, "supertest": true, "superagent": true, "http": true, "https": true}

// containers have methods of the same names.
var containers = map[string]bool{"Map": true, "WeakMap": true, "Set": true, "WeakSet": true, "Headers": true, "FormData": true, "URLSearchParams": true}

// pattern returns the text of an expression, with ${PATH} for what is no literal. ok is false if it
// can be no text.
func (j *walker) pattern(n extract.Ref, s state) (text string, ok bool) {
	n = j.meant(n)
	switch j.Kind(n) {
	case "string":
		return j.literal(n)
	case "property_identifier", "shorthand_property_identifier": // a key of an object that a loop goes over
		return j.Text(n), true
	case "template_string":
		var b strings.Builder
		at := j.Start(n) + 1
		for c := range j.Children(n) {
			if j.Kind(c) == "template_substitution" {
				b.Write(j.Src[at:max(j.Start(c), at)])
				inner, _ := j.pattern(j.Child(c, 0), s)
				b.WriteString(cmp.Or(inner, "${}"))
				at = j.End(c)
			}
		}
		b.Write(j.Src[at:max(j.End(n)-1, at)])
		return b.String(), true
	case "binary_expression":
		left, ok := j.pattern(j.Field(n, "left"), s)
		right, also := j.pattern(j.Field(n, "right"), s)
		return left + right, ok && also && j.Text(j.Field(n, "operator")) == "+"
	case "identifier", "member_expression", "subscript_expression", "call_expression":
		return "${" + extract.KnownPath(j.path(n, s)) + "}", true
	case "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression":
		return j.pattern(j.Child(n, 0), s)
	}
	return "", false
}

// patterns returns the patterns of an argument: one, or a list.
func (j *walker) patterns(n extract.Ref, s state) []string {
	var all []string
	if is := j.valueOf(n); j.Kind(n) == "identifier" && j.Kind(is) == "array" {
		n = is
	}
	if j.Kind(n) == "array" {
		for c := range j.Children(n) {
			if p, ok := j.pattern(c, s); ok {
				all = append(all, p)
			}
		}
		return all
	}
	if p, ok := j.pattern(n, s); ok {
		return []string{p}
	}
	return all
}

// isPath reports whether a pattern can be one of a route.
func (j *walker) isPath(pattern, framework string) bool {
	return pattern == "" || strings.HasPrefix(pattern, "$") && framework != "" || strings.ContainsRune("/*:", rune(pattern[0])) ||
		j.framework == "koa" || j.framework == "hono"
}

// constructed returns the framework whose router an expression makes, and the role of the router.
func (j *walker) constructed(n extract.Ref, s state) (framework, role string) {
	fn := j.Field(n, "function")
	isNew := j.Kind(n) == "new_expression"
	if isNew {
		fn = j.Field(n, "constructor")
	} else if j.Kind(n) != "call_expression" {
		return "", ""
	}
	full := j.known.Canonical(j.path(fn, s))
	if module, ok := j.moduleOf(fn, s); ok {
		full = module
	} else if module, ok := j.moduleOf(j.Field(fn, "object"), s); ok {
		full = module + "." + j.Text(j.Field(fn, "property"))
	}
	switch full {
	case "express", "fastify", "fastify.fastify", "fastify.default", "express.default":
		return frameworkOf(extract.Root(full)), "root"
	case "express.Router", "express.default.Router":
		return "express", "part"
	case "koa", "koa.default":
		return "koa", "root"
	case "@koa/router", "koa-router", "@koa/router.default", "@koa/router.Router":
		return "koa", "part"
	}
	if _, name := extract.SplitLast(full); name == "createApp" && j.framework == "hono" && !isNew && j.argument(j.Field(n, "arguments"), 0) == extract.None {
		return "hono", "root" // of createFactory()
	}
	if module, name := extract.SplitLast(full); isNew && frameworkOf(module) == "hono" && (name == "Hono" || name == "OpenAPIHono") {
		return "hono", "root"
	}
	return "", ""
}

// construct notes the router that an expression makes.
func (j *walker) construct(n extract.Ref, s state) {
	framework, role := j.constructed(n, s)
	if role == "" {
		return
	}
	prefix, _ := j.pattern(j.property(j.argument(j.Field(n, "arguments"), 0), "prefix"), s)
	if up := j.Parent(n); j.Text(j.Field(up, "property")) == "basePath" && framework == "hono" {
		prefix, _ = j.pattern(j.argument(j.Field(j.Parent(up), "arguments"), 0), s)
	}
	j.AddRoute(&recountv1.RouteFact{
		Group: true, Role: role, Pattern: prefix, Handler: j.holder(n, s), Framework: framework, In: s.in,
	}, n)
}

// holder returns the path by which the value of an expression is known: what it is assigned to,
// perhaps after calls that return their receiver, or the expression itself.
func (j *walker) holder(n extract.Ref, s state) string {
	for at := n; ; {
		up := j.Parent(at)
		switch j.Kind(up) {
		case "member_expression":
			if j.Field(up, "object") != at || j.Kind(j.Parent(up)) != "call_expression" {
				return j.path(n, s)
			}
			at = j.Parent(up)
			continue
		case "await_expression", "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression":
			at = up
			continue
		case "variable_declarator":
			if name := j.Field(up, "name"); j.Field(up, "value") == at && j.Kind(name) == "identifier" {
				return j.path(name, s)
			}
		case "assignment_expression":
			switch left := j.path(j.Field(up, "left"), s); {
			case j.Field(up, "right") != at:
			case left == "module.exports" || left == "exports": // app = module.exports = express()
				at = up
				continue
			case left != extract.Unknown && !strings.HasPrefix(left, "module.exports"):
				return left
			}
		case "public_field_definition":
			return extract.Member("self", j.propertyName(j.Field(up, "name")))
		case "arguments": // app.route("/x", new Hono().get(…)): a name that no other has
			if _, role := j.constructed(n, s); role != "" && j.Text(j.Field(j.Field(j.Parent(up), "function"), "property")) == "route" {
				name := "router@" + strconv.Itoa(int(n))
				j.Locals[extract.NameIn{In: s.in, Name: name}] = true
				return name
			}
		}
		return j.path(n, s)
	}
}

// receiver returns the path of the router on which a method is called; in a chain of calls it is
// where the chain begins.
func (j *walker) receiver(n extract.Ref, s state) string {
	on := j.Field(j.Field(n, "function"), "object")
	for at := on; ; {
		if _, role := j.constructed(at, s); role != "" {
			return j.holder(at, s)
		}
		fn := j.Field(at, "function")
		if j.Kind(at) != "call_expression" || j.Kind(fn) != "member_expression" {
			return j.path(on, s)
		}
		if j.framework == "hono" && j.Text(j.Field(fn, "property")) == "basePath" {
			return j.holder(at, s) // it makes another router
		}
		at = j.Field(fn, "object")
	}
}

// begun returns the call that makes the router which a chain of calls begins with, no node if it makes none.
func (j *walker) begun(chain extract.Ref, s state) extract.Ref {
	for at := chain; ; {
		if _, role := j.constructed(at, s); role != "" {
			return at
		}
		fn := j.Field(at, "function")
		if j.Kind(at) != "call_expression" || j.Kind(fn) != "member_expression" {
			return extract.None
		}
		at = j.Field(fn, "object")
	}
}

// inlined has an anonymous function that a route names: its declaration gets a name, and the fact
// belongs to it.
type inlined struct {
	name string
	fact *recountv1.RouteFact
}

// handles makes the last of some expressions the handler of a route or a group.
func (j *walker) handles(r *recountv1.RouteFact, n, call extract.Ref, s state) {
	n = j.meant(n)
	for j.Kind(n) == "call_expression" && !j.isFunction(n) && j.callsWithFunction(n) { // wrap(async (req, res) => …)
		inner := extract.None
		for c := range j.Children(j.Field(n, "arguments")) {
			if j.isFunction(c) || j.Kind(c) == "call_expression" {
				inner = c
			}
		}
		n = inner
	}
	if j.isFunction(n) || j.Kind(n) == "method_definition" {
		if j.Start(n) < j.Start(call) { // of a list above, which was walked already
			r.Handler = extract.Unknown
			return
		}
		name := extract.FirstOf(j.Text(j.Field(n, "name")), strings.TrimSpace(r.Method+" "+r.Pattern)+" (inline)")
		j.named[n] = append(j.named[n], inlined{name, r})
		return
	}
	r.Handler = extract.FirstOf(j.routePath(n, s), extract.Unknown)
	if !r.Group {
		r.Given = j.givenTo(n, s)
	}
}

// handler declares an anonymous function that serves a route or gets a router.
func (j *walker) handler(n extract.Ref, s state) {
	all := j.named[n]
	delete(j.named, n)
	outer := s.plain()
	for d := j.Decl(outer.in); d != nil && (d.Kind == recountv1.SymbolKind_SYMBOL_KIND_CONSTANT || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_VARIABLE); d = j.Decl(outer.in) {
		outer.in = d.Owner // a variable has no functions of its own
	}
	in, _ := j.function(n, n, all[0].name, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, outer)
	for _, one := range all {
		one.fact.In = in
	}
}

// isAutoload reports whether an expression is Fastify's plugin that registers the files of a folder.
func (j *walker) isAutoload(n extract.Ref, s state) bool {
	return j.isPlugin(n, "@fastify/autoload", s) || j.isPlugin(n, "fastify-autoload", s) || j.isPlugin(n, "@fastify/autoload.fastifyAutoload", s)
}

// isPlugin reports whether an expression is a module, or what it exports by default.
func (j *walker) isPlugin(n extract.Ref, module string, s state) bool {
	full := j.known.Canonical(j.path(n, s))
	if of, ok := j.moduleOf(n, s); ok {
		full = of
	}
	return strings.TrimSuffix(full, ".default") == module
}

// autoload notes that the files of a folder are registered: {dir: path.join(__dirname, "routes"), options:
// {prefix: "/api"}}.
func (j *walker) autoload(n extract.Ref, router string, options extract.Ref, s state) {
	var dir []string
	j.texts(j.property(options, "dir"), &dir)
	with := j.property(options, "options")
	for c := range j.Children(j.Field(with, "arguments")) { // Object.assign({prefix: "/api"}, opts)
		if j.property(c, "prefix") != extract.None {
			with = c
		}
	}
	prefix, _ := j.pattern(j.property(with, "prefix"), s)
	if len(dir) == 0 {
		return
	}
	if j.isStarted() { // by fastify-cli, which gives the function an application
		j.AddRoute(&recountv1.RouteFact{Group: true, Role: "root", Handler: router, Framework: "fastify", In: s.in}, n)
	}
	g := &recountv1.RouteFact{Group: true, Role: "folder", Pattern: prefix, Handler: strings.Join(dir, "/"), Router: router, Framework: "fastify", In: s.in}
	if j.Text(j.property(options, "dirNameRoutePrefix")) == "false" {
		g.Method = "FLAT"
	}
	j.AddRoute(g, n)
}

// cliOptions matches the options that a file exports for fastify-cli.
var cliOptions = regexp.MustCompile(`(?m)^(module\.exports\.options\s*=|export (const options\b|\{[^}]*\boptions\b))`)

// isStarted reports whether a file exports an application for fastify-cli: a plugin, and options beside it.
func (j *walker) isStarted() bool { return cliOptions.Match(j.Src) }

// texts collects the literals in an expression.
func (j *walker) texts(n extract.Ref, all *[]string) {
	if n == extract.None {
		return
	}
	if text, ok := j.literal(n); ok {
		if text = strings.Trim(strings.TrimPrefix(text, "{}"), "/"); text != "" && text != "." {
			*all = append(*all, text)
		}
		return
	}
	for c := range j.Children(n) {
		j.texts(c, all)
	}
}

// namesPath reports whether an expression is a path by its name, and not a function.
func namesPath(path string) bool {
	if path == extract.Unknown || strings.HasSuffix(path, ")") {
		return false
	}
	name := path[strings.LastIndexByte(path, '.')+1:]
	if name == strings.ToUpper(name) {
		return true
	}
	name = strings.ToLower(name)
	for _, word := range []string{"path", "prefix", "url", "base", "endpoint", "root"} {
		if strings.HasSuffix(name, word) {
			return true
		}
	}
	return false
}

func firstOf(all []string) string {
	if len(all) == 0 {
		return "?"
	}
	return all[0]
}
