package scope

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// typeKey is a type's text where it stands.
type typeKey struct {
	scope *scope
	text  string
}

// typed is what a value of a declared type may be: an instance, one for each bound.
func (p *items) typed(s *scope, text string) set {
	if text == "" || text == "?" {
		return nil
	}
	key := typeKey{s, text}
	if got, ok := p.types[key]; ok {
		return got
	}
	p.types[key] = nil // an alias of itself
	var out set
	for _, bound := range splitBounds(text) {
		if v := p.typeValue(s, bound); v != nil {
			out = out.with(v, true)
		}
	}
	p.types[key] = out
	return out
}

// splitBounds cuts at the + that are in no brackets.
func splitBounds(text string) []string {
	var all []string
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '<', '[':
			depth++
		case ')', '>', ']':
			depth--
		case '+':
			if depth == 0 {
				all = append(all, text[from:i])
				from = i + 1
			}
		}
	}
	return append(all, text[from:])
}

// pointers are types that have the members of what they hold.
var pointers = wordSet("Box Rc Arc Cow Pin Ref RefMut MutexGuard RwLockReadGuard RwLockWriteGuard ManuallyDrop Wrapping Saturating")

// holdersOf are the types of elsewhere whose arguments say what their methods give.
var holdersOf = wordSet(`Option Result Vec VecDeque HashMap BTreeMap IndexMap HashSet BTreeSet BinaryHeap LinkedList Mutex
RwLock RefCell Cell OnceCell OnceLock LazyLock Lazy Weak Iterator IntoIterator DoubleEndedIterator ExactSizeIterator
Peekable Rev Skip Take Range Iter IntoIter SmallVec AsRef Borrow Into Deref DerefMut Poll Future Stream JoinHandle
Receiver Sender`)

// typeValue is the value of a type: of a pointer what it points to; nil where nothing
// is known of it.
func (p *items) typeValue(s *scope, text string) *value {
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
	for o := s; o != nil; o = o.outer {
		if o.decl != nil && hasParameter(o.decl, name) {
			return p.intern(valueID{kind: parameterValue, decl: o.decl, name: name})
		}
	}
	at := p.symbol(s, parsePath(name))
	switch {
	case at.rest != 0:
		return nil
	case at.decl != nil && at.decl.isClass():
		return p.intern(valueID{kind: instanceValue, decl: at.decl, open: true, more: p.arguments(s, inner)})
	case at.decl != nil && at.decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE:
		for _, m := range p.typed(aliasScope(at.decl), at.decl.Type) {
			return p.substitute(m.value, at.decl, p.arguments(s, inner))
		}
		return nil
	case at.external != nil:
		last := at.external.name[strings.LastIndexByte(at.external.name, '.')+1:]
		switch {
		case pointers[last]:
			for a := p.arguments(s, inner); a != nil; {
				return a.recv
			}
			return nil
		case holdersOf[last]:
			return p.generic(last, p.arguments(s, inner))
		}
		return at.external
	}
	return nil
}

// aliasScope is where an alias's type is read: its parameters are known there.
func aliasScope(d *decl) *scope {
	if d.scope == nil {
		d.scope = &scope{mod: d.mod, outer: d.outer, decl: d, vars: map[string]*variable{}}
	}
	return d.scope
}

// hasParameter reports whether a type's declaration has a parameter of that name.
func hasParameter(d *decl, name string) bool {
	if d.isFunction() {
		return false
	}
	for _, prm := range d.Parameters {
		if prm.Name == name {
			return true
		}
	}
	return false
}

func (p *items) generic(name string, arguments *value) *value {
	return p.intern(valueID{kind: genericValue, name: name, more: arguments})
}

// arguments are a type's, from their text.
func (p *items) arguments(s *scope, text string) *value {
	if text == "" {
		return nil
	}
	var all []*value
	for _, part := range splitTop(text) {
		var first *value
		for _, m := range p.typed(s, part) {
			if first == nil || first.kind != instanceValue {
				first = m.value
			}
		}
		all = append(all, first)
	}
	return p.list(all...)
}

func (p *items) list(all ...*value) *value {
	var l *value
	for i := len(all) - 1; i >= 0; i-- {
		l = p.intern(valueID{kind: listValue, recv: all[i], more: l})
	}
	return l
}

// substitute puts arguments in the place of a declaration's parameters.
func (p *items) substitute(v *value, of *decl, arguments *value) *value {
	if v == nil {
		return nil
	}
	switch v.kind {
	case parameterValue:
		if v.decl != of {
			return v
		}
		for i, prm := range of.Parameters {
			if prm.Name == v.name {
				return arguments.nth(i)
			}
		}
		return nil
	case instanceValue, genericValue:
		if v.more == nil {
			return v
		}
		id := v.valueID
		id.more = p.substitute(v.more, of, arguments)
		return p.intern(id)
	case listValue:
		id := v.valueID
		id.recv, id.more = p.substitute(v.recv, of, arguments), p.substitute(v.more, of, arguments)
		return p.intern(id)
	}
	return v
}

// known puts a type's arguments in the place of its parameters in a set, and, where
// nothing is known of one, its bounds.
func (p *items) known(values set, recv *value) set {
	var out set
	for _, m := range values {
		v := m.value
		if recv != nil && recv.kind == instanceValue {
			v = p.substitute(v, recv.decl, recv.more)
		}
		if v == nil || v.kind == parameterValue {
			of := m.value
			if of.kind != parameterValue {
				continue
			}
			for _, prm := range of.decl.Parameters {
				if prm.Name == of.name {
					for _, b := range p.typed(of.decl.outer, prm.Type) {
						out = out.with(b.value, b.sure && m.sure)
					}
				}
			}
			continue
		}
		out = out.with(v, m.sure)
	}
	return out
}
