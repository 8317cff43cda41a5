package scope

import (
	"slices"
	"strconv"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// at is where a path stands.
type at struct {
	scope *scope
	in    uint32
}

// arguments are what a call passes: those of the references of its path, or one
// that is there as values.
type arguments struct {
	here   at
	refs   []*recountv1.Reference
	direct set
}

// eval is what a path stands for.
func (p *engine) eval(f *flow, here at, of path) set {
	if p.depth > maxDepth {
		return nil
	}
	p.depth++
	defer func() { p.depth-- }()
	now := p.head(f, here, of.head)
	for _, st := range of.steps {
		if len(now) == 0 {
			return nil
		}
		var next set
		for _, m := range now {
			var found set
			if p.rules != nil {
				found = p.rules.step(f, here, m.value, of, st)
				for _, n := range found {
					next = next.with(n.value, n.sure && m.sure)
				}
				continue
			}
			switch st.op {
			case '.':
				found = p.attribute(f, m.value, st.name)
			case '[':
				found = p.element(f, m.value, st.name)
			case '(':
				refs := here.scope.mod.calls[callSite{here.in, of.text[:st.at]}]
				found = p.result(f, m.value, arguments{here: here, refs: refs})
			}
			for _, n := range found {
				next = next.with(n.value, n.sure && m.sure)
			}
		}
		if now = next; len(now) > maxValues {
			return nil
		}
	}
	return now
}

// head is what the first name of a path stands for.
func (p *engine) head(f *flow, here at, name string) set {
	switch name {
	case "?":
		return nil
	case "super":
		if p.rules != nil {
			break
		}
		for s := here.scope; s != nil; s = s.outer {
			if s.decl != nil && s.decl.isMethod() {
				return set{{p.intern(valueID{kind: superValue, decl: s.decl.outer.decl, open: s.decl.is("classmethod")}), true}}
			}
		}
		return nil
	case "return", "yield":
		if v := here.result(name); v != nil {
			return slices.Clone(p.read(f, v))
		}
		return nil
	}
	v := p.find(here.scope, name)
	if v == nil {
		if p.lang.builtin[name] && (p.rules != nil || !p.starred(here.scope.mod)) {
			return set{{p.external(p.lang.builtins, name), true}}
		}
		return nil
	}
	return slices.Clone(p.read(f, v))
}

// result is where a function's results are bound; nil outside of one.
func (a at) result(name string) *variable {
	d := a.scope.decl
	switch {
	case d == nil || !d.isFunction():
		return nil
	case name == "yield":
		return &d.yields
	}
	return &d.results
}

// assign puts values where a target says.
func (p *engine) assign(f *flow, here at, target path, values set) {
	if p.lang.exports {
		if name := target.exports(); name != "" {
			p.put1(here.scope.mod.export(name), values, true)
			return
		}
	}
	if target.plain() {
		var v *variable
		if target.head == "return" || target.head == "yield" {
			v = here.result(target.head)
		} else {
			v = here.scope.bound(target.head)
		}
		p.put1(v, values, true)
		return
	}
	last := target.steps[len(target.steps)-1]
	owner := target.base()
	if last.op == '[' && ownable(owner) {
		// What has elements is a container: one for the place it is made at.
		p.assign(f, here, owner, set{{p.container(here.scope, owner.text), true}})
	}
	for _, o := range p.eval(f, here, owner) {
		switch last.op {
		case '.':
			p.put1(p.attributeTarget(o.value, last.name), values, o.sure)
		case '[':
			if o.value.kind == containerValue {
				p.put1(o.value.element(last.name), values, o.sure)
				p.put1(o.value.element(all), values, o.sure)
			}
		}
	}
}

// ownable reports whether a target can be given a container.
func ownable(target path) bool {
	for _, st := range target.steps {
		if st.op == '(' {
			return false
		}
	}
	return target.head != "self" && target.head != "super" && target.head != "?" || len(target.steps) > 0
}

func (p *engine) put1(v *variable, values set, sure bool) {
	if v == nil {
		return
	}
	v.written = true
	for _, m := range values {
		p.add(v, m.value, m.sure && sure)
	}
}

// attributeTarget is the variable of an attribute that is assigned to.
func (p *engine) attributeTarget(v *value, name string) *variable {
	switch v.kind {
	case instanceValue, classValue:
		return v.decl.attribute(name)
	case moduleValue:
		if v.mod.scope != nil {
			return v.mod.scope.vars[name]
		}
	}
	return nil
}

// attribute is what a value has by a name.
func (p *engine) attribute(f *flow, v *value, name string) set {
	switch v.kind {
	case moduleValue:
		return p.moduleAttribute(f, v.mod, name)
	case externalValue:
		return set{{p.attributeOf(v, name), true}}
	case classValue:
		return p.classMember(f, v, v.decl.order, name)
	case instanceValue:
		if name == "__class__" {
			return set{{p.intern(valueID{kind: classValue, decl: v.decl}), !v.open}}
		}
		return p.classMember(f, v, v.decl.order, name)
	case superValue:
		receiver := p.instance(v.decl, false)
		if v.open {
			receiver = p.intern(valueID{kind: classValue, decl: v.decl})
		}
		if len(v.decl.order) > 1 {
			return p.classMember(f, receiver, v.decl.order[1:], name)
		}
	case generatorValue, containerValue:
		if v.kind == generatorValue && (name == "__enter__" || name == "__aenter__" || name == "__next__" || name == "__anext__") ||
			v.kind == containerValue && (containerGives[name] || containerSame[name]) {
			return set{{p.intern(valueID{kind: boundValue, recv: v, name: name}), true}}
		}
	}
	return nil
}

func (p *engine) moduleAttribute(f *flow, m *module, name string) set {
	v := p.exported(m, name, 0)
	if v != nil && !(len(v.imports) > 0 && p.onlyItself(v, m, name)) {
		return p.read(f, v)
	}
	if sub := p.submodule(m, name); sub != nil {
		return set{{p.intern(valueID{kind: moduleValue, mod: sub}), true}}
	}
	return nil
}

// onlyItself reports whether a package's name is no more than its own submodule,
// imported by the package.
func (p *engine) onlyItself(v *variable, m *module, name string) bool {
	for _, i := range v.imports {
		if i.mod != m || i.name != name {
			return false
		}
	}
	return len(v.decls) == 0 && len(v.aliases) == 0
}

// classMember is an attribute of an instance or a class: what was assigned to it,
// and what the first class in the order binds. A function becomes a method.
func (p *engine) classMember(f *flow, recv *value, order []base, name string) set {
	var out set
	for _, b := range order {
		if b.decl != nil {
			for _, m := range p.read(f, b.decl.attribute(name)) {
				out = out.with(m.value, m.sure)
			}
		}
	}
	v, in, sure := classAttribute(order, name)
	if v == nil {
		return out
	}
	for _, m := range p.read(f, v) {
		if m.value.kind != functionValue {
			out = out.with(m.value, m.sure && sure)
			continue
		}
		d := m.value.decl
		to := recv
		switch {
		case d.outer == in.scope && d.is("staticmethod"):
			out = out.with(m.value, m.sure && sure)
			continue
		case d.outer == in.scope && (d.is("classmethod") || d.is("static")):
			to = p.intern(valueID{kind: classValue, decl: recv.decl})
		case recv.kind == classValue:
			out = out.with(m.value, m.sure && sure)
			continue
		}
		bound := p.intern(valueID{kind: boundValue, decl: d, recv: to})
		if d.outer == in.scope && d.Kind == recountv1.SymbolKind_SYMBOL_KIND_PROPERTY {
			p.pass(f, bound, arguments{})
			for _, r := range p.result(f, bound, arguments{}) {
				out = out.with(r.value, r.sure && m.sure && sure)
			}
			continue
		}
		out = out.with(bound, m.sure && sure)
	}
	return out
}

// element is what a value gives by an index; "" is any.
func (p *engine) element(f *flow, v *value, key string) set {
	switch v.kind {
	case containerValue:
		if key == "" {
			return p.read(f, v.element(all))
		}
		out := slices.Clone(p.read(f, v.element(key)))
		for _, m := range p.read(f, v.element("")) {
			out = out.with(m.value, m.sure)
		}
		return out
	case generatorValue:
		return p.read(f, &v.decl.yields)
	case instanceValue:
		var out set
		call := func(of set, name string) (results set) {
			for _, o := range of {
				for _, m := range p.attribute(f, o.value, name) {
					for _, r := range p.result(f, m.value, arguments{}) {
						results = results.with(r.value, r.sure && m.sure && o.sure)
					}
				}
			}
			return results
		}
		self := set{{v, true}}
		out = append(out, call(self, "__getitem__")...)
		if key != "" {
			return out
		}
		for _, it := range call(self, "__iter__") {
			switch it.value.kind {
			case generatorValue, containerValue:
				for _, e := range p.element(f, it.value, "") {
					out = out.with(e.value, e.sure && it.sure)
				}
			case instanceValue:
				for _, e := range call(set{it}, "__next__") {
					out = out.with(e.value, e.sure)
				}
			}
		}
		return out
	}
	return nil
}

// result is what calling a value gives.
func (p *engine) result(f *flow, v *value, with arguments) set {
	if p.depth > maxDepth {
		return nil
	}
	p.depth++
	defer func() { p.depth-- }()
	switch v.kind {
	case classValue:
		return set{{p.instance(v.decl, false), true}}
	case instanceValue:
		var out set
		for _, m := range p.attribute(f, v, "__call__") {
			if m.value.kind == boundValue {
				for _, r := range p.result(f, m.value, with) {
					out = out.with(r.value, r.sure && m.sure)
				}
			}
		}
		return out
	case externalValue:
		if v.pkg == p.lang.builtins && sameElements[v.name] {
			return p.argument(f, with, 0, "")
		}
		if p.makesStub(v) {
			return set{{p.external(v.pkg, v.name+"()"), true}}
		}
		return nil
	case boundValue:
		if v.decl == nil {
			if containerSame[v.name] {
				return set{{v.recv, true}}
			}
			return p.element(f, v.recv, "")
		}
	case functionValue:
	default:
		return nil
	}
	d := v.decl
	if d.generator {
		return set{{p.intern(valueID{kind: generatorValue, decl: d}), true}}
	}
	out := slices.Clone(p.read(f, &d.results))
	for _, i := range d.through {
		switch {
		case v.kind == boundValue && (i < 0 || i == 0 && p.lang.receiverFirst):
			out = out.with(v.recv, true)
		case i >= 0:
			place := i
			if v.kind == boundValue && p.lang.receiverFirst {
				place--
			}
			for _, m := range p.argument(f, with, place, d.Parameters[i].Name) {
				out = out.with(m.value, m.sure)
			}
		}
	}
	if class := d.typed; class != nil && !p.has(out, class) {
		out = out.with(p.instance(class, true), true)
	}
	return out
}

// has reports whether an instance of the class is there already.
func (p *engine) has(s set, class *decl) bool {
	for _, m := range s {
		if m.value.kind == instanceValue && m.value.decl == class && m.sure {
			return true
		}
	}
	return false
}

// argument is what a call passes at a place or by a name. A path does not say which
// call of it is meant: it is all of those in its declaration, or, of many, none.
func (p *engine) argument(f *flow, with arguments, place int, name string) set {
	if place == 0 && len(with.direct) > 0 {
		return with.direct
	}
	if p.nested == maxNested || len(with.refs) > maxCalls {
		return nil
	}
	p.nested++
	defer func() { p.nested-- }()
	var out set
	for _, r := range with.refs {
		for _, a := range r.Args {
			if a.Name == "" && int(a.Index) == place || a.Name != "" && a.Name == name {
				for _, m := range p.eval(f, with.here, with.here.scope.mod.path(a.Path)) {
					out = out.with(m.value, m.sure)
				}
			}
		}
	}
	return out
}

// pass makes what a call passes flow into the parameters of what is called.
func (p *engine) pass(f *flow, callee *value, with arguments) {
	if p.solved {
		return
	}
	var d *decl
	skip := 0
	switch callee.kind {
	case functionValue:
		d = callee.decl
	case boundValue:
		if d = callee.decl; d == nil {
			return
		}
		if !p.lang.receiverFirst {
			if d.isMethod() && !(callee.recv.kind == instanceValue && d.outer.decl == callee.recv.decl) {
				p.add(d.scope.own("self"), callee.recv, false)
			}
			break
		}
		skip = 1
		if len(d.Parameters) > 0 && !(callee.recv.kind == instanceValue && d.outer.decl == callee.recv.decl) {
			p.add(d.scope.own(d.parameterName(0, d.Parameters[0].Name)), callee.recv, false)
		}
	case classValue, instanceValue:
		name := "__call__"
		recv := callee
		if callee.kind == classValue {
			name, recv = p.lang.constructor, p.instance(callee.decl, false)
		}
		for _, m := range p.attribute(f, recv, name) {
			if m.value.kind == boundValue && m.value.decl != nil {
				p.pass(f, m.value, with)
			}
		}
		return
	default:
		return
	}
	give := func(i int, values set) {
		if i < 0 || i >= len(d.Parameters) {
			if n := len(d.Parameters); n == 0 || i < 0 || !d.Parameters[n-1].Variadic {
				return
			}
			i = len(d.Parameters) - 1
		}
		prm := d.Parameters[i]
		if prm.Variadic || prm.Keyword {
			c := p.container(d.scope, prm.Name)
			p.put1(c.element(""), values, false)
			p.put1(c.element(all), values, false)
			return
		}
		p.put1(d.scope.own(d.parameterName(i, prm.Name)), values, false)
	}
	if len(with.direct) > 0 {
		give(skip, with.direct)
	}
	for _, r := range with.refs {
		for _, a := range r.Args {
			switch a.Name {
			case "":
				give(int(a.Index)+skip, p.eval(f, with.here, with.here.scope.mod.path(a.Path)))
			case "*":
				for _, c := range p.eval(f, with.here, with.here.scope.mod.path(a.Path)) {
					for i := int(a.Index) + skip; i < len(d.Parameters); i++ {
						give(i, p.element(f, c.value, strconv.Itoa(i-skip-int(a.Index))))
					}
				}
			case "**":
				for _, c := range p.eval(f, with.here, with.here.scope.mod.path(a.Path)) {
					if c.value.kind != containerValue {
						continue
					}
					for i, prm := range d.Parameters {
						give(i, p.element(f, c.value, prm.Name))
					}
				}
			default:
				for i, prm := range d.Parameters {
					if prm.Name == a.Name {
						give(i, p.eval(f, with.here, with.here.scope.mod.path(a.Path)))
					}
				}
			}
		}
	}
}
