package scope

// Facts of groups have these roles besides those in code.proto, which only one language makes:
//
//	partclass    as class, but the class `in` serves only where it is mounted
//	given        the call of `handler` passes the text `pattern` as its argument `method`, an index or a name
//	optional     the parameter `handler` has a text of its own if a call passes none
//	bare         the plugin `handler`, or the function `in`, gets no prefix (fastify-plugin)
//	auto         the file is registered below `pattern` by the folder it is in (autoPrefix)
//	controllers  the module `in` of NestJS has the controller `handler`; module: `handler` is put below `pattern`
//	copy         what the router `handler` serves is below `router`, too, without the prefix of its own
//	mixed        the base of the class `in` is what the function `handler` returns
//	routing      the routers of the class `in` of Django REST framework serve `pattern` by the actions `method`
//	pages        the controller `in` of Spring is none of REST
//	transform    the class `handler` changes what stands for the tokens of ASP.NET Core (tokens.go)
//	transformer  the class `in` replaces `pattern` by `method`, and makes letters small if `handler` is lower
//	named        the action `in` has the name `pattern`
//	setting      the setting `handler` is the path `pattern`
//
// Routes, too: "page" is a page by the place of its file (next.go), "inherited" serves where a controller extends its class, "documented" where its handler is mounted, "index"
// where its router is, "ruled" is a view of a list that Tornado may serve, "composed" has an annotation instead of a method,
// "responder SUFFIX" is served by a resource of Falcon, and
// "mapped NAME" is served by the method NAME of the class `handler`.

