package scope

import (
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// addBases finds the bases of every class, and the order in which attributes are
// looked up in them.
func (p *engine) addBases() {
	for _, m := range p.modules {
		for _, r := range m.facts.References {
			d := m.decl(r.In)
			if r.Edge != recountv1.EdgeKind_EDGE_KIND_EXTENDS && r.Edge != recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS || d == nil || !d.isClass() {
				continue
			}
			var b base
			switch s := p.symbol(d.outer, m.path(r.Path)); {
			case s.rest != 0:
			case s.decl != nil && s.decl.isClass() && s.decl != d:
				b.decl = s.decl
			case s.external != nil:
				if s.external.pkg == p.lang.builtins && s.external.name == "object" || isTyping(s.external) {
					continue // they add nothing to find
				}
				b.external = s.external
			}
			if r.Edge == recountv1.EdgeKind_EDGE_KIND_EXTENDS {
				d.bases = append(d.bases, b)
			}
			if b.decl != nil {
				p.subs[b.decl] = append(p.subs[b.decl], d)
			}
		}
	}
	for _, m := range p.modules {
		for _, d := range m.decls {
			if d.isClass() {
				d.order = d.linearize(map[*decl]bool{})
			}
			if d.isFunction() {
				d.typed = p.classOf(d.outer, m, d.Type)
			}
		}
	}
}

func isTyping(v *value) bool {
	switch v.pkg {
	case "typing", "typing_extensions", "abc":
		return true
	}
	return false
}

// beyond is the attribute of the one base of elsewhere that a class has, where
// nothing of the repository gives it one of that name.
func (p *engine) beyond(order []base, name string) *value {
	var found *value
	for _, b := range order {
		switch {
		case b.decl != nil:
			if b.decl.scope.vars[name] != nil {
				return nil
			}
			if v := b.decl.attributes[name]; v != nil && v.written {
				return nil
			}
		case b.external == nil || found != nil:
			return nil
		default:
			found = b.external
		}
	}
	if found == nil {
		return nil
	}
	return p.attributeOf(found, name)
}
