package scope

import recountv1 "github.com/recountdb/recount/schemas/recount/v1"

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
	if at.head == "?" || at.head == "super" && p.rules == nil {
		return symbol{}
	}
	v := p.find(s, at.head)
	if v == nil {
		if p.lang.builtin[at.head] && (p.rules != nil || !p.starred(s.mod)) {
			return p.members(symbol{external: p.external(p.lang.builtins, at.head)}, at.steps)
		}
		return symbol{}
	}
	return p.members(p.meaningBefore(v, at.steps), at.steps)
}

// meaningBefore is what a variable stands for before further names: in a typed language
// a function may have the name of a module or type, which then is meant.
func (p *program) meaningBefore(v *variable, steps []step) symbol {
	if p.rules == nil || len(steps) == 0 || v == nil {
		return p.meaning(v)
	}
	if s, ok := p.rules.itemBefore(v); ok {
		return s
	}
	return p.meaning(v)
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

// below are the steps that follow one of a path.
func below(steps, behind []step) []step {
	if len(steps) == 0 {
		return behind
	}
	return steps
}

// members goes down the names of a path as far as they are known.
func (p *program) members(at symbol, steps []step) symbol { return p.membersBefore(at, steps, nil) }

// membersBefore is the same where further names follow.
func (p *program) membersBefore(at symbol, steps, behind []step) symbol {
	for i, st := range steps {
		if st.op != '.' {
			at.rest = len(steps) - i
			return at
		}
		next := symbol{}
		switch {
		case at.mod != nil:
			next = p.inModule(at.mod, st.name, below(steps[i+1:], behind))
		case at.external != nil:
			next.external = p.attributeOf(at.external, st.name)
		case at.decl != nil && at.decl.isClass():
			if v, _, sure := classAttribute(at.decl.orderOrSelf(), st.name); sure {
				next = p.meaningBefore(v, below(steps[i+1:], behind))
			}
		case at.decl != nil && p.rules != nil && at.decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE:
			if class := p.rules.aliased(at.decl); class != nil {
				if v, _, sure := classAttribute(class.orderOrSelf(), st.name); sure {
					next = p.meaningBefore(v, below(steps[i+1:], behind))
				}
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
func (p *program) inModule(m *module, name string, behind []step) symbol {
	var s symbol
	if v := p.exported(m, name, 0); v != nil {
		s = p.meaningBefore(v, behind)
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
		if p.rules != nil {
			return p.rules.ofItem(d)
		}
		return symbol{decl: d, variable: v}
	}
	if v.used {
		return p.rules.used(v)
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
	return p.inModule(i.mod, i.name, nil)
}

// nameRules are how a language looks names up whose modules lie inside of files and
// whose members are declared apart from their types.
type nameRules interface {
	// addItem declares what a file declares.
	addItem(d *decl)
	// around is the scope around a declaration whose owner is only named.
	around(m *module, d *recountv1.Declaration) *scope
	// inline is the scope of a module inside of a file.
	inline(d *decl) *scope
	// findItem is the variable that a name means in a scope, fromGlobs the one that a
	// module does not bind itself; nil where nothing has the name.
	findItem(s *scope, name string) *variable
	fromGlobs(m *module, name string) *variable
	// ofItem is a declaration, or the module that it is.
	ofItem(d *decl) symbol
	// itemBefore is what a variable stands for where further names follow, if that
	// is not what it stands for alone.
	itemBefore(v *variable) (symbol, bool)
	// used is what a variable is imported for.
	used(v *variable) symbol
	// aliased is the class that a type's declaration is another name of; nil for none.
	aliased(d *decl) *decl
}