import (
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// application is a folder whose routes of a framework have a prefix.
type application struct {
	dir, framework, version string
	pattern                 prefix
	except                  [][2]string // method, "" if all, and path
	plain                   []string    // the versions of what has none of its own
	// outside is before the pattern, if one is set by the files of settings; varies is set if it depends on the profile.
	outside     string
	set, varies bool
	profiles    []string
	selections  []selection
}

// selection is a prefix of Spring for what controllers serve, or those of REST if rest is set. Of those that a controller
// is selected by, the first holds.
type selection struct {
	at      uint32
	pattern prefix
	rest    bool
}

// Outside is the method of an app fact of a file of settings, whose prefix a deployment may change.
const Outside = "OUTSIDE"

// inside notes what a fact says of the application around its file.
func (rt *Routing) inside(m *Module, r *recountv1.RouteFact) {
	dir := DirOf(m.File.Path)
	dir = strings.TrimSuffix(dir, "/src")
	if dir == "src" {
		dir = ""
	}
	if above, ok := strings.CutSuffix("/"+dir, "/WEB-INF"); ok { // of src/main/webapp, or another folder of the application
		above = strings.TrimSuffix(above[:max(strings.LastIndexByte(above, '/'), 0)], "/src/main")
		dir = strings.TrimPrefix(above, "/")
	}
	for _, sources := range []string{"/src/main/java/", "/src/main/resources/"} {
		if at := strings.Index("/"+dir+"/", sources); at >= 0 {
			dir = strings.TrimSuffix(dir[:max(at-1, 0)], "/")
		}
	}
	if r.Method == Outside {
		dir = strings.TrimSuffix(strings.TrimSuffix(dir, "config"), "/")
	}
	at := slices.IndexFunc(rt.apps, func(a application) bool { return a.dir == dir && a.framework == r.Framework })
	if at < 0 {
		at = len(rt.apps)
		rt.apps = append(rt.apps, application{dir: dir, framework: r.Framework})
	}
	a := &rt.apps[at]
	switch r.Method {
	case Outside:
		switch {
		case r.Handler != "":
			a.profiles = append(a.profiles, r.Pattern)
		case a.set && a.outside != r.Pattern:
			a.varies = true
		default:
			a.outside, a.set = r.Pattern, true
		}
	case "EXCEPT":
		a.except = append(a.except, [2]string{r.Handler, strings.Trim(r.Pattern, "/")})
	case "VERSION":
		a.version = r.Pattern
	case "DEFAULT":
		a.plain = append(a.plain, r.Pattern)
	case "REST", "CONTROLLERS":
		for _, p := range rt.expand(m, r.In, r.Pattern) {
			a.selections = append(a.selections, selection{r.At.GetLine(), p, r.Method == "REST"})
		}
	default:
		if all := rt.expand(m, r.In, r.Pattern); r.Pattern != "" && len(all) == 1 {
			a.pattern = all[0]
			if _, rest, ok := strings.Cut(a.pattern.text, "://"); ok { // the URL of a server
				_, path, _ := strings.Cut(rest, "/")
				a.pattern.text = "/" + path
			}
		}
	}
}

// application returns the application of the framework to which a file belongs.
func (rt *Routing) application(m *Module, framework string) (a application, unknown bool) {
	best, of := -1, 0
	for i, a := range rt.apps {
		if a.framework != framework {
			continue
		}
		of++
		if (a.dir == "" || strings.HasPrefix(m.File.Path, a.dir+"/")) && (best < 0 || len(a.dir) > len(rt.apps[best].dir)) {
			best = i
		}
	}
	switch {
	case best >= 0:
		return rt.apps[best], false
	case of == 1:
		i := slices.IndexFunc(rt.apps, func(a application) bool { return a.framework == framework })
		return rt.apps[i], rt.apps[i].set || len(rt.apps[i].profiles) > 0
	}
	return a, of > 1
}

// Neutral is the version of what is served without one.
const Neutral = "NEUTRAL"

// inApplication adds the prefix of the application to a path, and each version of the handler.
func (rt *Routing) inApplication(a application, unknown bool, r *recountv1.RouteFact, handler *Decl, method string, path prefix) (all []prefix) {
	if unknown {
		return []prefix{{text: path.text, unknown: true}}
	}
	versions := []string{""}
	if handler != nil && a.version != "" {
		of := rt.version[handler]
		if c := handler.Outer.Decl; len(of) == 0 && c != nil {
			of = rt.version[c]
		}
		if len(of) == 0 {
			of = a.plain
		}
		if len(of) > 0 {
			versions = of
		}
	}
	for _, v := range versions {
		one := path
		if v != "" && v != Neutral {
			one = prefix{text: a.version + v}.join("", path)
		}
		if !a.excepts(method, one.text) {
			one = rt.selected(a, r, handler, a.pattern.join("", one))
		}
		if (a.set || len(a.profiles) > 0) && (r.Framework != "micronaut" || r.Router != "") { // which puts it before what controllers serve
			one = a.around().join("", one)
		}
		all = append(all, one)
	}
	return all
}

// selected puts the prefix before a path that the first selection of its controller gives it. One of the class of the
// controller is before it already.
func (rt *Routing) selected(a application, r *recountv1.RouteFact, handler *Decl, path prefix) prefix {
	own := uint32(0)
	if o := rt.routers[path.class]; path.class != nil && o != nil {
		own = o.selectedAt
	}
	for _, s := range a.selections {
		if r.Router == "" || s.rest && rt.pages(handler) {
			continue
		}
		switch {
		case own == 0:
			return s.pattern.join("", path)
		case own > s.at:
			return prefix{text: path.text, unknown: true}
		}
		break
	}
	return path
}

// OfPackage and OfPackageOf begin the handler of a prefix fact: of the controllers in a package, and in that of a class.
const (
	OfPackage   = "package "
	OfPackageOf = "packageof "
)

// prefix puts a prefix before what a router serves, or the controllers in a package and in those below it.
func (rt *Routing) prefix(m *Module, in uint32, r *recountv1.RouteFact) {
	pkg, named := strings.CutPrefix(r.Handler, OfPackage)
	class, inClass := strings.CutPrefix(r.Handler, OfPackageOf)
	all := rt.know.Routers(m, in, m.Path(class))
	if inClass && len(all) > 0 {
		if c, ok := all[0].(ClassRouter); ok {
			pkg, named = c.Class.Mod.Name, true
		}
	}
	if named || inClass {
		all = nil
	}
	for _, other := range rt.p.Modules {
		if !named || other.Name != pkg && !strings.HasPrefix(other.Name, pkg+".") {
			continue
		}
		for _, of := range other.Facts.Routes {
			if d := other.Decl(of.In); of.Group && of.Role == "class" && d != nil && !slices.Contains(all, any(d)) {
				all = append(all, d)
			}
		}
	}
	for _, of := range all {
		o := rt.router(of)
		if r.Framework == "spring" {
			if o.selectedAt > 0 { // an earlier selection holds
				continue
			}
			o.selectedAt = r.At.GetLine()
		}
		o.more = append(o.more, rt.expand(m, in, r.Pattern)...)
	}
	if inClass && !named { // the class is another repository's
		rt.inside(m, &recountv1.RouteFact{Role: "app", Method: "CONTROLLERS", Pattern: "${}", Framework: r.Framework, In: r.In})
	}
}

// pages reports whether a handler belongs to a controller of Spring that is none of REST.
func (rt *Routing) pages(handler *Decl) bool {
	return handler != nil && handler.Outer != nil && rt.paged[handler.Outer.Decl]
}

// around returns the prefix that settings give: unknown if it differs between profiles.
func (a application) around() prefix {
	if a.varies || strings.Contains(a.outside, "${") || slices.ContainsFunc(a.profiles, func(p string) bool { return p != a.outside }) {
		return prefix{unknown: true}
	}
	return prefix{text: Assumed(a.outside)}
}

// excepts reports whether a path is one that the prefix of the application leaves out. One with a wildcard stands for
// what begins as it does.
func (a application) excepts(method, path string) bool {
	path = strings.Trim(path, "/")
	return slices.ContainsFunc(a.except, func(e [2]string) bool {
		if e[0] != "" && e[0] != "ALL" && e[0] != method {
			return false
		}
		if at := strings.IndexAny(e[1], "*("); at >= 0 {
			return strings.HasPrefix(path, strings.TrimSuffix(e[1][:at], "{"))
		}
		return path == e[1]
	})
}

// composed returns the methods of HTTP that an annotation of the application stands for.
func (rt *Routing) composed(m *Module, in uint32, annotation string) []string {
	for _, of := range rt.know.Routers(m, in, m.Path(annotation)) {
		if c, ok := of.(ClassRouter); ok {
			return rt.verbs[c.Class]
		}
	}
	return nil
}

// extending returns the controllers that extend one of some classes, or implement one of some interfaces.
func (rt *Routing) extending(of []any) (all []any) {
	for _, o := range of {
		if c, ok := o.(ClassRouter); ok && c.Class.Kind != recountv1.SymbolKind_SYMBOL_KIND_INTERFACE {
			all = append(all, o)
		}
	}
	for _, m := range rt.p.Modules {
		for _, r := range m.Facts.Routes {
			d := m.Decl(r.In)
			if !r.Group || r.Role != "class" || d == nil || slices.Contains(all, any(d)) {
				continue
			}
			if fn := rt.mixed[d]; fn != nil && slices.ContainsFunc(of, func(o any) bool { c, ok := o.(*Decl); return ok && c.Outer.Decl == fn }) {
				all = append(all, d)
				continue
			}
			if slices.ContainsFunc(d.orderOrSelf(), func(b Base) bool { return b.Decl != nil && slices.Contains(of, any(b.Decl)) }) {
				all = append(all, d)
			}
		}
	}
	return all
}

// TemplateRole is the role of a route whose pattern has no prefix if the constant that it begins with spells one from
// the root, as /x or ~/x.
const TemplateRole = "template"

// routeBelow returns the pattern of a route below prefixes.
func routeBelow(before []prefix, pattern prefix, r *recountv1.RouteFact) []prefix {
	if text := strings.TrimPrefix(pattern.text, "~"); r.Role == TemplateRole && !pattern.unknown && strings.HasPrefix(text, "/") {
		var all []prefix
		for _, b := range before { // each has a class
			all = append(all, prefix{text: text, class: b.class})
		}
		return all
	}
	return belowPrefixes(before, []prefix{pattern}, r.Framework)
}

// mountAt notes where a router is mounted. Routers that a function makes for each of its callers are one here: if one of
// them is mounted below another, which of its routes that concerns is not known.
func (o *router) mountAt(at mount) {
	switch {
	case !slices.Contains(at.on, o):
		o.mounts = append(o.mounts, at)
	case len(at.on) == 1 && strings.Trim(at.pattern.text, "/^") != "":
		o.mounts = append(o.mounts, mount{framework: at.framework, test: at.test})
	}
}

// unlessTests returns the routers that no test makes, all if there are no others: a test has parts of the application
// register where it likes.
func (rt *Routing) unlessTests(all []any) []any {
	served := slices.DeleteFunc(slices.Clone(all), func(of any) bool { return rt.router(of).test })
	if len(served) == 0 {
		return all
	}
	return served
}

// EntryName stands, in the pattern of a group of the role "entries", for the name of the member that is mounted.
const EntryName = "\x05"

// entries mounts the members of an object, each by its name.
func (rt *Routing) entries(m *Module, in uint32, r *recountv1.RouteFact) {
	list, ok := rt.know.(Lister)
	if !ok {
		return
	}
	for _, name := range list.Members(m, in, m.Path(r.Handler)) {
		path := r.Handler + "." + name
		if key, element := strings.CutPrefix(name, "["); element {
			path, name = r.Handler+name, strings.TrimSuffix(key, "]")
		}
		placed := rt.know.Routers(m, in, m.Path(path))
		rt.place(m, in, r, strings.ReplaceAll(r.Pattern, EntryName, name), placed)
	}
}

// inTest reports whether a declaration is a test, or inside of one.
func inTest(d *Decl) bool {
	for ; d != nil; d = d.Outer.Decl {
		if d.Test {
			return true
		}
		if d.Outer == nil {
			return false
		}
	}
	return false
}

// mountedApart reports whether a router is mounted at several places, or below several prefixes.
func (o *router) mountedApart() bool {
	first := o.mounts[0]
	return slices.ContainsFunc(o.mounts[1:], func(m mount) bool {
		return m.pattern != first.pattern || m.root != first.root || !slices.Equal(m.on, first.on)
	})
}
