package flow

import (
	"slices"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// joinParts makes the parts of classes that calls add bases of the classes, and gives the constructors of classes
// that calls make the name that the language has for constructors.
func (p *Engine) joinParts() {
	if !p.Lang.Exports {
		return
	}
	for _, m := range p.Modules {
		for _, d := range m.Decls {
			if of := d.Outer.Decl; of != nil && d.Attributes[scope.Constructs] != "" {
				v := d.Outer.Own(p.Lang.Constructor)
				v.Decls = append(v.Decls, d)
			}
			name := d.Attributes[scope.PartOf]
			if name == "" {
				continue
			}
			if v := p.Find(d.Outer, name); v != nil {
				if whole := p.Meaning(v).Decl; whole != nil && whole != d && whole.IsClass() && whole.Whole == nil {
					d.Whole = whole
					whole.Bases = slices.Insert(whole.Bases, 0, scope.Base{Decl: d})
				}
			}
		}
	}
}

// mergeInterfaces makes the interfaces that have the name of a class, or of an interface before them, the last bases of
// it: they declare what it has besides.
func (p *Engine) mergeInterfaces(m *scope.Module) {
	if !p.Lang.Exports {
		return
	}
	for _, d := range m.Decls {
		if d.Kind != recountv1.SymbolKind_SYMBOL_KIND_INTERFACE || len(d.Outer.Vars[d.LocalName()].Decls) < 2 {
			continue
		}
		whole := p.Meaning(d.Outer.Vars[d.LocalName()]).Decl
		if whole != nil && whole != d && whole.Outer == d.Outer && (whole.Kind == recountv1.SymbolKind_SYMBOL_KIND_CLASS || whole.Kind == d.Kind) {
			d.Whole = whole
			whole.Bases = append(whole.Bases, scope.Base{Decl: d})
		}
	}
}

// wholeOf returns the class that a class is a part of, or the class itself.
func wholeOf(class *scope.Decl) *scope.Decl {
	if class.Whole != nil {
		return class.Whole
	}
	return class
}
