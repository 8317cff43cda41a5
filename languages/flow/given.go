package flow

import "github.com/recountdb/recount/languages/scope"

// A parameter may have the name of a class that it is given:
//
//	module.exports = function (Reader, options) {
//	  function Lines() {}
//	  util.inherits(Lines, Reader);
//	  return new Reader(options);
//	}
//
// Where nothing else is known to arrive, it is the only class of that name.

// givenClass returns the class whose name a parameter has, if it is the only one of that name, nil if a name is no such parameter.
func (p *Engine) givenClass(s *scope.Scope, name string) *scope.Decl {
	if !p.Lang.Exports || name == "" || name[0] < 'A' || name[0] > 'Z' || s.Mod.Facts.Language != "javascript" {
		return nil
	}
	if v := p.Find(s, name); v == nil || !v.Parameter || len(v.Aliases) > 0 {
		return nil
	}
	return p.onlyClass(name)
}

// givenBase returns the class that a path names as the base of a class, if it is a parameter with the name of that class.
func (p *Engine) givenBase(d *scope.Decl, path string) *scope.Decl {
	of := d.Mod.Path(path)
	if !of.Plain() {
		return nil
	}
	if base := p.givenClass(d.Outer, of.Head); base != d {
		return base
	}
	return nil
}

// isOnlyGiven reports whether a call makes an instance of the class whose name a parameter has, nothing else arrives there, and no
// class extends it.
func (l *Linker) isOnlyGiven(here Site, of scope.Path, v *scope.Value) bool {
	return v.Kind == scope.ClassValue && of.Plain() && l.e.givenClass(here.Scope, of.Head) == v.Decl && len(l.e.Find(here.Scope, of.Head).Values) == 1 && len(l.e.Subs[v.Decl]) == 0
}
