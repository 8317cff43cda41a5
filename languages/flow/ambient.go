package flow

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A file of types may declare a module that no file is:
//
//	declare module '@x/term' { export class Terminal { clear(): void } }
//
// Types that other files import from a module of that name are those. In a file that imports or exports something such a
// declaration only adds to a module of another package.

// findAmbient notes the modules that files of types declare.
func (p *Engine) findAmbient() {
	p.ambient = map[string][]*scope.Decl{}
	for _, m := range p.Modules {
		if !p.Lang.Exports || !strings.HasSuffix(m.File.Path, ".d.ts") || len(m.Exports) > 0 {
			continue
		}
		if slices.ContainsFunc(m.Facts.Imports, func(i *recountv1.Import) bool { return i.In == 0 }) {
			continue
		}
		for _, d := range m.Decls {
			if d.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE && d.Owner == 0 && d.Scope != nil && !d.Exported {
				p.ambient[d.Name] = append(p.ambient[d.Name], d)
			}
		}
	}
}

// ambientType returns the type or the class of the repository that a name in a module outside it means, nil if there is none.
func (p *Engine) ambientType(of *scope.Value) *scope.Decl {
	if of == nil {
		return nil
	}
	for _, module := range p.ambient[of.Pkg] {
		if v := module.Scope.Vars[of.Name]; v != nil {
			if d := p.Meaning(v).Decl; d != nil && (d.IsClass() || d.IsType()) {
				return d
			}
		}
	}
	return nil
}

// typeNamed returns the class or the interface that the type of a path is another name of, nil if there is none.
func (p *Engine) typeNamed(d *scope.Decl, path string) *scope.Decl {
	of := p.declared(d.Outer, d.Mod, path)
	if !p.Lang.Exports || !d.IsType() || len(of) != 1 || of[0].Value.Kind != scope.InstanceValue || of[0].Value.Decl == d {
		return nil
	}
	return of[0].Value.Decl
}

// calledByType notes what a member of an interface returns if its type is an interface that can be called:
//
//	interface Decorations { readonly onRemoved: Event<Decoration> }
func (p *Engine) calledByType(d *scope.Decl) {
	owner := d.Outer.Decl
	if !p.Lang.Exports || d.Kind != recountv1.SymbolKind_SYMBOL_KIND_FIELD || owner == nil || owner.Kind != recountv1.SymbolKind_SYMBOL_KIND_INTERFACE ||
		d.Attributes[scope.Returns] != "" || d.Type == "" {
		return
	}
	if of := p.Lookup(d.Outer, d.Mod.Path(d.Type)); of.Rest == 0 && of.Decl != nil && of.Decl.Attributes[scope.Returns] != "" && of.Decl.IsType() {
		d.Called, d.Typed = true, p.declared(of.Decl.Outer, of.Decl.Mod, of.Decl.Attributes[scope.Returns])
		return
	}
	if of := p.typeOf(d); of != nil && of.Kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE && of.Type != "" {
		d.Called, d.Typed = true, p.declared(of.Outer, of.Mod, of.Type)
	}
}

// typeOf returns the one class that the type of a declaration names, nil if there is none.
func (p *Engine) typeOf(d *scope.Decl) *scope.Decl {
	of := p.declared(d.Outer, d.Mod, d.Type)
	if len(of) != 1 || of[0].Value.Kind != scope.InstanceValue {
		return nil
	}
	return of[0].Value.Decl
}

// findOverwritten notes the functions of classes in whose place a method puts what it is given:
//
//	setHandler(handler) { this._handler = handler }
func (p *Engine) findOverwritten() {
	p.overwritten, p.extends = map[*scope.Decl]bool{}, map[string]bool{}
	for _, m := range p.Modules {
		for _, b := range m.Facts.Bindings {
			_, last := cutLast(b.Target)
			p.extends[last] = true
			name, member := strings.CutPrefix(b.Target, "self.")
			from := m.Decl(b.In)
			if !p.Lang.Exports || !member || from == nil || !from.IsMethod() || from.Class().Scope == nil {
				continue
			}
			value, own := m.ScopeOf(b.In).Vars[b.Value], from.Class().Scope.Vars[name]
			if value == nil || !value.Parameter || own == nil {
				continue
			}
			for _, d := range own.Decls {
				if d.Kind == recountv1.SymbolKind_SYMBOL_KIND_METHOD {
					p.overwritten[d] = true
				}
			}
		}
	}
}
