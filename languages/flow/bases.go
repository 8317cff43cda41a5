package flow

import (
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// addBases finds the bases of every class, and the order in which attributes are looked up in
// them.
func (p *Engine) addBases() {
	p.joinParts()
	p.findAmbient()
	p.findOverwritten()
	for _, m := range p.Modules {
		for _, r := range m.Facts.References {
			d := m.Decl(r.In)
			if r.Edge != recountv1.EdgeKind_EDGE_KIND_EXTENDS && r.Edge != recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS || d == nil || !d.IsClass() {
				continue
			}
			var b scope.Base
			switch s := p.Lookup(d.Outer, m.Path(r.Path)); {
			case s.Rest != 0:
			case s.Decl != nil && s.Decl.IsClass() && s.Decl != d:
				b.Decl = s.Decl
			case s.External != nil:
				if s.External.Pkg == p.Lang.Builtins && s.External.Name == "object" || isTyping(s.External) {
					continue // these add no attributes
				}
				b.External = s.External
			}
			if of := p.givenBase(d, r.Path); b.Decl == nil && b.External == nil && of != nil {
				b.Decl = of
			}
			if of := p.typeNamed(d, r.Path); b.Decl == nil && of != nil {
				b = scope.Base{Decl: of}
			}
			if r.Edge == recountv1.EdgeKind_EDGE_KIND_EXTENDS {
				d.Bases = append(d.Bases, b)
			}
			if b.Decl != nil {
				p.Subs[b.Decl] = append(p.Subs[b.Decl], d)
			}
		}
	}
	for _, m := range p.Modules {
		p.mergeInterfaces(m)
	}
	for _, m := range p.Modules {
		for _, d := range m.Decls {
			if d.IsClass() {
				d.Order = d.Linearize(map[*scope.Decl]bool{})
			}
			if d.IsFunction() || p.Lang.Exports && d.Kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE {
				d.This, d.Typed = p.results(d)
			}
			if returns := d.Attributes[scope.Returns]; returns != "" {
				d.Typed = p.declared(d.Outer, m, returns)
			}
			p.calledByType(d)
		}
	}
}

func isTyping(v *scope.Value) bool {
	switch v.Pkg {
	case "typing", "typing_extensions", "abc":
		return true
	}
	return false
}

// externalAttr returns the attribute from the class's only base outside the repository. It
// returns nil if there are several such bases, an unknown base, or a class of the repository in
// the order that has the name.
func (p *Engine) externalAttr(order []scope.Base, name string) *scope.Value {
	var found *scope.Value
	for _, b := range order {
		switch {
		case b.Decl != nil:
			if b.Decl.Scope.Vars[name] != nil {
				return nil
			}
			if v := b.Decl.Assigned[name]; v != nil && v.Written {
				return nil
			}
		case b.External == nil || found != nil:
			return nil
		default:
			found = b.External
		}
	}
	if found == nil {
		return nil
	}
	return p.AttributeOf(found, name)
}
