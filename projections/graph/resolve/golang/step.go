package golang

import (
	"cmp"
	"context"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/graph/resolve"
	"github.com/recountdb/recount/projections/graph/resolve/golang/stdlib"
	"github.com/recountdb/recount/schemas"
)

// step is the way from one snapshot to the next: which packages must be read and
// checked anew, in which order, and their graphs.
//
// A package is checked anew where its files differ, where an import means another
// directory than before, or where a package that it imports, directly or through
// others, offers other types than before. Where it offers the same, by a
// fingerprint without positions, the types that others already hold are kept, and
// they need not be looked at.
type step struct {
	std    *stdlib.Importer
	tree   resolve.Tree
	layout *layout
	before map[string]*pkg
	byPath map[string]*pkg
	work   []*work // by directory
	of     map[*types.Package]*pkg
	// moved says that there are other directories than before: an import of a file
	// that is the same may mean another.
	moved bool
}

// work is a package while a step goes over it.
type work struct {
	*pkg
	parsed *parsed
	units  []*unit // where they are checked already
	// deps are the packages of the repository that it imports, without those that it
	// cannot see because they import it; allDeps are those of its tests too.
	deps, allDeps []*work
	// whole says that nothing of the files from before can be kept.
	whole     bool
	imported  bool // by another
	dirty     bool // must be checked anew
	replaced  bool // its types are not those of before
	ready     bool // its types are there, if any are wanted
	done      bool
	component int // the packages that import each other, in order of dependence
}

func newStep(std *stdlib.Importer, tree resolve.Tree, l *layout, before map[string]*pkg) *step {
	return &step{std: std, tree: tree, layout: l, before: before, byPath: map[string]*pkg{}, of: map[*types.Package]*pkg{}}
}

func (s *step) run(ctx context.Context) error {
	at := map[string]*work{}
	s.moved = len(s.before) != len(s.layout.sorted)
	for _, d := range s.layout.sorted {
		s.moved = s.moved || s.before[d.path] == nil
	}
	for _, d := range s.layout.sorted {
		w := &work{pkg: &pkg{dir: d, key: d.key()}}
		was := s.before[d.path]
		if was != nil {
			w.final = was.final
		}
		if was != nil && was.key == w.key {
			*w.pkg = *was
			w.dir = d
		} else {
			w.dirty = true
			if was != nil {
				w.types, w.api, w.pkg.deps = was.types, was.api, was.deps
				w.files, w.signatures = was.files, was.signatures
			}
			if err := s.read(w); err != nil {
				return err
			}
		}
		s.work = append(s.work, w)
		s.byPath[d.path] = w.pkg
		at[d.path] = w
	}
	s.connect(at)
	order := slices.Clone(s.work)
	slices.SortStableFunc(order, func(a, b *work) int { return cmp.Compare(a.component, b.component) })
	for _, w := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.offer(w); err != nil {
			return err
		}
		if !slices.ContainsFunc(w.allDeps, func(d *work) bool { return !d.ready }) {
			if err := s.check(w); err != nil {
				return err
			}
		}
	}
	for _, w := range order { // whose tests import what came after them
		if err := s.check(w); err != nil {
			return err
		}
	}
	return nil
}

// read parses a package's files, and takes from them what is asked of a package
// that is not checked anew.
func (s *step) read(w *work) error {
	if w.parsed != nil {
		return nil
	}
	known := w.files
	if w.whole {
		known = nil
	}
	p, err := parseDir(s.tree, w.dir, known)
	if err != nil {
		return err
	}
	w.parsed = p
	w.primary = p.primaryOf()
	p.declareAll(w.dir)
	files, names := p.take(w.importable)
	w.byChain = chains(names)
	w.imports = importsOf(files)
	all, _ := p.take(func(*source) bool { return true })
	w.allImports = importsOf(all)
	return nil
}

// importable takes the files that other packages may import.
func (w *work) importable(f *source) bool { return f.pkg == w.primary && !f.test }

