package flow

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// routeFlows gives the names that route facts speak of their routers and texts.
func (p *Engine) routeFlows(m *scope.Module) {
	for i, r := range m.Facts.Routes {
		if r.Group {
			p.routeFlow(m, i, r)
		}
	}
}

// routeFlow gives the names that fact i of a module speaks of their routers and texts.
func (p *Engine) routeFlow(m *scope.Module, i int, r *recountv1.RouteFact) {
	in := m.RouteScope(r)
	here := Site{m.ScopeOf(in), in}
	switch r.Role {
	case "root", "part", "below":
		p.give(here, m.Path(r.Handler), p.Router(m, i), alike(m, i))
	case "const":
		p.giveText(here, r)
	case "given":
		p.AddFlow(func(f *scope.Flow) {
			for _, fn := range p.Eval(f, here, m.Path(r.Handler)) {
				p.givenText(f, fn.Value, r)
			}
		})
	case "viewed":
		if v := p.Find(here.Scope, r.Handler); v != nil && len(v.Decls) == 1 {
			if s := p.Lookup(here.Scope, m.Path(r.Router)); s.Rest == 0 && s.Decl != nil && s.Decl.IsClass() {
				p.viewed[v.Decls[0]] = viewed{s.Decl, r.Method}
			}
		}
	case "optional":
		if v := p.Find(here.Scope, r.Handler); v != nil {
			p.optional[v] = append(p.optional[v], r.Pattern)
		}
	case "folder":
		for _, of := range p.Folder(m, i) {
			p.AddFlow(func(f *scope.Flow) {
				for _, fn := range p.moduleAttribute(f, of.Mod, scope.DefaultName) {
					if fn.Value.Kind == scope.FunctionValue && fn.Value.Decl != nil {
						p.enter(fn.Value.Decl, of.Router)
					}
				}
			})
		}
	case "inside":
		router := p.Router(m, i)
		if d := m.Decl(r.In); r.Handler == "" && d != nil {
			p.enter(d, router)
			return
		}
		p.AddFlow(func(f *scope.Flow) { p.enterPlugins(f, here, r, router) })
	}
}

// giveText gives a name, or a member of an object, the text of a route fact.
func (p *Engine) giveText(here Site, r *recountv1.RouteFact) {
	m, text := here.Scope.Mod, r.Pattern
	if r.Method == scope.UnlessSet {
		text = scope.Assumed(text)
	}
	target, value := m.Path(r.Handler), scope.ValueID{Kind: scope.TextValue, Name: text}
	if target.Head == "self" || len(target.Steps) == 0 || !p.Lang.Exports {
		p.give(here, target, p.Intern(value), 1)
		return
	}
	if name := target.Exports(); name != "" && name != scope.WholeExport && target.Head == "exports" {
		p.Add(m.Export(name), p.Intern(value), true)
	} else if v := p.Find(here.Scope, target.Head); v != nil && names(target.Steps) != "" {
		p.texts[memberOf(v, target.Steps)] = text
	} else if name, ok := strings.CutPrefix(target.Text, "module.exports."); ok {
		p.texts[member{m, name}] = text
	}
}

// enterPlugins makes a router the first parameter of the plugins that are registered with it. A bare
// plugin gets the routers that register it.
func (p *Engine) enterPlugins(f *scope.Flow, here Site, r *recountv1.RouteFact, router *scope.Value) {
	m := here.Scope.Mod
	plugins := p.Eval(f, here, m.Path(r.Handler))
	for _, of := range slices.Clone(plugins) { // register(import("./plugin.js"))
		if of.Value.Kind == scope.ModuleValue {
			plugins = append(plugins, p.moduleAttribute(f, of.Value.Mod, scope.DefaultName)...)
		}
	}
	for _, fn := range plugins {
		d := fn.Value.Decl
		if k := fn.Value.Kind; k != scope.FunctionValue && k != scope.BoundValue || d == nil {
			continue
		}
		if !p.isBare(d) {
			p.enter(d, router)
			continue
		}
		for _, outer := range p.Eval(f, here, m.Path(r.Router)) {
			if outer.Value.Kind == scope.RouterValue {
				p.enter(d, outer.Value)
			}
		}
	}
}

// isBare reports whether a plugin is wrapped by fastify-plugin, and so gets no prefix.
func (p *Engine) isBare(d *scope.Decl) bool {
	if p.bare == nil {
		p.bare = map[*scope.Decl]bool{}
		for _, m := range p.Modules {
			for _, r := range m.Facts.Routes {
				if r.Role != "bare" {
					continue
				}
				of := m.Decl(r.In)
				if r.Handler != "" {
					of = p.Lookup(m.ScopeOf(r.In), m.Path(r.Handler)).Decl
				}
				if of != nil {
					p.bare[of] = true
				}
			}
		}
	}
	return p.bare[d]
}

