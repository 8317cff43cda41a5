package scope

import (
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Decl is a declaration and what is known of it.
type Decl struct {
	*recountv1.Declaration
	Mod   *Module
	Index uint32
	Key   schemas.NodeKey
	Scope *Scope // its own scope, if it is a function or a class
	Outer *Scope
	// Results has the values that a function returns, Yields those that it yields.
	Results, Yields Variable
	// Through has the indexes of the parameters that the function returns unchanged; -1 is the
	// receiver.
	Through []int
	// Returned has the paths of its different results.
	Returned   []string
	Decorators []*recountv1.Reference
	Overload   bool
	Object     bool // a value that has members of its own
	Constructs bool // a function that makes instances, or has members, as a class does
	lang       *Language
	Generator  bool
	Typed      Set   // what its results are declared to be
	This       bool  // they are declared to be its receiver
	Called     bool  // a member whose type can be called
	Of         *Decl // the type that it is a member of, if that is not the one around it

	Whole *Decl // the class that it is a part of, if another file declares that

	Bases []Base
	Order []Base // the class and its bases, in the order in which attributes are looked up
	// Assigned has the attributes of instances, and those assigned to the class outside its body.
	Assigned map[string]*Variable
}

// Base is a base of a class: one of the repository (Decl), one outside it (External), or, if both
// are nil, an unknown one.
type Base struct {
	Decl     *Decl
	External *Value
}

// IsClass reports whether d has members that belong to it or to its instances.
func (d *Decl) IsClass() bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_CLASS, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, recountv1.SymbolKind_SYMBOL_KIND_ENUM,
		recountv1.SymbolKind_SYMBOL_KIND_STRUCT, recountv1.SymbolKind_SYMBOL_KIND_TRAIT:
		return true
	}
	return d.Object || d.Constructs
}

// IsType reports whether d declares a type without a value.
func (d *Decl) IsType() bool {
	return d.Kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE
}

// isMember reports whether d is declared as a member of what is around it.
func (d *Decl) isMember() bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_METHOD, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY, recountv1.SymbolKind_SYMBOL_KIND_FIELD:
		return true
	}
	return false
}

// IsFunction reports whether d is a function, method, constructor or property.
func (d *Decl) IsFunction() bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, recountv1.SymbolKind_SYMBOL_KIND_METHOD,
		recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY:
		return true
	}
	return false
}

// IsMethod reports whether d has a receiver, which paths call "self".
func (d *Decl) IsMethod() bool {
	return d.IsFunction() && d.Class() != nil && !d.HasModifier("staticmethod")
}

// Class returns the class that d is a member of, nil if there is none.
func (d *Decl) Class() *Decl {
	if d.Of == nil && d.Outer.IsClass() {
		return d.Outer.Decl
	}
	return d.Of
}

// HasModifier reports whether d is declared with a modifier.
func (d *Decl) HasModifier(modifier string) bool {
	for _, m := range d.Modifiers {
		if m == modifier {
			return true
		}
	}
	return false
}

// ParameterName returns the name by which paths call the parameter i.
func (d *Decl) ParameterName(i int, name string) string {
	if i == 0 && d.lang.ReceiverFirst && d.IsMethod() {
		return "self"
	}
	return name
}

// SiteIn returns a place in the file m as the site of an edge from d. It returns nil if d is in
// another file, because the sites of an edge are places in the file where the edge begins.
func (d *Decl) SiteIn(m *Module, at *recountv1.Place) *recountv1.Place {
	if d.Mod != m {
		return nil
	}
	return at
}