// connect finds what the imports mean, and which packages import each other in a
// circle: these do not see each other.
func (s *step) connect(at map[string]*work) {
	resolved := func(w *work, imports []string) []*work {
		var deps []*work
		for _, imp := range imports {
			if d := s.layout.find(w.dir, imp); d != nil && d != w.dir {
				deps = append(deps, at[d.path])
			}
		}
		slices.SortFunc(deps, func(a, b *work) int { return cmp.Compare(a.path, b.path) })
		return slices.Compact(deps)
	}
	for _, w := range s.work {
		w.deps, w.allDeps = resolved(w, w.imports), resolved(w, w.allImports)
	}
	components(s.work)
	for _, w := range s.work {
		w.deps = slices.DeleteFunc(w.deps, func(d *work) bool { return d.component == w.component })
		var paths []string
		for _, d := range w.allDeps {
			d.imported = true
			paths = append(paths, d.path)
			if d.component == w.component {
				paths = append(paths, circle)
			}
		}
		if s.moved || slices.Contains(paths, circle) || slices.Contains(w.pkg.deps, circle) {
			s.startOver(w)
		}
		if !slices.Equal(paths, w.pkg.deps) {
			// Imports mean other directories though the files are the same: the types of
			// before are of those.
			w.replaced = !w.dirty
			w.dirty, w.pkg.deps = true, paths
		}
	}
}

// circle stands in a package's deps behind one that imports it, too.
const circle = "\x00"

// startOver lets nothing be kept of a package's files.
func (s *step) startOver(w *work) {
	w.whole, w.units = true, nil
	if w.parsed != nil && slices.ContainsFunc(w.parsed.files, func(f *source) bool { return f.kept != nil }) {
		w.parsed = nil
	}
}

// components numbers the strongly connected components of the import graph, those
// that are imported before those that import them (Tarjan).
func components(all []*work) {
	index, low := map[*work]int{}, map[*work]int{}
	var stack []*work
	on := map[*work]bool{}
	next := 0
	var visit func(w *work)
	visit = func(w *work) {
		index[w] = len(index) + 1
		low[w] = index[w]
		stack, on[w] = append(stack, w), true
		for _, d := range w.deps {
			if index[d] == 0 {
				visit(d)
				low[w] = min(low[w], low[d])
			} else if on[d] {
				low[w] = min(low[w], index[d])
			}
		}
		if low[w] != index[w] {
			return
		}
		next++
		for {
			d := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			on[d] = false
			d.component = next
			if d == w {
				return
			}
		}
	}
	for _, w := range all {
		if index[w] == 0 {
			visit(w)
		}
	}
}

// offer makes the types that others import, where they want them and those of
// before will not do.
func (s *step) offer(w *work) error {
	w.ready = true
	for _, d := range w.deps {
		if d.replaced {
			w.dirty, w.replaced = true, true
		}
	}
	for _, d := range w.allDeps {
		if d.replaced {
			w.dirty = true
			s.startOver(w)
		}
	}
	if !w.imported {
		w.types = nil
		return nil
	}
	if w.types != nil && !w.dirty {
		s.of[w.types] = w.pkg
		return nil
	}
	if w.types != nil && !w.replaced && !w.whole {
		// Where all that it declares is as it was, so is what it offers.
		same, err := s.unchanged(w)
		if err != nil {
			return err
		}
		if same {
			s.of[w.types] = w.pkg
			return nil
		}
	}
	if err := s.read(w); err != nil {
		return err
	}
	files, _ := w.parsed.take(w.importable)
	if len(files) == 0 {
		w.replaced = w.replaced || w.types != nil
		w.types = nil
		return nil
	}
	offered, ok := checkDeclarations(w.parsed.fset, w.importPath, files, s.importsOf(w, nil))
	if !ok {
		offered = nil // nobody can rely on half a package
	}
	api := fingerprint(offered, w.byChain)
	if w.types == nil || w.replaced || api != w.api {
		w.types, w.api, w.replaced = offered, api, true
	}
	if w.types != nil {
		s.of[w.types] = w.pkg
	}
	return nil
}

// importsOf is the importer for a package's files. self is what the directory's own
// path means: nil but for its external tests.
func (s *step) importsOf(w *work, self *types.Package) importing {
	return func(path string) (*types.Package, error) {
		if d := s.layout.find(w.dir, path); d != nil {
			found := s.byPath[d.path]
			switch {
			case found == w.pkg && self != nil:
				return self, nil
			case found == w.pkg, found.types == nil, s.hidden(w, found):
				return missing(path, found.primary), nil
			}
			return found.types, nil
		}
		if s.std.Has(path) {
			return s.std.Import(path)
		}
		return missing(path, guessedName(path)), nil
	}
}

