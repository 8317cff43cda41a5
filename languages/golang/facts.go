package golang

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
)

// facts is what a file contributes to the joins over all packages. It consists of strings, so that
// it keeps nothing of the checker's alive.
type facts struct {
	types      []methods // concrete types with methods
	interfaces []methods // interfaces with methods
	flows      []flowAt
	test       bool
	shape      uint64 // a hash of types and interfaces; 0 if there are none
}

// flowAt is a flow whose function now begins some lines further down than when the flow was
// collected.
type flowAt struct {
	*flow
	by int
}

// methods has the methods of a type: for a concrete type T, those of *T.
type methods struct {
	key  schemas.NodeKey
	name string   // the type's text
	all  []method // by text
}

// method is a method of a type; key is empty if it is declared outside the repository.
type method struct {
	text string
	key  schemas.NodeKey
}

// factsOf returns the facts of a unit's file, except for its flows.
func factsOf(u *unit, i int) facts {
	f := facts{test: u.files[i].test}
	ast.Inspect(u.files[i].syntax, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			f.addType(u, spec)
		}
		return true
	})
	var b []byte
	for _, all := range [][]methods{f.types, f.interfaces} {
		for _, m := range all {
			b = append(append(append(b, m.key...), 0), m.name...)
			for _, one := range m.all {
				b = append(append(append(append(b, 0), one.text...), 0), one.key...)
			}
			b = append(b, 1)
		}
		b = append(b, 2)
	}
	if len(b) > 2 {
		f.shape = xxh3.Hash(b)
	}
	return f
}

func (f *facts) addType(u *unit, spec *ast.TypeSpec) {
	name, ok := u.info.Defs[spec.Name].(*types.TypeName)
	if !ok || name.IsAlias() {
		return
	}
	m := methods{key: u.own[name]}
	if named, ok := name.Type().(*types.Named); ok {
		m.name = string(appendNamed(nil, named.Origin()))
	}
	if i, ok := name.Type().Underlying().(*types.Interface); ok {
		if !i.IsMethodSet() {
			return
		}
		for fn := range i.Methods() {
			m.all = append(m.all, method{methodText(fn), u.target(fn).key})
		}
		if m.sort(); len(m.all) > 0 {
			f.interfaces = append(f.interfaces, m)
		}
		return
	}
	named, ok := name.Type().(*types.Named)
	if !ok {
		return
	}
	if plain(named) { // then these are the method set, which is slow to compute
		for fn := range named.Methods() {
			m.all = append(m.all, method{methodText(fn), u.target(fn).key})
		}
	} else {
		set := types.NewMethodSet(types.NewPointer(named))
		for s := range set.Methods() {
			fn := s.Obj().(*types.Func)
			text := methodText(fn)
			if sig, ok := s.Type().(*types.Signature); ok { // promoted through an instance: with its types
				text = string(appendSignature(append(appendMethodName(nil, fn), ' '), sig))
			}
			m.all = append(m.all, method{text, u.target(fn).key})
		}
	}
	if m.sort(); len(m.all) > 0 {
		f.types = append(f.types, m)
	}
}

// plain reports whether a type's method set consists of its declared methods.
func plain(t *types.Named) bool {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return true
	}
	for f := range st.Fields() {
		if f.Embedded() {
			return false
		}
	}
	for m := range t.Methods() {
		if collides(st, m) {
			return false
		}
	}
	return true
}

// collides reports whether a struct has a field with a method's name, so that its type does not
// have the method. st may be nil.
func collides(st *types.Struct, m *types.Func) bool {
	if st != nil {
		for f := range st.Fields() {
			if f.Name() == m.Name() {
				return true
			}
		}
	}
	return false
}

func (m *methods) sort() {
	slices.SortFunc(m.all, func(a, b method) int { return strings.Compare(a.text, b.text) })
}

// has returns the method with a text.
func (m *methods) has(text string) (method, bool) {
	i, ok := slices.BinarySearchFunc(m.all, text, func(m method, text string) int { return strings.Compare(m.text, text) })
	if !ok {
		return method{}, false
	}
	return m.all[i], true
}
