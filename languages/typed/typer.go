package typed

import (
	"slices"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Typer computes types in a program whose sources declare them. What a path stands for has one
// type, which is computed when it is asked for; nothing flows.
type Typer struct {
	p    *scope.Program
	lang *Language
	// Library has the classes outside the repository that are known, by simple name.
	Library  map[string]*Class
	all      []*Class // of the repository, in the order of declarations
	classes  map[*scope.Decl]*Class
	methods  map[*scope.Decl]*Method
	members  map[*scope.Decl][]*scope.Decl
	bases    map[*scope.Decl][]*recountv1.Reference
	Packages map[string]map[string][]*Class // by package, then by name
	Prefixes map[string]bool                // packages of the repository, and the beginnings of their names
	locals   map[localName]*Class
	params   map[*scope.Decl][]*typeParam
	bounds   []pendingBound
	// variables has the first binding of each name in each declaration.
	variables map[localName]*recountv1.Binding
	types     map[*recountv1.Binding]*Type
	open      map[*recountv1.Binding]bool
	Imports   map[*scope.Module]*FileImports
	parsed    map[string]*typeExpr
	args      map[*recountv1.Reference][]*Type
	byName    map[string][]*Method // extension methods
	// byMethodName has the methods of the repository, fieldNames the names of its fields; see
	// methodsNamed.
	byMethodName map[string][]*Method
	fieldNames   map[string]bool
	// simpleNames has the names of all classes of the repository.
	simpleNames map[string]bool
	// anywhere has the classes that are in no other class by their names.
	anywhere map[string][]*Class
	global   []*scope.Module // modules that export what they import
	depth    int
	// cut counts the searches that a cycle or the limit of depth ended. What such a search found
	// may be incomplete and is not kept.
	cut int
	// nested has what such searches found, until the evaluation is done that they are part of: calls that are
	// arguments of calls are evaluated many times.
	nested map[nestedCall][]*Type
}

// nestedCall is a call whose arguments are evaluated at a depth.
type nestedCall struct {
	call  *recountv1.Reference
	depth int
}

// FileImports has what the imports of a file bring into it.
type FileImports struct {
	Types    map[string]*Type // by simple name
	Packages []string         // packages all of whose types are imported
	// Members has the types from which a static member is imported, by the member's name; All has the
	// types from which all members are.
	Members map[string][]*Type
	All     []*Type
}

// localName is a name in a declaration.
type localName struct {
	m    *scope.Module
	in   uint32
	name string
}

// Spot is where a path or a type is written.
type Spot struct {
	Module *scope.Module
	In     uint32
	// at is the place. For a call it is that of the call: calls inside the callee come before it.
	// If after is set, the calls of a path come after the place.
	at    *recountv1.Place
	after bool
	// base is set for a base of the declaration In, whose members are not known yet.
	base bool
}

func newTyper(p *scope.Program, lang *Language) *Typer {
	t := &Typer{
		p: p, lang: lang, Library: map[string]*Class{}, classes: map[*scope.Decl]*Class{}, methods: map[*scope.Decl]*Method{},
		members: map[*scope.Decl][]*scope.Decl{}, bases: map[*scope.Decl][]*recountv1.Reference{}, Packages: map[string]map[string][]*Class{},
		Prefixes: map[string]bool{}, locals: map[localName]*Class{}, params: map[*scope.Decl][]*typeParam{},
		variables: map[localName]*recountv1.Binding{}, types: map[*recountv1.Binding]*Type{}, open: map[*recountv1.Binding]bool{},
		Imports: map[*scope.Module]*FileImports{}, parsed: map[string]*typeExpr{}, args: map[*recountv1.Reference][]*Type{}, nested: map[nestedCall][]*Type{},
	}
	t.parseLibrary(t.lang.Library)
	for _, m := range p.Modules {
		for _, b := range m.Facts.Bindings {
			name := localName{m, b.In, b.Target}
			if t.variables[name] == nil {
				t.variables[name] = b
			}
		}
	}
	t.addClasses()
	return t
}

// Reexporting returns the files that export what they import.
func (t *Typer) Reexporting() []*scope.Module {
	if t.global == nil {
		t.global = []*scope.Module{}
		for _, m := range t.p.Modules {
			if slices.ContainsFunc(m.Facts.Imports, func(i *recountv1.Import) bool { return i.Export }) {
				t.global = append(t.global, m)
			}
		}
	}
	return t.global
}

// ExtensionMethods returns the extension methods of a name, in the order of declarations.
func (t *Typer) ExtensionMethods(name string) []*Method {
	if t.byName == nil {
		t.byName = map[string][]*Method{}
		for _, c := range t.all {
			for _, m := range c.Order {
				if m.extension {
					t.byName[m.Name] = append(t.byName[m.Name], m)
				}
			}
		}
	}
	return t.byName[name]
}
