package golang

import (
	"fmt"
	"go/types"
	"runtime"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
)

// meanings has what the names that a package declares mean to files that use them: a hash for each
// name, and three for each type. While none of the meanings that a file uses (see uses) differs,
// the checker's results for the file stay the same.
//
// The hashes contain the nodes of objects, but no positions.
type meanings map[mark]uint64

// mark identifies something that a file may depend on: it is a hash of one of the prefixes below
// and a name. A collision only costs time.
type mark uint64

const (
	// byName is what a name means by itself or qualified by a package: an object of the package.
	byName = "name "
	// byMember is everything that a name may mean after an expression: fields and methods.
	// byMemberOf is what it means after one of a given type, "example.com/shop.Cart.Total".
	byMember, byMemberOf = "member ", "of "
	// byKind is what decides how operators apply to a type: all of it, but for a struct neither its
	// plain fields nor its methods.
	byKind = "kind "
	// byMethods is a type's method set.
	byMethods = "methods "
	// byFields is a struct's fields in order; byShape is the set of types that have the fields of a
	// struct without a name.
	byFields, byShape = "fields ", "shape "
	// byMention has no meaning: it marks the names that follow expressions (see routes).
	byMention = "mention "
)

func markOf(what string, name ...string) mark {
	var buf [128]byte
	b := append(buf[:0], what...)
	for _, part := range name {
		b = append(b, part...)
	}
	return mark(xxh3.Hash(b))
}

// marks is a set of marks.
type marks map[mark]struct{}

func (m marks) add(more marks) {
	for k := range more {
		m[k] = struct{}{}
	}
}

// differing adds to m the marks whose meanings differ.
func (m marks) differing(a, b meanings) {
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			m[k] = struct{}{}
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			m[k] = struct{}{}
		}
	}
}

// mean adds what a package declares. key returns the node of an object; several goroutines call it.
func (m meanings) mean(pkg *types.Package, key func(types.Object) schemas.NodeKey) {
	m[markOf(byName, pkg.Name())]++
	names := pkg.Scope().Names()
	parts := make([]meanings, runtime.GOMAXPROCS(0))
	spread(len(parts), func(part int) {
		of := meaning{meanings: m, key: key}
		if part > 0 {
			of.meanings = meanings{}
			parts[part] = of.meanings
		}
		for i := part; i < len(names); i += len(parts) {
			of.declared(pkg.Scope().Lookup(names[i]))
		}
	})
	for _, part := range parts[1:] {
		for k, hash := range part {
			m[k] += hash
		}
	}
}

// meaning collects a part of a package's meanings.
type meaning struct {
	meanings
	key func(types.Object) schemas.NodeKey
	b   []byte
}

func (m *meaning) declared(obj types.Object) {
	m.add(byName, obj.Name(), m.describe(obj, ""))
	if t, ok := obj.(*types.TypeName); ok && !t.IsAlias() {
		if named, ok := t.Type().(*types.Named); ok {
			m.named(named)
		}
	}
}

func (m *meaning) add(what, name string, b []byte) {
	m.b = b
	// The sum does not depend on the order, and if two types have a method with one name, both
	// count.
	m.meanings[markOf(what, name)] += xxh3.Hash(b)
}

// member adds the meaning of a field or a method of a type; within is the type with everything that
// it embeds.
func (m *meaning) member(owner string, obj types.Object, within string) {
	m.b = m.describe(obj, within)
	hash := xxh3.Hash(m.b)
	m.meanings[markOf(byMember, obj.Name())] += hash
	m.meanings[markOf(byMemberOf, owner, ".", obj.Name())] += hash
}

// describe appends what an object is where its name is used; within distinguishes equal objects of
// several types.
func (m *meaning) describe(obj types.Object, within string) []byte {
	b := append(append(m.b[:0], within...), '\n')
	b = append(appendMethodName(b, obj), m.key(obj)...)
	b = appendType(append(b, ' ', class(obj), ' '), obj.Type())
	switch obj := obj.(type) {
	case *types.Const:
		b = append(append(b, ' '), obj.Val().ExactString()...)
	case *types.Func:
		if recv := obj.Signature().Recv(); recv != nil {
			_, pointer := recv.Type().(*types.Pointer)
			b = strconv.AppendBool(append(b, ' '), pointer)
		}
	}
	return b
}

// class returns a letter for the kind of an object.
func class(obj types.Object) byte {
	switch obj.(type) {
	case *types.Func:
		return 'f'
	case *types.Var:
		return 'v'
	case *types.Const:
		return 'c'
	case *types.TypeName:
		return 't'
	}
	return '?'
}

func (m *meaning) named(t *types.Named) {
	name := string(appendNamed(nil, t))
	b := m.b[:0]
	for p := range t.TypeParams().TypeParams() {
		b = append(appendType(append(b, '['), p.Constraint()), ']')
	}
	st, isStruct := t.Underlying().(*types.Struct)
	if isStruct {
		b = fmt.Appendf(b, "struct %t %t", st.NumFields() == 0, types.Comparable(t))
	} else {
		b = appendType(b, t.Underlying())
	}
	i, isInterface := t.Underlying().(*types.Interface)
	if isInterface {
		for f := range i.Methods() {
			b = append(append(b, '\n'), m.key(f)...)
		}
	}
	m.add(byKind, name, b)
	if isInterface {
		for f := range i.Methods() {
			m.member(name, f, name)
		}
		return
	}
	within := name
	methods := uint64(0) // a sum, so that the order does not matter
	if isStruct {
		m.add(byFields, name, appendType(m.b[:0], st))
		m.add(byShape, string(m.b), append(m.b[:0], name...))
		e := embedding{seen: map[types.Type]bool{}}
		e.walk(st)
		within += e.text
		for f := range st.Fields() {
			m.member(name, f, within)
		}
		for _, f := range e.members {
			obj, index, indirect := types.LookupFieldOrMethod(t, true, f.Pkg(), f.Name())
			if obj == nil || len(index) == 1 {
				continue
			}
			m.member(name, obj, within)
			if promoted, ok := obj.(*types.Func); ok {
				methods += m.method(promoted, indirect)
			}
		}
	}
	for f := range t.Methods() {
		m.member(name, f, within)
		if !collides(st, f) {
			methods += m.method(f, false)
		}
	}
	m.meanings[markOf(byMethods, name)] += methods
}

// method returns a hash of a method in a type's method set.
func (m *meaning) method(f *types.Func, indirect bool) uint64 {
	pointer := false
	if recv := f.Signature().Recv(); recv != nil {
		_, pointer = recv.Type().(*types.Pointer)
	}
	b := appendType(appendMethodName(m.b[:0], f), f.Type())
	m.b = append(strconv.AppendBool(strconv.AppendBool(append(b, ' '), pointer), indirect), m.key(f)...)
	return xxh3.Hash(m.b)
}

// embedding collects what embedded fields may promote.
type embedding struct {
	text    string // the embedded types, at every depth
	members []types.Object
	seen    map[types.Type]bool
}

func (e *embedding) walk(st *types.Struct) {
	for f := range st.Fields() {
		if !f.Embedded() {
			continue
		}
		t := types.Unalias(f.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		e.text += " " + string(appendType(nil, f.Type()))
		if e.seen[t] {
			continue
		}
		e.seen[t] = true
		if named, ok := t.(*types.Named); ok {
			for f := range named.Methods() {
				e.members = append(e.members, f)
			}
		}
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for f := range u.Fields() {
				e.members = append(e.members, f)
			}
			e.walk(u)
		case *types.Interface:
			for f := range u.Methods() {
				e.members = append(e.members, f)
			}
		}
	}
}
