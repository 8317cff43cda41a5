package rust

import (
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// FindItem implements scope.Rules.
func (p *items) FindItem(s *scope.Scope, name string) *scope.Variable {
	switch name {
	case "crate":
		return p.moduleVariable(moduleOf(s).Root)
	case "super":
		return p.moduleVariable(moduleOf(s).Up)
	}
	for o := s; o != nil; o = o.Outer {
		if o.IsClass() && o.Decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_MODULE {
			if o == s && name == "self" {
				return o.Vars[name]
			}
			continue
		}
		if v := o.Vars[name]; v != nil {
			return v
		}
		if v := p.inGlobs(o, name, map[*scope.Module]bool{}); v != nil {
			return v
		}
		if o.Inline != nil {
			break
		}
	}
	return p.extern(moduleOf(s), name)
}

// FromGlobs implements scope.Rules.
func (p *items) FromGlobs(m *scope.Module, name string) *scope.Variable {
	return p.globbed(m, name, map[*scope.Module]bool{})
}

// globbed returns the variable of a name in a module, also through its wildcard imports.
func (p *items) globbed(m *scope.Module, name string, seen map[*scope.Module]bool) *scope.Variable {
	if seen[m] {
		return nil
	}
	seen[m] = true
	if v := m.Scope.Vars[name]; v != nil {
		return v
	}
	return p.inGlobs(m.Scope, name, seen)
}

func (p *items) inGlobs(s *scope.Scope, name string, seen map[*scope.Module]bool) *scope.Variable {
	for _, u := range p.globs[s] {
		switch {
		case u.enum != nil:
			if v := u.enum.Scope.Vars[name]; v != nil {
				return v
			}
		case u.mod != nil:
			if v := p.globbed(u.mod, name, seen); v != nil {
				return v
			}
		}
	}
	return nil
}

// typeNamed returns the type that a path means, through aliases.
func (p *items) typeNamed(s *scope.Scope, of scope.Path) *scope.Decl {
	for range scope.MaxDepth {
		at := p.Lookup(s, of)
		if at.Rest != 0 || at.Decl == nil {
			return nil
		}
		if at.Decl.IsClass() {
			return at.Decl
		}
		if at.Decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_TYPE || at.Decl.Type == "" {
			return nil
		}
		name, _, _ := strings.Cut(at.Decl.Type, "<")
		s, of = at.Decl.Outer, scope.ParsePath(name)
	}
	return nil
}

// Aliased implements scope.Rules.
func (p *items) Aliased(d *scope.Decl) *scope.Decl {
	return p.typeNamed(d.Outer, scope.ParsePath(d.Name))
}

// OfItem implements scope.Rules.
func (p *items) OfItem(d *scope.Decl) scope.Symbol {
	if d.Scope != nil && d.Scope.Inline != nil {
		return scope.Symbol{Mod: d.Scope.Inline}
	}
	return scope.Symbol{Decl: d}
}

// ItemBefore implements scope.Rules: it prefers a module or a type to a function of the same
// name.
func (p *items) ItemBefore(v *scope.Variable) (scope.Symbol, bool) {
	for _, d := range v.Decls {
		if d.IsClass() || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE {
			return p.OfItem(d), true
		}
	}
	for _, i := range v.Imports {
		return p.ImportMeaning(i), true
	}
	if !v.Used {
		return scope.Symbol{}, false
	}
	s := p.once(question{v, true}, func(s scope.Symbol) bool {
		return s.Mod != nil || s.External != nil || s.Decl != nil && !s.Decl.IsFunction()
	})
	return s, s != (scope.Symbol{})
}

// Used implements scope.Rules.
func (p *items) Used(v *scope.Variable) scope.Symbol {
	return p.once(question{v, false}, func(s scope.Symbol) bool { return s != (scope.Symbol{}) })
}

// question asks what a variable means that imports bind: anything, or what can have names below it.
type question struct {
	v      *scope.Variable
	before bool
}

// once returns the first meaning of a variable's imports that will do. Imports may lead in circles, on many ways:
// each question is answered once until the first of them is, and one that rests on itself has no answer.
func (p *items) once(q question, will func(scope.Symbol) bool) scope.Symbol {
	if s, asked := p.asked[q]; asked {
		return s
	}
	if len(p.asked) == 0 {
		defer clear(p.asked)
	}
	p.asked[q] = scope.Symbol{}
	for _, of := range q.v.Aliases {
		if s := p.usedSymbol(q.v, of); s.Rest == 0 && will(s) {
			p.asked[q] = s
			break
		}
	}
	return p.asked[q]
}

// usedSymbol returns what a path means that an import binds to v. The head of the path is not v
// itself.
func (p *items) usedSymbol(v *scope.Variable, of scope.Path) scope.Symbol {
	return p.usedSymbolBefore(v, of, nil)
}

// usedSymbolBefore is usedSymbol for a path that further names follow.
func (p *items) usedSymbolBefore(v *scope.Variable, of scope.Path, behind []scope.Step) scope.Symbol {
	if p.Depth > scope.MaxDepth {
		return scope.Symbol{}
	}
	p.Depth++
	defer func() { p.Depth-- }()
	head := p.FindItem(v.Scope, of.Head)
	if head == v || head == nil {
		head = p.extern(moduleOf(v.Scope), of.Head)
	}
	if head == nil {
		if p.Lang.Builtin[of.Head] {
			return p.Members(scope.Symbol{External: p.External(p.Lang.Builtins, of.Head)}, of.Steps)
		}
		// A crate that no manifest names is outside the repository.
		return p.Members(scope.Symbol{External: p.External(of.Head, "")}, of.Steps)
	}
	if len(of.Steps) == 0 {
		return p.MeaningBefore(head, behind)
	}
	return p.MembersBefore(p.MeaningBefore(head, of.Steps), of.Steps, behind)
}
