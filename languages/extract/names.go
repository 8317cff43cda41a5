package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Names records the names in a file, to distinguish uses of declarations and imports of the
// file from uses of local variables.
type Names struct {
	// Declared are the names with a declaration in a scope; Locals are those bound in one,
	// including parameters.
	Declared, Locals map[NameIn]bool
	Loads            []Load
}

type NameIn struct {
	In   uint32
	Name string
}

// Load is a use of a name that may be a top-level name of the file.
type Load struct {
	In   uint32
	Path string
	At   Ref
}

// Shadow is a list of parameters of anonymous functions, innermost first. In their bodies these
// names stand for other paths, or their meaning is unknown.
type Shadow struct {
	Name string
	Is   string // the path that the name stands for, "" if it is unknown
	Up   *Shadow
}

func (s *Shadow) Has(name string) bool { return s.find(name) != nil }

// Path returns the path that a name stands for.
func (s *Shadow) Path(name string) string {
	found := s.find(name)
	switch {
	case found == nil:
		return Checked(name)
	case found.Is == "":
		return Unknown
	}
	return found.Is
}

func (s *Shadow) find(name string) *Shadow {
	for ; s != nil; s = s.Up {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// WithoutThis returns the list for a function with a receiver of its own.
func (s *Shadow) WithoutThis() *Shadow {
	if s == nil {
		return nil
	}
	of := *s
	if of.Up = s.Up.WithoutThis(); Root(of.Is) == "self" || Root(of.Is) == "super" {
		of.Is = ""
	}
	return &of
}

func NewNames() Names { return Names{Declared: map[NameIn]bool{}, Locals: map[NameIn]bool{}} }

// Hidden reports whether a name is local to `in` or to an enclosing declaration.
func (f *File) Hidden(in uint32, name string) bool {
	for ; in != 0; in = f.Decl(in).Owner {
		if f.Locals[NameIn{in, name}] {
			return true
		}
	}
	return false
}

// declared reports whether a name means a declaration of `in`, or of a function around it.
func (f *File) declared(in uint32, name string) bool {
	for at := in; at != 0; at = f.Decl(at).Owner {
		if f.Declared[NameIn{at, name}] {
			return at == in || f.Decl(at).Kind != recountv1.SymbolKind_SYMBOL_KIND_CLASS
		}
		if f.Locals[NameIn{at, name}] {
			return false
		}
	}
	return false
}

// Uses adds references to the file's top-level declarations and imports where they are used
// and not hidden by a local name, to the declarations of enclosing functions, and to the methods and properties of self that the file
// declares. It is called after the whole file was read.
func (f *File) Uses() {
	top, members := map[string]bool{}, map[string]bool{}
	for _, d := range f.Facts.Declarations {
		switch {
		case d.Owner == 0:
			top[d.Name] = true
		case d.Kind == recountv1.SymbolKind_SYMBOL_KIND_METHOD || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_PROPERTY:
			members[d.Name] = true
		}
	}
	for _, i := range f.Facts.Imports {
		if i.In != 0 {
			continue
		}
		for _, n := range i.Names {
			top[FirstOf(n.Alias, n.Name)] = true
		}
		if i.Alias != "" {
			top[i.Alias] = true
		} else if len(i.Names) == 0 && !i.Wildcard {
			top[Root(i.Path)] = true
		}
	}
	for _, l := range f.Loads {
		if of, ok := strings.CutPrefix(l.Path, "self."); ok {
			if name, _, _ := strings.Cut(of, "."); members[name] {
				f.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, l.In, l.Path, l.At)
			}
			continue
		}
		if name := Root(l.Path); f.declared(l.In, name) || top[name] && !f.Hidden(l.In, name) {
			f.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, l.In, l.Path, l.At)
		}
	}
}

func FirstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