// givenText makes the text that a call passes the value of the callee's parameter.
func (p *Engine) givenText(f *scope.Flow, callee *scope.Value, r *recountv1.RouteFact) {
	d, skip := callee.Decl, 0
	switch callee.Kind {
	case scope.FunctionValue:
	case scope.BoundValue:
		if p.Lang.ReceiverFirst {
			skip = 1
		}
	case scope.ClassValue:
		if callee.Decl.Constructs {
			break
		}
		for _, made := range p.attribute(f, p.Instance(callee.Decl, false), p.Lang.Constructor) {
			if made.Value.Kind == scope.BoundValue && made.Value.Decl != nil {
				p.givenText(f, made.Value, r)
			}
		}
		return
	default:
		return
	}
	if d == nil || d.Scope == nil {
		return
	}
	for i, prm := range d.Parameters {
		if at, err := strconv.Atoi(r.Method); prm.Name == r.Method || err == nil && at+skip == i {
			v := d.Scope.Own(d.ParameterName(i, prm.Name))
			if p.given[v] == nil {
				p.given[v] = map[string]bool{}
			}
			p.given[v][r.Pattern] = true
			p.Add(v, p.Intern(scope.ValueID{Kind: scope.TextValue, Name: r.Pattern}), true)
		}
	}
}

// alike returns how many calls of a file make the same router as fact i, below the same prefix of another.
func alike(m *scope.Module, i int) int {
	r, n := m.Facts.Routes[i], 1
	for j, o := range m.Facts.Routes {
		if j != i && o.Group && r.Role == "below" && o.Role == r.Role && o.In == r.In && o.Router == r.Router && o.Handler == r.Handler && o.Pattern == r.Pattern {
			n++
		}
	}
	return n
}

// give makes a value that of a name, or of a call whose result has no name, unless other calls than those that
// make the same, alike, are written as it is.
func (p *Engine) give(here Site, target scope.Path, v *scope.Value, alike int) {
	if n := len(target.Steps); n > 0 && target.Steps[n-1].Op == '(' {
		callee := target.Text[:target.Steps[n-1].At]
		if len(here.Scope.Mod.Calls[scope.CallSite{In: here.In, Path: callee}]) == alike {
			p.made[call{here.Scope, callee}] = v
		}
		return
	}
	if target.Head == "?" {
		return
	}
	p.AddFlow(func(f *scope.Flow) { p.assign(f, here, target, scope.Set{{Value: v, Sure: true}}) })
}

// enter makes a router the first parameter of a function.
func (p *Engine) enter(d *scope.Decl, router *scope.Value) {
	first := 0
	if p.Lang.ReceiverFirst && d.IsMethod() {
		first = 1
	}
	if len(d.Parameters) > first && d.Scope != nil {
		p.Add(d.Scope.Own(d.ParameterName(first, d.Parameters[first].Name)), router, true)
	}
}

// call is a path that is called in a scope.
type call struct {
	scope *scope.Scope
	path  string
}

// routers implements scope.Routers by the values of paths.
type routers struct{ *Engine }

func (p routers) values(m *scope.Module, in uint32, of scope.Path) scope.Set {
	if name := of.Exports(); p.Lang.Exports && name != "" && of.Head != "exports" { // no name of the file's
		return p.Read(nil, m.Export(name))
	}
	return p.Eval(nil, Site{m.ScopeOf(in), in}, of)
}

func (p routers) Routers(m *scope.Module, in uint32, of scope.Path) (all []any) {
	for _, v := range p.values(m, in, of) {
		switch v.Value.Kind {
		case scope.RouterValue:
			all = append(all, v.Value)
		case scope.ClassValue:
			all = append(all, v.Value.Decl)
		case scope.ModuleValue: // of Django's patterns
			for _, list := range p.moduleAttribute(nil, v.Value.Mod, "urlpatterns") {
				if list.Value.Kind == scope.RouterValue {
					all = append(all, list.Value)
				}
			}
		}
	}
	return all
}

func (p routers) Handler(m *scope.Module, in uint32, of scope.Path) *scope.Decl {
	if s := p.Lookup(m.ScopeOf(in), of); s.Rest == 0 && s.Decl != nil && (s.Decl.IsFunction() || s.Decl.IsClass() && !s.Decl.Object) {
		return s.Decl
	}
	var found *scope.Decl
	for _, v := range p.values(m, in, of) {
		switch d := v.Value.Decl; v.Value.Kind {
		case scope.FunctionValue, scope.BoundValue, scope.ClassValue, scope.InstanceValue:
			if d == nil || found != nil && found != d {
				return nil
			}
			found = d
		}
	}
	if found == nil {
		if s := p.Lookup(m.ScopeOf(in), of); s.Rest == 0 {
			return cmp.Or(p.viewed[s.Decl].class, s.Decl)
		}
	}
	return found
}

// viewed is the class of a view that a variable holds, and what a view set serves there: "GET list,POST create".
type viewed struct {
	class  *scope.Decl
	serves string
}

// Actions implements scope.Actor.
func (p routers) Actions(m *scope.Module, in uint32, of scope.Path) string {
	if s := p.Lookup(m.ScopeOf(in), of); s.Rest == 0 {
		return p.viewed[s.Decl].serves
	}
	return ""
}

