package flow

import (
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A function registers another one by a name if it puts it as a member of that name on an object:
//
//	static addMethod(name, fn) { define(this.prototype, name, fn) }
//	function define(object, name, fn) { object[name] = function () { return fn.apply(this, arguments) } }
//
// So Type.addMethod("go", go) makes go a method of Type. A function that calls what it is given by
// call or apply puts it on the object as far as a caller can tell.

// maxForwards limits how many functions pass a registration on.
const maxForwards = 3

// computed is what an index begins with that is a variable, in the target of a binding: a[=name].
const computed = "="

// chained is the attribute that has instances of a class itself, if that is what members of it give
// whose names are not known.
const chained = "\x01"

// registration says that a function puts its parameter of as a member on an object, under the name that
// its parameter key is. The object is its parameter on, or, if that is negative, one of owners. If read
// is set, the function is called where the member is read, and another one where it is called.
type registration struct {
	key, of, on int
	owners      scope.Set
	read        bool
}

// registers finds what functions register, by what their modules bind and call.
type registers struct {
	// puts has the bindings of functions whose target is a member with a computed name, calls what
	// functions call, by module and declaration.
	puts  map[*scope.Decl][]*recountv1.Binding
	calls map[*scope.Module]map[uint32][]*recountv1.Reference
	// hands has the parameters that a function calls by call or apply.
	hands map[*scope.Decl][]handed
}

// handed is a parameter that becomes a member.
type handed struct {
	of   int
	read bool
}

// findPuts returns the functions that put members on objects under computed names.
func (p *Engine) findPuts() *registers {
	r := &registers{map[*scope.Decl][]*recountv1.Binding{}, map[*scope.Module]map[uint32][]*recountv1.Reference{}, map[*scope.Decl][]handed{}}
	if !p.Lang.Exports {
		return r
	}
	for _, m := range p.Modules {
		for _, b := range m.Facts.Bindings {
			if d := m.Decl(b.In); d != nil && strings.Contains(b.Target, "["+computed) && d.IsFunction() {
				r.puts[d] = append(r.puts[d], b)
			}
		}
	}
	return r
}

// registerFlow makes a function that a call registers by a literal name a member of that name.
func (p *Engine) registerFlow(here Site, callee scope.Path, r *recountv1.Reference) {
	if len(p.registers.puts) == 0 || !slices.ContainsFunc(r.Args, func(a *recountv1.Argument) bool { return isText(a.Path) }) {
		return
	}
	for _, a := range r.Args { // the functions are given a receiver before anything looks for it
		if s := p.Lookup(here.Scope, here.Scope.Mod.Path(a.Path)); s.Rest == 0 && s.Decl != nil && s.Decl.IsFunction() {
			s.Decl.Scope.Own("self")
		}
	}
	p.AddFlow(func(f *scope.Flow) {
		for _, c := range p.Eval(f, here, callee) {
			for _, reg := range p.registrations(f, c.Value, 0) {
				name, ok := argumentAt(r, reg.key)
				of, given := argumentAt(r, reg.of)
				if !ok || !given || !isText(name) {
					continue
				}
				owners := p.ownersAt(f, here, reg, r)
				for _, fn := range p.Eval(f, here, here.Scope.Mod.Path(of)) {
					if fn.Value.Kind == scope.FunctionValue {
						p.putMember(owners, reg, strings.Trim(name, `"`), fn.Value, c.Sure && fn.Sure)
					}
				}
			}
		}
	})
}

// ownersAt returns the objects on which a call puts what it registers.
func (p *Engine) ownersAt(f *scope.Flow, here Site, reg registration, r *recountv1.Reference) scope.Set {
	if reg.on < 0 {
		return reg.owners
	}
	path, ok := argumentAt(r, reg.on)
	if !ok {
		return nil
	}
	return p.Eval(f, here, here.Scope.Mod.Path(path))
}

// putMember makes a function a member of instances of the owners.
func (p *Engine) putMember(owners scope.Set, reg registration, name string, fn *scope.Value, sure bool) {
	for _, o := range owners {
		if o.Value.Kind != scope.ClassValue && o.Value.Kind != scope.InstanceValue {
			continue
		}
		sure := sure && len(owners) == 1
		if !reg.read {
			p.Add(o.Value.Decl.Attribute(name), fn, sure)
		}
		p.Add(fn.Decl.Scope.Own("self"), p.Instance(o.Value.Decl, true), sure)
	}
}

// registrations returns what calling a value registers.
func (p *Engine) registrations(f *scope.Flow, v *scope.Value, depth int) []registration {
	d := v.Decl
	if v.Kind != scope.FunctionValue && v.Kind != scope.BoundValue || d == nil || d.Scope == nil || depth > maxForwards || len(d.Parameters) < 2 {
		return nil
	}
	here := Site{d.Scope, d.Index}
	var all []registration
	for _, b := range p.registers.puts[d] {
		base, key, ok := computedMember(b.Target)
		at := parameter(d, key)
		if !ok || at < 0 {
			continue
		}
		for _, h := range p.handed(d, b.Value) {
			if h.of != at {
				on := p.parameterOf(d, base)
				all = append(all, registration{at, h.of, on, p.Eval(f, here, d.Mod.Path(base)), h.read})
			}
		}
	}
	for _, r := range p.callsIn(d) {
		handed := 0 // a name and a function
		for _, a := range r.Args {
			if parameter(d, a.Path) >= 0 {
				handed++
			}
		}
		if handed < 2 {
			continue
		}
		for _, c := range p.Eval(f, here, d.Mod.Path(r.Path)) {
			if c.Value.Decl == d {
				continue
			}
			for _, reg := range p.registrations(f, c.Value, depth+1) {
				name, _ := argumentAt(r, reg.key)
				of, _ := argumentAt(r, reg.of)
				if key, of := parameter(d, name), parameter(d, of); key >= 0 && of >= 0 {
					on, _ := argumentAt(r, reg.on)
					all = append(all, registration{key, of, p.parameterOf(d, on), p.ownersAt(f, here, reg, r), reg.read})
				}
			}
		}
	}
	return all
}

// handed returns the parameters of a function that become a member which it binds to a value: one that
// is the value, and those that it calls by call or apply. If it passes arguments on to some of these,
// the others are called where the member is read.
func (p *Engine) handed(d *scope.Decl, value string) []handed {
	if i := parameter(d, value); i >= 0 {
		return []handed{{of: i}}
	}
	found, ok := p.registers.hands[d]
	if ok {
		return found
	}
	names := map[string]int{} // of parameters, and of what they are put into
	for i, prm := range d.Parameters {
		names[prm.Name] = i
	}
	for _, b := range d.Mod.Facts.Bindings {
		if i := parameter(d, b.Value); i >= 0 && b.In == d.Index && strings.Contains(b.Target, ".") {
			names[b.Target] = i
		}
	}
	passes := map[int]bool{}
	for _, r := range d.Mod.Facts.References {
		on, name := cutLast(r.Path)
		if i, is := names[on]; is && r.Edge == scope.Calls && (name == "call" || name == "apply") && within(d, r.In) {
			passes[i] = passes[i] || r.Count > 1
		}
	}
	some := slices.Contains(slices.Collect(maps.Values(passes)), true)
	for _, i := range slices.Sorted(maps.Keys(passes)) {
		found = append(found, handed{i, some && !passes[i]})
	}
	p.registers.hands[d] = found
	return found
}

// parameterOf returns the index of the parameter that a name in a function is, or another name of, -1
// if it is none.
func (p *Engine) parameterOf(d *scope.Decl, name string) int {
	if i := parameter(d, name); i >= 0 {
		return i
	}
	if v := d.Scope.Vars[name]; v != nil && len(v.Aliases) == 1 && v.Aliases[0].Plain() {
		return parameter(d, v.Aliases[0].Head)
	}
	return -1
}

// within reports whether a declaration is d, or inside it.
func within(d *scope.Decl, in uint32) bool {
	for in > d.Index {
		in = d.Mod.Decl(in).Owner
	}
	return in == d.Index
}

// callsIn returns the calls of a function.
func (p *Engine) callsIn(d *scope.Decl) []*recountv1.Reference {
	byIn := p.registers.calls[d.Mod]
	if byIn == nil {
		byIn = map[uint32][]*recountv1.Reference{}
		for _, r := range d.Mod.Facts.References {
			if r.Edge == scope.Calls && len(r.Args) > 0 {
				byIn[r.In] = append(byIn[r.In], r)
			}
		}
		p.registers.calls[d.Mod] = byIn
	}
	return byIn[d.Index]
}

// chain notes what members with computed names are: if they, or their results, are instances of the
// class that they are put on, so is a member of which nothing else is known.
func (p *Engine) chain(f *scope.Flow, owner *scope.Value, values scope.Set) {
	if owner.Kind != scope.ClassValue && owner.Kind != scope.InstanceValue {
		return
	}
	note := func(of scope.Set, sure bool) {
		for _, m := range of {
			if m.Value.Kind == scope.InstanceValue && m.Value.Decl == owner.Decl {
				p.Add(owner.Decl.Attribute(chained), p.Instance(owner.Decl, false), sure && m.Sure)
			}
		}
	}
	note(values, true)
	for _, m := range values {
		if m.Value.Kind == scope.FunctionValue {
			note(p.result(f, m.Value, Arguments{}), m.Sure)
		}
	}
}

// ofChain returns what a member of an instance is of which nothing is known but that its name may be a
// computed one.
func (p *Engine) ofChain(f *scope.Flow, class *scope.Decl, name string) (out scope.Set) {
	if !p.Lang.Exports || strings.HasPrefix(name, "__") || len(p.registers.puts) == 0 {
		return nil
	}
	for _, b := range class.Order {
		if b.Decl == nil {
			continue
		}
		if v := b.Decl.Assigned[name]; v != nil && v.Written {
			return nil
		}
		for _, m := range p.Read(f, b.Decl.Attribute(chained)) {
			out = out.With(m.Value, m.Sure)
		}
	}
	return out
}

// computedMember splits the target object[=name].
func computedMember(target string) (object, name string, ok bool) {
	object, name, ok = strings.Cut(target, "["+computed)
	return object, strings.TrimSuffix(name, "]"), ok
}

// parameter returns the index of the parameter of a name, -1 if there is none.
func parameter(d *scope.Decl, name string) int {
	if name == "" {
		return -1
	}
	return slices.IndexFunc(d.Parameters, func(prm *recountv1.Parameter) bool { return prm.Name == name && !prm.Variadic })
}

// argumentAt returns the path of the argument at an index.
func argumentAt(r *recountv1.Reference, i int) (path string, ok bool) {
	for _, a := range r.Args {
		if a.Name == "" && int(a.Index) == i {
			return a.Path, true
		}
	}
	return "", false
}

// isText reports whether the path of an argument is a string literal.
func isText(path string) bool { return strings.HasPrefix(path, `"`) }
