package scope

import recountv1 "github.com/recountdb/recount/schemas/recount/v1"

// Symbol is what a path names according to declarations and imports, without following values. At
// most one of its pointers is set. If Rest is not 0, nothing is known of the last Rest steps of
// the path.
type Symbol struct {
	Decl     *Decl
	Mod      *Module
	External *Value
	// Variable is set if the name is bound and has no declaration.
	Variable *Variable
	Rest     int
}

// Lookup returns the symbol that a path names in a scope.
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
	return p.whole(p.Members(p.MeaningBefore(v, at.Steps), at.Steps))
}

// whole returns, for a module that exports one declaration as a whole, that declaration, and any
// other symbol unchanged.
func (p *Program) whole(s Symbol) Symbol {
	if s.Mod == nil || s.Rest > 0 || s.Mod.Exports[WholeExport] == nil || p.Depth > MaxDepth {
		return s
	}
	if of := p.exportedWhole(s.Mod); of.Decl != nil {
		return of
	}
	return s
}

// exportedWhole returns what `module.exports` of a module is assigned.
func (p *Program) exportedWhole(m *Module) Symbol {
	v := m.Exports[WholeExport]
	if v == nil || len(v.Aliases) != 1 {
		return Symbol{}
	}
	if s := p.Lookup(m.Scope, v.Aliases[0]); s.Rest == 0 {
		return s
	}
	return Symbol{}
}

// MeaningBefore returns what a variable stands for if further names follow. By the language's
// rules a module or a type may then be meant and not a function of the same name.
func (p *Program) MeaningBefore(v *Variable, steps []Step) Symbol {
	if p.Rules == nil || len(steps) == 0 || v == nil {
		return p.Meaning(v)
	}
	if s, ok := p.Rules.ItemBefore(v); ok {
		return s
	}
	return p.Meaning(v)
}

// Starred reports whether a module has wildcard imports from outside the repository, which may
// bind any name.
func (p *Program) Starred(m *Module) bool {
	for _, i := range m.Stars {
		if i.Mod == nil {
			return true
		}
	}
	return false
}

// below returns the steps that follow a step: the rest of its path, or, at the end of the path,
// behind.
func below(steps, behind []Step) []Step {
	if len(steps) == 0 {
		return behind
	}
	return steps
}

// Members follows the steps of a path from a symbol as far as they are known.
func (p *Program) Members(at Symbol, steps []Step) Symbol { return p.MembersBefore(at, steps, nil) }

// MembersBefore is Members for a path that further names follow.
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
			if next == (Symbol{}) {
				if of := p.exportedWhole(at.Mod); of.Decl != nil && of.Decl.IsClass() {
					if v, _, sure := ClassAttribute(of.Decl.orderOrSelf(), st.Name); sure {
						next = p.MeaningBefore(v, below(steps[i+1:], behind))
					}
				}
			}
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

// inModule returns what a name of a module stands for.
func (p *Program) inModule(m *Module, name string, behind []Step) Symbol {
	var s Symbol
	if v := p.Exported(m, name); v != nil {
		s = p.MeaningBefore(v, behind)
		if s == (Symbol{Variable: v}) && p.Lang.Exports && len(v.Aliases) == 1 && v.Scope != nil { // export { X }
			if of := p.Lookup(v.Scope, v.Aliases[0]); of.Rest == 0 && (of.Decl != nil || of.Mod != nil || of.External != nil) {
				return of
			}
		}
	}
	if s.Decl == nil && s.Mod == nil && s.External == nil {
		if sub := p.Submodule(m, name); sub != nil {
			return Symbol{Mod: sub}
		}
	}
	return s
}

// Meaning returns what a variable stands for: its declaration, what is imported by its name, or,
// if it is the only value, the class that is assigned to it.
func (p *Program) Meaning(v *Variable) Symbol {
	var d *Decl
	for _, c := range v.Decls {
		if d != nil && p.Lang.Exports && c.Kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE && (d.Kind == c.Kind || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_CLASS) {
			continue // it adds members to d
		}
		if d == nil || !c.Overload && !(p.Lang.Exports && d.IsType() && !c.IsType() && !c.IsFunction() && c.Kind != recountv1.SymbolKind_SYMBOL_KIND_CLASS) {
			d = c // of a type and a constant of the same name, the type
		}
	}
	if d != nil {
		if p.Depth < MaxDepth && !d.IsClass() && !d.IsFunction() && len(v.Aliases) == 1 && len(v.Imports) == 0 {
			// X = Y makes X another name of the class Y.
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

// ImportMeaning returns what an import binds a name to.
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
	if i.Name == DefaultName && p.Exported(i.Mod, i.Name) == nil {
		return Symbol{Mod: i.Mod} // a module without exports of this form is imported as a whole
	}
	return p.inModule(i.Mod, i.Name, nil)
}

// Rules are how a language looks names up if modules lie inside files and members are declared
// apart from their types, as in Rust.
type Rules interface {
	// AddItem declares d.
	AddItem(d *Decl)
	// Around returns the scope around a declaration whose owner is given by name only.
	Around(m *Module, d *recountv1.Declaration) *Scope
	// Inline returns the scope of a module inside a file.
	Inline(d *Decl) *Scope
	// FindItem returns the variable that a name means in a scope, FromGlobs the one that wildcard
	// imports bring to a module. Both return nil if nothing has the name.
	FindItem(s *Scope, name string) *Variable
	FromGlobs(m *Module, name string) *Variable
	// OfItem returns the symbol of a declaration; of a module declared inside a file it is the
	// module.
	OfItem(d *Decl) Symbol
	// ItemBefore returns what a variable stands for if further names follow, and false if that is
	// not special.
	ItemBefore(v *Variable) (Symbol, bool)
	// Used returns what the name of a variable is imported for.
	Used(v *Variable) Symbol
	// Aliased returns the class that the declaration of a type is another name of, nil if there
	// is none.
	Aliased(d *Decl) *Decl
}
