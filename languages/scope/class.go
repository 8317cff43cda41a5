package scope

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
