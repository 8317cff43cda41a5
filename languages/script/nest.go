package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// decoration returns the name and the first argument of a decorator that is called.
func (j *walker) decoration(decorator extract.Ref) (name string, first extract.Ref) {
	call := j.Child(decorator, 0)
	if j.Kind(call) != "call_expression" {
		return "", extract.None
	}
	return j.Text(j.Field(call, "function")), j.argument(j.Field(call, "arguments"), 0)
}

// controller reads NestJS's @Controller("cats") on a class.
func (j *walker) controller(decorator extract.Ref, in uint32, class string, s state) bool {
	name, first := j.decoration(decorator)
	if name == "Version" {
		j.version(first, in, decorator, s)
	}
	if name != "Controller" {
		return false
	}
	prefixes := j.patterns(extract.FirstRef(j.property(first, "path"), first), s)
	if len(prefixes) == 0 {
		prefixes = []string{""}
	}
	for _, p := range prefixes {
		j.AddRoute(&recountv1.RouteFact{Group: true, Role: "class", Pattern: p, Handler: class, Framework: "nestjs", In: in}, decorator)
	}
	j.version(j.property(first, "version"), in, decorator, s)
	return true
}

// mixed notes the function that makes the base of a controller: class CatsController extends CrudController(Cat).
func (j *walker) mixed(class extract.Ref, in uint32, outside state) {
	for c := range j.Children(j.FirstOf(j.FirstOf(class, "class_heritage"), "extends_clause")) {
		if path := j.path(j.Field(c, "function"), outside); j.Kind(c) == "call_expression" && path != extract.Unknown {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "mixed", Handler: path, Framework: "nestjs", In: in}, c)
		}
	}
}

// version reads the versions of a controller or a method.
func (j *walker) version(n extract.Ref, in uint32, at extract.Ref, s state) {
	for _, v := range j.versions(n, s) {
		j.AddRoute(&recountv1.RouteFact{Group: true, Role: "version", Pattern: v, Framework: "nestjs", In: in}, at)
	}
}

// versions returns the versions that an expression names: one, a list, or VERSION_NEUTRAL.
func (j *walker) versions(n extract.Ref, s state) []string {
	if strings.HasSuffix(j.Text(n), "VERSION_NEUTRAL") {
		return []string{scope.Neutral}
	}
	if j.Kind(n) != "array" {
		return j.patterns(n, s)
	}
	var all []string
	for c := range j.Children(n) {
		all = append(all, j.versions(c, s)...)
	}
	return all
}

// module reads the controllers of NestJS' @Module({controllers: […]}), and where RouterModule.register puts modules.
func (j *walker) module(decorator extract.Ref, in uint32, s state) {
	name, first := j.decoration(decorator)
	if name != "Module" {
		return
	}
	for c := range j.Children(j.property(first, "controllers")) {
		if path := j.path(c, s); path != extract.Unknown {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "controllers", Handler: path, Framework: "nestjs", In: in}, c)
		}
	}
	for c := range j.Children(j.property(first, "imports")) {
		if j.Text(j.Field(c, "function")) == "RouterModule.register" {
			list := j.argument(j.Field(c, "arguments"), 0)
			if is := j.valueOf(list); j.Kind(list) == "identifier" {
				list = is
			}
			j.routed(list, "", in, s, 0)
		}
	}
}

// routed reads a list of RouterModule.register: modules with their paths, and those below them.
func (j *walker) routed(list extract.Ref, before string, in uint32, s state, depth int) {
	if depth > maxListDepth {
		return
	}
	for c := range j.Children(list) {
		module, path := c, before
		if j.Kind(c) == "object" {
			module = j.property(c, "module")
			own, ok := j.pattern(j.property(c, "path"), s)
			if !ok {
				own = "${}"
			}
			path = before + "/" + strings.Trim(own, "/")
			j.routed(j.property(c, "children"), path, in, s, depth+1)
		}
		if name := j.path(module, s); module != extract.None && name != extract.Unknown && path != "" {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "module", Pattern: path, Handler: name, Framework: "nestjs", In: in}, c)
		}
	}
}

// controllerRoute reads @Get(":id") on a method of a controller, or of a class that controllers may extend.
func (j *walker) controllerRoute(decorator extract.Ref, in uint32, class string, controller bool, s state) {
	name, first := j.decoration(decorator)
	if name == "Version" {
		j.version(first, in, decorator, s)
		return
	}
	method, ok := verbs[strings.ToLower(name)]
	switch name {
	case "Sse":
		method, ok = "GET", true
	case "Search":
		method, ok = "SEARCH", true
	}
	role := ""
	if !controller {
		role = "inherited"
	}
	if !ok || name == strings.ToLower(name) {
		return
	}
	patterns := j.patterns(first, s)
	if len(patterns) == 0 {
		patterns = []string{""}
	}
	for _, p := range patterns {
		j.AddRoute(&recountv1.RouteFact{Role: role, Method: method, Pattern: p, Router: class, Framework: "nestjs", In: in}, decorator)
	}
}

// nestApplication reads app.setGlobalPrefix("api") and app.enableVersioning({type: URI}).
func (j *walker) nestApplication(n extract.Ref, verb string, first extract.Ref, rest []extract.Ref, s state) {
	app := func(method, pattern string) {
		j.AddRoute(&recountv1.RouteFact{Group: true, Role: "app", Method: method, Pattern: pattern, Framework: "nestjs", In: s.in}, n)
	}
	if verb == "enableVersioning" {
		if kind := j.property(first, "type"); kind == extract.None || strings.HasSuffix(j.Text(kind), "URI") {
			prefix, ok := j.pattern(j.property(first, "prefix"), s)
			if !ok {
				prefix = "v"
			}
			if j.Text(j.property(first, "prefix")) == "false" {
				prefix = ""
			}
			app("VERSION", prefix)
			for _, v := range j.versions(j.property(first, "defaultVersion"), s) {
				app("DEFAULT", v)
			}
		}
		return
	}
	if p, ok := j.pattern(first, s); ok {
		app("", p)
	}
	for _, options := range rest {
		for _, p := range j.patterns(j.property(options, "exclude"), s) {
			app("EXCEPT", p)
		}
		for c := range j.Children(j.property(options, "exclude")) {
			if p, ok := j.pattern(j.property(c, "path"), s); ok {
				_, method := extract.SplitLast(j.Text(j.property(c, "method")))
				j.AddRoute(&recountv1.RouteFact{Group: true, Role: "app", Method: "EXCEPT", Handler: method, Pattern: p, Framework: "nestjs", In: s.in}, n)
			}
		}
	}
}
