package scope

import (
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Scope is a region that binds names: a module, a class or a function.
type Scope struct {
	Mod   *Module
	Outer *Scope
	Decl  *Decl // nil for the module's scope
	Vars  map[string]*Variable
	// outerNames has the names that are declared global or nonlocal.
	outerNames map[string]string
	// Inline is the module inside a file that this scope belongs to.
	Inline *Module
}

// IsClass reports whether the scope is that of a class.
func (s *Scope) IsClass() bool { return s.Decl != nil && s.Decl.IsClass() }

// In returns the index of the scope's declaration plus 1, 0 for a module's scope.
func (s *Scope) In() uint32 {
	if s.Decl == nil {
		return 0
	}
	return s.Decl.Index
}

// Own returns the variable of a name that the scope itself binds. It creates the variable if
// there is none.
func (s *Scope) Own(name string) *Variable {
	v := s.Vars[name]
	if v == nil {
		v = &Variable{Scope: s}
		s.Vars[name] = v
	}
	return v
}

// Bound returns the variable that an assignment in the scope sets, which may be a global or
// nonlocal one.
func (s *Scope) Bound(name string) *Variable {
	switch s.outerNames[name] {
	case "global":
		return s.Mod.Scope.Own(name)
	case "nonlocal":
		for o := s.Outer; o != nil; o = o.Outer {
			if v := o.Vars[name]; v != nil && !o.IsClass() {
				return v
			}
		}
	}
	return s.Own(name)
}

// Find returns the variable that a name means in a scope, nil if nothing binds the name.
func (p *Program) Find(s *Scope, name string) *Variable {
	if p.Rules != nil {
		return p.Rules.FindItem(s, name)
	}
	inner := true
	var from *Decl // the declaration that the search comes out of
	var own *Variable
	for ; s.Outer != nil; s = s.Outer {
		hides := s.IsClass() && s.Decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_MODULE && (!inner || p.Lang.MembersHidden && name != "self")
		if hides && s.Decl.Constructs { // its parameters and variables are hidden from its members alone
			hides = from != nil && from.isMember()
		}
		inner, from = false, s.Decl
		if hides {
			continue
		}
		if word := s.outerNames[name]; word == "global" {
			return p.Global(s.Mod, name)
		} else if word == "nonlocal" {
			own = s.Vars[name]
			continue
		}
		if v := s.Vars[name]; v != nil {
			return v
		}
	}
	if v := p.Global(s.Mod, name); v != nil {
		return v
	}
	if v := p.Shared(s.Mod, name); v != nil || own == nil {
		return v
	}
	return own // nothing around it has the name
}

// Global returns the variable of a name of a module: its own, or one that a wildcard import
// brings.
func (p *Program) Global(m *Module, name string) *Variable {
	return p.global(m, name, nil)
}

// global is Global among the modules that were not seen yet.
func (p *Program) global(m *Module, name string, seen map[*Module]bool) *Variable {
	if m.Scope == nil {
		return nil
	}
	if v := m.Scope.Vars[name]; v != nil || strings.HasPrefix(name, "_") {
		return v
	}
	if p.Rules != nil {
		return p.Rules.FromGlobs(m, name)
	}
	if seen == nil {
		seen = map[*Module]bool{}
	}
	seen[m] = true
	for _, star := range slices.Backward(m.Stars) {
		if from := star.Mod; from != nil && !seen[from] {
			if v := p.global(from, name, seen); v != nil {
				return v
			}
		}
	}
	return nil
}
