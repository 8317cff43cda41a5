package scope

import recountv1 "github.com/recountdb/recount/schemas/recount/v1"

// Symbol is what a path names by declarations and imports alone: one of them is set,
// or none. Behind the first rest names of the path, nothing is known.
type Symbol struct {
	Decl     *Decl
	Mod      *Module
	External *Value
	// Variable is where a name that has no declaration is bound.
	Variable *Variable
	Rest     int
}

// Lookup looks a path up.
func (p *Program) Lookup(s *Scope, at Path) Symbol {
	if p.Depth > MaxDepth {
		return Symbol{}
	}
	p.Depth++
	defer func() { p.Depth-- }()
	if at.Head == "?" || at.Head == "super" && p.Rules == nil {
		return Symbol{}
	}
	v := p.Find(s, at.Head)
	if v == nil {
		if p.Lang.Builtin[at.Head] && (p.Rules != nil || !p.Starred(s.Mod)) {
			return p.Members(Symbol{External: p.External(p.Lang.Builtins, at.Head)}, at.Steps)
		}
		return Symbol{}
	}
	return p.Members(p.MeaningBefore(v, at.Steps), at.Steps)
}

// MeaningBefore is what a variable stands for before further names: in a typed language
// a function may have the name of a module or type, which then is meant.
func (p *Program) MeaningBefore(v *Variable, steps []Step) Symbol {
	if p.Rules == nil || len(steps) == 0 || v == nil {
		return p.Meaning(v)
	}
	if s, ok := p.Rules.ItemBefore(v); ok {
		return s
	}
	return p.Meaning(v)
}

// Starred reports whether names of elsewhere that nobody knows are in a module.
func (p *Program) Starred(m *Module) bool {
	for _, i := range m.Stars {
		if i.Mod == nil {
			return true
		}
	}
	return false
}

// below are the steps that follow one of a path.
func below(steps, behind []Step) []Step {
	if len(steps) == 0 {
		return behind
	}
	return steps
}

// Members goes down the names of a path as far as they are known.
func (p *Program) Members(at Symbol, steps []Step) Symbol { return p.MembersBefore(at, steps, nil) }

// MembersBefore is the same where further names follow.
func (p *Program) MembersBefore(at Symbol, steps, behind []Step) Symbol {
	for i, st := range steps {
		if st.Op != '.' {
			at.Rest = len(steps) - i
			return at
		}
		next := Symbol{}
		switch {
		case at.Mod != nil:
			next = p.inModule(at.Mod, st.Name, below(steps[i+1:], behind))
		case at.External != nil:
			next.External = p.AttributeOf(at.External, st.Name)
		case at.Decl != nil && at.Decl.IsClass():
			if v, _, sure := ClassAttribute(at.Decl.orderOrSelf(), st.Name); sure {
				next = p.MeaningBefore(v, below(steps[i+1:], behind))
			}
		case at.Decl != nil && p.Rules != nil && at.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE:
			if class := p.Rules.Aliased(at.Decl); class != nil {
				if v, _, sure := ClassAttribute(class.orderOrSelf(), st.Name); sure {
					next = p.MeaningBefore(v, below(steps[i+1:], behind))
				}
			}
		}
		if next == (Symbol{}) {
			at.Rest = len(steps) - i
			return at
		}
		at = next
	}
	return at
}

func (d *Decl) orderOrSelf() []Base {
	if d.Order == nil {
		return []Base{{Decl: d}}
	}
	return d.Order
}

// inModule is what a module calls by a name.
func (p *Program) inModule(m *Module, name string, behind []Step) Symbol {
	var s Symbol
	if v := p.Exported(m, name, 0); v != nil {
		s = p.MeaningBefore(v, behind)
	}
	if s.Decl == nil && s.Mod == nil && s.External == nil {
		if sub := p.Submodule(m, name); sub != nil {
			return Symbol{Mod: sub}
		}
	}
	return s
}

// Meaning is what a variable stands for: its declaration, or what is imported by
// its name, or the one thing that is assigned to it.
func (p *Program) Meaning(v *Variable) Symbol {
	var d *Decl
	for _, c := range v.Decls {
		if d == nil || !c.Overload {
			d = c
		}
	}
	if d != nil {
		if p.Depth < MaxDepth && !d.IsClass() && !d.IsFunction() && len(v.Aliases) == 1 && len(v.Imports) == 0 {
			// A class under another name is that class: X = Y.
			if s := p.Lookup(v.Scope, v.Aliases[0]); s.Rest == 0 && s.Decl != nil && s.Decl.IsClass() {
				return s
			}
		}
		if p.Rules != nil {
			return p.Rules.OfItem(d)
		}
		return Symbol{Decl: d, Variable: v}
	}
	if v.Used {
		return p.Rules.Used(v)
	}
	var outside Symbol
	for _, i := range v.Imports {
		switch s := p.ImportMeaning(i); {
		case s == (Symbol{}):
		case s.External == nil:
			return s
		case outside == (Symbol{}):
			outside = s
		}
	}
	if outside != (Symbol{}) {
		return outside
	}
	return Symbol{Variable: v}
}

func (p *Program) ImportMeaning(i Imported) Symbol {
	switch {
	case i.Mod == nil && i.Outside == "":
		return Symbol{}
	case i.Mod == nil && i.Name == "":
		return Symbol{External: p.External(i.Outside, "")}
	case i.Mod == nil:
		return Symbol{External: p.AttributeOf(p.External(i.Outside, ""), i.Name)}
	case i.Name == "":
		return Symbol{Mod: i.Mod}
	}
	if p.Depth > MaxDepth {
		return Symbol{}
	}
	p.Depth++
	defer func() { p.Depth-- }()
	return p.inModule(i.Mod, i.Name, nil)
}

// Rules are how a language looks names up whose modules lie inside of files and
// whose members are declared apart from their types.
type Rules interface {
	// AddItem declares what a file declares.
	AddItem(d *Decl)
	// Around is the scope around a declaration whose owner is only named.
	Around(m *Module, d *recountv1.Declaration) *Scope
	// Inline is the scope of a module inside of a file.
	Inline(d *Decl) *Scope
	// FindItem is the variable that a name means in a scope, fromGlobs the one that a
	// module does not bind itself; nil where nothing has the name.
	FindItem(s *Scope, name string) *Variable
	FromGlobs(m *Module, name string) *Variable
	// OfItem is a declaration, or the module that it is.
	OfItem(d *Decl) Symbol
	// ItemBefore is what a variable stands for where further names follow, if that
	// is not what it stands for alone.
	ItemBefore(v *Variable) (Symbol, bool)
	// Used is what a variable is imported for.
	Used(v *Variable) Symbol
	// Aliased is the class that a type's declaration is another name of; nil for none.
	Aliased(d *Decl) *Decl
}
