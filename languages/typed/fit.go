package typed

import (
	"math"
	"slices"
)

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
		if to = to.bounded(); to == nil { // its bound is a type parameter without one
			return unclear
		}
	}
	if arg.fn != nil {
		return t.fitFunction(arg.fn, to)
	}
	switch {
	case arg.isNull():
		if to.isPrimitive() && !to.nullable {
			return never
		}
		return fits
	case arg.isPrimitive() && to.isPrimitive() && arg.nullable && !to.nullable:
		return unclear // it may have been compared with null
	case arg.isPrimitive() && to.isPrimitive():
		return t.fitPrimitive(arg, to.Name)
	case arg.isPrimitive():
		return t.fitBoxed(arg.Name, to)
	case to.isPrimitive():
		if arg.Class != nil && arg.Class.Decl == nil && boxOf[to.Name] == arg.Class.Name {
			return boxed
		}
		if arg.Class != nil && (arg.Class.Decl != nil || arg.Class.Name == "String" || len(arg.Args) > 0) || arg.elem != nil {
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
		switch {
		case to.Class == nil:
		case t.lang.ArrayBases[to.Class.Name] && len(to.Args) == 1:
			return t.fit(arg.elem, to.Args[0])
		case to.Class.Name != "Cloneable" && to.Class.Name != t.lang.Iterable:
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
	found, open, vague, apart := false, false, false, false
	t.inherited(arg, func(s *Type) bool {
		switch {
		case s.Class != nil:
			if s.Class == to.Class {
				found, vague = true, t.lang.Arity && len(to.Args) > 0 && !sameArgs(s, to)
				apart = t.lang.Arity && t.apart(s, to)
			}
			open = open || s.Class.unknown || s.Class.Decl == nil && !s.Class.closed()
		case to.Class == nil && sameOutside(s, to):
			found = true
		default:
			open = true // a class outside the repository may have it as a base
		}
		return !found
	})
	switch {
	case found && apart:
		return never
	case found && vague: // two types that differ in their arguments alone
		return unclear
	case found:
		return fits
	case arg.Class != nil && to.Class != nil && arg.Class.Decl == nil && t.lang.Converts[arg.Class.Name] == to.Class.Name:
		return boxed
	case arg.Class == nil && to.Class != nil && to.Class.value: // it may say how it is converted
		return unclear
	case arg.Class != nil && arg.Class.value && to.isUnplaced(): // that may be another name of it
		return unclear
	case open && (to.Class == nil || to.Class.Decl == nil) && !(to.Class != nil && to.Class.final()):
		return unclear // not all bases of a class outside the repository are known
	}
	return never
}

// apart reports whether a type argument of one type can neither be passed for that of the other nor
// the other way round.
func (t *Typer) apart(a, b *Type) bool {
	for i, to := range b.Args {
		if i >= len(a.Args) || a.Args[i] == nil || to == nil || a.Args[i].param != nil {
			continue
		}
		if a.Args[i].isPrimitive() && to.isPrimitive() && a.Args[i].Name != to.Name {
			return true
		}
		if to.param != nil { // whatever its bound allows
			if to = to.param.bound; to == nil || len(to.Args) > 0 {
				continue
			}
		}
		if t.fit(a.Args[i], to) == never && t.fit(to, a.Args[i]) == never {
			return true
		}
	}
	return false
}

// sameArgs reports whether two types of one class have the same arguments, as far as they are known.
// A type parameter stands for anything.
func sameArgs(a, b *Type) bool {
	for i, to := range b.Args {
		if i < len(a.Args) && a.Args[i] != nil && to != nil && to.param == nil && (!same(a.Args[i], to) || !sameArgs(a.Args[i], to)) {
			return false
		}
	}
	return true
}

// closed reports whether all bases of a class of the library are known.
func (c *Class) closed() bool { return c.final() || c.iface }

// final reports whether a class of the library has no subclasses.
func (c *Class) final() bool { return c.Decl == nil && (c.value || finalClasses[c.Name]) }

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

// fitPrimitive reports how well a value of a primitive type fits another primitive type.
func (t *Typer) fitPrimitive(arg *Type, to string) int {
	from, known := t.lang.Widening[arg.Name]
	_, number := t.lang.Widening[to]
	switch {
	case arg.Name == to, slices.Contains(from, to), arg.literal && narrows(arg.number, to):
		return fits
	case known && number, arg.Name == "boolean", to == "boolean", arg.Name == "bool", to == "bool":
		return never
	}
	return unclear
}

// narrows reports whether a type of whole numbers has a number that is written in the source: C#
// then converts it, though it would not convert a variable.
func narrows(value int64, to string) bool {
	switch to {
	case "sbyte":
		return value >= math.MinInt8 && value <= math.MaxInt8
	case "byte":
		return value >= 0 && value <= math.MaxUint8
	case "short":
		return value >= math.MinInt16 && value <= math.MaxInt16
	case "ushort":
		return value >= 0 && value <= math.MaxUint16
	case "uint", "ulong", "nuint":
		return value >= 0
	}
	return false
}

// boxOf has the class of the boxed values of each primitive type.
var boxOf = map[string]string{
	"int": "Integer", "long": "Long", "boolean": "Boolean", "double": "Double", "float": "Float",
	"char": "Character", "byte": "Byte", "short": "Short",
}

// finalClasses are the classes of the library that have no subclasses.
var finalClasses = map[string]bool{
	"String": true, "Integer": true, "Long": true, "Boolean": true, "Double": true, "Float": true, "Character": true,
	"Byte": true, "Short": true, "Class": true, "StringBuilder": true, "StringBuffer": true, "Optional": true, "Void": true,
}

// fitBoxed reports how well a value of a primitive type fits a class.
func (t *Typer) fitBoxed(arg string, to *Type) int {
	switch {
	case to.elem != nil, to.Class != nil && to.Class.Decl != nil:
		return never
	case t.isObject(to):
		return boxed
	case to.Class == nil:
		return unclear
	case to.Class.Name == boxOf[arg]:
		return boxed
	case to.Class.Name == "Number" || to.Class.Name == "Comparable" || to.Class.Name == "IComparable" || to.Class.Name == "IEquatable":
		return boxed
	}
	return never
}

// box returns the class of the boxed values of a primitive type, and any other type itself.
func (t *Typer) box(of *Type) *Type {
	if of.isPrimitive() {
		if c := t.Library[boxOf[of.Name]]; c != nil {
			return &Type{Class: c}
		}
	}
	return of
}
