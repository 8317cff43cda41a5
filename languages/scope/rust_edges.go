package scope

import (
	"cmp"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// useEdges lead from a file to the files of what it imports and of its modules.
func (p *items) useEdges(l *flowLinker) {
	const kind = recountv1.EdgeKind_EDGE_KIND_IMPORTS
	for _, i := range l.m.facts.Imports {
		s := l.m.scopeOf(i.In)
		if strings.HasPrefix(i.Path, "mod ") {
			if v := s.vars[i.Alias]; v != nil && len(v.imports) > 0 {
				l.toModule(kind, v.imports[0].mod, i.At)
			} else {
				l.unresolved(kind, i.In, i.Path, i.At)
			}
			continue
		}
		if i.Wildcard {
			for _, u := range p.globs[s] {
				if u.path.text == usePath(i, "") {
					p.imported(l, i, symbol{mod: u.mod, decl: u.enum})
					break
				}
			}
			continue
		}
		if len(i.Names) == 0 && i.Alias != "" && s.vars[i.Alias] != nil {
			p.imported(l, i, p.meaning(s.vars[i.Alias]))
		}
		for _, n := range i.Names {
			if v := s.vars[cmp.Or(n.Alias, n.Name)]; v != nil {
				p.imported(l, i, p.meaning(v))
			}
		}
	}
}

// imported makes the edge of an import to what it means.
func (p *items) imported(l *flowLinker, i *recountv1.Import, at symbol) {
	const kind = recountv1.EdgeKind_EDGE_KIND_IMPORTS
	switch {
	case at.rest != 0:
		l.unresolved(kind, 0, i.Path, i.At)
	case at.decl != nil:
		l.toModule(kind, at.decl.mod, i.At)
	case at.mod != nil:
		if file := p.byPlace[at.mod.file.Path]; file != nil {
			l.toModule(kind, file, i.At)
		}
	case at.external != nil:
		l.external(kind, 0, at.external.pkg, "", i.At)
	default:
		l.unresolved(kind, 0, i.Path, i.At)
	}
}

// usePath is an import's path with a name of it, as paths are written.
func usePath(i *recountv1.Import, name string) string {
	text := strings.ReplaceAll(strings.TrimPrefix(i.Path, "::"), "::", ".")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "self."), ".")
	if text == "self" {
		text = ""
	}
	switch {
	case name == "":
		return text
	case text == "":
		return name
	}
	return text + "." + name
}

// itemEdges make what only typed languages have: implementations that are declared
// apart from their type, and what methods override.
func (p *items) itemEdges(l *flowLinker) {
	for _, i := range p.implements {
		if i.class.mod == l.m {
			var at *recountv1.Place
			if i.file == l.m { // an edge's sites are places of the file it begins in
				at = i.at
			}
			l.edge(recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS, i.class.in, i.trait.key, scopeResolved, at)
		}
	}
	for _, d := range l.m.decls {
		trait := d.Attributes["trait"]
		if trait == "" || !d.isFunction() {
			continue
		}
		if t := p.typeNamed(d.outer, l.m.path(trait)); t != nil {
			if v := t.scope.vars[d.Name]; v != nil {
				for _, o := range v.decls {
					if o.isFunction() && o != d {
						l.edge(recountv1.EdgeKind_EDGE_KIND_OVERRIDES, d.in, o.key, scopeResolved, d.Start)
					}
				}
			}
		}
	}
}

// macro leads to a macro by its name: one of the file, the only one of the crate, or
// the only one that is exported.
func (p *items) macro(l *flowLinker, r *recountv1.Reference, name string) {
	var best *decl
	rank, several := 0, false
	for _, d := range p.macros {
		if d.Name != name {
			continue
		}
		at := 0
		switch {
		case d.mod == l.m:
			at = 3
		case d.mod.root == l.m.root:
			at = 2
		case d.Exported:
			at = 1
		}
		switch {
		case at == 0 || at < rank:
		case at > rank:
			best, rank, several = d, at, false
		default:
			several = true
		}
	}
	if best != nil && !several {
		l.edge(r.Edge, r.In, best.key, scopeResolved, r.At)
	} else if stdMacros[name] {
		l.external(r.Edge, r.In, "std", name+"!", r.At)
	} else {
		l.unresolved(r.Edge, r.In, r.Path, r.At)
	}
}

var stdMacros = wordSet(`println print eprintln eprint format write writeln panic assert assert_eq assert_ne debug_assert
debug_assert_eq debug_assert_ne unreachable todo unimplemented dbg vec matches env option_env concat stringify include
include_str include_bytes line file column module_path cfg compile_error thread_local format_args`)

// byName is the one function of the repository that a call on something unknown could
// mean: a method, where nothing else and nothing of the standard library has its name.
func (p *items) byName(of path) *decl {
	if of.plain() || of.steps[len(of.steps)-1].op != '.' {
		return nil
	}
	name := of.steps[len(of.steps)-1].name
	all := p.methods[name]
	if len(all) == 0 || copyMethods[name] || iteratorMethods[name] || sameMethods[name] || heldMethods[name] || optionMethods[name] || mappingMethods[name] || flatteningMethods[name] {
		return nil
	}
	one := all[0]
	if one.is("static") || len(all) > 1 || len(name) < 8 || !strings.Contains(name, "_") {
		return nil
	}
	return one
}
