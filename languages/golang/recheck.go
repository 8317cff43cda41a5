package golang

import (
	"bytes"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
)

// checkUnits checks a package, and reads completely every file whose results may differ from
// before. same is true if everything that the package declares is as before.
func (s *step) checkUnits(w *work) (same bool, err error) {
	for {
		if w.units == nil {
			if err := s.read(w); err != nil {
				return false, err
			}
			w.units = s.unitsOf(w)
		}
		if !w.whole && slices.ContainsFunc(w.units, func(u *unit) bool { return u.failed }) {
			s.startOver(w) // how far the checker came must not depend on what it was given
			continue
		}
		if w.whole {
			return false, nil
		}
		differs := marks{}
		if !w.alike() {
			differs.differing(w.declares, w.saying())
		}
		w.changed.add(differs)
		if !slices.ContainsFunc(w.parsed.files, func(f *source) bool { return f.affected(w.changed) }) {
			return len(differs) == 0, nil
		}
		s.spare.giveBack(w.units)
		w.uncheck()
		w.reread()
	}
}

// uncheck discards the checker's results.
func (w *work) uncheck() { w.units, w.said = nil, nil }

// reread has the package parsed again, except for the files that were read completely.
func (w *work) reread() {
	w.taken = map[string]*wholeFile{}
	for i, f := range w.parsed.files {
		if f.kept == nil {
			w.taken[f.Path] = &wholeFile{source: f, names: w.parsed.names[i]}
		}
	}
	w.parsed = nil
}

// unread discards a package's syntax.
func (w *work) unread() {
	if w.parsed != nil {
		w.drop(w.parsed)
		w.parsed = nil
	}
}

// alike reports whether only the bodies of functions have changed, so that the package declares the
// same as before.
func (w *work) alike() bool {
	if len(w.changed) > 0 || w.whole || w.was == nil || len(w.was.files) == 0 {
		return false
	}
	built := 0
	for _, f := range w.parsed.files {
		if !f.built {
			continue
		}
		built++
		was := w.was.files[f.Path]
		if was == nil || was.skeleton == nil || f.kept != was && !bytes.Equal(was.skeleton, f.skeleton(w.parsed.fset)) {
			return false
		}
	}
	return built == len(w.was.files)
}

// saying returns what the units declare.
func (w *work) saying() meanings {
	if w.said == nil {
		w.said = declares(w.units, len(w.declares))
	}
	return w.said
}

// declares returns the meanings of the names that units declare. before is the number to expect.
func declares(units []*unit, before int) meanings {
	m := make(meanings, before)
	for _, u := range units {
		m.mean(u.pkg, func(obj types.Object) schemas.NodeKey { return u.target(obj).key })
	}
	return m
}

// unitsOf checks the package with its tests, its external tests, and the files of other packages in
// the directory.
func (s *step) unitsOf(w *work) []*unit {
	main := s.unit(w, w.importPath, nil, w.primary)
	units := []*unit{}
	if main != nil {
		units = append(units, main)
	}
	for _, name := range otherPackages(w.parsed, w.primary) {
		var tested *unit
		path := w.importPath
		if name == w.primary+"_test" {
			tested = main
		}
		if strings.HasSuffix(name, "_test") {
			path += "_test"
		}
		units = append(units, s.unit(w, path, tested, name))
	}
	return units
}

// otherPackages returns the names of the buildable packages besides the primary one: external
// tests, and packages that do not belong in the directory.
func otherPackages(p *parsed, primary string) []string {
	var names []string
	for _, f := range p.files {
		if f.built && f.pkg != primary && !slices.Contains(names, f.pkg) {
			names = append(names, f.pkg)
		}
	}
	slices.Sort(names)
	return names
}

// unit checks the files of the package called name. tested is the unit that they are the external
// tests of, or nil.
func (s *step) unit(w *work, path string, tested *unit, name string) *unit {
	files, names := w.parsed.take(func(f *source) bool { return f.pkg == name })
	if len(files) == 0 {
		return nil
	}
	var self *types.Package
	var ofTested map[string]schemas.NodeKey
	if tested != nil {
		self, ofTested = tested.pkg, chains(tested.names)
	}
	return newUnit(w.parsed.fset, path, files, names, s.importsOf(w, self), s.spare, func(pkg *types.Package, chain string) (schemas.NodeKey, bool) {
		if self != nil && pkg == self {
			return ofTested[chain], true
		}
		byChain, ours := s.published(pkg)
		return byChain[chain], ours
	})
}

// link adds the edges of a package's units. again is true if a file may register routes although only
// its declarations were read, so that it has to be read in full.
func (s *step) link(w *work) (again bool) {
	routers := marks{}
	w.routing = nil
	for _, u := range w.units {
		u.link()
		facts, named := u.routes()
		routers.add(named)
		if facts != nil {
			w.routing = append(w.routing, facts)
		}
		s.imports(w, u)
	}
	for m := range w.routers {
		delete(routers, m)
	}
	if len(routers) == 0 {
		return false
	}
	again = slices.ContainsFunc(w.parsed.files, func(f *source) bool { return f.kept != nil && f.kept.using(routers) })
	all := maps.Clone(routers)
	all.add(w.routers)
	w.routers = all
	return again
}

// imports adds the edges from files to the packages that they import.
func (s *step) imports(w *work, u *unit) {
	for i, f := range u.files {
		if f.kept != nil {
			continue
		}
		l := &linker{unit: u, names: u.names[i], graph: &u.graphs[i], from: u.names[i].file}
		for _, spec := range f.syntax.Imports {
			path := importPath(spec)
			if d := s.layout.find(w.dir, path); d != nil {
				l.graph.Edges = append(l.graph.Edges, resolve.Edge{
					From: l.from, To: resolve.PackageKey(d.path), Kind: imports,
					Edge: resolve.EdgeAt(declaredByFile, place(u.fset, spec.Pos())),
				})
				continue
			}
			l.external(imports, language, path, "", spec)
			l.graph.Externals[len(l.graph.Externals)-1].Edge = resolve.EdgeAt(declaredByFile, place(u.fset, spec.Pos()))
		}
	}
}
