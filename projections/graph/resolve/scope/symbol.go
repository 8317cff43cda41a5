package scope

// symbol is what a path names by declarations and imports alone: one of them is set,
// or none. Behind the first rest names of the path, nothing is known.
type symbol struct {
	decl     *decl
	mod      *module
	external *value
	// variable is where a name that has no declaration is bound.
	variable *variable
	rest     int
}

// symbol looks a path up.
func (p *program) symbol(s *scope, at path) symbol {
	if p.depth > maxDepth {
		return symbol{}
	}
	p.depth++
	defer func() { p.depth-- }()
	if at.head == "?" || at.head == "super" {
		return symbol{}
	}
	v := p.find(s, at.head)
	if v == nil {
		if p.lang.builtin[at.head] && !p.starred(s.mod) {
			return p.members(symbol{external: p.external(p.lang.builtins, at.head)}, at.steps)
		}
		return symbol{}
	}
	return p.members(p.meaning(v), at.steps)
}

// starred reports whether names of elsewhere that nobody knows are in a module.
func (p *program) starred(m *module) bool {
	for _, i := range m.stars {
		if i.mod == nil {
			return true
		}
	}
	return false
}

// members goes down the names of a path as far as they are known.
func (p *program) members(at symbol, steps []step) symbol {
	for i, st := range steps {
		if st.op != '.' {
			at.rest = len(steps) - i
			return at
		}
		next := symbol{}
		switch {
		case at.mod != nil:
			next = p.inModule(at.mod, st.name)
		case at.external != nil:
			next.external = p.attributeOf(at.external, st.name)
		case at.decl != nil && at.decl.isClass():
			if v, _, sure := classAttribute(at.decl.orderOrSelf(), st.name); sure {
				next = p.meaning(v)
			}
		}
		if next == (symbol{}) {
			at.rest = len(steps) - i
			return at
		}
		at = next
	}
	return at
}

func (d *decl) orderOrSelf() []base {
	if d.order == nil {
		return []base{{decl: d}}
	}
	return d.order
}

// inModule is what a module calls by a name.
func (p *program) inModule(m *module, name string) symbol {
	var s symbol
	if v := p.exported(m, name, 0); v != nil {
		s = p.meaning(v)
	}
	if s.decl == nil && s.mod == nil && s.external == nil {
		if sub := p.submodule(m, name); sub != nil {
			return symbol{mod: sub}
		}
	}
	return s
}

// meaning is what a variable stands for: its declaration, or what is imported by
// its name, or the one thing that is assigned to it.
func (p *program) meaning(v *variable) symbol {
	var d *decl
	for _, c := range v.decls {
		if d == nil || !c.overload {
			d = c
		}
	}
	if d != nil {
		if p.depth < maxDepth && !d.isClass() && !d.isFunction() && len(v.aliases) == 1 && len(v.imports) == 0 {
			// A class under another name is that class: X = Y.
			if s := p.symbol(v.scope, v.aliases[0]); s.rest == 0 && s.decl != nil && s.decl.isClass() {
				return s
			}
		}
		return symbol{decl: d, variable: v}
	}
	var outside symbol
	for _, i := range v.imports {
		switch s := p.importMeaning(i); {
		case s == (symbol{}):
		case s.external == nil:
			return s
		case outside == (symbol{}):
			outside = s
		}
	}
	if outside != (symbol{}) {
		return outside
	}
	return symbol{variable: v}
}

func (p *program) importMeaning(i imported) symbol {
	switch {
	case i.mod == nil && i.outside == "":
		return symbol{}
	case i.mod == nil && i.name == "":
		return symbol{external: p.external(i.outside, "")}
	case i.mod == nil:
		return symbol{external: p.attributeOf(p.external(i.outside, ""), i.name)}
	case i.name == "":
		return symbol{mod: i.mod}
	}
	if p.depth > maxDepth {
		return symbol{}
	}
	p.depth++
	defer func() { p.depth-- }()
	return p.inModule(i.mod, i.name)
}
