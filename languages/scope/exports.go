package scope

// defaultName is how a module's own value is imported.
const defaultName = "default"

// exports is the name that a binding's target exports, or "".
func (p path) exports() string {
	switch {
	case len(p.steps) == 1 && p.steps[0].op == '.' && (p.head == "export" || p.head == "exports"):
		return p.steps[0].name
	case len(p.steps) == 2 && p.head == "module" && p.steps[0].name == "exports" && p.steps[1].op == '.':
		return p.steps[1].name
	}
	return ""
}

// export is the variable of an exported name.
func (m *module) export(name string) *variable {
	v := m.exports[name]
	if v == nil {
		v = &variable{scope: m.scope}
		if m.exports == nil {
			m.exports = map[string]*variable{}
		}
		m.exports[name] = v
	}
	return v
}

// exported is the variable of a name as other files see it.
func (p *program) exported(m *module, name string, depth int) *variable {
	if !p.lang.exports {
		return p.global(m, name, depth)
	}
	if v := m.exports[name]; v != nil || depth > maxDepth {
		return v
	}
	if m.scope != nil {
		if v := m.scope.vars[name]; v != nil {
			for _, d := range v.decls {
				if d.Exported {
					return v
				}
			}
		}
	}
	for _, star := range m.stars {
		if star.mod != nil && name != defaultName {
			if v := p.exported(star.mod, name, depth+1); v != nil {
				return v
			}
		}
	}
	return nil
}
