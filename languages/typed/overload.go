package typed

import (
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// selection is what a call means: a method of the repository or the library (method), a class
// without a constructor in its source (class), or a name outside the repository (pkg, name). The
// zero value means that nothing was found.
type selection struct {
	method *Method
	// recv binds the type parameters of the method's class.
	recv bindings
	// class is instantiated without a constructor of its own.
	class *Class
	// pkg and name name a method outside the repository.
	pkg, name string
	// doubt is set if a class whose members are not all known comes first in the lookup.
	doubt bool
	// exact is set if the call cannot reach a method that overrides this one.
	exact bool
	// several is set if more than one method may be meant.
	several bool
}

func (s selection) found() bool { return s.method != nil || s.class != nil || s.name != "" }

// candidate is a method with the type parameters of its class bound.
type candidate struct {
	method *Method
	recv   bindings
}

// candidates returns the methods of a name that a type has, without those that others override.
// beyond are its bases outside the repository, which may have more; unknown reports whether it
// has bases of which nothing is known.
func (t *Typer) candidates(of *Type, name string) (all []candidate, beyond []*Type, unknown bool) {
	t.inherited(of, func(s *Type) bool {
		if s.Class == nil {
			beyond = append(beyond, s)
			return true
		}
		unknown = unknown || s.Class.unknown
		b := s.bind()
	next:
		for _, m := range s.Class.Methods[name] {
			if s.Class != of.Class && t.isPrivate(m) {
				continue
			}
			for _, have := range all {
				if have.method.Name == m.Name && overrides(have.method, m, b) {
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
func (t *Typer) isPrivate(m *Method) bool {
	if m.Decl == nil || m.Decl.HasModifier("private") {
		return m.Decl != nil
	}
	if !t.lang.PrivateByDefault || m.Class == nil || m.Class.iface {
		return false
	}
	return !m.Decl.HasModifier("public") && !m.Decl.HasModifier("internal") && !m.Decl.HasModifier("protected")
}

// method returns the method that a call on a value or a type means.
func (t *Typer) method(at Spot, on *Type, name string, call *recountv1.Reference) selection {
	of := on.bounded()
	if on != nil && on.param != nil && of == nil {
		of = t.object()
	}
	switch {
	case of == nil || of.Prefix || of.isPrimitive() || of.isNull():
		return selection{}
	case of.elem != nil:
		of = t.object()
	case of.Class == nil:
		return selection{pkg: of.Pkg, name: of.Name + "." + name}
	}
	if name == t.lang.Constructor {
		return t.constructor(at, of, call)
	}
	return t.member(at, of, name, call)
}

func (t *Typer) object() *Type {
	if c := t.Library[t.lang.Object]; c != nil {
		return &Type{Class: c}
	}
	return nil
}

// member returns a method of a type, its own or inherited, or an extension of it.
func (t *Typer) member(at Spot, of *Type, name string, call *recountv1.Reference) selection {
	all, beyond, unknown := t.candidates(of, name)
	if s := t.choose(at, all, call); s.found() || s.several {
		return s
	}
	if t.lang.Extensions != nil {
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
		return selection{pkg: beyond[0].Pkg, name: beyond[0].Name + "." + name}
	}
	if of.Class.Decl == nil && len(all) == 0 { // a method of the library that is not listed
		return selection{pkg: of.Class.Pkg, name: of.Class.Name + "." + name}
	}
	return selection{}
}

// extension returns the static method that is called as if it were a member of a type.
func (t *Typer) extension(at Spot, of *Type, name string, call *recountv1.Reference) selection {
	var all []candidate
	for _, m := range t.lang.Extensions(t, at, name) {
		if len(m.Params) == 0 || t.fit(of, m.Params[0]) == never {
			continue
		}
		as := *m // without its first parameter, which is the receiver
		as.Params, as.MinArgs = m.Params[1:], max(0, m.MinArgs-1)
		own, found := map[*typeParam]bool{}, bindings{}
		for _, p := range m.tparams {
			own[p] = true
		}
		t.unify(m.Params[0], of, own, found)
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

// simpleMethod returns the method that a single name means: that of the innermost enclosing class
// that has one, or one that an import brings.
func (t *Typer) simpleMethod(at Spot, name string, call *recountv1.Reference) selection {
	doubt := false
	var outside []*Type
	for d := at.Module.Decl(at.In); d != nil; d = at.Module.Decl(d.Owner) {
		if m := t.methods[d]; m != nil && m.Class == nil && d.Name == name { // a local function
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
	var named *Type
	for _, c := range t.lang.Statics(t, at.Module, name) {
		if c.Class == nil {
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
		return selection{pkg: named.Pkg, name: named.Name + "." + name}
	case len(outside) == 1 && outside[0] != nil && named == nil:
		return selection{pkg: outside[0].Pkg, name: outside[0].Name + "." + name}
	}
	return selection{}
}

// localFunction returns the function of a name that an enclosing declaration declares in its
// body.
func (t *Typer) localFunction(at Spot, name string) *Method {
	for d := at.Module.Decl(at.In); d != nil; d = at.Module.Decl(d.Owner) {
		for _, f := range t.members[d] {
			if f.Name == name && f.Kind == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION {
				m := t.methods[f]
				if m == nil {
					m = &Method{Name: name, Decl: f, Result: t.TypeOf(Spot{Module: at.Module, In: f.Index}, f.Type), static: true, Final: true}
					for _, p := range f.Parameters {
						m.Params = append(m.Params, t.ParameterType(Spot{Module: at.Module, In: f.Index}, p))
					}
					t.methods[f] = m
				}
				return m
			}
		}
	}
	return nil
}

// constructor returns what making an instance of a type calls.
func (t *Typer) constructor(at Spot, of *Type, call *recountv1.Reference) selection {
	switch {
	case of == nil || of.param != nil || of.elem != nil || of.isPrimitive() || of.isNull() || of.Prefix:
		return selection{}
	case of.Class == nil:
		return selection{pkg: of.Pkg, name: of.Name}
	case of.Class.Decl == nil:
		return selection{pkg: of.Class.Pkg, name: of.Class.Name}
	}
	made := of.Class.Methods[t.lang.Constructor]
	var all []candidate
	for _, m := range made {
		all = append(all, candidate{m, of.bind()})
	}
	if s := t.choose(at, all, call); s.found() || s.several {
		s.exact = true
		return s
	}
	if len(made) == 0 || of.Class.Decl.HasModifier("record") || call.GetCount() == 0 && of.Class.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_STRUCT {
		return selection{class: of.Class}
	}
	return selection{}
}

// choose selects the method that the arguments of a call fit: by their number, then by what is
// known of their types. If more than one is left, it selects none.
func (t *Typer) choose(at Spot, all []candidate, call *recountv1.Reference) selection {
	if len(all) == 0 {
		return selection{}
	}
	if call == nil { // the method is named and not called
		if len(all) == 1 {
			return selection{method: all[0].method, recv: all[0].recv}
		}
		return selection{several: true}
	}
	n := int(call.Count)
	var fixed, variadic []candidate
	for _, c := range all {
		if n >= c.method.MinArgs && n <= len(c.method.Params) {
			fixed = append(fixed, c)
		}
		if c.method.rest && n >= c.method.MinArgs {
			variadic = append(variadic, c)
		}
	}
	// An array may be passed for the variadic arguments; passing them one by one is tried last.
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

// fitting returns the candidates that no known type of an argument excludes; if all types are
// known, only those that every argument fits without boxing, if there are any. known is false if
// a type that matters was not known. If look is false, the types are not compared.
func (t *Typer) fitting(at Spot, some []candidate, call *recountv1.Reference, look, variadic bool) (fit []candidate, known bool) {
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
				p = c.method.Params[i]
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

// arguments returns the types of the arguments of a call, nil for one that is not known.
func (t *Typer) arguments(at Spot, call *recountv1.Reference) []*Type {
	if args, ok := t.args[call]; ok {
		return args
	}
	cut := t.cut
	args := make([]*Type, call.GetCount())
	at.at, at.after = call.GetAt(), true
	for _, a := range call.GetArgs() {
		if int(a.Index) >= len(args) || a.Name != "" {
			continue
		}
		if count, result, ok := strings.Cut(strings.TrimPrefix(a.Path, "{"), "}"); ok && strings.HasPrefix(a.Path, "{") {
			f := &function{count: -1, result: at.Module.Path(result)}
			if n, err := strconv.Atoi(count); err == nil {
				f.count = n
			}
			args[a.Index] = &Type{fn: f}
			continue
		}
		args[a.Index] = t.eval(at, at.Module.Path(a.Path)).value()
	}
	if t.cut == cut {
		t.args[call] = args
	}
	return args
}

// mostSpecific returns the candidate whose parameters fit those of all others.
func (t *Typer) mostSpecific(of []candidate, call *recountv1.Reference) (candidate, bool) {
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

// How the type of an argument fits the type of a parameter, from worst to best.
const (
	never   = iota // it cannot be passed
	unclear        // not enough is known
	boxed          // it can be passed, boxed or unboxed
	fits           // it is of the type or of a subtype
)

// fit reports how well a value of one type fits another.
func (t *Typer) fit(arg, to *Type) int {
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
		return fitPrimitive(arg.Name, to.Name)
	case arg.isPrimitive():
		return t.fitBoxed(arg.Name, to)
	case to.isPrimitive():
		if arg.Class != nil && arg.Class.Decl == nil && boxOf[to.Name] == arg.Class.Name {
			return boxed
		}
		if arg.Class != nil && (arg.Class.Decl != nil || arg.Class.Name == "String") || arg.elem != nil {
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

func (t *Typer) isObject(of *Type) bool {
	return of.Class != nil && of.Class == t.Library[t.lang.Object]
}

func (t *Typer) fitArray(arg, to *Type) int {
	switch {
	case to.elem == nil:
		if to.Class != nil && to.Class.Name != "Cloneable" && to.Class.Name != t.lang.Iterable {
			return never
		}
		return unclear
	case arg.elem == nil:
		return never
	case arg.elem.isPrimitive() || to.elem.isPrimitive():
		if arg.elem != nil && to.elem != nil && arg.elem.isPrimitive() && to.elem.isPrimitive() && arg.elem.Name == to.elem.Name {
			return fits
		}
		if to.elem.isPrimitive() || arg.elem.isPrimitive() && to.elem != nil && to.elem.param == nil {
			return never
		}
		return unclear
	}
	return t.fit(arg.elem, to.elem)
}

// fitClass compares two types that are neither arrays nor primitive.
func (t *Typer) fitClass(arg, to *Type) int {
	if arg == nil {
		return unclear
	}
	found, open := false, false
	t.inherited(arg, func(s *Type) bool {
		switch {
		case s.Class != nil:
			found = found || s.Class == to.Class
			open = open || s.Class.unknown || s.Class.Decl == nil && !s.Class.closed()
		case s.Pkg == to.Pkg && s.Name == to.Name:
			found = true
		default:
			open = true // a class outside the repository may have it as a base
		}
		return !found
	})
	switch {
	case found:
		return fits
	case open && (to.Class == nil || to.Class.Decl == nil) && !(to.Class != nil && to.Class.final()):
		return unclear // not all bases of a class outside the repository are known
	}
	return never
}

// closed reports whether all bases of a class of the library are known.
func (c *Class) closed() bool { return c.final() || c.iface }

// final reports whether a class of the library has no subclasses.
func (c *Class) final() bool { return c.Decl == nil && finalClasses[c.Name] }

// fitFunction reports how well a function fits a type.
func (t *Typer) fitFunction(f *function, to *Type) int {
	switch {
	case to.isPrimitive() || to.elem != nil:
		return never
	case to.Class == nil:
		return unclear
	}
	m, _ := t.functional(to)
	switch {
	case m == nil && to.Class.Decl == nil && !to.Class.iface:
		return never
	case m == nil:
		if to.Class.Decl != nil {
			return never
		}
		return unclear
	case f.count >= 0 && len(m.Params) != f.count:
		return never
	}
	return boxed
}

// infer binds the type parameters of a method in a call, from its receiver and its arguments.
// With functions, it also uses what functions that are passed return.
func (t *Typer) infer(at Spot, s selection, call *recountv1.Reference, functions bool) bindings {
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
		if m, fb := t.functional(p.bounded()); functions && m != nil && m.Result != nil && a.fn.result.Text != "" {
			inside := at
			inside.at, inside.after = call.At, true
			t.depth++
			if given := t.eval(inside, a.fn.result).value(); given != nil {
				t.unify(m.Result.subst(fb), given, own, found)
			}
			t.depth--
		}
	}
	for p, to := range found {
		b[p] = to
	}
	return b
}

// unify adds to found what type parameters stand for if a value of type a is passed for p.
func (t *Typer) unify(p, a *Type, own map[*typeParam]bool, found bindings) {
	switch {
	case p == nil || a == nil || a.isNull():
	case p.param != nil:
		if own[p.param] && found[p.param] == nil {
			found[p.param] = t.box(a)
		}
	case p.elem != nil:
		t.unify(p.elem, a.elem, own, found)
	case p.Class != nil && len(p.Args) > 0:
		if s := t.as(a, p.Class); s != nil && len(s.Args) == len(p.Args) {
			for i := range p.Args {
				t.unify(p.Args[i], s.Args[i], own, found)
			}
		}
	}
}
