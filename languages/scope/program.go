package scope

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Program holds the files of one language in a snapshot while they are resolved.
type Program struct {
	Lang    *Language
	Layout  Layout
	Modules []*Module // the files, by path
	ByPlace map[string]*Module
	// Outside has the names of modules outside the repository that are imported.
	Outside map[string]bool
	values  map[ValueID]*Value

	queue []*Flow
	Depth int
	Subs  map[*Decl][]*Decl // the direct subclasses of each class
	// globals has what scripts share, partial the parts of classes, and packages the directories of packages.
	globals, partial map[string][]shared
	packages         map[string]bool
	// Rules are the language's own rules for looking names up; nil stands for the default.
	Rules Rules
}

func newProgram(lang *Language, files []string, manifests []Manifest) *Program {
	packages := map[string]bool{}
	for _, m := range manifests {
		packages[DirOf(m.Path)] = packages[DirOf(m.Path)] || strings.HasSuffix(m.Path, "package.json")
	}
	return &Program{
		packages: packages,
		Lang:     lang, Layout: lang.Layout(files, manifests), ByPlace: map[string]*Module{}, Outside: map[string]bool{},
		values: map[ValueID]*Value{}, Subs: map[*Decl][]*Decl{},
	}
}

// addFile adds a file's module with its scopes and declarations.
func (p *Program) addFile(f resolve.File, facts *recountv1.FileFacts) {
	m := &Module{
		Place: f.Path, File: f, Facts: facts, Name: p.Layout.NameOf(f.Path),
		Calls: map[CallSite][]*recountv1.Reference{}, paths: map[string]Path{},
	}
	if m.Facts == nil {
		m.Facts = &recountv1.FileFacts{}
	}
	if p.Lang.Typed {
		m.Name = m.Facts.Package
	}
	m.Test, m.Example = p.Layout.IsTest(f.Path), p.Lang.Exports && isExample(f.Path)
	if dir, ok := p.Layout.PackageOf(f.Path); ok {
		m.dir, m.isPackage = dir, true
		p.ByPlace[packagePlace(dir)] = m
	}
	m.names = resolve.Declare(f.Path, m.Facts)
	p.Modules = append(p.Modules, m)
	p.ByPlace[f.Path] = m

	p.addDeclarations(m)
	for _, r := range m.Facts.References {
		addReference(m, r)
	}
	for _, b := range m.Facts.Bindings {
		p.declareBinding(m, b)
	}
}

// addDeclarations adds the declarations of a module and their scopes.
func (p *Program) addDeclarations(m *Module) {
	m.Scope = &Scope{Mod: m, Vars: map[string]*Variable{}}
	m.Scopes = []*Scope{m.Scope}
	owners, constructors := map[uint32]bool{}, map[uint32]bool{}
	for _, d := range m.Facts.Declarations {
		owners[d.Owner] = true
		constructors[d.Owner] = constructors[d.Owner] || p.Lang.Exports && (&Decl{Declaration: d}).isMember()
	}
	for i, d := range m.Facts.Declarations {
		outer := m.Scope
		if o := int(d.Owner); o > 0 && o <= i {
			outer = m.Scopes[o]
		} else if d.OwnerPath != "" && p.Rules != nil {
			outer = p.Rules.Around(m, d)
		}
		n := &Decl{Declaration: d, Mod: m, Index: uint32(i + 1), Key: m.names.Keys[i], Outer: outer, lang: p.Lang}
		n.Object = owners[n.Index] && !n.IsFunction() && !n.IsClass() && !p.Lang.Typed &&
			(p.Rules == nil || n.Kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER)
		n.Constructs = constructors[n.Index] && n.IsFunction()
		p.addDecl(m, n)
	}
}

// addDecl adds a declaration, its scope, and its name to the scope around it, or to the items of the language's rules.
func (p *Program) addDecl(m *Module, n *Decl) {
	s := n.Outer
	if n.IsClass() || n.IsFunction() {
		s = &Scope{Mod: m, Outer: n.Outer, Decl: n, Vars: map[string]*Variable{}}
		n.Scope = s
	}
	if n.IsClass() {
		n.Assigned = map[string]*Variable{}
	}
	if p.Rules != nil && n.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE {
		s = p.Rules.Inline(n)
	}
	m.Decls, m.Scopes = append(m.Decls, n), append(m.Scopes, s)
	if p.Rules != nil {
		p.Rules.AddItem(n)
		return
	}
	v := n.Outer.Own(n.LocalName())
	if p.Lang.Exports && n.IsFunction() && len(v.Decls) > 0 {
		if last := v.Decls[len(v.Decls)-1]; last.Kind == n.Kind && last.HasModifier("get") == n.HasModifier("get") {
			last.Overload = true
		}
	}
	v.Decls = append(v.Decls, n)
	if n.IsFunction() {
		for i, prm := range n.Parameters {
			n.Scope.Own(n.ParameterName(i, prm.Name)).Parameter = true
		}
	}
}

// addReference adds a call to the calls of its path, a decorator to its declaration.
func addReference(m *Module, r *recountv1.Reference) {
	switch r.Edge {
	case recountv1.EdgeKind_EDGE_KIND_CALLS:
		at := CallSite{r.In, r.Path}
		m.Calls[at] = append(m.Calls[at], r)
	case recountv1.EdgeKind_EDGE_KIND_DECORATES:
		d := m.Decl(r.In)
		if d == nil {
			return
		}
		switch name := r.Path[strings.LastIndexByte(r.Path, '.')+1:]; name {
		case "overload":
			d.Overload = true
		case "staticmethod", "classmethod", "property", "cached_property", "abstractmethod", "setter", "deleter":
		default:
			d.Decorators = append(d.Decorators, r)
		}
	}
}

// packagePlace returns the key in byPlace of the package in a directory.
func packagePlace(dir string) string { return dir + "/" }

// declareBinding adds the name that a binding binds to its scope.
func (p *Program) declareBinding(m *Module, b *recountv1.Binding) {
	s := m.ScopeOf(b.In)
	if name, ok := strings.CutPrefix(b.Target, TypedefOf); ok {
		if m.Typedefs == nil {
			m.Typedefs = map[string][]string{}
		}
		m.Typedefs[name] = append(m.Typedefs[name], b.Type)
		return
	}
	if word, name, ok := strings.Cut(b.Target, " "); ok {
		if s.outerNames == nil {
			s.outerNames = map[string]string{}
		}
		s.outerNames[name] = word
		return
	}
	target := m.Path(b.Target)
	switch {
	case p.Lang.Exports && target.Exports() != "":
		v := m.Export(target.Exports())
		v.Aliases = append(v.Aliases, m.Path(b.Value))
	case target.Head == "return":
		if d := s.Decl; d != nil && target.Plain() && !slices.Contains(d.Returned, b.Value) {
			d.Returned = append(d.Returned, b.Value)
		}
	case target.Head == "yield":
		if s.Decl != nil {
			s.Decl.Generator = true
		}
	case target.Plain() && target.Head != "?" && target.Head != "self":
		v := s.Bound(target.Head)
		if b.Value == NoValue {
			break
		}
		alias := m.Path(b.Value)
		if v.Scope != s { // the names of its path are those of s
			alias = Path{Text: alias.Text, Head: "?"}
		}
		v.Aliases = append(v.Aliases, alias)
	}
}
