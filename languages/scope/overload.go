package scope

import (
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// selection is the method that a call means: of the repository or the library, or one
// of elsewhere.
type selection struct {
	method *method
	// recv says what the type parameters of the method's class stand for.
	recv bindings
	// class is what is made by a class without a constructor of its own.
	class *class
	// pkg and name are those of a method of elsewhere.
	pkg, name string
	// doubt: a class of which not all is known stands between.
	doubt bool
	// exact: the method itself is called, not one that overrides it.
	exact bool
	// several could be meant.
	several bool
}

func (s selection) found() bool { return s.method != nil || s.class != nil || s.name != "" }

// candidate is a method as a type has it.
type candidate struct {
	method *method
	recv   bindings
}

// candidates are a type's methods of a name, those left out that others override; the
// bases of elsewhere that it could have more from, and whether there are ones of which
// nothing is known.
func (t *typer) candidates(of *typ, name string) (all []candidate, beyond []*typ, unknown bool) {
	t.inherited(of, func(s *typ) bool {
		if s.class == nil {
			beyond = append(beyond, s)
			return true
		}
		unknown = unknown || s.class.unknown
		b := s.bind()
	next:
		for _, m := range s.class.methods[name] {
			if s.class != of.class && t.isPrivate(m) {
				continue
			}
			for _, have := range all {
				if have.method.name == m.name && overrides(have.method, m, b) {
					continue next
				}
			}
			all = append(all, candidate{m, b})
		}
		return true
	})
	return all, beyond, unknown
}

// isPrivate reports whether only its own class may name a method.
func (t *typer) isPrivate(m *method) bool {
	if m.decl == nil || m.decl.is("private") {
		return m.decl != nil
	}
	if !t.lang.privateByDefault || m.class == nil || m.class.iface {
		return false
	}
	return !m.decl.is("public") && !m.decl.is("internal") && !m.decl.is("protected")
}

// method is the method that a call on a value, or on a type, means.
func (t *typer) method(at spot, on *typ, name string, call *recountv1.Reference) selection {
	of := on.bounded()
	if on != nil && on.param != nil && of == nil {
		of = t.object()
	}
	switch {
	case of == nil || of.prefix || of.isPrimitive() || of.isNull():
		return selection{}
	case of.elem != nil:
		of = t.object()
	case of.class == nil:
		return selection{pkg: of.pkg, name: of.name + "." + name}
	}
	if name == t.lang.constructor {
		return t.constructor(at, of, call)
	}
	return t.member(at, of, name, call)
}

func (t *typer) object() *typ {
	if c := t.library[t.lang.object]; c != nil {
		return &typ{class: c}
	}
	return nil
}

// member is a type's method, its own or inherited, or an extension of it.
func (t *typer) member(at spot, of *typ, name string, call *recountv1.Reference) selection {
	all, beyond, unknown := t.candidates(of, name)
	if s := t.choose(at, all, call); s.found() || s.several {
		return s
	}
	if t.lang.extensions != nil {
		if s := t.extension(at, of, name, call); s.found() || s.several {
			return s
		}
	}
	if object := t.object(); object != nil && len(all) == 0 {
		all, _, _ = t.candidates(object, name)
		if s := t.choose(at, all, call); s.found() {
			return s
		}
	}
	if len(beyond) == 1 && !unknown {
		return selection{pkg: beyond[0].pkg, name: beyond[0].name + "." + name}
	}
	if of.class.decl == nil && len(all) == 0 { // a method of the library that it does not list
		return selection{pkg: of.class.pkg, name: of.class.name + "." + name}
	}
	return selection{}
}

// extension is a static method that is called as if it were a type's own.
func (t *typer) extension(at spot, of *typ, name string, call *recountv1.Reference) selection {
	var all []candidate
	for _, m := range t.lang.extensions(t, at, name) {
		if len(m.params) == 0 || t.fit(of, m.params[0]) == never {
			continue
		}
		as := *m // without its first parameter, which is the receiver
		as.params, as.least = m.params[1:], max(0, m.least-1)
		own, found := map[*typeParam]bool{}, bindings{}
		for _, p := range m.tparams {
			own[p] = true
		}
		t.unify(m.params[0], of, own, found)
		as.tparams = nil
		for _, p := range m.tparams {
			if found[p] == nil {
				as.tparams = append(as.tparams, p)
			}
		}
		all = append(all, candidate{&as, found})
	}
	return t.choose(at, all, call)
}

// simpleMethod is the method that a single name means: of the innermost class around
// that has one, or one that an import brings.
func (t *typer) simpleMethod(at spot, name string, call *recountv1.Reference) selection {
	doubt := false
	var outside []*typ
	for d := at.m.decl(at.in); d != nil; d = at.m.decl(d.Owner) {
		if m := t.methods[d]; m != nil && m.class == nil && d.Name == name { // a local function
			return selection{method: m, exact: true}
		}
		c := t.classes[d]
		if c == nil {
			continue
		}
		all, beyond, unknown := t.candidates(c.own(), name)
		if len(all) > 0 {
			s := t.choose(at, all, call)
			s.doubt = doubt
			if s.found() || len(beyond) == 0 && !unknown {
				return s
			}
		}
		doubt = doubt || unknown || len(beyond) > 0
		outside = append(outside, beyond...)
		if unknown {
			outside = append(outside, nil)
		}
	}
	if local := t.localFunction(at, name); local != nil {
		return selection{method: local, exact: true}
	}
	var all []candidate
	var named *typ
	for _, c := range t.lang.statics(t, at.m, name) {
		if c.class == nil {
			named = c
			continue
		}
		found, _, _ := t.candidates(c, name)
		all = append(all, found...)
	}
	if s := t.choose(at, all, call); s.found() {
		s.doubt = doubt
		return s
	}
	if object := t.object(); object != nil && len(all) == 0 {
		found, _, _ := t.candidates(object, name)
		if s := t.choose(at, found, call); s.found() {
			return s
		}
	}
	switch {
	case named != nil && len(outside) == 0:
		return selection{pkg: named.pkg, name: named.name + "." + name}
	case len(outside) == 1 && outside[0] != nil && named == nil:
		return selection{pkg: outside[0].pkg, name: outside[0].name + "." + name}
	}
	return selection{}
}

// localFunction is a function that a declaration around declares in its body.
func (t *typer) localFunction(at spot, name string) *method {
	for d := at.m.decl(at.in); d != nil; d = at.m.decl(d.Owner) {
		for _, f := range t.members[d] {
			if f.Name == name && f.Kind == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION {
				m := t.methods[f]
				if m == nil {
					m = &method{name: name, decl: f, result: t.typeOf(spot{m: at.m, in: f.in}, f.Type), static: true, final: true}
					for _, p := range f.Parameters {
						m.params = append(m.params, t.parameterType(spot{m: at.m, in: f.in}, p))
					}
					t.methods[f] = m
				}
				return m
			}
		}
	}
	return nil
}

// constructor is what making an instance calls.
func (t *typer) constructor(at spot, of *typ, call *recountv1.Reference) selection {
	switch {
	case of == nil || of.param != nil || of.elem != nil || of.isPrimitive() || of.isNull() || of.prefix:
		return selection{}
	case of.class == nil:
		return selection{pkg: of.pkg, name: of.name}
	case of.class.decl == nil:
		return selection{pkg: of.class.pkg, name: of.class.name}
	}
	made := of.class.methods[t.lang.constructor]
	var all []candidate
	for _, m := range made {
		all = append(all, candidate{m, of.bind()})
	}
	if s := t.choose(at, all, call); s.found() || s.several {
		s.exact = true
		return s
	}
	if len(made) == 0 || of.class.decl.is("record") || call.GetCount() == 0 && of.class.decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_STRUCT {
		return selection{class: of.class}
	}
	return selection{}
}

// choose picks the method that a call's arguments fit: by their number, and where
// several are left by what is known of their types. Where that leaves more than one it
// is none.
func (t *typer) choose(at spot, all []candidate, call *recountv1.Reference) selection {
	if len(all) == 0 {
		return selection{}
	}
	if call == nil { // no call: a method that is named
		if len(all) == 1 {
			return selection{method: all[0].method, recv: all[0].recv}
		}
		return selection{several: true}
	}
	n := int(call.Count)
	var fixed, variadic []candidate
	for _, c := range all {
		if n >= c.method.least && n <= len(c.method.params) {
			fixed = append(fixed, c)
		}
		if c.method.rest && n >= c.method.least {
			variadic = append(variadic, c)
		}
	}
	// An array may stand for the variadic arguments; one by one they come last.
	for i, some := range [][]candidate{fixed, variadic} {
		fit, known := t.fitting(at, some, call, len(all) > 1, i == 1)
		switch {
		case len(fit) == 1:
			return selection{method: fit[0].method, recv: fit[0].recv}
		case len(fit) > 1:
			if c, ok := t.mostSpecific(fit, call); ok && known {
				return selection{method: c.method, recv: c.recv}
			}
			return selection{several: true}
		}
	}
	return selection{}
}

// fitting are the candidates that nothing known of the arguments speaks against: of
// them only those that every argument fits without boxing, where there are some and
// all is known. known says that nothing about them was unknown. look is false where
// there is nothing to choose.
func (t *typer) fitting(at spot, some []candidate, call *recountv1.Reference, look, variadic bool) (fit []candidate, known bool) {
	if !look {
		return some, true
	}
	args := t.arguments(at, call)
	known = true
	var strict []candidate
	for _, c := range some {
		worst := fits
		for i, a := range args {
			p := c.method.parameter(i)
			if !variadic {
				p = c.method.params[i]
			}
			worst = min(worst, t.fit(a, p.subst(c.recv)))
		}
		if worst == never {
			continue
		}
		fit = append(fit, c)
		if worst == fits {
			strict = append(strict, c)
		}
		known = known && worst != unclear
	}
	if known && len(strict) > 0 {
		return strict, true
	}
	return fit, known
}

// arguments are the types of a call's arguments, nil where they are not known.
func (t *typer) arguments(at spot, call *recountv1.Reference) []*typ {
	if args, ok := t.args[call]; ok {
		return args
	}
	cut := t.cut
	args := make([]*typ, call.GetCount())
	at.at, at.after = call.GetAt(), true
	for _, a := range call.GetArgs() {
		if int(a.Index) >= len(args) || a.Name != "" {
			continue
		}
		if count, gives, ok := strings.Cut(strings.TrimPrefix(a.Path, "{"), "}"); ok && strings.HasPrefix(a.Path, "{") {
			f := &function{count: -1, gives: at.m.path(gives)}
			if n, err := strconv.Atoi(count); err == nil {
				f.count = n
			}
			args[a.Index] = &typ{fn: f}
			continue
		}
		args[a.Index] = t.eval(at, at.m.path(a.Path)).value()
	}
	if t.cut == cut {
		t.args[call] = args
	}
	return args
}

// mostSpecific is the candidate whose parameters fit those of all others.
func (t *typer) mostSpecific(of []candidate, call *recountv1.Reference) (candidate, bool) {
	n := int(call.Count)
	for i, c := range of {
		best := true
		for k, other := range of {
			for a := range n {
				if i != k && t.fit(c.method.parameter(a), other.method.parameter(a)) != fits {
					best = false
				}
			}
		}
		if best {
			return c, true
		}
	}
	return candidate{}, false
}

// How an argument's type stands to a parameter's.
const (
	never   = iota // it cannot be passed
	unclear        // not enough is known
	boxed          // it can, boxed or unboxed
	fits           // it is of the type, or of one below
)

// fit says whether a value of a type can be passed for another.
func (t *typer) fit(arg, to *typ) int {
	if arg == nil || to == nil || to.param != nil && to.param.bound == nil {
		if to != nil && to.param != nil && arg != nil && arg.fn == nil {
			return boxed
		}
		return unclear
	}
	if to.param != nil {
		to = to.bounded()
	}
	if arg.fn != nil {
		return t.fitFunction(arg.fn, to)
	}
	switch {
	case arg.isNull():
		if to.isPrimitive() {
			return never
		}
		return fits
	case arg.isPrimitive() && to.isPrimitive():
		return widens(arg.name, to.name)
	case arg.isPrimitive():
		return t.boxes(arg.name, to)
	case to.isPrimitive():
		if arg.class != nil && arg.class.decl == nil && boxOf[to.name] == arg.class.name {
			return boxed
		}
		if arg.class != nil && (arg.class.decl != nil || arg.class.name == "String") || arg.elem != nil {
			return never
		}
		return unclear
	case t.isObject(to):
		return fits
	case arg.elem != nil || to.elem != nil:
		return t.fitArray(arg, to)
	}
	return t.fitClass(arg.bounded(), to)
}

func (t *typer) isObject(of *typ) bool {
	return of.class != nil && of.class == t.library[t.lang.object]
}

func (t *typer) fitArray(arg, to *typ) int {
	switch {
	case to.elem == nil:
		if to.class != nil && to.class.name != "Cloneable" && to.class.name != t.lang.iterable {
			return never
		}
		return unclear
	case arg.elem == nil:
		return never
	case arg.elem.isPrimitive() || to.elem.isPrimitive():
		if arg.elem != nil && to.elem != nil && arg.elem.isPrimitive() && to.elem.isPrimitive() && arg.elem.name == to.elem.name {
			return fits
		}
		if to.elem.isPrimitive() || arg.elem.isPrimitive() && to.elem != nil && to.elem.param == nil {
			return never
		}
		return unclear
	}
	return t.fit(arg.elem, to.elem)
}

// fitClass compares two types that are no arrays and no primitives.
func (t *typer) fitClass(arg, to *typ) int {
	if arg == nil {
		return unclear
	}
	found, open := false, false
	t.inherited(arg, func(s *typ) bool {
		switch {
		case s.class != nil:
			found = found || s.class == to.class
			open = open || s.class.unknown || s.class.decl == nil && !s.class.closed()
		case s.pkg == to.pkg && s.name == to.name:
			found = true
		default:
			open = true // a class of elsewhere may have it as a base
		}
		return !found
	})
	switch {
	case found:
		return fits
	case open && (to.class == nil || to.class.decl == nil) && !(to.class != nil && to.class.final()):
		return unclear // of the bases of a class of elsewhere not all are known
	}
	return never
}

// closed reports whether all bases of a class of the library are known.
func (c *class) closed() bool { return c.final() || c.iface }

// final reports whether a class of the library has no others below it.
func (c *class) final() bool { return c.decl == nil && finalClasses[c.name] }

// fitFunction says whether a function can be passed for a type.
func (t *typer) fitFunction(f *function, to *typ) int {
	switch {
	case to.isPrimitive() || to.elem != nil:
		return never
	case to.class == nil:
		return unclear
	}
	m, _ := t.functional(to)
	switch {
	case m == nil && to.class.decl == nil && !to.class.iface:
		return never
	case m == nil:
		if to.class.decl != nil {
			return never
		}
		return unclear
	case f.count >= 0 && len(m.params) != f.count:
		return never
	}
	return boxed
}

// infer says what the type parameters of a method stand for in a call: by its
// receiver and its arguments, with functions what they give.
func (t *typer) infer(at spot, s selection, call *recountv1.Reference, functions bool) bindings {
	if len(s.method.tparams) == 0 {
		return s.recv
	}
	b := bindings{}
	for p, to := range s.recv {
		b[p] = to
	}
	for _, p := range s.method.tparams {
		b[p] = nil
	}
	if call == nil || t.depth > maxNesting {
		return b
	}
	found := bindings{}
	args := t.arguments(at, call)
	own := map[*typeParam]bool{}
	for _, p := range s.method.tparams {
		own[p] = true
	}
	for i, a := range args {
		p := s.method.parameter(i)
		if a == nil || p == nil {
			continue
		}
		if a.fn == nil {
			t.unify(p, a, own, found)
			continue
		}
		if m, fb := t.functional(p.bounded()); functions && m != nil && m.result != nil && a.fn.gives.text != "" {
			inside := at
			inside.at, inside.after = call.At, true
			t.depth++
			if given := t.eval(inside, a.fn.gives).value(); given != nil {
				t.unify(m.result.subst(fb), given, own, found)
			}
			t.depth--
		}
	}
	for p, to := range found {
		b[p] = to
	}
	return b
}

// unify finds what parameters stand for where a value of one type is passed for
// another.
func (t *typer) unify(p, a *typ, own map[*typeParam]bool, found bindings) {
	switch {
	case p == nil || a == nil || a.isNull():
	case p.param != nil:
		if own[p.param] && found[p.param] == nil {
			found[p.param] = t.box(a)
		}
	case p.elem != nil:
		t.unify(p.elem, a.elem, own, found)
	case p.class != nil && len(p.args) > 0:
		if s := t.as(a, p.class); s != nil && len(s.args) == len(p.args) {
			for i := range p.args {
				t.unify(p.args[i], s.args[i], own, found)
			}
		}
	}
}