// hidden says that two packages import each other in a circle.
func (s *step) hidden(w *work, found *pkg) bool {
	return !slices.ContainsFunc(w.deps, func(d *work) bool { return d.pkg == found }) &&
		slices.ContainsFunc(w.allDeps, func(d *work) bool { return d.pkg == found && d.component == w.component })
}

// check makes a package's graphs, where they may differ from those of before.
func (s *step) check(w *work) error {
	if w.done || !w.dirty {
		w.parsed = nil
		return nil
	}
	w.done = true
	for _, d := range w.allDeps { // those that came later
		if d.replaced {
			s.startOver(w)
		}
	}
	if same, err := s.unchanged(w); err != nil {
		return err
	} else if !same && !w.whole {
		// What a file that did not change means may be something else now.
		s.startOver(w)
		if _, err := s.unchanged(w); err != nil {
			return err
		}
	}
	w.signatures = signatures(w.units)
	s.finish(w)
	return nil
}

// unchanged checks a package's units, and reports whether all that they declare is
// as it was.
func (s *step) unchanged(w *work) (bool, error) {
	if w.units == nil {
		if err := s.read(w); err != nil {
			return false, err
		}
		if !w.whole && routed(w.parsed.files) {
			s.startOver(w)
			if err := s.read(w); err != nil {
				return false, err
			}
		}
		w.units = s.checkUnits(w)
	}
	return maps.Equal(signatures(w.units), w.signatures), nil
}

func signatures(units []*unit) map[string]uint64 {
	all := map[string]uint64{}
	for _, u := range units {
		all[u.path+" "+u.pkg.Name()] = u.signature()
	}
	return all
}

// checkUnits checks the package with its tests, its external tests, and what does not
// belong together.
func (s *step) checkUnits(w *work) []*unit {
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

// finish makes the graphs of a package's files, and what is kept of them.
func (s *step) finish(w *work) {
	p, units := w.parsed, w.units
	w.parsed, w.units = nil, nil
	before := w.local
	w.graphs = []resolve.FileGraph{packageGraph(w.dir, w.primary, p)}
	for _, f := range p.skipped {
		w.graphs = append(w.graphs, resolve.Base(f, nil, w.importPath))
	}
	for i, f := range p.files {
		if !f.built {
			w.graphs = append(w.graphs, syntaxGraph(f, p.names[i]))
		}
	}
	files := map[string]*kept{}
	local := map[string]uint64{}
	for _, u := range units {
		u.link()
		u.routes()
		s.imports(w, u)
		for i, f := range u.files {
			if f.kept != nil {
				files[f.Path], local[f.Path] = f.kept, before[f.Path]
				w.graphs = append(w.graphs, f.kept.graph)
				continue
			}
			g := u.graphs[i]
			g.Normalize()
			files[f.Path] = &kept{blob: f.Blob, skeleton: f.skeleton(u.fset), graph: g, facts: factsOf(u, i)}
			w.graphs = append(w.graphs, g)
		}
	}
	slices.SortFunc(w.graphs, func(a, b resolve.FileGraph) int { return cmp.Compare(a.Path, b.Path) })
	for i := range w.graphs {
		g := &w.graphs[i]
		if _, done := local[g.Path]; !done {
			g.Normalize()
			local[g.Path] = hashGraph(g)
		}
	}
	w.files, w.local = files, local
}

// otherPackages are the names of the buildable packages besides the primary one:
// external tests, and what does not belong together.
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

// unit checks the files of one package; tested is the unit whose external tests
// they are.
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
	return newUnit(w.parsed.fset, path, files, names, s.importsOf(w, self), func(pkg *types.Package, chain string) (schemas.NodeKey, bool) {
		if self != nil && pkg == self {
			return ofTested[chain], true
		}
		if found, ours := s.of[pkg]; ours {
			return found.byChain[chain], true
		}
		return "", false
	})
}

// imports makes the edges from files to what they import.
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
