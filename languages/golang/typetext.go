package golang

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
)

// appendType appends a text that two types share if and only if they are identical: without the
// names of parameters, with type parameters by their index and packages by their path.
func appendType(b []byte, t types.Type) []byte {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return append(b, t.Name()...)
	case *types.Pointer:
		return appendType(append(b, '*'), t.Elem())
	case *types.Slice:
		return appendType(append(b, "[]"...), t.Elem())
	case *types.Array:
		return appendType(append(strconv.AppendInt(append(b, '['), t.Len(), 10), ']'), t.Elem())
	case *types.Map:
		b = appendType(append(b, "map["...), t.Key())
		return appendType(append(b, ']'), t.Elem())
	case *types.Chan:
		b = append(strconv.AppendInt(append(b, "chan"...), int64(t.Dir()), 10), ' ')
		return appendType(b, t.Elem())
	case *types.Signature:
		return appendSignature(append(b, "func"...), t)
	case *types.Struct:
		b = append(b, "struct{"...)
		for i := range t.NumFields() {
			b = appendField(b, t.Field(i), t.Tag(i))
		}
		return append(b, '}')
	case *types.Interface:
		return appendInterface(b, t)
	case *types.TypeParam:
		return strconv.AppendInt(append(b, '$'), int64(t.Index()), 10)
	case *types.Named:
		return appendNamed(b, t)
	case *types.Tuple:
		b = append(b, '(')
		for v := range t.Variables() {
			b = append(appendType(b, v.Type()), ',')
		}
		return append(b, ')')
	case *types.Union:
		for term := range t.Terms() {
			if b = append(b, '|'); term.Tilde() {
				b = append(b, '~')
			}
			b = appendType(b, term.Type())
		}
	}
	return b
}

func appendSignature(b []byte, s *types.Signature) []byte {
	for p := range s.TypeParams().TypeParams() {
		b = append(appendType(append(b, '['), p.Constraint()), ']')
	}
	b = appendType(b, s.Params())
	if s.Variadic() {
		b = append(b, "..."...)
	}
	return appendType(b, s.Results())
}

func appendField(b []byte, f *types.Var, tag string) []byte {
	if f.Embedded() {
		b = append(b, '!')
	}
	b = append(appendMethodName(b, f), ' ')
	return append(strconv.AppendQuote(appendType(b, f.Type()), tag), ';')
}

func appendInterface(b []byte, t *types.Interface) []byte {
	b = append(b, "interface{"...)
	if !t.IsMethodSet() {
		for e := range t.EmbeddedTypes() {
			b = append(appendType(b, e), ';')
		}
	}
	texts := make([]string, 0, t.NumMethods())
	for m := range t.Methods() {
		texts = append(texts, methodText(m))
	}
	slices.Sort(texts)
	for _, m := range texts {
		b = append(append(b, m...), ';')
	}
	return append(b, '}')
}

func appendNamed(b []byte, t *types.Named) []byte {
	obj := t.Obj()
	if pkg := obj.Pkg(); pkg != nil {
		b = append(append(b, pkg.Path()...), '.')
		if obj.Parent() != pkg.Scope() { // local to a function: distinguished by its position
			b = append(strconv.AppendInt(b, int64(obj.Pos()), 10), '@')
		}
	}
	b = append(b, obj.Name()...)
	for a := range t.TypeArgs().Types() {
		b = append(appendType(append(b, '['), a), ']')
	}
	return b
}

// appendMethodName appends a method's or field's name, with its package if it is not exported.
func appendMethodName(b []byte, obj types.Object) []byte {
	if !obj.Exported() && obj.Pkg() != nil {
		b = append(append(b, obj.Pkg().Path()...), '.')
	}
	return append(b, obj.Name()...)
}

// methodName returns the text that appendMethodName appends.
func methodName(obj types.Object) string {
	if obj.Exported() || obj.Pkg() == nil {
		return obj.Name()
	}
	return string(appendMethodName(nil, obj))
}

// methodText returns the text that is equal for a method and the interface's method it implements.
func methodText(m *types.Func) string {
	return string(appendSignature(append(appendMethodName(nil, m), ' '), m.Signature()))
}

// fingerprint returns a hash of what a package offers to others: without positions and without what
// others can neither name nor reach, but with the nodes that the names stand for.
func fingerprint(pkg *types.Package, byChain map[string]schemas.NodeKey) uint64 {
	if pkg == nil {
		return 0
	}
	b := append([]byte(pkg.Name()), 0)
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		t, isType := obj.(*types.TypeName)
		if !isType && !obj.Exported() {
			continue
		}
		b = append(fmt.Appendf(b, "%T ", obj), byChain[name]...)
		switch obj := obj.(type) {
		case *types.Const:
			b = append(append(appendType(b, obj.Type()), ' '), obj.Val().ExactString()...)
		case *types.TypeName:
			b = appendOffered(b, t, byChain)
		default:
			b = appendType(b, obj.Type())
		}
		b = append(b, '\n')
	}
	return xxh3.Hash(b)
}

func appendOffered(b []byte, t *types.TypeName, byChain map[string]schemas.NodeKey) []byte {
	if t.IsAlias() {
		return appendType(append(b, '='), t.Type())
	}
	named, ok := t.Type().(*types.Named)
	if !ok {
		return b
	}
	for p := range named.TypeParams().TypeParams() {
		b = append(appendType(append(b, '['), p.Constraint()), ']')
	}
	if st, ok := named.Underlying().(*types.Struct); ok {
		b = append(b, "struct"...)
		for i := range st.NumFields() {
			if f := st.Field(i); f.Exported() || f.Embedded() {
				b = appendField(b, f, "")
			}
		}
	} else {
		b = appendType(b, named.Underlying())
	}
	methods := slices.SortedFunc(named.Methods(), func(a, b *types.Func) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, m := range methods {
		if m.Exported() {
			_, pointer := m.Signature().Recv().Type().(*types.Pointer)
			b = fmt.Appendf(b, "\n%t %s %s", pointer, methodText(m), byChain[t.Name()+"."+m.Name()])
		}
	}
	if i, ok := named.Underlying().(*types.Interface); ok {
		for m := range i.ExplicitMethods() {
			b = append(append(b, '\n'), byChain[t.Name()+"."+m.Name()]...)
		}
	}
	return b
}
