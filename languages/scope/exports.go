package scope

import (
	"fmt"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// DefaultName is the name by which the default export of a module is imported.
const DefaultName = "default"

// WholeExport is the name by which a module exports what `module.exports` is assigned as a whole.
const WholeExport = "="

// Guards is the attribute of a function that tells whether its argument is of a type: that type.
const Guards = "guards"

// OfModule is the attribute of a function in the object that a module exports as a whole, which its
// `this` is.
const OfModule = "of_module"

// OfObject is the attribute of a function that is assigned to a member of an object, if only values tell
// what the object is. It is OwnThis if the function's `this` is the object.
const (
	OfObject = "of_object"
	OwnThis  = "this"
)

// CalledOn is the attribute of a call with what the source calls its receiver, if that begins with a parameter of an anonymous
// function or with a `this` of which nothing is known. It is SharedThis if such a `this` is most likely that of the method around it.
const (
	CalledOn   = "called_on"
	SharedThis = "shared this"
)

// PartOf is the attribute of a class that is a part of the class of its name which the file does not declare.
// Constructs is the attribute of a method that makes instances under another name than the language's.
const (
	PartOf     = "part_of"
	Constructs = "constructs"
)

// Returns is the attribute of a member of an interface that is declared with the type of a function: it has the type
// that the function returns, or "?".
const Returns = "returns"

// Same is the attribute of a function whose results are of the type parameter that one of its parameters has as its type: it
// has the parameter's name.
const Same = "same"

// Wrapped is the attribute of a constant that holds what a call returns that is given a function written in it.
const Wrapped = "wrapped"

// Wraps is the attribute of a function whose result calls a parameter: it has the parameter's name.
const Wraps = "wraps"

// TypedefOf is what the target of a binding begins with that says of what type the values of a type are that a
// comment declares.
const TypedefOf = "typedef "

// NoValue is the value of a binding that declares a variable without a value.
const NoValue = "<>"

// Exports returns the name that is exported if p is the target of a binding: export.name,
// exports.name or module.exports.name; of module.exports it is WholeExport. It returns "" for any
// other path.
func (p Path) Exports() string {
	switch {
	case len(p.Steps) == 1 && p.Steps[0].Op == '.' && (p.Head == "export" || p.Head == "exports"):
		return p.Steps[0].Name
	case len(p.Steps) == 2 && p.Head == "module" && p.Steps[0].Name == "exports" && p.Steps[1].Op == '.':
		return p.Steps[1].Name
	case len(p.Steps) == 1 && p.Head == "module" && p.Steps[0].Name == "exports":
		return WholeExport
	}
	return ""
}

// Export returns the variable of an exported name. It creates the variable if there is none.
func (m *Module) Export(name string) *Variable {
	v := m.Exports[name]
	if v == nil {
		v = &Variable{Scope: m.Scope}
		if m.Exports == nil {
			m.Exports = map[string]*Variable{}
		}
		m.Exports[name] = v
	}
	return v
}

// Attribute returns the variable of an attribute that the module exports not as such but is assigned.
// It creates the variable if there is none.
func (m *Module) Attribute(name string) *Variable {
	v := m.assigned[name]
	if v == nil {
		v = &Variable{Scope: m.Scope}
		if m.assigned == nil {
			m.assigned = map[string]*Variable{}
		}
		m.assigned[name] = v
	}
	return v
}

// Exported returns the variable that other files see by a name, nil if the module exports none.
func (p *Program) Exported(m *Module, name string) *Variable {
	if !p.Lang.Exports {
		return p.Global(m, name)
	}
	return exported(m, name, nil)
}

// exported is Exported among the modules that were not seen yet.
func exported(m *Module, name string, seen map[*Module]bool) *Variable {
	if v := m.Exports[name]; v != nil {
		return v
	}
	if m.Scope != nil {
		if v := m.Scope.Vars[name]; v != nil {
			for _, d := range v.Decls {
				if d.Exported {
					return v
				}
			}
		}
	}
	if name == DefaultName {
		return m.Exports[WholeExport]
	}
	if seen == nil {
		seen = map[*Module]bool{}
	}
	seen[m] = true
	for _, star := range m.Stars {
		if star.Mod != nil && !seen[star.Mod] {
			if v := exported(star.Mod, name, seen); v != nil {
				return v
			}
		}
	}
	return nil
}

// WholeName is the name of a function or class without a name of its own that `module.exports` is.
const WholeName = "exports"

// LocalName returns the name by which the scope around a declaration has it. It is in angle brackets,
// so that no name in the source means it, if code can reach the declaration only as a member of an
// object, or by what it is registered as.
func (d *Decl) LocalName() string {
	switch {
	case d.lang.Exports && (d.Attributes[OfObject] != "" || d.Attributes[PartOf] != "" || d.Attributes[Inner] == Apart):
		return RegisteredName(d.Declaration)
	case !d.lang.Exports || d.Outer.Outer != nil || !d.IsFunction() && d.Kind != recountv1.SymbolKind_SYMBOL_KIND_CLASS:
		return d.Name
	case d.isMember():
		return RegisteredName(d.Declaration)
	case d.Attributes[OfModule] != "" || d.Name == WholeName:
		return MemberName(d.Name)
	}
	return d.Name
}

// MemberName returns the local name of a function that is only a member of what its module exports.
func MemberName(name string) string { return "<" + name + ">" }

// IsRegistered reports whether a path is what RegisteredName returns.
func IsRegistered(path string) bool {
	return strings.HasPrefix(path, "<") && strings.HasSuffix(path, ">") && strings.Contains(path, "@")
}

// RegisteredName returns the local name of a function that a call at the top of a file registers by a
// name, which other calls may use too.
func RegisteredName(d *recountv1.Declaration) string {
	return NameAt(d.Name, d.Start)
}

// NameAt returns the registered name of a declaration that starts at a place.
func NameAt(name string, at *recountv1.Place) string {
	return MemberName(fmt.Sprintf("%s@%d:%d", name, at.GetLine(), at.GetColumn()))
}
