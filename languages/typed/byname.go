package typed

import (
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// onlyNamed returns the method that a call on a value of unknown type means by its name alone: the
// only one of the repository, or the overload that the arguments fit if all of the name are in one
// class. Names that classes outside the repository have too (Language.Common) mean nothing, nor do
// names that a field has as well. If the type is known to be of outside the repository, only
// extension methods count.
func (t *Typer) onlyNamed(at Spot, of scope.Path, call *recountv1.Reference) selection {
	if t.lang.Common == nil || of.Plain() {
		return selection{}
	}
	last := of.Steps[len(of.Steps)-1]
	on := t.eval(at, of.Base())
	switch {
	case last.Op != '.' || t.lang.Common[last.Name] || t.isFieldName(last.Name):
		return selection{}
	case at.In > 0 && at.Module.Decl(at.In).Name == last.Name: // it passes the call on to what it wraps
		return selection{}
	case on == nil:
		if !t.mayBeValue(at, of.Base()) {
			return selection{}
		}
	case !on.isUnplaced() || on.static || on.Prefix:
		return selection{}
	}
	var all []boundMethod
	roots := map[*Method]bool{}
	for _, m := range t.methodsNamed(last.Name) {
		if on != nil && !m.extension || m.static && !m.extension || !at.Module.Test && m.Decl.Mod.Test {
			continue
		}
		for len(m.overridden) > 0 {
			m = m.overridden[0]
		}
		as := *m
		if m.extension && len(m.Params) > 0 {
			as.Params, as.MinArgs = m.Params[1:], max(0, m.MinArgs-1)
		}
		if n := int(call.GetCount()); !roots[m] && n >= as.MinArgs && (n <= len(as.Params) || as.rest) {
			all = append(all, boundMethod{method: &as})
		}
		roots[m] = true
	}
	all = t.nameable(at, all)
	for _, c := range all {
		if c.method.Class != all[0].method.Class {
			return selection{}
		}
	}
	s := t.choose(at, all, call)
	s.doubt = true
	return s
}

// mayBeValue reports whether a path of unknown type may be a value: its head is a variable, or it
// has a call or a member of a value in it. A name that is no variable may be a class outside the
// repository.
func (t *Typer) mayBeValue(at Spot, of scope.Path) bool {
	if of.Head == "?" || of.Head == "self" || strings.HasPrefix(of.Head, "<") {
		return true
	}
	if _, _, known := t.variable(at, of.Head); known {
		return true
	}
	for _, st := range of.Steps {
		if st.Op == '(' {
			return true
		}
	}
	return false
}

// methodsNamed returns the methods of the repository by a name, in the order of declarations,
// without constructors and what only a value of an interface has.
func (t *Typer) methodsNamed(name string) []*Method {
	if t.byMethodName == nil {
		t.byMethodName, t.fieldNames = map[string][]*Method{}, map[string]bool{}
		for _, c := range t.all {
			for _, m := range c.Order {
				if m.Decl != nil && m.Name != t.lang.Constructor && !m.Decl.HasModifier("explicit") && !c.Decl.HasModifier("delegate") {
					t.byMethodName[m.Name] = append(t.byMethodName[m.Name], m)
				}
			}
			for f := range c.Fields {
				t.fieldNames[f] = true
			}
		}
	}
	return t.byMethodName[name]
}

// isFieldName reports whether a class of the repository has a field of a name.
func (t *Typer) isFieldName(name string) bool {
	t.methodsNamed("")
	return t.fieldNames[name]
}
