package scope

// maxOrder is the maximum number of classes in the order of one. Real ones have less than a hundred; a chain of
// n classes would take the memory of n² otherwise.
const maxOrder = 256

// Linearize returns the class and its bases in the order in which attributes are looked up:
// Python's method resolution order (C3), or, if the class has none, the bases one after the
// other: the first maxOrder. In a cycle of bases each class occurs once.
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
	order = order[:min(len(order), maxOrder)]
	if len(open) == 0 || !d.cyclic(open) {
		d.Order = order
	}
	return order
}

// cyclic reports whether a base of d is still being linearized.
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
		if pick == nil { // the bases have no C3 order, or nothing is left: take what comes first
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

// Attribute returns the variable of an attribute that is assigned to instances of the class, or
// to the class outside its body. It creates the variable if there is none.
func (d *Decl) Attribute(name string) *Variable {
	v := d.Assigned[name]
	if v == nil {
		v = &Variable{}
		d.Assigned[name] = v
	}
	return v
}

// ClassAttribute returns the variable of a name in the first class of an order whose body binds
// it, and that class. sure is false if an unknown class comes before it, which might bind the
// name too.
func ClassAttribute(order []Base, name string) (v *Variable, in *Decl, sure bool) {
	sure = true
	for _, b := range order {
		if b.Decl == nil {
			sure = false
			continue
		}
		if v := b.Decl.Scope.Vars[name]; v != nil && (!b.Decl.Constructs || v.isMember()) {
			return v, b.Decl, sure
		}
	}
	return nil, nil, false
}

// AttributeOf returns an attribute of a value outside the repository. It is a module if an import
// names it as one.
func (p *Program) AttributeOf(v *Value, name string) *Value {
	if v.Name == "" && p.Outside[v.Pkg+"."+name] {
		return p.External(v.Pkg+"."+name, "")
	}
	if v.Name != "" && v.Name != DefaultName {
		name = v.Name + "." + name
	}
	return p.External(v.Pkg, name)
}
