package flow

import (
	"strings"

	"github.com/recountdb/recount/languages/scope"
)

// Objects of other packages get members that are declared here:
//
//	http.IncomingMessage.prototype.getUrl = function () { … }
//	$.fn.tooltip = tooltip
//
// Who names such a member means what was put there. If objects commonly have a member of the name, and it is no
// prototype of a package, its own may be meant, too, and if a test puts it there, that is meant.

// added returns the container of what is put into an object of another package.
func (p *Engine) added(to *scope.Value) *scope.Value {
	return p.Container(nil, to.Pkg+" "+to.Name)
}

// withAdded returns the values of a member of an object of another package, which has own under the name.
func (p *Engine) withAdded(f *scope.Flow, of *scope.Value, name string, own *scope.Value) scope.Set {
	if !p.Lang.Exports || !p.extends[name] {
		return scope.Set{{Value: own, Sure: true}}
	}
	var out scope.Set
	ofPackage := of.Pkg != p.Lang.Builtins && strings.HasSuffix(of.Name, ".prototype")
	replaced := false
	for _, m := range p.Read(f, p.added(of).Element(name)) {
		d := m.Value.Decl
		instead := d != nil && (!p.Lang.Common[name] || ofPackage) && !d.Test && !d.Mod.Test
		replaced = replaced || instead
		out = out.With(m.Value, m.Sure && instead)
	}
	if !replaced {
		out = out.With(own, true)
	}
	return out
}

// maker returns what another package has under the name of the function whose result a call calls: const debug = debuglog('x')
// says nothing of what debug does. It returns nil if functions here are called, or nothing is known.
func (l *Linker) maker(here Site, of scope.Path) (by *scope.Value) {
	if !l.e.Lang.Exports {
		return nil
	}
	var v *scope.Variable
	if d := l.e.constant(here, of); d != nil {
		if d.Attributes[scope.Wrapped] != "" {
			return nil
		}
		v = d.Outer.Vars[d.LocalName()]
		here = Site{d.Outer, d.Outer.In()}
	} else if of.Plain() {
		if v = l.e.Find(here.Scope, of.Head); v == nil || v.Scope == nil || v.Parameter {
			return nil
		}
		here = Site{v.Scope, v.Scope.In()}
	}
	if v == nil {
		return nil
	}
	for _, a := range v.Aliases {
		if a.Plain() || a.Steps[len(a.Steps)-1].Op != '(' {
			return nil
		}
		found := l.e.Eval(nil, here, a.Base())
		for _, m := range found {
			if by = m.Value; by.Kind != scope.ExternalValue || by.Pkg == l.e.Lang.Builtins {
				return nil
			}
		}
		if len(found) == 0 {
			return nil
		}
	}
	return by
}
