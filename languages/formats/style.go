package formats

import (
	slash "path"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Style makes the resolver of CSS and SCSS. A variable, a mixin or a function is the
// file's own, or that of what it imports and uses, through what these forward; a
// custom property may also be the only one of its name in the repository, known by
// its name alone. A function that no style sheet declares is CSS's own.
func Style() Resolver {
	return Resolver{name: "style/1", languages: []string{"css", "scss"}, link: linkStyle}
}

type style struct {
	*snapshot
	// names are each file's declarations of the top, and its custom properties.
	names map[*file]map[string]int
	// properties are the custom properties of all files.
	properties map[string][]place
}

func linkStyle(s *snapshot) {
	t := &style{s, map[*file]map[string]int{}, map[string][]place{}}
	for _, f := range s.files {
		names := map[string]int{}
		for i, d := range f.Declarations {
			name := styleName(d)
			if custom := strings.HasPrefix(name, "--"); name == "" || d.Owner > 0 && !custom {
				continue
			} else if custom && names[name] == 0 {
				t.properties[name] = append(t.properties[name], place{f, i})
			}
			if names[name] == 0 {
				names[name] = i + 1
			}
		}
		t.names[f] = names
	}
	for _, f := range s.files {
		for _, i := range f.Imports {
			if to := t.file(f, i.Path); to != nil {
				f.edge(imports, i.In, resolve.FileKey(to.path()), scopeResolved, i.At)
			} else if strings.Contains(i.Path, ":") || strings.HasPrefix(i.Path, "//") || strings.HasPrefix(i.Path, "~") || strings.HasPrefix(i.Path, "@") {
				f.external(imports, i.In, "css", i.Path, "", declared, i.At)
			} else {
				f.unresolved(imports, i.In, i.Path, i.At)
			}
		}
		for _, r := range f.References {
			t.reference(f, r)
		}
	}
}

// styleName is how uses write a declaration's name: a mixin's with @, a function's
// with its parentheses.
func styleName(d *recountv1.Declaration) string {
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

// file is what an import means: a path from the file or from the repository's root,
// with the extension or the underscore of a partial left out, or a folder's index.
func (t *style) file(from *file, path string) *file {
	path, _, _ = strings.Cut(path, "?")
	for _, root := range []string{dir(from.path()), ""} {
		p := slash.Join(root, strings.TrimPrefix(path, "/"))
		parent, name := dir(p), base(p)
		for _, at := range []string{
			p, p + ".scss", slash.Join(parent, "_"+name+".scss"), p + ".css", slash.Join(parent, "_"+name),
			slash.Join(p, "_index.scss"), slash.Join(p, "index.scss"),
		} {
			if f := t.byPath[at]; f != nil && f != from {
				return f
			}
		}
	}
	return nil
}

// visible looks a name up in a file and in what it imports.
func (t *style) visible(f *file, name, namespace string, seen map[*file]bool, depth int) (place, bool) {
	if seen[f] || depth > 16 {
		return place{}, false
	}
	seen[f] = true
	if i := t.names[f][name]; i > 0 && namespace == "" {
		return place{f, i - 1}, true
	}
	for _, i := range f.Imports {
		called := i.Alias
		if called == "" {
			called = strings.TrimPrefix(strings.TrimSuffix(base(i.Path), slash.Ext(base(i.Path))), "_")
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
	return place{}, false
}

func (t *style) reference(f *file, r *recountv1.Reference) {
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
		f.edge(r.Edge, r.In, f.names.Keys[i-1], scopeResolved, r.At)
		return
	}
	if p, ok := t.visible(f, name, namespace, map[*file]bool{}, 0); ok {
		f.edge(r.Edge, r.In, p.f.names.Keys[p.i], scopeResolved, r.At)
		return
	}
	switch all := t.properties[name]; {
	case len(all) == 1:
		f.edge(r.Edge, r.In, all[0].f.names.Keys[all[0].i], nameMatched, r.At)
	case strings.HasSuffix(name, "()") || strings.HasPrefix(name, "$") && t.inRoutine(f, r.In):
		// CSS's own function, or a parameter: nothing of the graph.
	default:
		f.unresolved(r.Edge, r.In, r.Path, r.At)
	}
}

// local is the variable that a block around a use declares.
func (t *style) local(f *file, in uint32, name string) int {
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

// inRoutine reports whether a use stands in a mixin or a function.
func (t *style) inRoutine(f *file, in uint32) bool {
	for ; in > 0; in = f.Declarations[in-1].Owner {
		if k := f.Declarations[in-1].Kind; k == recountv1.SymbolKind_SYMBOL_KIND_MACRO || k == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION {
			return true
		}
	}
	return false
}
