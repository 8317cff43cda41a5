package flow

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// declared returns the values that a type says in a scope, of the classes of the repository that it names: an
// instance, the class itself, or what contains such values. An instance is mixed if the value may also be of a type
// that is not known here.
func (p *Engine) declared(s *scope.Scope, m *scope.Module, typ string) (out scope.Set) {
	if typ == "" || typ == "?" || p.Depth > scope.MaxDepth {
		return nil
	}
	p.Depth++
	defer func() { p.Depth-- }()
	mixed := false
	for of := range strings.SplitSeq(typ, "|") {
		found := p.declaredOne(s, m, of)
		mixed = mixed || len(found) == 0
		for _, v := range found {
			out = out.With(v.Value, true)
		}
	}
	for i, v := range out {
		if mixed && v.Value.Kind == scope.InstanceValue {
			out[i].Value = p.Intern(scope.ValueID{Kind: scope.InstanceValue, Decl: v.Value.Decl, Open: true, Mixed: true})
		}
	}
	return out
}

// declaredOne is declared of a type without alternatives.
func (p *Engine) declaredOne(s *scope.Scope, m *scope.Module, of string) (out scope.Set) {
	if i := strings.LastIndexByte(of, '['); i >= 0 && strings.HasSuffix(of, "]") {
		for _, e := range p.declared(s, m, of[:i]) {
			out = out.With(p.ContainerOf(e.Value, of[i+1:len(of)-1]), true)
		}
		return out
	}
	if of == "self" && p.Lang.Exports { // the type `this`
		for ; s != nil; s = s.Outer {
			if s.IsClass() && !s.Decl.IsFunction() {
				return scope.Set{{Value: p.Instance(wholeOf(s.Decl), true), Sure: true}}
			}
		}
		return nil
	}
	name, class := strings.CutSuffix(of, scope.ClassOf)
	at := p.Lookup(s, m.Path(name))
	if at.Rest == 0 && at.Decl != nil && at.Decl.IsFunction() && p.Lang.Exports { // a type may have the name of a function
		if i := slices.IndexFunc(at.Decl.Outer.Vars[at.Decl.LocalName()].Decls, (*scope.Decl).IsType); i >= 0 {
			at.Decl = at.Decl.Outer.Vars[at.Decl.LocalName()].Decls[i]
		}
	}
	if at.Decl == nil && at.Rest == 0 {
		at.Decl = p.ambientType(at.External)
	}
	if at.Rest == 0 && at.Decl != nil && isTypes(at.Decl.Mod) && m.Facts.Language == "javascript" {
		if d := p.onlyClass(at.Decl.Name); d != nil {
			at.Decl = d // the file of types only describes it
		}
	}
	switch {
	case at.Rest != 0 || at.Decl == nil:
	case at.Decl.IsClass() && class:
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: at.Decl}), Sure: true}}
	case at.Decl.IsClass():
		return scope.Set{{Value: p.Instance(at.Decl, true), Sure: true}}
	case at.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE && !class:
		return p.declared(at.Decl.Outer, at.Decl.Mod, at.Decl.Type)
	}
	if at.External == nil {
		return p.documented(m, m.Path(name), class)
	}
	return nil
}

// narrowed returns what values are that code says to be of a type, or for which a function tells their type.
func (p *Engine) narrowed(f *scope.Flow, here Site, values scope.Set, how, by string) scope.Set {
	var typed scope.Set
	switch how {
	case scope.Perhaps:
		if len(values) > 0 {
			return values
		}
		fallthrough
	case scope.Cast:
		typed = p.declared(here.Scope, here.Scope.Mod, by)
	case scope.Guarded:
		for _, m := range p.Eval(f, here, here.Scope.Mod.Path(by)) {
			if d := m.Value.Decl; m.Sure && d != nil && d.IsFunction() {
				typed = p.declared(d.Outer, d.Mod, d.Attributes[scope.Guards])
			}
		}
		var some scope.Set // of several types, those that are of the one
		for _, m := range values {
			if slices.ContainsFunc(typed, func(t scope.Member) bool { return p.isOf(m.Value, t.Value) }) {
				some = append(some, m)
			}
		}
		if len(some) > 0 {
			return some
		}
	}
	if len(typed) == 0 {
		return values
	}
	return typed
}

// isOf reports whether a value is an instance of the class of another one, or of one that extends or implements it.
func (p *Engine) isOf(v, of *scope.Value) bool {
	if v.Kind != scope.InstanceValue || of.Kind != scope.InstanceValue {
		return false
	}
	return v.Decl == of.Decl || p.Extends(v.Decl, of.Decl)
}

// results returns what the results of a function are declared to be: whether they may be its receiver, and what else. Of
// a function that is declared several times, and whose body says nothing of them, all declarations count.
func (p *Engine) results(d *scope.Decl) (this bool, typed scope.Set) {
	types := []string{d.Type}
	if own := d.Outer.Vars[d.LocalName()]; p.Lang.Exports && !d.Overload && own != nil && (d.Type == "" || d.Type == "any") {
		for _, o := range own.Decls {
			if o.Overload && !slices.Contains(types, o.Type) {
				types = append(types, o.Type)
			}
		}
	}
	var rest []string
	for of := range strings.SplitSeq(strings.Join(types, "|"), "|") {
		if this = this || p.Lang.Exports && of == "self"; of != "self" {
			rest = append(rest, of)
		}
	}
	return this, p.declared(d.Outer, d.Mod, strings.Trim(strings.Join(rest, "|"), "|"))
}

// ofType returns what is known of a value together with what its declared type says. What else is known is then not
// sure: a value is used by its type.
func ofType(values, typed scope.Set) scope.Set {
	if len(typed) == 0 {
		return values
	}
	out := slices.Clone(values)
	for i, m := range out {
		if !slices.ContainsFunc(typed, func(t scope.Member) bool { return !isSignature(t.Value) }) {
			break // such a type says nothing of which function it is
		}
		out[i].Sure = m.Sure && ofClass(typed, m.Value.Decl)
	}
	for _, v := range typed {
		out = out.With(v.Value, v.Sure)
	}
	return out
}

// ofClass reports whether a set has a sure instance of a class.
func ofClass(s scope.Set, class *scope.Decl) bool {
	return slices.ContainsFunc(s, func(m scope.Member) bool {
		return m.Sure && m.Value.Kind == scope.InstanceValue && m.Value.Decl == class
	})
}
