package sql

import (
	"strings"

	"github.com/recountdb/recount/languages/formats"
	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// NewResolver returns the resolver of SQL. A name means the nearest table, view or routine of
// that name, regardless of case: in the file, in its directory, or in the directory that shares
// the most of its path. Schemas are compared if both sides state one. Of several files in a
// directory that declare the name, as migrations do, the first by path is meant; of several
// directories that are equally near, none.
//
// A foreign key is a reference. A view, an index, a routine or a trigger depends on what it
// reads. A column that ALTER TABLE adds is contained in its table.
func NewResolver() resolve.Resolver {
	return formats.New("sql/1", []string{"sql"}, linkSQL)
}

type sql struct {
	*formats.Snapshot
	byName map[string][]formats.Place
}

func linkSQL(s *formats.Snapshot) {
	q := &sql{s, map[string][]formats.Place{}}
	for _, f := range s.Files {
		for i, d := range f.Declarations {
			switch d.Kind {
			case recountv1.SymbolKind_SYMBOL_KIND_COLUMN, recountv1.SymbolKind_SYMBOL_KIND_INDEX, recountv1.SymbolKind_SYMBOL_KIND_TRIGGER:
			default:
				name := strings.ToLower(d.Name)
				q.byName[name] = append(q.byName[name], formats.Place{File: f, Index: i})
			}
		}
	}
	for _, f := range s.Files {
		for i, d := range f.Declarations {
			if d.Kind != recountv1.SymbolKind_SYMBOL_KIND_COLUMN || d.OwnerPath == "" {
				continue
			}
			if p, _, ok := q.means(f, d.OwnerPath, ""); ok {
				at := d.Start
				if p.File != f {
					at = nil // the sites of an edge are places in the file where it begins
				}
				p.File.Edge(recountv1.EdgeKind_EDGE_KIND_CONTAINS, uint32(p.Index+1), f.Names.Keys[i], formats.Declared, at)
			}
		}
		for _, r := range f.References {
			if p, how, ok := q.means(f, r.Path, r.Attributes["schema"]); ok {
				f.Edge(r.Edge, r.In, p.File.Names.Keys[p.Index], how, r.At)
			} else {
				f.Unresolved(r.Edge, r.In, r.Path, r.At)
			}
		}
	}
}

// means returns the declaration that a name means in a file, and how it is known.
func (q *sql) means(f *formats.File, name, schema string) (formats.Place, recountv1.Provenance, bool) {
	var fit []formats.Place
	homes := map[string]bool{} // directories, and the file itself
	for _, p := range q.byName[strings.ToLower(name)] {
		if own := p.File.Declarations[p.Index].Attributes["schema"]; own != "" && schema != "" && !strings.EqualFold(own, schema) {
			continue
		}
		home := formats.Dir(p.File.Path())
		if p.File == f {
			home = p.File.Path()
		}
		if !homes[home] {
			homes[home] = true
			fit = append(fit, p)
		}
	}
	one := formats.Nearest(f, fit, func(p formats.Place) string { return p.File.Path() })
	if one == nil {
		return formats.Place{}, 0, false
	}
	return *one, formats.HowKnown(f, one.File), true
}
