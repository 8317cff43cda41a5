package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// names is what an extractor keeps of the names in a file, to tell a use of what
// the file declares or imports from a use of a local variable.
type names struct {
	// declared are the names that have a declaration in a scope; locals are those
	// bound in one, parameters included.
	declared, locals map[nameIn]bool
	loads            []load
}

type nameIn struct {
	in   uint32
	name string
}

// load is a use of a name that may be one of the file's top.
type load struct {
	in   uint32
	path string
	at   ref
}

// shadow is a list of parameters of anonymous functions, the innermost first: in
// their bodies the names mean nothing that is known.
type shadow struct {
	name string
	up   *shadow
}

func (s *shadow) has(name string) bool {
	for ; s != nil; s = s.up {
		if s.name == name {
			return true
		}
	}
	return false
}

func newNames() names { return names{declared: map[nameIn]bool{}, locals: map[nameIn]bool{}} }

// hidden reports whether a name is local to `in` or to a declaration around it.
func (f *file) hidden(in uint32, name string) bool {
	for ; in != 0; in = f.decl(in).Owner {
		if f.locals[nameIn{in, name}] {
			return true
		}
	}
	return false
}

// uses refers to what the file's top declares or imports, where it is used and not
// hidden by a local name, and to the methods and properties of self that the file
// declares. It is called when all is read.
func (f *file) uses() {
	top, members := map[string]bool{}, map[string]bool{}
	for _, d := range f.facts.Declarations {
		switch {
		case d.Owner == 0:
			top[d.Name] = true
		case d.Kind == recountv1.SymbolKind_SYMBOL_KIND_METHOD || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_PROPERTY:
			members[d.Name] = true
		}
	}
	for _, i := range f.facts.Imports {
		if i.In != 0 {
			continue
		}
		for _, n := range i.Names {
			top[firstOf(n.Alias, n.Name)] = true
		}
		if i.Alias != "" {
			top[i.Alias] = true
		} else if len(i.Names) == 0 && !i.Wildcard {
			top[root(i.Path)] = true
		}
	}
	for _, l := range f.loads {
		if of, ok := strings.CutPrefix(l.path, "self."); ok {
			if name, _, _ := strings.Cut(of, "."); members[name] {
				f.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, l.in, l.path, l.at)
			}
			continue
		}
		if name := root(l.path); top[name] && !f.hidden(l.in, name) {
			f.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, l.in, l.path, l.at)
		}
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
