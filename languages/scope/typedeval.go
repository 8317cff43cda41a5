package scope

import (
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// eval is the type of what a path stands for.
func (t *typer) eval(at spot, of path) *typ {
	if t.depth > maxNesting {
		t.cut++
		return nil
	}
	t.depth++
	defer func() { t.depth-- }()
	cur, next := t.head(at, of)
	for i := next; i < len(of.steps) && cur != nil; i++ {
		st := of.steps[i]
		switch st.op {
		case '.':
			if i+1 < len(of.steps) && of.steps[i+1].op == '(' {
				call := of.steps[i+1]
				i++
				if made := t.clientMade(cur, st.name); made != nil {
					cur = made
					continue
				}
				cur = t.called(at, t.method(at, cur, st.name, t.callOf(at, of.text[:call.at])), call.name, of.text[:call.at])
				continue
			}
			cur = t.memberOf(at, cur, st.name)
		case '[':
			cur = t.element(cur, st.name)
		case '(': // calling a value
			cur = t.invoked(cur, st.name)
		}
	}
	return cur
}

// head is the type at the beginning of a path, and the first step behind it.
func (t *typer) head(at spot, of path) (cur *typ, next int) {
	called := len(of.steps) > 0 && of.steps[0].op == '('
	switch {
	case of.head == "?" || of.head == "":
		return nil, 0
	case of.head == "self":
		return t.self(at), 0
	case of.head == "super":
		return t.super(at), 0
	case strings.HasPrefix(of.head, "<"):
		return t.literal(at, of.head), 0
	case strings.HasPrefix(of.head, "new "):
		cur = t.typeOf(at, of.head[4:])
		if called && of.steps[0].name == "" {
			return cur, 1
		}
		return nil, 0
	case called:
		call := of.steps[0]
		if of2, _, known := t.variable(at, of.head); known && call.name != "" && call.name[0] == ',' {
			return t.invoked(of2, call.name), 1
		}
		return t.called(at, t.simpleMethod(at, of.head, t.callOf(at, of.head)), call.name, of.head), 1
	}
	if of, _, known := t.variable(at, of.head); known {
		return of, 0
	}
	if c := t.simple(at, of.head); c != nil {
		s := *c
		s.static = true
		return &s, 0
	}
	return &typ{name: of.head, prefix: true}, 0
}

// literal is the type of <T>.
func (t *typer) literal(at spot, head string) *typ {
	text := strings.TrimSuffix(head[1:], ">")
	if text == "null" {
		return primitive("null")
	}
	return t.typeOf(at, text)
}

// memberOf is what a name means behind a type or a value of it.
func (t *typer) memberOf(at spot, cur *typ, name string) *typ {
	if cur == nil {
		return nil
	}
	if cur.prefix {
		full := cur.name + "." + name
		if c := t.qualified(at.m.file.Path, full); c != nil {
			s := *c
			s.static = true
			return &s
		}
		return &typ{name: full, prefix: true}
	}
	if of, f := t.field(cur, name); f != nil {
		return of
	}
	if cur.static {
		if c := t.nested(cur, name); c != nil && c.class != nil {
			s := *c
			s.static = true
			return &s
		}
	}
	if cur.elem != nil && (name == "length" || name == "Length") {
		return primitive("int")
	}
	return nil
}

// element is what an index gives, or with no key, a loop.
func (t *typer) element(of *typ, key string) *typ {
	of = of.bounded()
	if of == nil {
		return nil
	}
	if of.elem != nil {
		return of.elem
	}
	if key != "" {
		found, _ := t.field(of, "this[]")
		return found
	}
	if s := t.as(of, t.library[t.lang.iterable]); s != nil && len(s.args) > 0 {
		return s.args[0]
	}
	return nil
}

// callOf is the call of a path that a place means: of several in a declaration, the
// nearest before it or after it.
func (t *typer) callOf(at spot, callee string) *recountv1.Reference {
	refs := at.m.calls[callSite{at.in, callee}]
	if len(refs) == 0 {
		return nil
	}
	found := refs[0]
	for _, r := range refs {
		before := at.at == nil || resolve.ComparePlaces(r.At, at.at) <= 0
		switch {
		case !at.after && before:
			found = r
		case at.after && !before:
			return r
		}
	}
	return found
}

// called is what calling a method gives, or, where handed is "i,j", what it hands to
// parameter j of the function that is its argument i.
func (t *typer) called(at spot, s selection, handed, callee string) *typ {
	if s.method == nil {
		return nil
	}
	call := t.callOf(at, callee)
	if handed == "" {
		return s.method.result.subst(t.infer(at, s, call, true))
	}
	arg, place, _ := strings.Cut(handed, ",")
	i, _ := strconv.Atoi(arg)
	j, _ := strconv.Atoi(place)
	b := t.infer(at, s, call, false)
	return t.handed(s.method.parameter(i).subst(b), j)
}

// parameter is the type of what argument i becomes.
func (m *method) parameter(i int) *typ {
	last := len(m.params) - 1
	switch {
	case m.rest && i >= last && m.params[last] != nil:
		return m.params[last].elem
	case i <= last:
		return m.params[i]
	}
	return nil
}

// handed is parameter j of a function of a type.
func (t *typer) handed(of *typ, j int) *typ {
	of = of.bounded()
	m, b := t.functional(of)
	if m == nil || j >= len(m.params) {
		return nil
	}
	return m.params[j].subst(b)
}

// invoked is what calling a value gives: of "(,j)" its parameter j.
func (t *typer) invoked(of *typ, handed string) *typ {
	of = of.bounded()
	if place, ok := strings.CutPrefix(handed, ","); ok {
		j, _ := strconv.Atoi(place)
		return t.handed(of, j)
	}
	if m, b := t.functional(of); m != nil {
		return m.result.subst(b)
	}
	return nil
}

// functional is the one method of a type of functions.
func (t *typer) functional(of *typ) (found *method, b bindings) {
	if of == nil || of.class == nil || !of.class.iface {
		return nil, nil
	}
	t.inherited(of, func(s *typ) bool {
		if s.class == nil {
			return true
		}
		for _, m := range s.class.order {
			if !m.abstract || found != nil && overrides(found, m, nil) && found.name == m.name {
				continue
			}
			if found != nil {
				found = nil
				return false
			}
			found, b = m, s.bind()
		}
		return true
	})
	return found, b
}
