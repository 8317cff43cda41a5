package typed

import (
	"math"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/scope"
)

// Type is a type as sources declare it; nil stands for an unknown one. One of Class, Name, param,
// elem and fn is set.
type Type struct {
	// Class is a class of the repository or of the library, Args are its type arguments.
	Class *Class
	Args  []*Type
	// Name is the name of a class outside the repository, in the package Pkg. Without Pkg it is a
	// primitive type, "null", "void", or the beginning of the name of a package (Prefix).
	Pkg, Name string
	param     *typeParam
	elem      *Type // of an array
	fn        *function
	// static is set if the type itself is named and not a value of it.
	static bool
	// Prefix is set if Name is the name of a package, or the beginning of one.
	Prefix bool
	// literal is set if it is that of a whole number in the source, which is number.
	literal bool
	number  int64
	// nullable is set if a value of the primitive type may be null, as int? of C#.
	nullable bool
}

// unplaced is the package of a type outside the repository if only the name of the type is known.
const unplaced = "?"

// foreign returns the type of a name that no class of the repository has.
func foreign(name string) *Type { return &Type{Pkg: unplaced, Name: name} }

func (t *Type) isUnplaced() bool { return t != nil && t.Pkg == unplaced }

// typeParam is a type parameter of a class or method.
type typeParam struct {
	name  string
	bound *Type
}

// function is a function that is passed as an argument. count is the number of its parameters, -1
// if it is not known; result is the path of what it returns, if that is known.
type function struct {
	count  int
	result scope.Path
}

func Primitive(name string) *Type { return &Type{Name: name} }

// wholeNumber returns the type of a whole number as sources write it, nil if the text is none.
func wholeNumber(text string) *Type {
	digits := strings.ReplaceAll(text, "_", "")
	if c := strings.TrimPrefix(digits, "-"); c == "" || c[0] < '0' || c[0] > '9' {
		return nil
	}
	value, err := strconv.ParseInt(digits, 0, 64)
	switch {
	case err != nil || value > math.MaxUint32 || value < math.MinInt32:
		return Primitive("long")
	case value > math.MaxInt32:
		return Primitive("uint")
	}
	return &Type{Name: "int", literal: true, number: value}
}

func (t *Type) isPrimitive() bool {
	return t != nil && t.Name != "" && t.Pkg == "" && !t.Prefix && t.Name != "null"
}

// isValue reports whether a type is primitive or a struct of the library.
func (t *Type) isValue() bool {
	return t.isPrimitive() || t != nil && t.Class != nil && t.Class.value
}

func (t *Type) isNull() bool { return t != nil && t.Name == "null" && t.Pkg == "" && !t.Prefix }

// notNull returns the type of t's values that are not null.
func (t *Type) notNull() *Type {
	if t == nil || !t.nullable {
		return t
	}
	return Primitive(t.Name)
}

// value returns the type of a value of t.
func (t *Type) value() *Type {
	if t == nil || !t.static {
		return t
	}
	v := *t
	v.static = false
	return &v
}

// typeExpr is the parsed text of a type: name<args>[]…
type typeExpr struct {
	name string // "" if the text says nothing
	args []*typeExpr
	dims int
}

// parseType parses a type as extractors write it.
func parseType(text string) *typeExpr {
	e, rest := parseTypeExpr(text, 0)
	if rest != "" {
		return &typeExpr{}
	}
	return e
}

func parseTypeExpr(text string, depth int) (*typeExpr, string) {
	i := strings.IndexAny(text, "<>,[]")
	if i < 0 {
		i = len(text)
	}
	e := &typeExpr{name: strings.TrimSpace(text[:i])}
	text = text[i:]
	if strings.HasPrefix(text, "<") && depth < scope.MaxDepth {
		for more := true; more; {
			var arg *typeExpr
			arg, text = parseTypeExpr(text[1:], depth+1)
			e.args = append(e.args, arg)
			more = strings.HasPrefix(text, ",")
		}
		if !strings.HasPrefix(text, ">") {
			return e, text
		}
		text = text[1:]
		if strings.HasPrefix(text, ".") { // Outer<T>.Inner: the arguments belong to the outer type
			inner, rest := parseTypeExpr(text[1:], depth+1)
			inner.name = e.name + "." + inner.name
			inner.dims += e.dims
			return inner, rest
		}
	}
	for strings.HasPrefix(text, "[]") {
		e.dims++
		text = text[2:]
	}
	if e.name == "?" {
		e.name = ""
	}
	return e, text
}

// bindings has what type parameters stand for.
type bindings map[*typeParam]*Type

// subst replaces type parameters by what they stand for. One that b does not bind stays.
func (t *Type) subst(b bindings) *Type {
	if t == nil || len(b) == 0 {
		return t
	}
	switch {
	case t.param != nil:
		if to, ok := b[t.param]; ok {
			return to
		}
	case t.elem != nil:
		return &Type{elem: t.elem.subst(b), static: t.static}
	case len(t.Args) > 0:
		out := *t
		out.Args = make([]*Type, len(t.Args))
		for i, a := range t.Args {
			out.Args[i] = a.subst(b)
		}
		return &out
	}
	return t
}

// bind binds the parameters of t's class to t's arguments, or, without arguments, to their
// bounds.
func (t *Type) bind() bindings {
	if t.Class == nil || len(t.Class.params) == 0 {
		return nil
	}
	b := bindings{}
	for i, p := range t.Class.params {
		if i < len(t.Args) {
			b[p] = t.Args[i]
		} else {
			b[p] = p.bound
		}
	}
	return b
}

// own returns the class as a type whose arguments are its own parameters, as its body sees it.
func (c *Class) own() *Type {
	t := &Type{Class: c}
	for _, p := range c.params {
		t.Args = append(t.Args, &Type{param: p})
	}
	return t
}

// bounded returns the bound of a type parameter, and any other type itself.
func (t *Type) bounded() *Type {
	for depth := 0; t != nil && t.param != nil; depth++ {
		if depth > scope.MaxDepth {
			return nil
		}
		t = t.param.bound
	}
	return t
}

// same reports whether two types are equal, apart from type arguments and type parameters. A
// method overrides one of a base if their parameters are.
func same(a, b *Type) bool {
	switch {
	case a == nil || b == nil:
		return true
	case a.param != nil || b.param != nil:
		return true
	case a.elem != nil || b.elem != nil:
		return a.elem != nil && b.elem != nil && same(a.elem, b.elem)
	case a.Class != nil || b.Class != nil:
		return a.Class == b.Class
	}
	return sameOutside(a, b)
}

// sameOutside reports whether two types outside the repository are the same. If the package of
// one is not known, their last names decide.
func sameOutside(a, b *Type) bool {
	if a.Pkg == unplaced || b.Pkg == unplaced {
		_, left := CutLast(a.Name)
		_, right := CutLast(b.Name)
		return left == right
	}
	return a.Pkg == b.Pkg && a.Name == b.Name && a.nullable == b.nullable
}

// identical reports whether two known types are equal, with their arguments.
func identical(a, b *Type) bool {
	switch {
	case a == nil || b == nil || a.fn != nil || b.fn != nil || a.param != b.param || len(a.Args) != len(b.Args) || !same(a, b):
		return false
	case a.elem != nil:
		return identical(a.elem, b.elem)
	}
	for i := range a.Args {
		if !identical(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}
