package flow

import (
	"slices"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// given is an argument of a call.
type given struct {
	of *recountv1.Reference
	at int
}

// noteUnknown notes the parameters of a function, from the index skip on, that a call gives something of
// which nothing is known.
func (p *Engine) noteUnknown(d *scope.Decl, r *recountv1.Reference, here Site, skip int, known map[int]bool) {
	if p.Lang.Common == nil || here.Scope.Mod.Test {
		return
	}
	for i := skip; i < len(d.Parameters) && i-skip < int(r.Count); i++ {
		v := d.Scope.Own(d.ParameterName(i, d.Parameters[i].Name))
		at := given{r, i}
		switch {
		case known[i]:
			delete(p.unknown[v], at)
		case p.unknown[v] == nil:
			p.unknown[v] = map[given]bool{at: true}
		default:
			p.unknown[v][at] = true
		}
	}
}

// allKnown reports whether a name is that of a parameter, and something is known of all that the calls
// of its function give it. Nobody knows what is given to a function that is passed on.
func (p *Engine) allKnown(here Site, name string) bool {
	v := p.Find(here.Scope, name)
	if v == nil || !v.Parameter || len(v.Values) == 0 || len(v.Aliases) > 0 || len(p.unknown[v]) > 0 {
		return false
	}
	d := v.Scope.Decl
	return !slices.ContainsFunc(d.Mod.Facts.References, func(r *recountv1.Reference) bool {
		_, last := cutLast("." + r.Path)
		return r.Edge == scope.References && last == d.Name
	})
}

// fieldKnown reports whether a path is a member of `this`, and something is known of all that the program assigns to members
// of that name: what is made there, `this`, and parameters of which all is known.
func (p *Engine) fieldKnown(here Site, of scope.Path) bool {
	if !p.Lang.Exports || of.Head != "self" || len(of.Steps) != 1 || of.Steps[0].Op != '.' {
		return false
	}
	if p.assigned == nil {
		p.assigned = map[string][]assigned{}
		for _, m := range p.Modules {
			for _, b := range m.Facts.Bindings {
				if _, name := cutLast(b.Target); name != "" && !m.Test {
					p.assigned[name] = append(p.assigned[name], assigned{m, b})
				}
			}
		}
	}
	own, some := classAround(here.Scope), false
	for _, a := range p.assigned[of.Last()] {
		if p.ofOther(a, own) {
			continue
		}
		if some = true; !p.knownValue(a) {
			return false
		}
	}
	return some
}

// ofOther reports whether a value is that of a member of `this` in a class that is not related to another class.
func (p *Engine) ofOther(a assigned, class *scope.Decl) bool {
	of := a.m.Path(a.b.Target)
	other := classAround(a.m.ScopeOf(a.b.In))
	return of.Head == "self" && len(of.Steps) == 1 && class != nil && other != nil && other != class && !p.Extends(other, class) && !p.Extends(class, other)
}

// classAround returns the class whose method is around a scope, nil if there is none.
func classAround(s *scope.Scope) *scope.Decl {
	for ; s != nil && s.Decl != nil; s = s.Outer {
		if class := s.Decl.Class(); s.Decl.IsMethod() && class != nil {
			return class
		}
		if s.IsClass() {
			return s.Decl
		}
	}
	return nil
}

// assigned is a value that a member is given.
type assigned struct {
	m *scope.Module
	b *recountv1.Binding
}

func (p *Engine) knownValue(a assigned) bool {
	here, value := Site{a.m.ScopeOf(a.b.In), a.b.In}, a.m.Path(a.b.Value)
	switch {
	case a.b.Value == scope.NoValue || a.b.Value == "undefined" || a.b.Value == "self":
		return true
	case value.Plain():
		return p.allKnown(here, value.Head)
	case value.Steps[len(value.Steps)-1].Op != '(':
		return false
	}
	made := p.Eval(nil, here, value.Base())
	return len(made) > 0 && !slices.ContainsFunc(made, func(m scope.Member) bool { return m.Value.Kind != scope.ClassValue })
}

// noteGiven notes that something known flows into parameter i of a function from a test, or from elsewhere.
func (p *Engine) noteGiven(d *scope.Decl, i int, test bool) {
	if p.Lang.Common == nil || i >= len(d.Parameters) {
		return
	}
	v := d.Scope.Own(d.ParameterName(i, d.Parameters[i].Name))
	if tried, noted := p.tried[v]; !noted || tried {
		p.tried[v] = test
	}
}

// triedOnly reports whether a name is that of a parameter to which calls in tests alone give something that is known:
// tests also pass what stands in for something else.
func (p *Engine) triedOnly(here Site, name string) bool {
	v := p.Find(here.Scope, name)
	return v != nil && v.Parameter && p.tried[v]
}
