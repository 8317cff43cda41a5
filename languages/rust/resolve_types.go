package rust

import (
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// typeKey is the text of a type in a scope.
type typeKey struct {
	scope *scope.Scope
	text  string
}

// typed returns the values of a declared type: an instance, or one for each bound.
func (p *items) typed(s *scope.Scope, text string) scope.Set {
	if text == "" || text == "?" {
		return nil
	}
	key := typeKey{s, text}
	if got, ok := p.types[key]; ok {
		return got
	}
	p.types[key] = nil // for an alias of itself
	var out scope.Set
	for _, bound := range splitTop(text, '+') {
		if v := p.typeValue(s, bound); v != nil {
			out = out.With(v, true)
		}
	}
	p.types[key] = out
	return out
}

// pointers are types that have the members of what they point to.
var pointers = scope.WordSet("Box Rc Arc Cow Pin Ref RefMut MutexGuard RwLockReadGuard RwLockWriteGuard LazyLock LazyCell Lazy ManuallyDrop Wrapping Saturating")

// holdersOf are the types outside the repository whose type arguments say what their methods
// return.
var holdersOf = scope.WordSet(`Option Result Vec VecDeque HashMap BTreeMap IndexMap HashSet BTreeSet BinaryHeap LinkedList Mutex
RwLock RefCell Cell OnceCell OnceLock Weak Iterator IntoIterator DoubleEndedIterator ExactSizeIterator
Peekable Rev Skip Take Range Iter IntoIter SmallVec AsRef Borrow Into Deref DerefMut Poll Future Stream JoinHandle
Receiver Sender`)

// typeValue returns the value of a type, for a pointer that of the type it points to. It returns nil if
// nothing is known about the type.
func (p *items) typeValue(s *scope.Scope, text string) *scope.Value {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || text == "?" || text == "_" || text == "()":
		return nil
	case text[0] == '[':
		return p.generic("Vec", p.arguments(s, strings.TrimSuffix(text[1:], "]")))
	case text[0] == '(':
		return p.generic("()", p.arguments(s, strings.TrimSuffix(text[1:], ")")))
	}
	name, inner, _ := strings.Cut(text, "<")
	inner = strings.TrimSuffix(inner, ">")
	for o := s; o != nil; o = o.Outer {
		if o.Decl != nil && hasParameter(o.Decl, name) {
			return p.Intern(scope.ValueID{Kind: scope.ParameterValue, Decl: o.Decl, Name: name})
		}
	}
	at := p.Lookup(s, scope.ParsePath(name))
	switch {
	case at.Rest != 0:
		return nil
	case at.Decl != nil && at.Decl.IsClass():
		return p.Intern(scope.ValueID{Kind: scope.InstanceValue, Decl: at.Decl, Open: true, More: p.arguments(s, inner)})
	case at.Decl != nil && at.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE:
		for _, m := range p.typed(aliasScope(at.Decl), at.Decl.Type) {
			return p.substitute(m.Value, at.Decl, p.arguments(s, inner))
		}
		return nil
	case at.External != nil:
		last := at.External.Name[strings.LastIndexByte(at.External.Name, '.')+1:]
		switch {
		case pointers[last]:
			for a := p.arguments(s, inner); a != nil; {
				return a.Recv
			}
			return nil
		case holdersOf[last]:
			return p.generic(last, p.arguments(s, inner))
		}
		return at.External
	}
	return nil
}

// aliasScope returns the scope in which the type of an alias is read, where its parameters are
// known.
func aliasScope(d *scope.Decl) *scope.Scope {
	if d.Scope == nil {
		d.Scope = &scope.Scope{Mod: d.Mod, Outer: d.Outer, Decl: d, Vars: map[string]*scope.Variable{}}
	}
	return d.Scope
}

// hasParameter reports whether the declaration of a type has a parameter of that name.
func hasParameter(d *scope.Decl, name string) bool {
	if d.IsFunction() {
		return false
	}
	for _, prm := range d.Parameters {
		if prm.Name == name {
			return true
		}
	}
	return false
}

func (p *items) generic(name string, arguments *scope.Value) *scope.Value {
	return p.Intern(scope.ValueID{Kind: scope.GenericValue, Name: name, More: arguments})
}

// arguments returns the list of type arguments in a text.
func (p *items) arguments(s *scope.Scope, text string) *scope.Value {
	if text == "" {
		return nil
	}
	var all []*scope.Value
	for _, part := range splitTop(text, ',') {
		var first *scope.Value
		for _, m := range p.typed(s, part) {
			if first == nil || first.Kind != scope.InstanceValue {
				first = m.Value
			}
		}
		all = append(all, first)
	}
	return p.list(all...)
}

func (p *items) list(all ...*scope.Value) *scope.Value {
	var l *scope.Value
	for i := len(all) - 1; i >= 0; i-- {
		l = p.Intern(scope.ValueID{Kind: scope.ListValue, Recv: all[i], More: l})
	}
	return l
}

// substitute replaces the type parameters of a declaration by arguments.
func (p *items) substitute(v *scope.Value, of *scope.Decl, arguments *scope.Value) *scope.Value {
	if v == nil {
		return nil
	}
	return substitution{p, of, arguments, map[*scope.Value]*scope.Value{}}.value(v)
}

// substitution replaces the type parameters of a declaration. Values are shared, so each is replaced once.
type substitution struct {
	*items
	of        *scope.Decl
	arguments *scope.Value
	done      map[*scope.Value]*scope.Value
}

func (s substitution) value(v *scope.Value) *scope.Value {
	if v == nil {
		return nil
	}
	if v.Kind == scope.ParameterValue {
		return s.parameter(v)
	}
	out, known := s.done[v]
	if known {
		return out
	}
	out = v
	id := v.ValueID
	switch v.Kind {
	case scope.InstanceValue, scope.GenericValue:
		if v.More != nil {
			id.More = s.value(v.More)
			out = s.Intern(id)
		}
	case scope.ListValue:
		id.Recv, id.More = s.value(v.Recv), s.value(v.More)
		out = s.Intern(id)
	}
	s.done[v] = out
	return out
}

func (s substitution) parameter(v *scope.Value) *scope.Value {
	if v.Decl != s.of {
		return v
	}
	for i, prm := range s.of.Parameters {
		if prm.Name == v.Name {
			return s.arguments.Nth(i)
		}
	}
	return nil
}

// known replaces the type parameters in a set by the type arguments of the receiver, and
// parameters that stay unknown by their bounds.
func (p *items) known(values scope.Set, recv *scope.Value) scope.Set {
	var out scope.Set
	for _, m := range values {
		v := m.Value
		if recv != nil && recv.Kind == scope.InstanceValue {
			v = p.substitute(v, recv.Decl, recv.More)
		}
		if v == nil || v.Kind == scope.ParameterValue {
			of := m.Value
			if of.Kind != scope.ParameterValue {
				continue
			}
			for _, prm := range of.Decl.Parameters {
				if prm.Name == of.Name {
					for _, b := range p.typed(of.Decl.Outer, prm.Type) {
						out = out.With(b.Value, b.Sure && m.Sure)
					}
				}
			}
			continue
		}
		out = out.With(v, m.Sure)
	}
	return out
}
