package scope

import (
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Limits of the work; see the package comment.
const (
	MaxValues  = 16
	maxWide    = 64
	maxTargets = 8
	maxVisits  = 64
	MaxDepth   = 12
	// MaxCalls limits for how many calls of one path in a declaration the arguments are read, if
	// the result depends on them; MaxNested limits how deep such calls are nested.
	MaxCalls  = 8
	MaxNested = 3
)

type valueKind uint8

const (
	ModuleValue valueKind = iota
	FunctionValue
	ClassValue
	// InstanceValue is an instance of exactly one class; if Open is set, of the class or of a
	// subclass.
	InstanceValue
	BoundValue
	ContainerValue
	// GeneratorValue is the result of calling a function that yields.
	GeneratorValue
	ExternalValue
	// SuperValue is the receiver of a method, seen as an instance of the bases of its class.
	SuperValue
	// GenericValue is of a type outside the repository whose type arguments say what it contains.
	GenericValue
	// ParameterValue is of a type parameter: what it is depends on who uses the type.
	ParameterValue
	// ListValue is a list of type arguments: Recv is the first, More the rest.
	ListValue
	// RouterValue is a router of HTTP requests, known by the fact that makes it: Mod, and the index
	// as Name. What is called on one, or read from it, is the router itself.
	RouterValue
	// TextValue is a string constant, Name.
	TextValue
)

// Value is something that a name may stand for. Values are interned: equal values are the same
// pointer.
type Value struct {
	ValueID
	// elements has the elements of a container by literal index. The index "" has those stored at
	// an unknown index, EveryElement has all of them.
	elements map[string]*Variable
}

// ValueID identifies a value; which fields are set depends on its kind.
type ValueID struct {
	Kind valueKind
	Open bool
	// Mixed is set if it may also be something that is not known, by its declared type.
	Mixed bool
	Decl  *Decl
	Mod   *Module
	Recv  *Value
	// More has the type arguments, or the rest of a list.
	More *Value
	// Pkg and Name are the module of an external and the names below it.
	Pkg, Name string
	// home and place identify a container: the scope and the path where it was made.
	home  *Scope
	place string
}

// Intern returns the one value with an identity.
func (p *Program) Intern(id ValueID) *Value {
	v := p.values[id]
	if v == nil {
		v = &Value{ValueID: id}
		p.values[id] = v
	}
	return v
}

// Instance returns the value of an instance of a class; if open, perhaps of a subclass.
func (p *Program) Instance(d *Decl, open bool) *Value {
	return p.Intern(ValueID{Kind: InstanceValue, Decl: d, Open: open})
}

// External returns the value of a name in a module outside the repository.
func (p *Program) External(pkg, name string) *Value {
	return p.Intern(ValueID{Kind: ExternalValue, Pkg: pkg, Name: name})
}

// Container returns the container that is made at a path in a scope.
func (p *Program) Container(s *Scope, place string) *Value {
	v := p.Intern(ValueID{Kind: ContainerValue, home: s, place: place})
	if v.elements == nil {
		v.elements = map[string]*Variable{}
	}
	return v
}

// ContainerOf returns what contains, by its declared type, values like one of them under a key, "" for any. Nothing
// else is put into it.
func (p *Program) ContainerOf(element *Value, key string) *Value {
	v := p.Intern(ValueID{Kind: ContainerValue, Recv: element, Name: key})
	if v.elements == nil {
		v.elements = map[string]*Variable{}
		p.Add(v.Element(key), element, true)
		if !IsParameter(key) {
			p.Add(v.Element(EveryElement), element, true)
		}
	}
	return v
}

// Typedef returns the object that has the properties of a type which a comment declares.
func (p *Program) Typedef(s *Scope, name string) *Value {
	v := p.Intern(ValueID{Kind: ContainerValue, Recv: p.External("", name), home: s, place: TypedefOf + name})
	if v.elements == nil {
		v.elements = map[string]*Variable{}
	}
	return v
}

// IsParameter reports whether a key stands for what a function takes, as "<0>", or returns, "<>".
func IsParameter(key string) bool { return strings.HasPrefix(key, "<") }

// IsDeclared reports whether a container is what a type says.
func (v *Value) IsDeclared() bool { return v.Kind == ContainerValue && v.Recv != nil }

// IsTypedef reports whether a value is the object of a type that a comment declares.
func (v *Value) IsTypedef() bool { return v.IsDeclared() && v.home != nil }

// IsMadeApart reports whether a container is made in a function that is not around a scope, or by a test for it.
func (v *Value) IsMadeApart(s *Scope) bool {
	if v.Kind != ContainerValue || v.home == nil {
		return false
	}
	if v.home.Mod.Test && !s.Mod.Test {
		return true
	}
	if v.home.Decl == nil || !v.home.Decl.IsFunction() {
		return false
	}
	for s != nil && s != v.home {
		s = s.Outer
	}
	return s == nil
}

// Made returns the module that declares what an instance is of, or that makes a container. Nothing makes the container of what
// is put into an object of another package: it returns the module of one of its functions, nil if it has none.
func (v *Value) Made() *Module {
	switch {
	case v.Decl != nil:
		return v.Decl.Mod
	case v.home != nil:
		return v.home.Mod
	}
	for _, key := range slices.Sorted(slices.Values(v.Keys())) {
		for _, m := range v.elements[key].Values {
			if m.Value.Decl != nil {
				return m.Value.Decl.Mod
			}
		}
	}
	return nil
}

// ClassOf follows the name of a class in a type of which the class itself is a value.
const ClassOf = ".__class__"

// EveryElement is the index that stands for all elements of a container.
const EveryElement = "\x00"

// Element returns the variable of a container's elements at an index. It creates the variable if
// there is none.
func (v *Value) Element(key string) *Variable {
	e := v.elements[key]
	if e == nil {
		e = &Variable{}
		v.elements[key] = e
	}
	return e
}

// Keys returns the literal indexes that a container has elements at.
func (v *Value) Keys() (all []string) {
	for key := range v.elements {
		if key != "" && key[0] >= ' ' { // others are no indexes of the source
			all = append(all, key)
		}
	}
	return all
}

// Member is a value in a set. Sure is set if only names, imports and declarations lead to it.
type Member struct {
	Value *Value
	Sure  bool
}

// Set is a small set of values, in the order in which they were added.
type Set []Member

// With returns the set with a value added. A value is sure if it was added as sure once.
func (s Set) With(v *Value, sure bool) Set {
	for i, m := range s {
		if m.Value == v {
			if sure && !m.Sure {
				s[i].Sure = true
			}
			return s
		}
	}
	return append(s, Member{v, sure})
}

// Variable holds the values of a name, an attribute, an element or a result. Values flow from
// variable to variable.
type Variable struct {
	Values Set
	// Wide is set if it may have maxWide values.
	Wide bool
	// full is set once it would have had more than MaxValues values. It then has none.
	full bool
	// crowded is set once it has only sure values, and none that others cover; see crowd.
	crowded bool
	readers []*Flow
	// Written is set if something is assigned to it, known or not.
	Written bool
	// Parameter is set if callers give it values.
	Parameter bool
	// Typed is set if a type is declared for it: what else is assigned to it is used by that type.
	Typed bool
	// Used is set if its aliases are paths that an import binds to its name.
	Used bool

	// These are what the source declares or assigns, to look symbols up without values.
	Decls   []*Decl
	Imports []Imported
	Aliases []Path // the paths that are assigned to it
	Scope   *Scope
}

// isMember reports whether a member is declared by the name of the variable.
func (v *Variable) isMember() bool {
	return slices.ContainsFunc(v.Decls, func(d *Decl) bool { return d.isMember() })
}

// Function returns the function that the variable is declared as: the last one, and of a property
// the first, which reads it. It returns nil if the variable is declared as anything else.
func (v *Variable) Function() *Decl {
	var found *Decl
	for _, d := range v.Decls {
		switch {
		case !d.IsFunction():
			return nil
		case d.Overload || found != nil && found.Kind == recountv1.SymbolKind_SYMBOL_KIND_PROPERTY && d.Kind == found.Kind:
		default:
			found = d
		}
	}
	return found
}

// Add adds a value to a variable and wakes the flows that read the variable.
func (p *Program) Add(v *Variable, val *Value, sure bool) {
	if v.full {
		return
	}
	limit := MaxValues
	if v.Wide {
		limit = maxWide
	}
	found := false
	for i, m := range v.Values {
		if m.Value == val {
			if m.Sure || !sure {
				return
			}
			v.Values[i].Sure = true
			found = true
			break
		}
	}
	if !found {
		if len(v.Values) == limit && p.Rules == nil {
			v.crowd(Member{val, sure})
		}
		switch {
		case v.crowded && (!sure || covered(v.Values, val)):
			return
		case len(v.Values) == limit:
			v.Values, v.full = nil, true
			return
		}
		v.Values = append(v.Values, Member{val, sure})
	}
	for _, f := range v.readers {
		p.Wake(f)
	}
}

// crowd makes room in a variable for one value more, if some of its values are sure: only sure ones count that no
// others cover.
func (v *Variable) crowd(more Member) {
	all := append(slices.Clone(v.Values), more)
	left := slices.DeleteFunc(slices.Clone(v.Values), func(m Member) bool { return !m.Sure || covered(all, m.Value) })
	if len(left) > 0 {
		v.Values, v.crowded = left, true
	}
}

// covered reports whether others in a set stand for a value: for an instance of a class one of it or of a base, perhaps
// of a subclass, and for what contains values what does by its declared type.
func covered(s Set, v *Value) bool {
	return slices.ContainsFunc(s, func(m Member) bool {
		switch of := m.Value; {
		case of == v || of.Kind != v.Kind:
		case v.Kind == ContainerValue:
			return of.IsDeclared() && !IsParameter(of.Name) && !v.IsDeclared()
		case v.Kind == InstanceValue && of.Open && (of.Decl != v.Decl || !v.Open || v.Mixed):
			return slices.ContainsFunc(v.Decl.Order, func(b Base) bool { return b.Decl == of.Decl })
		}
		return false
	})
}

// Read returns the values of a variable and notes that the flow f reads it.
func (p *Program) Read(f *Flow, v *Variable) Set {
	if v == nil {
		return nil
	}
	if f != nil && !f.reads[v] {
		if f.reads == nil {
			f.reads = map[*Variable]bool{}
		}
		f.reads[v] = true
		v.readers = append(v.readers, f)
	}
	return v.Values
}

// Nth returns element i of a list, nil if it is not known.
func (v *Value) Nth(i int) *Value {
	for ; v != nil && i > 0; i-- {
		v = v.More
	}
	if v == nil {
		return nil
	}
	return v.Recv
}
