package flow

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A constant may hold a function of which no declaration tells:
//
//	export const isDate = kindOf('Date')
//	export default { isDate }
//
// A call of it means the constant then.

// constant returns the constant of a module that a path names and that is called, although nothing
// is known of its value, as of `export const createSlice = build()`. It returns nil if there is
// none.
func (p *Engine) constant(here Site, of scope.Path) *scope.Decl {
	if p.rules != nil {
		return nil
	}
	s := p.Lookup(here.Scope, of)
	if s.Rest == 1 && s.Decl != nil && p.Lang.Exports {
		s = p.entry(s.Decl, of.Last())
	}
	if s.Rest > 0 || s.Decl == nil || s.Decl.Owner != 0 || s.Decl.Object && !p.Lang.Exports {
		return nil
	}
	all := []*scope.Decl{s.Decl}
	if p.Lang.Exports && s.Decl.IsType() && !strings.HasSuffix(s.Decl.Mod.File.Path, ".d.ts") { // a constant may have the name of a type
		all = s.Decl.Outer.Vars[s.Decl.LocalName()].Decls
	}
	for _, d := range all {
		switch d.Kind {
		case recountv1.SymbolKind_SYMBOL_KIND_CONSTANT, recountv1.SymbolKind_SYMBOL_KIND_VARIABLE:
			if of := d.Outer.Vars[d.LocalName()].Aliases; len(all) == 1 || len(of) > 0 && of[0].Head != "?" {
				return d
			}
		}
	}
	return nil
}

// entry returns what an object of a module has under a name, if that is another name.
func (p *Engine) entry(object *scope.Decl, name string) (found scope.Symbol) {
	if name == "" || object.Owner != 0 || object.IsFunction() || object.IsType() {
		return found
	}
	if p.entries[object.Mod] == nil {
		p.entries[object.Mod] = map[string][]string{}
		for _, b := range object.Mod.Facts.Bindings {
			if b.In == 0 && strings.Contains(b.Target, ".") {
				p.entries[object.Mod][b.Target] = append(p.entries[object.Mod][b.Target], b.Value)
			}
		}
	}
	if of := p.entries[object.Mod][object.LocalName()+"."+name]; len(of) == 1 {
		found = p.Lookup(object.Outer, object.Mod.Path(of[0]))
	}
	return found
}

// several returns the constant that a call names if it may mean several functions, or one that only a declared type or what a call
// returns tells, none of them for sure, and not all of other packages. It returns nil if there is no such constant.
func (l *Linker) several(here Site, of scope.Path, t *scope.Targets) *scope.Decl {
	if !l.e.Lang.Exports || !of.Plain() || slices.ContainsFunc(t.List, func(to scope.Target) bool { return t.Sure[to] }) {
		return nil
	}
	d := l.e.constant(here, of)
	if d == nil || d.Kind != recountv1.SymbolKind_SYMBOL_KIND_CONSTANT {
		return nil
	}
	if !slices.ContainsFunc(d.Outer.Vars[d.LocalName()].Aliases, func(a scope.Path) bool {
		found := l.e.Eval(nil, Site{d.Outer, d.Outer.In()}, a)
		return len(found) == 0 || found[0].Value.Kind != scope.ExternalValue
	}) {
		return nil
	}
	return d
}
