package scope

import "strings"

// Scripts that neither import nor export anything are loaded or concatenated into one scope: what one declares is
// global to the others. Nobody says which are loaded together, so a name that a script does not declare is that of
// the nearest directory around it, up to its package, if exactly one script there declares it.

// Inner is the attribute of a declaration of a file that is inside a function without a name, where other files do
// not see it.
const Inner = "inner"

// Apart is Inner of a function that shares its name with others of the file and has one of its own by its place.
const Apart = "apart"

// isScript reports whether a module neither imports nor exports anything.
func (m *Module) isScript() bool {
	if m.script == unknown {
		m.script = no
		if m.Facts != nil && len(m.Facts.Imports) == 0 && len(m.Exports) == 0 {
			m.script = yes
		}
		for _, d := range m.Decls {
			if d.Exported {
				m.script = no
			}
		}
	}
	return m.script == yes
}

// answer is what is known of a question with two answers.
type answer uint8

const (
	unknown answer = iota
	yes
	no
)

// shared is a variable that a script shares.
type shared struct {
	in *Module
	v  *Variable
}

// Shared returns the variable that a name means in a script if another script declares it, nil if none or several
// do. A class that is known by its parts only is the first of them.
func (p *Program) Shared(m *Module, name string) *Variable {
	if !p.Lang.Exports || p.Lang.Builtin[name] {
		return nil
	}
	if p.globals == nil {
		p.collectShared()
	}
	if m.isScript() {
		if v, found := p.nearest(m, p.globals[name], false); found {
			return v
		}
	}
	parts := p.partial[name]
	for _, s := range parts {
		if s.in == m && !m.isScript() {
			return s.v
		}
	}
	if !m.isScript() {
		return nil
	}
	v, _ := p.nearest(m, parts, true)
	return v
}

// nearest returns the only one of shared variables, or the first, in the nearest directory around a module that has
// some.
func (p *Program) nearest(m *Module, of []shared, first bool) (v *Variable, found bool) {
	for dir := DirOf(m.File.Path); len(of) > 0; dir = DirOf(dir) {
		n := 0
		for _, s := range of {
			if at := s.in.File.Path; dir != "" && strings.HasPrefix(at, dir+"/") || dir == "" && !strings.Contains(at, "/") {
				if n++; n == 1 {
					v = s.v
				}
			}
		}
		switch {
		case n == 1 || n > 1 && first:
			return v, true
		case n > 1:
			return nil, true
		case dir == "" || p.packages[dir]:
			return nil, false
		}
	}
	return nil, false
}

// collectShared collects what scripts share, and the parts of classes.
func (p *Program) collectShared() {
	p.globals, p.partial = map[string][]shared{}, map[string][]shared{}
	for _, m := range p.Modules {
		seen := map[string]bool{}
		for _, d := range m.Decls {
			v := d.Outer.Vars[d.LocalName()]
			switch {
			case d.Owner != 0 || m.Test || v == nil:
			case d.Attributes[PartOf] != "":
				p.partial[d.Attributes[PartOf]] = append(p.partial[d.Attributes[PartOf]], shared{m, v})
			case d.Attributes[Inner] == "" && d.LocalName() == d.Name && !seen[d.Name] && m.isScript():
				seen[d.Name] = true
				p.globals[d.Name] = append(p.globals[d.Name], shared{m, v})
			}
		}
	}
}