func (p routers) Text(m *scope.Module, in uint32, of scope.Path) (string, bool) {
	text, found, texts := "", 0, 0
	for _, v := range p.values(m, in, of) {
		if v.Value.Kind == scope.TextValue {
			text = v.Value.Name
			texts++
		}
		found++
	}
	if texts == 1 && scope.IsAssumed(text) { // the others are what a deployment may set
		return text, true
	}
	if found == 0 && len(of.Steps) > 0 {
		return p.memberText(m.ScopeOf(in), of)
	}
	if found == 0 { // a parameter that no call is seen to pass
		if own := p.optional[p.Find(m.ScopeOf(in), of.Head)]; len(own) == 1 && own[0] != "" {
			return scope.Assumed(own[0]), true
		}
	}
	return text, found == 1 && text != ""
}

// Choices implements scope.Chooser: the texts that the calls of a function pass to its parameter.
func (p routers) Choices(m *scope.Module, in uint32, of scope.Path) (all []string) {
	prm := p.Find(m.ScopeOf(in), of.Head)
	if !of.Plain() || prm == nil || !prm.Parameter || len(p.optional[prm]) > 0 {
		return nil
	}
	for _, v := range p.values(m, in, of) {
		if v.Value.Kind != scope.TextValue || !p.given[prm][v.Value.Name] { // another may be computed
			return nil
		}
		all = append(all, v.Value.Name)
	}
	return all
}

// memberText returns the text that a member of an object has: config.api.prefix.
func (p *Engine) memberText(in *scope.Scope, of scope.Path) (string, bool) {
	if names(of.Steps) == "" {
		return "", false
	}
	if s := p.Lookup(in, of); s.Rest > 0 && s.Rest <= len(of.Steps) {
		holders := []any{s.Decl}
		if s.Mod != nil { // a module that is an object: module.exports = config
			holders = []any{s.Mod}
			if whole := s.Mod.Exports[scope.WholeExport]; whole != nil && len(whole.Aliases) == 1 {
				holders = append(holders, p.Lookup(s.Mod.Scope, whole.Aliases[0]).Decl)
			}
		}
		for _, h := range holders {
			if text, ok := p.texts[member{h, names(of.Steps[len(of.Steps)-s.Rest:])}]; ok {
				return text, true
			}
		}
	}
	v := p.Find(in, of.Head)
	if v != nil && len(v.Imports) == 1 && v.Imports[0].Mod != nil {
		v = p.Exported(v.Imports[0].Mod, v.Imports[0].Name)
	}
	if v == nil {
		return "", false
	}
	text, ok := p.texts[memberOf(v, of.Steps)]
	return text, ok
}

// member is a member of an object that a variable holds, which is known by its declaration if it has
// one. name has the names of the steps that lead to it.
type member struct {
	of   any
	name string
}

func memberOf(v *scope.Variable, steps []scope.Step) member {
	if len(v.Decls) > 0 {
		return member{v.Decls[0], names(steps)}
	}
	return member{v, names(steps)}
}

// names returns the names of steps to members, "" if some are others.
func names(steps []scope.Step) string {
	var all []string
	for _, st := range steps {
		if st.Op != '.' {
			return ""
		}
		all = append(all, st.Name)
	}
	return strings.Join(all, ".")
}

// derives reports whether a call of a router's method makes another router.
func derives(callee string) bool {
	return strings.HasSuffix(callee, ".basePath") || strings.HasSuffix(callee, ".add_resource") || strings.HasSuffix(callee, ".namespace") || strings.HasSuffix(callee, ".copy")
}

// ofRouter returns what a step makes of a router, or of a call that makes one: the router itself,
// unless the step makes another.
func (p *Engine) ofRouter(here Site, v *scope.Value, of scope.Path, st scope.Step) *scope.Value {
	if v.Kind == scope.TextValue && st.Op == '.' && st.Name == "value" { // of a member of an Enum
		return v
	}
	if v.Kind == scope.RouterValue && (st.Op != '(' || !derives(of.Text[:st.At])) {
		if st.Op == '[' {
			return nil
		}
		return v
	}
	if st.Op == '(' && len(p.made) > 0 {
		for s := here.Scope; s != nil; s = s.Outer {
			if r := p.made[call{s, of.Text[:st.At]}]; r != nil {
				return r
			}
			if s.Decl != nil && s.Decl.IsFunction() {
				break
			}
		}
	}
	return nil
}

// Members implements scope.Lister: the names that a module exports, or the attributes of an object.
func (p routers) Members(m *scope.Module, in uint32, of scope.Path) (all []string) {
	for _, v := range p.values(m, in, of) {
		switch v.Value.Kind {
		case scope.ModuleValue:
			all = append(all, slices.Collect(maps.Keys(v.Value.Mod.Exports))...)
			for name, of := range v.Value.Mod.Scope.Vars {
				if slices.ContainsFunc(of.Decls, func(d *scope.Decl) bool { return d.Exported }) {
					all = append(all, name)
				}
			}
		case scope.ContainerValue:
			for _, key := range v.Value.Keys() {
				all = append(all, "["+key+"]")
			}
		case scope.InstanceValue, scope.ClassValue:
			all = append(all, slices.Collect(maps.Keys(v.Value.Decl.Assigned))...)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == scope.WholeExport || name == scope.DefaultName })
}
