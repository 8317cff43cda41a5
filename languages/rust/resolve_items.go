package rust

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/flow"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// items looks names up and follows values by the rules of Rust. It implements flow.Rules.
type items struct {
	*flow.Engine
	layout *crates
	// implMembers has the declarations in impls until their types are known.
	implMembers []*scope.Decl
	uses        []*use
	externs     map[string]*scope.Variable
	macros      []*scope.Decl
	// foreignMembers has the functions in impls for types outside the repository, by "TYPE.NAME".
	foreignMembers map[string][]*scope.Decl
	// foreignTraits has the last names of traits outside the repository that types here implement.
	foreignTraits map[string]bool
	// otherPlatforms has the items for other platforms. They have their names only if no item
	// for this platform has them.
	otherPlatforms []*scope.Decl
	// implements has the impls of traits.
	implements []implementation
	types      map[typeKey]scope.Set
	methods    map[string][]*scope.Decl // by name: the methods that a call may mean of which only the name is known
	// open has the modules and functions of a file that may contain its next declaration.
	open map[*scope.Module][]*scope.Decl
	// itself has the variable that stands for each module.
	itself map[*scope.Module]*scope.Variable
	// globs has what `use …::*` brings into each scope.
	globs map[*scope.Scope][]*use
	// asked has the answers of once so far: none for a question that is open.
	asked map[question]scope.Symbol
}

type implementation struct {
	class, trait *scope.Decl
	file         *scope.Module
	at           *recountv1.Place
}

func newItems(e *flow.Engine) *items {
	return &items{
		Engine: e, layout: e.Layout.(*crates), externs: map[string]*scope.Variable{}, types: map[typeKey]scope.Set{}, methods: map[string][]*scope.Decl{}, foreignMembers: map[string][]*scope.Decl{}, foreignTraits: map[string]bool{},
		open: map[*scope.Module][]*scope.Decl{}, itself: map[*scope.Module]*scope.Variable{}, globs: map[*scope.Scope][]*use{}, asked: map[question]scope.Symbol{},
	}
}

// Inline implements scope.Rules.
func (p *items) Inline(n *scope.Decl) *scope.Scope {
	file := n.Mod
	m := &scope.Module{Place: file.Place, Name: file.Name + "." + n.Name, File: file.File, Facts: file.Facts, Test: file.Test || n.Test}
	s := &scope.Scope{Mod: file, Outer: n.Outer, Decl: n, Vars: map[string]*scope.Variable{}, Inline: m}
	m.Scope = s
	n.Scope = s
	return s
}

// AddItem implements scope.Rules. It keeps a member of an impl until its type is known.
func (p *items) AddItem(n *scope.Decl) {
	switch {
	case n.Kind == recountv1.SymbolKind_SYMBOL_KIND_MACRO:
		p.macros = append(p.macros, n)
		return
	case n.OwnerPath == "" && !conditionHolds(n.Attributes["cfg"]):
		p.otherPlatforms = append(p.otherPlatforms, n)
	case n.OwnerPath != "":
		p.implMembers = append(p.implMembers, n)
	default:
		v := n.Outer.Own(n.Name)
		v.Decls = append(v.Decls, n)
	}
	if n.IsFunction() || n.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE {
		p.open[n.Mod] = append(p.open[n.Mod], n)
	}
	if n.IsFunction() {
		for _, prm := range n.Parameters {
			n.Scope.Own(prm.Name).Parameter = true
		}
	}
}

// addMembers adds the declarations in impls to their types.
func (p *items) addMembers() {
	for _, d := range p.implMembers {
		text := d.Attributes["type"]
		if text == "" {
			text = d.OwnerPath[strings.LastIndexByte(d.OwnerPath, '.')+1:]
		}
		class := p.typeNamed(d.Outer, scope.ParsePath(text))
		if class == nil {
			if at := p.Lookup(d.Outer, scope.ParsePath(text)); at.External != nil && at.Rest == 0 && d.IsFunction() {
				key := lastOf(at.External.Name) + "." + d.Name
				p.foreignMembers[key] = append(p.foreignMembers[key], d)
			}
			continue
		}
		if class.Scope == nil {
			continue
		}
		if trait := d.Attributes["trait"]; trait != "" && p.typeNamed(d.Outer, scope.ParsePath(trait)) == nil {
			p.foreignTraits[lastOf(trait)] = true
		}
		d.Of = class
		v := class.Scope.Own(d.Name)
		v.Decls = append(v.Decls, d)
	}
	for _, m := range p.Modules {
		for _, d := range m.Decls {
			if d.IsFunction() && d.Class() != nil {
				p.methods[d.Name] = append(p.methods[d.Name], d)
			}
		}
	}
}

// lastOf returns the last of the names of a dotted path.
func lastOf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// addImplementations finds the traits of types, and the order in which members are looked up.
func (p *items) addImplementations() {
	for _, m := range p.Modules {
		for _, r := range m.Facts.References {
			extends := r.Edge == recountv1.EdgeKind_EDGE_KIND_EXTENDS
			if !extends && r.Edge != recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS {
				continue
			}
			class, s := m.Decl(r.In), m.ScopeOf(r.In)
			if extends && class != nil {
				s = class.Outer
			}
			if of := r.Attributes["type"]; !extends {
				class = p.typeNamed(s, m.Path(of))
			}
			trait := p.typeNamed(s, m.Path(r.Path))
			if class == nil || trait == nil || class == trait {
				continue
			}
			if b := (scope.Base{Decl: trait}); !slices.Contains(class.Bases, b) {
				class.Bases = append(class.Bases, b)
				p.Subs[trait] = append(p.Subs[trait], class)
			}
			if !extends {
				p.implements = append(p.implements, implementation{class, trait, m, r.At})
			}
		}
	}
	for _, m := range p.Modules {
		for _, d := range m.Decls {
			if d.IsClass() {
				d.Order = d.Linearize(map[*scope.Decl]bool{})
			}
		}
	}
}

// Around implements scope.Rules: it returns the scope of the module or function around an impl.
func (p *items) Around(m *scope.Module, d *recountv1.Declaration) *scope.Scope {
	for n := len(p.open[m]); n > 0; n-- {
		if o := p.open[m][n-1]; resolve.ComparePlaces(d.Start, o.End) < 0 {
			return o.Scope
		}
		p.open[m] = p.open[m][:n-1]
	}
	return m.Scope
}
