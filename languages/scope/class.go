package scope

// Linearize computes the order of a class: Python's (C3), or, where that does not
// exist, the bases' one after the other. A class that is its own base counts once.
func (d *Decl) Linearize(open map[*Decl]bool) []Base {
	if d.Order != nil {
		return d.Order
	}
	if open[d] || len(open) > 64 {
		return []Base{{Decl: d}}
	}
	open[d] = true
	var lists [][]Base
	for _, b := range d.Bases {
		if b.Decl == nil {
			lists = append(lists, []Base{b})
		} else {
			lists = append(lists, append([]Base(nil), b.Decl.Linearize(open)...))
		}
	}
	lists = append(lists, append([]Base(nil), d.Bases...))
	delete(open, d)
	order := append([]Base{{Decl: d}}, merge(lists)...)
	if len(open) == 0 || !d.cyclic(open) {
		d.Order = order
	}
	return order
}

// cyclic reports whether a class that is still open stands above d.
func (d *Decl) cyclic(open map[*Decl]bool) bool {
	for _, b := range d.Bases {
		if b.Decl != nil && (open[b.Decl] || b.Decl.Order == nil) {
			return true
		}
	}
	return false
}

func merge(lists [][]Base) []Base {
	var out []Base
	seen := map[Base]bool{}
	for {
		var pick *Base
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
		if !seen[b] || b == (Base{}) {
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

func inTail(b Base, lists [][]Base) bool {
	for _, l := range lists {
		for i := 1; i < len(l); i++ {
			if l[i] == b {
				return true
			}
		}
	}
	return false
}

// Attribute is the variable of an attribute that is assigned to a class's instances,
// or to the class from outside.
func (d *Decl) Attribute(name string) *Variable {
	v := d.Assigned[name]
	if v == nil {
		v = &Variable{}
		d.Assigned[name] = v
	}
	return v
}

// ClassAttribute is the first class in an order whose body binds a name; sure is
// false where a class that is not known stands before it.
func ClassAttribute(order []Base, name string) (v *Variable, in *Decl, sure bool) {
	sure = true
	for _, b := range order {
		if b.Decl == nil {
			sure = false
			continue
		}
		if v := b.Decl.Scope.Vars[name]; v != nil {
			return v, b.Decl, sure
		}
	}
	return nil, nil, false
}

// AttributeOf is an attribute of something of elsewhere: a module, where an import
// names it so.
func (p *Program) AttributeOf(v *Value, name string) *Value {
	if v.Name == "" && p.Outside[v.Pkg+"."+name] {
		return p.External(v.Pkg+"."+name, "")
	}
	if v.Name != "" && v.Name != DefaultName {
		name = v.Name + "." + name
	}
	return p.External(v.Pkg, name)
}
