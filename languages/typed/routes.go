package typed

import (
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// routers implements scope.Routers: a router is a class with routes, or what a variable holds.
type routers struct {
	t *Typer
	// texts has the constants of classes and methods. withRoutes has the classes that are said to
	// have routes, subs the classes below each class.
	texts      map[constant]text
	withRoutes map[*scope.Decl]bool
	subs       map[*scope.Decl][]*scope.Decl
	// held has the routers that variables hold, made those that calls without a name make.
	held map[*scope.Variable][]any
	made map[constant][]madeAt
	// expanded has what constants stand for, each once: they may name others many times. What is being expanded is
	// not known, so that a circle is not.
	expanded map[text]expansion
	// settings has the paths among the settings of applications, by key.
	settings map[string][]string
	// given has the texts that calls pass to parameters, open the parameters that get others, too.
	given map[*scope.Variable][]string
	open  map[*scope.Variable]bool
}

// madeAt is the router that a call makes, and the place of the name that it calls.
type madeAt struct {
	router any
	at     *recountv1.Place
}

type constant struct {
	m    *scope.Module
	in   *scope.Decl
	name string
}

type text struct {
	m       *scope.Module
	in      uint32
	pattern string
}

// expansion is the text that a constant stands for; if it is not known, the part that is.
type expansion struct {
	is    string
	known bool
}

// setField is a field, and what a method or a constructor sets it to.
type setField struct {
	of   constant
	text text
}

func newRouters(t *Typer) *routers {
	k := &routers{
		t: t, texts: map[constant]text{}, withRoutes: map[*scope.Decl]bool{}, subs: map[*scope.Decl][]*scope.Decl{},
		held: map[*scope.Variable][]any{}, made: map[constant][]madeAt{}, settings: map[string][]string{},
		given: map[*scope.Variable][]string{}, open: map[*scope.Variable]bool{}, expanded: map[text]expansion{},
	}
	calls := map[callAt][]*recountv1.RouteFact{}
	var fields []setField
	for _, m := range t.p.Modules {
		for i, r := range m.Facts.Routes {
			if !r.Group {
				continue
			}
			switch d := m.Decl(r.In); r.Role {
			case "const":
				k.texts[constant{k.home(m, d), d, r.Handler}] = text{m, r.In, r.Pattern}
			case "field":
				if d != nil && d.Outer.Decl != nil {
					fields = append(fields, setField{constant{nil, d.Outer.Decl, r.Handler}, text{m, r.In, r.Pattern}})
				}
			case "setting":
				if !slices.Contains(k.settings[r.Handler], r.Pattern) {
					k.settings[r.Handler] = append(k.settings[r.Handler], r.Pattern)
				}
			case "class":
				k.withRoutes[d] = true
			case "given":
				at := callAt{m, r.At.GetLine(), r.At.GetColumn()}
				calls[at] = append(calls[at], r)
			case "root", "part", "below":
				if path := m.Path(r.Handler); path.Plain() {
					if v := t.p.Find(m.ScopeOf(r.In), path.Head); v != nil {
						k.held[v] = append(k.held[v], t.p.Router(m, i))
					}
				} else {
					of := constant{m, d, r.Handler}
					k.made[of] = append(k.made[of], madeAt{t.p.Router(m, i), r.At})
				}
			}
		}
	}
	for _, f := range fields {
		if _, twice := k.texts[f.of]; twice {
			f.text.pattern = "${}" // which one counts depends on the order
		}
		k.texts[f.of] = f.text
	}
	for _, c := range t.all {
		t.inherited(&Type{Class: c}, func(of *Type) bool {
			if of.Class != nil && of.Class.Decl != nil && of.Class != c {
				k.subs[of.Class.Decl] = append(k.subs[of.Class.Decl], c.Decl)
			}
			return true
		})
	}
	if len(k.held)+len(k.made) > 0 {
		k.pass()
	}
	k.give(calls)
	return k
}

// callAt is the place of the name that a call calls.
type callAt struct {
	m            *scope.Module
	line, column uint32
}

// give notes the texts that calls pass to the parameters of methods, which are paths there.
func (k *routers) give(calls map[callAt][]*recountv1.RouteFact) {
	if len(calls) == 0 {
		return
	}
	named := map[string]bool{}
	each := func(test bool, use func(r *recountv1.Reference, d *scope.Decl, texts []*recountv1.RouteFact)) {
		for _, m := range k.t.p.Modules {
			if m.Test != test {
				continue
			}
			for _, r := range m.Facts.References {
				texts := calls[callAt{m, r.At.GetLine(), r.At.GetColumn()}]
				of := m.Path(r.Path)
				name := of.Head
				if strings.HasPrefix(name, "new ") {
					name = k.t.lang.Constructor
				}
				if n := len(of.Steps); n > 0 {
					name = of.Steps[n-1].Name
				}
				if r.Edge != scope.Calls || len(texts) == 0 && !named[name] {
					continue
				}
				if d := k.callee(m, r, of); d != nil && d.Scope != nil {
					use(r, d, texts)
				}
			}
		}
	}
	at := func(d *scope.Decl, r *recountv1.Reference, i int) *scope.Variable {
		if d.HasModifier("extension") && int(r.Count) < len(d.Parameters) {
			i++
		}
		if i >= len(d.Parameters) {
			return nil
		}
		return d.Scope.Own(d.Parameters[i].Name)
	}
	served := map[*scope.Variable]bool{}
	gather := func(r *recountv1.Reference, d *scope.Decl, texts []*recountv1.RouteFact) {
		for _, text := range texts {
			i, _ := strconv.Atoi(text.Method)
			if v := at(d, r, i); v != nil && !served[v] && !slices.Contains(k.given[v], text.Pattern) {
				named[d.Name] = true
				k.given[v] = append(k.given[v], text.Pattern)
			}
		}
	}
	each(false, gather)
	for v := range k.given { // what a test passes counts only if nothing else passes something
		served[v] = true
	}
	each(true, gather)
	for _, test := range []bool{false, true} {
		each(test, func(r *recountv1.Reference, d *scope.Decl, texts []*recountv1.RouteFact) {
			for i := range d.Parameters {
				passes := slices.ContainsFunc(texts, func(t *recountv1.RouteFact) bool { return t.Method == strconv.Itoa(i) })
				if v := at(d, r, i); v != nil && len(k.given[v]) > 0 && !passes && !(test && served[v]) {
					k.open[v] = true
				}
			}
		})
	}
}

// Choices implements scope.Chooser.
func (k *routers) Choices(m *scope.Module, in uint32, of scope.Path) []string {
	if v := k.t.p.Find(m.ScopeOf(in), of.Head); of.Plain() && isParameter(v) {
		if k.open[v] {
			return nil
		}
		return k.given[v]
	}
	found, ok := k.constant(m, in, of)
	if path, more, braced := strings.Cut(strings.TrimPrefix(found.pattern, "${"), "}"); ok && braced && more == "" && strings.HasPrefix(found.pattern, "${") {
		if from := found.m.Path(path); from.Plain() && isParameter(k.t.p.Find(found.m.ScopeOf(found.in), from.Head)) { // a field
			return k.Choices(found.m, found.in, from)
		}
	}
	return nil
}

// isParameter reports whether a variable is a parameter of a function.
func isParameter(v *scope.Variable) bool {
	return v != nil && v.Scope.Decl != nil && v.Scope.Decl.IsFunction() && slices.ContainsFunc(v.Scope.Decl.Parameters, func(p *recountv1.Parameter) bool { return v.Scope.Vars[p.Name] == v })
}

// home returns the module of a constant without a declaration around it, nil otherwise.
func (k *routers) home(m *scope.Module, d *scope.Decl) *scope.Module {
	if d == nil {
		return m
	}
	return nil
}

// maxPasses is the maximum number of functions through which a router is passed.
const maxPasses = 8

// pass follows routers into the parameters of the functions that they are passed to.
func (k *routers) pass() {
	for range maxPasses {
		grown := false
		for _, m := range k.t.p.Modules {
			for _, r := range m.Facts.References {
				if r.Edge == scope.Calls {
					grown = k.passOn(m, r) || grown
				}
			}
		}
		if !grown {
			return
		}
	}
}

// passOn gives the parameters of a function the routers that a call passes, and reports whether one is new.
func (k *routers) passOn(m *scope.Module, r *recountv1.Reference) (grown bool) {
	of := m.Path(r.Path)
	var d *scope.Decl
	extension := 0
	if n := len(of.Steps); n > 0 && of.Steps[n-1].Op == '.' {
		if on := k.valuesAt(m, r.In, of.Base(), r.At); len(on) > 0 {
			if d = k.callee(m, r, of); d == nil {
				return false
			}
			if d.HasModifier("extension") { // its first parameter is what it is called on
				grown = k.hold(d, 0, on)
				extension = 1
			}
		}
	}
	for _, a := range r.Args {
		if a.Name != "" {
			continue
		}
		values := k.values(m, r.In, m.Path(a.Path))
		if len(values) == 0 {
			continue
		}
		if d == nil {
			if d = k.callee(m, r, of); d == nil {
				return grown
			}
		}
		grown = k.hold(d, int(a.Index)+extension, values) || grown
	}
	return grown
}

// hold gives a parameter of a function routers, and reports whether one is new.
func (k *routers) hold(d *scope.Decl, parameter int, values []any) (grown bool) {
	if parameter < 0 || parameter >= len(d.Parameters) || d.Scope == nil {
		return false
	}
	v := d.Scope.Own(d.Parameters[parameter].Name)
	for _, value := range values {
		if !slices.Contains(k.held[v], value) {
			k.held[v] = append(k.held[v], value)
			grown = true
		}
	}
	return grown
}

// callee returns the method that a call means; an extension method of a type outside the repository
// is known by its name.
func (k *routers) callee(m *scope.Module, r *recountv1.Reference, of scope.Path) *scope.Decl {
	s := k.t.callee(Spot{Module: m, In: r.In, at: r.At}, of, r)
	if s.method != nil && s.method.Decl != nil {
		return s.method.Decl
	}
	if n := len(of.Steps); n > 0 && s.method == nil {
		return k.extension(m, of.Steps[n-1].Name)
	}
	return nil
}

// extension returns the extension method of a name; of several, the one in the folder nearest to a file, as projects of
// one repository have their own, nil if there are several.
func (k *routers) extension(m *scope.Module, name string) (found *scope.Decl) {
	best := -1
	for _, method := range k.t.ExtensionMethods(name) {
		near := 0
		if d := method.Decl; d != nil {
			from, to := strings.Split(m.File.Path, "/"), strings.Split(d.Mod.File.Path, "/")
			for near < min(len(from), len(to))-1 && from[near] == to[near] {
				near++
			}
		}
		switch {
		case near > best:
			best, found = near, method.Decl
		case near == best:
			found = nil
		}
	}
	return found
}

// values returns the routers that a path leads to, a variable or a call that makes one.
func (k *routers) values(m *scope.Module, in uint32, of scope.Path) []any {
	return k.valuesAt(m, in, of, nil)
}

// valuesAt returns those that the call before the name at a place makes, if several are written alike.
func (k *routers) valuesAt(m *scope.Module, in uint32, of scope.Path, at *recountv1.Place) []any {
	if !of.Plain() {
		for d := m.Decl(in); ; d = d.Outer.Decl {
			all := k.made[constant{m, d, of.Text}]
			for _, v := range all {
				if len(all) == 1 || at != nil && v.at != nil && v.at.Line == at.Line && v.at.Column == at.Column {
					return []any{v.router}
				}
			}
			if len(all) > 0 {
				return nil
			}
			if d == nil {
				return k.passedOn(m, in, of, at)
			}
		}
	}
	v := k.t.p.Find(m.ScopeOf(in), of.Head)
	if v == nil {
		return nil
	}
	if all := k.held[v]; len(all) > 0 {
		return all
	}
	if d := v.Scope.Decl; d != nil {
		for _, p := range d.Parameters {
			if p.Name == of.Head && p.Type == "WebApplication" { // it is never below a prefix
				return []any{application{}}
			}
		}
	}
	return nil
}

// passedOn returns the routers that an extension method returns which gives back what it is called on: app.MapOrders().
func (k *routers) passedOn(m *scope.Module, in uint32, of scope.Path, at *recountv1.Place) []any {
	n := len(of.Steps)
	if n < 2 || of.Steps[n-1].Op != '(' || of.Steps[n-2].Op != '.' {
		return nil
	}
	if d := k.extension(m, of.Steps[n-2].Name); d == nil || len(d.Parameters) == 0 || d.Type == "" || d.Parameters[0].Type != d.Type {
		return nil
	}
	return k.valuesAt(m, in, of.Base().Base(), at)
}

// application is the router that stands for a whole application.
type application struct{}

// Routers implements scope.Routers.
func (k *routers) Routers(m *scope.Module, in uint32, of scope.Path) []any {
	class := m.Decl(in)
	if class == nil || !class.IsClass() || class.Name != of.Head {
		if all := k.values(m, in, of); len(all) > 0 {
			return all
		}
		named := k.t.named(Spot{Module: m, In: in}, of.Text)
		if named == nil || named.Class == nil || named.Class.Decl == nil {
			return nil
		}
		class = named.Class.Decl
	}
	// A class that is a base has its routes in the classes below it.
	var all []any
	for _, c := range append([]*scope.Decl{class}, k.subs[class]...) {
		if prefix := k.prefixed(c); c == class && len(k.subs[class]) == 0 || c != class && k.withRoutes[c] || c != class && prefix != nil && !c.HasModifier("abstract") {
			all = append(all, scope.ClassRouter{Class: c, Prefix: prefix})
		}
	}
	if len(all) == 0 || k.withRoutes[class] && !class.HasModifier("abstract") && class.Kind == recountv1.SymbolKind_SYMBOL_KIND_CLASS && !slices.Contains(all, any(scope.ClassRouter{Class: class, Prefix: class})) {
		all = append(all, scope.ClassRouter{Class: class, Prefix: k.prefixed(class)})
	}
	return all
}

// prefixed returns the class from which a class has its prefix: itself, or the nearest base.
func (k *routers) prefixed(class *scope.Decl) (found *scope.Decl) {
	c := k.t.classes[class]
	if c == nil {
		return nil
	}
	k.t.inherited(&Type{Class: c}, func(of *Type) bool {
		if of.Class != nil && of.Class.Decl != nil && k.withRoutes[of.Class.Decl] && (found == nil || k.bare(found)) {
			found = of.Class.Decl
		}
		return found == nil || k.bare(found)
	})
	return found
}

// bare reports whether a class is said to have routes without a prefix.
func (k *routers) bare(class *scope.Decl) bool {
	for _, r := range class.Mod.Facts.Routes {
		if r.Group && r.Role == "class" && class.Mod.Decl(r.In) == class && r.Pattern != "" {
			return false
		}
	}
	return true
}

// Handler implements scope.Routers.
func (k *routers) Handler(m *scope.Module, in uint32, of scope.Path) *scope.Decl {
	at := Spot{Module: m, In: in}
	if typ, ok := strings.CutPrefix(of.Head, "new "); ok {
		return k.serving(k.t.TypeOf(at, typ))
	}
	if s := k.t.callee(at, of, nil); s.method != nil && s.method.Decl != nil {
		return s.method.Decl
	}
	if v := k.t.p.Find(m.ScopeOf(in), of.Head); of.Plain() && v != nil && len(v.Decls) == 1 && v.Decls[0].IsFunction() {
		return v.Decls[0] // a local function
	}
	return k.serving(k.t.eval(at, of))
}

// serving returns the method of a handler of the JDK's server.
func (k *routers) serving(of *Type) (found *scope.Decl) {
	if of == nil || of.Class == nil {
		return nil
	}
	k.t.inherited(of, func(base *Type) bool {
		if base.Class != nil && len(base.Class.Methods["handle"]) == 1 && found == nil {
			found = base.Class.Methods["handle"][0].Decl
		}
		return found == nil
	})
	return found
}

// Text implements scope.Routers: a constant of the enclosing declarations or their bases, of a named
// class, or one that is imported.
func (k *routers) Text(m *scope.Module, in uint32, of scope.Path) (string, bool) {
	if of.Plain() && isParameter(k.t.p.Find(m.ScopeOf(in), of.Head)) { // whatever else has its name
		if all := k.Choices(m, in, of); len(all) == 1 {
			return all[0], true
		}
		return "", false
	}
	found, ok := k.constant(m, in, of)
	if !ok {
		return k.setting(of.Text)
	}
	if e, once := k.expanded[found]; once {
		return e.is, e.known
	}
	k.expanded[found] = expansion{}
	var e expansion
	e.is, e.known = scope.Expand(found.pattern, func(path string) (string, bool) {
		return k.Text(found.m, found.in, found.m.Path(path))
	})
	k.expanded[found] = e
	return e.is, e.known
}

// setting returns the path that a setting has in all files of settings, or else its default: app.base:/api.
func (k *routers) setting(of string) (string, bool) {
	key, otherwise, given := strings.Cut(of, ":")
	switch all := k.settings[key]; {
	case len(all) == 1:
		return scope.Assumed(all[0]), true
	case len(all) == 0 && given:
		return scope.Assumed(otherwise), true
	}
	return "", false
}

func (k *routers) constant(m *scope.Module, in uint32, of scope.Path) (found text, ok bool) {
	of1 := func(d *scope.Decl, name string) bool {
		c := k.t.classes[d]
		if c == nil {
			found, ok = k.texts[constant{nil, d, name}]
			return ok
		}
		k.t.inherited(&Type{Class: c}, func(base *Type) bool {
			if base.Class != nil && base.Class.Decl != nil {
				for _, part := range base.Class.parts {
					if found, ok = k.texts[constant{nil, part, name}]; ok {
						return false
					}
				}
			}
			return true
		})
		return ok
	}
	if !of.Plain() {
		last := of.Steps[len(of.Steps)-1]
		base := of.Base()
		if base.Text == "self" {
			base = m.Path(last.Name)
			return k.constant(m, in, base)
		}
		if named := k.t.named(Spot{Module: m, In: in}, base.Text); last.Op == '.' && named != nil && named.Class != nil && named.Class.Decl != nil {
			of1(named.Class.Decl, last.Name)
		}
		return found, ok
	}
	for d := m.Decl(in); d != nil; d = d.Outer.Decl {
		if of1(d, of.Head) {
			return found, true
		}
	}
	if found, ok = k.texts[constant{m, nil, of.Head}]; ok {
		return found, true
	}
	if k.t.lang.Statics != nil {
		for _, typ := range k.t.lang.Statics(k.t, m, of.Head) {
			if typ != nil && typ.Class != nil && typ.Class.Decl != nil && of1(typ.Class.Decl, of.Head) {
				return found, true
			}
		}
	}
	return found, false
}
