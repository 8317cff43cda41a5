package typed

import (
	"strings"

	"github.com/recountdb/recount/languages/scope"
)

// Language describes a language to the engine.
type Language struct {
	scope.Language
	// Library declares classes outside the repository; parseLibrary describes its format.
	Library string
	// Object is the class in Library that all others extend. Constructor is the name that facts
	// give to constructors.
	Object, Constructor string
	// VariadicArrays is set if the type of a variadic parameter is written as an array.
	VariadicArrays bool
	// Iterable is the class in Library of the values that loops go through.
	Iterable string
	// ArrayBases has the classes in Library, beside Iterable, that an array can be passed for.
	ArrayBases map[string]bool
	// ExplicitOverride is set if a method overrides that of a class only if it says so.
	ExplicitOverride bool
	// PrivateByDefault is set if a member of a class is private unless it says otherwise.
	PrivateByDefault bool
	// Attribute is what may be left out at the end of the name of an annotation.
	Attribute string
	// SmallPackages is set if, by convention, packages begin with a small letter and classes do
	// not, so that a name says where its class begins.
	SmallPackages bool
	// Widening has the numeric types, each with those that its values are converted to without a cast.
	Widening map[string][]string
	// Converts has classes in Library whose values are converted to another one there.
	Converts map[string]string
	// ByArity has the types that differ by their number of arguments. In Library that number is
	// at the end of the name.
	ByArity map[string]bool
	// Arity is set if types of one name may differ in their number of type parameters. Names then
	// end with a backquote and that number, as "List`1".
	Arity bool
	// Names finds a type by a simple name: in the file's imports, its package, or the language.
	Names func(t *Typer, m *scope.Module, in uint32, name string) *Type
	// Implied returns the base that a class has without declaring it, nil if it has none.
	Implied func(t *Typer, c *Class) *Type
	// Complete adds the members that a class has without declaring them.
	Complete func(t *Typer, c *Class)
	// ReadImports reads the imports of a file into Typer.Imports.
	ReadImports func(t *Typer, m *scope.Module)
	// Statics returns the types whose static members a file can use by a name.
	Statics func(t *Typer, m *scope.Module, name string) []*Type
	// Extensions returns the extension methods of a name that are visible at a place; or, with
	// doubt, all that there are, if none is.
	Extensions func(t *Typer, at Spot, name string) (found []*Method, doubt bool)
	// Common has names of methods that classes outside the repository have. If it is set, a call
	// on a value of unknown type means the only method of the repository that has its name, unless
	// the name is common.
	Common map[string]bool
	// Given has names of methods that return the type argument of their call.
	Given map[string]bool
	// Always has the methods that every value has, with their results.
	Always map[string]string
	// Makers has the static methods that by convention return an instance of their class.
	Makers map[string]bool
	// Transparent has the members of a value that stand for the value itself, because types are
	// written without what wraps them, as a Task's Result.
	Transparent map[string]bool
	RPC         RPC
}

// splitPackage cuts a qualified name where its class begins: at the first name with a capital
// letter, or, if packages have those too, at the last name.
func (l *Language) splitPackage(name string) (pkg, class string) {
	if !l.SmallPackages {
		return CutLast(name)
	}
	at := 0
	for part := range strings.SplitSeq(name, ".") {
		if part != "" && part[0] >= 'A' && part[0] <= 'Z' {
			return strings.TrimSuffix(name[:at], "."), name[at:]
		}
		at += len(part) + 1
	}
	return name, ""
}
