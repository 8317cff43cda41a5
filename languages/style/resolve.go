package style

import (
	slash "path"
	"strings"

	"github.com/recountdb/recount/languages/formats"
	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// NewResolver returns the resolver of CSS and SCSS. A variable, a mixin or a function is that of
// the file itself, or of a file that it imports or uses, also through what those forward. A
// custom property may also be the only one of its name in the repository; it is then known by its
// name alone. A function that no style sheet declares is one of CSS.
func NewResolver() resolve.Resolver {
	return formats.New("style/1", []string{"css", "scss"}, linkStyle)
}

type style struct {
	*formats.Snapshot
	// names has the top-level declarations and custom properties of each file, as index plus 1.
	names map[*formats.File]map[string]int
	// properties has the custom properties of all files.
	properties map[string][]formats.Place
}

func linkStyle(s *formats.Snapshot) {
	t := &style{s, map[*formats.File]map[string]int{}, map[string][]formats.Place{}}
	for _, f := range s.Files {
		names := map[string]int{}
		for i, d := range f.Declarations {
			name := nameInUse(d)
			if custom := strings.HasPrefix(name, "--"); name == "" || d.Owner > 0 && !custom {
				continue
			} else if custom && names[name] == 0 {
				t.properties[name] = append(t.properties[name], formats.Place{File: f, Index: i})
			}
			if names[name] == 0 {
				names[name] = i + 1
			}
		}
		t.names[f] = names
	}
	for _, f := range s.Files {
		for _, i := range f.Imports {
			if to := t.file(f, i.Path); to != nil {
				f.Edge(formats.Imports, i.In, resolve.FileKey(to.Path()), formats.ScopeResolved, i.At)
			} else if strings.Contains(i.Path, ":") || strings.HasPrefix(i.Path, "//") || strings.HasPrefix(i.Path, "~") || strings.HasPrefix(i.Path, "@") {
				f.External(formats.Imports, i.In, "css", i.Path, "", formats.Declared, i.At)
			} else {
				f.Unresolved(formats.Imports, i.In, i.Path, i.At)
			}
		}
		for _, r := range f.References {
			t.reference(f, r)
		}
	}
}

// nameInUse returns the name of a declaration as uses write it: a mixin's with @, a function's
// with its parentheses.
func nameInUse(d *recountv1.Declaration) string {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_VARIABLE:
		return d.Name
	case recountv1.SymbolKind_SYMBOL_KIND_MACRO:
		return "@" + d.Name
	case recountv1.SymbolKind_SYMBOL_KIND_FUNCTION:
		return d.Name + "()"
	case recountv1.SymbolKind_SYMBOL_KIND_RULE:
		return d.Name
	}
	return ""
}

// file returns the file that an import means: its path starts at the importing file or at the
// root of the repository, and may leave out the extension, the underscore of a partial, or the
// index file of a folder.
func (t *style) file(from *formats.File, path string) *formats.File {
	path, _, _ = strings.Cut(path, "?")
	for _, root := range []string{formats.Dir(from.Path()), ""} {
		p := slash.Join(root, strings.TrimPrefix(path, "/"))
		parent, name := formats.Dir(p), formats.Base(p)
		for _, at := range []string{
			p, p + ".scss", slash.Join(parent, "_"+name+".scss"), p + ".css", slash.Join(parent, "_"+name),
			slash.Join(p, "_index.scss"), slash.Join(p, "index.scss"),
		} {
			if f := t.ByPath[at]; f != nil && f != from {
				return f
			}
		}
	}
	return nil
}

// visible looks a name up in a file and in what it imports.
func (t *style) visible(f *formats.File, name, namespace string, seen map[*formats.File]bool, depth int) (formats.Place, bool) {
	if seen[f] || depth > 16 {
		return formats.Place{}, false
	}
	seen[f] = true
	if i := t.names[f][name]; i > 0 && namespace == "" {
		return formats.Place{File: f, Index: i - 1}, true
	}
	for _, i := range f.Imports {
		called := i.Alias
		if called == "" {
			called = strings.TrimPrefix(strings.TrimSuffix(formats.Base(i.Path), slash.Ext(formats.Base(i.Path))), "_")
		}
		switch {
		case namespace != "" && (i.Wildcard || i.Export || called != namespace):
			continue
		case namespace == "" && !i.Wildcard && i.Alias != "*" && !(i.Export && depth > 0):
			continue
		}
		if to := t.file(f, i.Path); to != nil {
			if p, ok := t.visible(to, name, "", seen, depth+1); ok {
				return p, true
			}
		}
	}
	return formats.Place{}, false
}

func (t *style) reference(f *formats.File, r *recountv1.Reference) {
	name, namespace := r.Path, ""
	switch {
	case r.Edge == recountv1.EdgeKind_EDGE_KIND_EXTENDS || strings.HasPrefix(name, "--"):
	default:
		mixin := strings.HasPrefix(name, "@")
		name = strings.TrimPrefix(name, "@")
		if at := strings.IndexByte(name, '.'); at > 0 {
			namespace, name = name[:at], name[at+1:]
		}
		if mixin {
			name = "@" + name
		} else if r.Edge == recountv1.EdgeKind_EDGE_KIND_CALLS {
			name += "()"
		}
	}
	if i := t.local(f, r.In, name); i > 0 && namespace == "" {
		f.Edge(r.Edge, r.In, f.Names.Keys[i-1], formats.ScopeResolved, r.At)
		return
	}
	if p, ok := t.visible(f, name, namespace, map[*formats.File]bool{}, 0); ok {
		f.Edge(r.Edge, r.In, p.File.Names.Keys[p.Index], formats.ScopeResolved, r.At)
		return
	}
	switch all := t.properties[name]; {
	case len(all) == 1:
		f.Edge(r.Edge, r.In, all[0].File.Names.Keys[all[0].Index], formats.NameMatched, r.At)
	case strings.HasSuffix(name, "()") || strings.HasPrefix(name, "$") && t.inRoutine(f, r.In):
		// A function of CSS, or a parameter, is no node of the graph.
	default:
		f.Unresolved(r.Edge, r.In, r.Path, r.At)
	}
}

// local returns the variable that a block around a use declares, as index plus 1, or 0.
func (t *style) local(f *formats.File, in uint32, name string) int {
	if !strings.HasPrefix(name, "$") {
		return 0
	}
	for ; in > 0; in = f.Declarations[in-1].Owner {
		for i, d := range f.Declarations {
			if d.Owner == in && d.Name == name {
				return i + 1
			}
		}
	}
	return 0
}

// inRoutine reports whether a use is inside a mixin or a function.
func (t *style) inRoutine(f *formats.File, in uint32) bool {
	for ; in > 0; in = f.Declarations[in-1].Owner {
		if k := f.Declarations[in-1].Kind; k == recountv1.SymbolKind_SYMBOL_KIND_MACRO || k == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION {
			return true
		}
	}
	return false
}
