package rust

import (
	"cmp"
	"strings"

	"github.com/recountdb/recount/languages/flow"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// UseEdges implements flow.Rules: it makes the edges from a file to the files of what it imports
// and of its modules.
func (p *items) UseEdges(l *flow.Linker) {
	const kind = recountv1.EdgeKind_EDGE_KIND_IMPORTS
	for _, i := range l.Module.Facts.Imports {
		s := l.Module.ScopeOf(i.In)
		if strings.HasPrefix(i.Path, "mod ") {
			if v := s.Vars[i.Alias]; v != nil && len(v.Imports) > 0 {
				l.ToModule(kind, v.Imports[0].Mod, i.At)
			} else {
				l.Unresolved(kind, i.In, i.Path, i.At)
			}
			continue
		}
		if i.Wildcard {
			for _, u := range p.globs[s] {
				if u.path.Text == usePath(i, "") {
					p.imported(l, i, scope.Symbol{Mod: u.mod, Decl: u.enum})
					break
				}
			}
			continue
		}
		if len(i.Names) == 0 && i.Alias != "" && s.Vars[i.Alias] != nil {
			p.imported(l, i, p.Meaning(s.Vars[i.Alias]))
		}
		for _, n := range i.Names {
			if v := s.Vars[cmp.Or(n.Alias, n.Name)]; v != nil {
				p.imported(l, i, p.Meaning(v))
			}
		}
	}
}

// imported makes the edge from an import to what it means.
func (p *items) imported(l *flow.Linker, i *recountv1.Import, at scope.Symbol) {
	const kind = recountv1.EdgeKind_EDGE_KIND_IMPORTS
	switch {
	case at.Rest != 0:
		l.Unresolved(kind, 0, i.Path, i.At)
	case at.Decl != nil:
		l.ToModule(kind, at.Decl.Mod, i.At)
	case at.Mod != nil:
		if file := p.ByPlace[at.Mod.File.Path]; file != nil {
			l.ToModule(kind, file, i.At)
		}
	case at.External != nil:
		l.External(kind, 0, at.External.Pkg, "", i.At)
	default:
		l.Unresolved(kind, 0, i.Path, i.At)
	}
}

// usePath returns the path of one name of an import, in the form of access paths.
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

// ItemEdges implements flow.Rules: it makes the edges of impls of traits, and from methods to
// those that they override.
func (p *items) ItemEdges(l *flow.Linker) {
	for _, i := range p.implements {
		if i.class.Mod == l.Module {
			var at *recountv1.Place
			if i.file == l.Module { // the sites of an edge are places in the file where it begins
				at = i.at
			}
			l.Edge(recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS, i.class.Index, i.trait.Key, scope.ScopeResolved, at)
		}
	}
	for _, d := range l.Module.Decls {
		trait := d.Attributes["trait"]
		if trait == "" || !d.IsFunction() {
			continue
		}
		if t := p.typeNamed(d.Outer, l.Module.Path(trait)); t != nil {
			if v := t.Scope.Vars[d.Name]; v != nil {
				for _, o := range v.Decls {
					if o.IsFunction() && o != d {
						l.Edge(recountv1.EdgeKind_EDGE_KIND_OVERRIDES, d.Index, o.Key, scope.ScopeResolved, d.Start)
					}
				}
			}
		}
	}
}

// Macro implements flow.Rules. A macro is found by name: one of the file, the only one of the
// crate, or the only exported one.
func (p *items) Macro(l *flow.Linker, r *recountv1.Reference, name string) {
	var best *scope.Decl
	rank, several := 0, false
	for _, d := range p.macros {
		if d.Name != name {
			continue
		}
		at := 0
		switch {
		case d.Mod == l.Module:
			at = 3
		case d.Mod.Root == l.Module.Root:
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
		l.Edge(r.Edge, r.In, best.Key, scope.ScopeResolved, r.At)
	} else if stdMacros[name] {
		l.External(r.Edge, r.In, "std", name+"!", r.At)
	} else {
		l.Unresolved(r.Edge, r.In, r.Path, r.At)
	}
}

var stdMacros = scope.WordSet(`println print eprintln eprint format write writeln panic assert assert_eq assert_ne debug_assert
debug_assert_eq debug_assert_ne unreachable todo unimplemented dbg vec matches env option_env concat stringify include
include_str include_bytes line file column module_path cfg compile_error thread_local format_args`)

// ByName implements flow.Rules: it returns the only method of the repository with the name,
// unless a method of the standard library has it too.
func (p *items) ByName(of scope.Path) *scope.Decl {
	if of.Plain() || of.Steps[len(of.Steps)-1].Op != '.' {
		return nil
	}
	name := of.Steps[len(of.Steps)-1].Name
	all := p.methods[name]
	if len(all) == 0 || copyMethods[name] || iteratorMethods[name] || sameMethods[name] || heldMethods[name] || optionMethods[name] || mappingMethods[name] || flatteningMethods[name] {
		return nil
	}
	one := all[0]
	if one.HasModifier("static") || len(all) > 1 || len(name) < 8 || !strings.Contains(name, "_") {
		return nil
	}
	return one
}
