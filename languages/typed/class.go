package typed

import (
	"github.com/recountdb/recount/languages/scope"
)

// Class is a class, interface, enum, record or struct. It is of the repository, or, if Decl is
// nil, of the library of the language.
type Class struct {
	Decl *scope.Decl
	// parts are all of its declarations; a partial class of C# has several.
	parts []*scope.Decl
	// Pkg and Name are its package and its name with those of the classes around it.
	Pkg, Name string
	outer     *Class
	params    []*typeParam
	supers    []*Type
	// unknown is set if nothing is known about one of its bases.
	unknown bool
	Methods map[string][]*Method
	Order   []*Method // in the order of declarations
	Fields  map[string]*field
	types   map[string]*Class
	iface   bool
	// value is set if it is a struct of the library: nothing derives from it, and its bases are known.
	value bool
}

// Method is a method or constructor.
type Method struct {
	Class   *Class
	Decl    *scope.Decl // nil for a method of the library
	Name    string
	Params  []*Type
	MinArgs int // the minimum number of arguments
	rest    bool
	Result  *Type
	tparams []*typeParam
	static  bool
	// Abstract is set if it is of an interface or class and has no body.
	Abstract bool
	// Final is set if nothing overrides it.
	Final     bool
	extension bool
	// overridden are the methods that it overrides, overriders those that override it.
	overridden, overriders []*Method
}

// field is a field, property or member of an enum.
type field struct {
	Decl *scope.Decl
	Typ  *Type
}

// inherited visits a type and what it inherits from, each class once: the type, then its bases
// depth first. It stops if visit returns false.
func (t *Typer) inherited(of *Type, visit func(*Type) bool) bool {
	seen := map[*Class]bool{}
	var walk func(at *Type, depth int) bool
	walk = func(at *Type, depth int) bool {
		if at == nil || depth > maxBases {
			return true
		}
		if at.Class == nil {
			return visit(at)
		}
		if seen[at.Class] {
			return true
		}
		seen[at.Class] = true
		if !visit(at) {
			return false
		}
		b := at.bind()
		for _, s := range at.Class.supers {
			if !walk(s.subst(b), depth+1) {
				return false
			}
		}
		return true
	}
	return walk(of, 0)
}

// maxBases limits how deep inheritance is followed.
const maxBases = 64

// upcast returns a type as one of its bases, with that base's type arguments; nil if base is none.
func (t *Typer) upcast(of *Type, base *Class) (found *Type) {
	t.inherited(of.bounded(), func(s *Type) bool {
		if s.Class == base {
			found = s
		}
		return found == nil
	})
	return found
}

// overrides reports whether m overrides the method o of a base, whose type parameters b binds.
func overrides(m, o *Method, b bindings) bool {
	if len(m.Params) != len(o.Params) || m.rest != o.rest {
		return false
	}
	for i, p := range m.Params {
		if !same(p, o.Params[i].subst(b)) {
			return false
		}
	}
	return true
}

// Generic reports whether the class has type parameters.
func (c *Class) Generic() bool { return len(c.params) > 0 }

// Has reports whether the class declares a method with a name and a number of parameters.
func (c *Class) Has(name string, params int) bool {
	for _, m := range c.Methods[name] {
		if len(m.Params) == params {
			return true
		}
	}
	return false
}
