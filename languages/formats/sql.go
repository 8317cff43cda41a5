package formats

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// SQL makes the resolver of SQL. A name means the table, view or routine of that name,
// whatever the case of its letters, that stands nearest: in the file, in its
// directory, or where more of the path is shared; a schema counts where both sides
// say one. Of several that a directory declares in several files, as migrations do,
// the first by path is meant; of several directories that are equally near, none.
//
// A foreign key is a reference, what a view, an index, a routine or a trigger reads
// is what it depends on. A column that ALTER TABLE adds is contained in its table.
func SQL() Resolver {
	return Resolver{name: "sql/1", languages: []string{"sql"}, link: linkSQL}
}

type sql struct {
	*snapshot
	byName map[string][]place
}

func linkSQL(s *snapshot) {
	q := &sql{s, map[string][]place{}}
	for _, f := range s.files {
		for i, d := range f.Declarations {
			switch d.Kind {
			case recountv1.SymbolKind_SYMBOL_KIND_COLUMN, recountv1.SymbolKind_SYMBOL_KIND_INDEX, recountv1.SymbolKind_SYMBOL_KIND_TRIGGER:
			default:
				name := strings.ToLower(d.Name)
				q.byName[name] = append(q.byName[name], place{f, i})
			}
		}
	}
	for _, f := range s.files {
		for i, d := range f.Declarations {
			if d.Kind != recountv1.SymbolKind_SYMBOL_KIND_COLUMN || d.OwnerPath == "" {
				continue
			}
			if p, _, ok := q.means(f, d.OwnerPath, ""); ok {
				at := d.Start
				if p.f != f {
					at = nil // an edge's sites are places of the file that it begins in
				}
				p.f.edge(recountv1.EdgeKind_EDGE_KIND_CONTAINS, uint32(p.i+1), f.names.Keys[i], declared, at)
			}
		}
		for _, r := range f.References {
			if p, how, ok := q.means(f, r.Path, r.Attributes["schema"]); ok {
				f.edge(r.Edge, r.In, p.f.names.Keys[p.i], how, r.At)
			} else {
				f.unresolved(r.Edge, r.In, r.Path, r.At)
			}
		}
	}
}

// means finds what a name is in a file.
func (q *sql) means(f *file, name, schema string) (place, recountv1.Provenance, bool) {
	var fit []place
	homes := map[string]bool{} // directories, and the file itself
	for _, p := range q.byName[strings.ToLower(name)] {
		if own := p.f.Declarations[p.i].Attributes["schema"]; own != "" && schema != "" && !strings.EqualFold(own, schema) {
			continue
		}
		home := dir(p.f.path())
		if p.f == f {
			home = p.f.path()
		}
		if !homes[home] {
			homes[home] = true
			fit = append(fit, p)
		}
	}
	one := nearest(f, fit, func(p place) string { return p.f.path() })
	if one == nil {
		return place{}, 0, false
	}
	return *one, known(f, one.f), true
}
