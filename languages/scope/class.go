package scope

import (
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// addBases finds the bases of every class, and the order in which attributes are
// looked up in them.
func (p *program) addBases() {
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

// linearize computes the order of a class: Python's (C3), or, where that does not
// exist, the bases' one after the other. A class that is its own base counts once.
func (d *decl) linearize(open map[*decl]bool) []base {
	if d.order != nil {
		return d.order
	}
	if open[d] || len(open) > 64 {
		return []base{{decl: d}}
	}
	open[d] = true
	var lists [][]base
	for _, b := range d.bases {
		if b.decl == nil {
			lists = append(lists, []base{b})
		} else {
			lists = append(lists, append([]base(nil), b.decl.linearize(open)...))
		}
	}
	lists = append(lists, append([]base(nil), d.bases...))
	delete(open, d)
	order := append([]base{{decl: d}}, merge(lists)...)
	if len(open) == 0 || !d.cyclic(open) {
		d.order = order
	}
	return order
}

// cyclic reports whether a class that is still open stands above d.
func (d *decl) cyclic(open map[*decl]bool) bool {
	for _, b := range d.bases {
		if b.decl != nil && (open[b.decl] || b.decl.order == nil) {
			return true
		}
	}
	return false
}

func merge(lists [][]base) []base {
	var out []base
	seen := map[base]bool{}
	for {
		var pick *base
		for _, l := range lists {
			if len(l) > 0 && !inTail(l[0], lists) {
				pick = &l[0]
				break
			}
		}
		if pick == nil { // no order, or nothing left: what comes first
			for _, l := range lists {
				if len(l) > 0 {
					pick = &l[0]
					break
				}
			}
		}
		if pick == nil {
			return out
		}
		b := *pick
		if !seen[b] || b == (base{}) {
			seen[b] = true
			out = append(out, b)
		}
		for i, l := range lists {
			if len(l) > 0 && l[0] == b {
				lists[i] = l[1:]
			}
		}
	}
}

func inTail(b base, lists [][]base) bool {
	for _, l := range lists {
		for i := 1; i < len(l); i++ {
			if l[i] == b {
				return true
			}
		}
	}
	return false
}

// attribute is the variable of an attribute that is assigned to a class's instances,
// or to the class from outside.
func (d *decl) attribute(name string) *variable {
	v := d.attributes[name]
	if v == nil {
		v = &variable{}
		d.attributes[name] = v
	}
	return v
}

// classAttribute is the first class in an order whose body binds a name; sure is
// false where a class that is not known stands before it.
func classAttribute(order []base, name string) (v *variable, in *decl, sure bool) {
	sure = true
	for _, b := range order {
		if b.decl == nil {
			sure = false
			continue
		}
		if v := b.decl.scope.vars[name]; v != nil {
			return v, b.decl, sure
		}
	}
	return nil, nil, false
}

// beyond is the attribute of the one base of elsewhere that a class has, where
// nothing of the repository gives it one of that name.
func (p *program) beyond(order []base, name string) *value {
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

// attributeOf is an attribute of something of elsewhere: a module, where an import
// names it so.
func (p *program) attributeOf(v *value, name string) *value {
	if v.name == "" && p.outside[v.pkg+"."+name] {
		return p.external(v.pkg+"."+name, "")
	}
	if v.name != "" && v.name != defaultName {
		name = v.name + "." + name
	}
	return p.external(v.pkg, name)
}
