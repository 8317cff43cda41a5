package golang

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/recountdb/recount/projections/graph/resolve"
	"github.com/recountdb/recount/projections/graph/resolve/golang/stdlib"
	"github.com/recountdb/recount/schemas"
)

// step is the way from one snapshot to the next: which packages must be read and
// checked anew, in which order, and their graphs.
//
// A package is checked anew where its files differ, where an import means another
// directory than before, or where one of its files uses what a package that it
// imports, directly or through others, offers in another way than before. Of such a
// package the files that changed are read whole, and those that use what changed
// (see uses); of the others the checker sees what they declare, and what is kept of
// them stays.
//
// Where a package offers the same, by a fingerprint without positions, the types
// that others already hold are kept.
type step struct {
	fset   *token.FileSet
	std    *stdlib.Importer
	book   *book
	tree   resolve.Tree
	layout *layout
	before map[string]*pkg
	byPath map[string]*pkg
	work   []*work               // by directory
	ahead  map[string]*wholeFile // by path, until the packages have begun

	mu sync.RWMutex // guards what follows, while packages are checked
	// of are the nodes of packages that others import, by their names.
	of map[*types.Package]map[string]schemas.NodeKey
}

// work is a package while a step goes over it.
type work struct {
	*pkg
	was    *pkg // before the step; nil where it is new
	parsed *parsed
	// taken are files that were read whole, by path, for the next reading.
	taken map[string]*wholeFile
	units []*unit  // where they are checked already
	said  meanings // what the units declare, once that was asked
	// deps are the packages of the repository that it imports, without those that it
	// cannot see because they import it; allDeps are those of its tests too.
	deps, allDeps []*work
	dirty         bool // its files or what they import differ
	replaced      bool // its types are not those of before
	// effect is what importers may see differ, of the package and of those it imports.
	effect marks
	// upset says that it came or went: who imports it can keep nothing. elsewhere says
	// that an import of it, or of one that it imports, means another directory: nor can
	// who imports it through others.
	upset, elsewhere bool
	// changed is what the package's own files may see differ; whole says that nothing
	// of them can be kept.
	changed   marks
	whole     bool
	ready     bool // its types are there, if any are wanted
	done      bool
	component int // the packages that import each other, in order of dependence
}

func newStep(fset *token.FileSet, std *stdlib.Importer, b *book, tree resolve.Tree, l *layout, before map[string]*pkg) *step {
	return &step{
		fset: fset, std: std, book: b, tree: tree, layout: l, before: before,
		byPath: map[string]*pkg{}, of: map[*types.Package]map[string]schemas.NodeKey{},
	}
}

// run goes over the packages: what they offer in the order of dependence, then, on
// all cores, what they hold.
func (s *step) run(ctx context.Context) error {
	if err := s.readAhead(); err != nil {
		return err
	}
	at := map[string]*work{}
	for _, d := range s.layout.sorted {
		w, err := s.begin(d)
		if err != nil {
			return err
		}
		s.work = append(s.work, w)
		s.byPath[d.path] = w.pkg
		at[d.path] = w
	}
	s.ahead = nil // all of it is taken
	s.connect(at)
	order := slices.Clone(s.work)
	slices.SortStableFunc(order, func(a, b *work) int { return cmp.Compare(a.component, b.component) })
	checks := newCrew()
	for _, w := range order {
		err := ctx.Err()
		if err == nil {
			err = s.offer(w)
		}
		if err != nil {
			return errors.Join(err, checks.wait())
		}
		if !slices.ContainsFunc(w.allDeps, func(d *work) bool { return !d.ready }) {
			w.done = true
			checks.run(func() error { return s.check(w) })
		}
	}
	for _, w := range order { // whose tests import what came after them
		if !w.done {
			checks.run(func() error { return s.check(w) })
		}
	}
	return checks.wait()
}

// begin takes a directory over from the snapshot before, and reads it where its
// files differ.
func (s *step) begin(d *dir) (*work, error) {
	w := &work{pkg: &pkg{dir: d, key: d.key()}, was: s.before[d.path], changed: marks{}, effect: marks{}}
	switch was := w.was; {
	case was == nil:
		w.dirty = true
	case was.importPath != d.importPath: // another package in the same place
		w.final, w.was, w.dirty, w.upset = was.final, nil, true, true
	case was.key == w.key:
		*w.pkg = *was
		w.dir = d
		return w, nil
	default:
		*w.pkg = *was
		w.dir, w.key, w.dirty = d, d.key(), true
	}
	if err := s.read(w); err != nil {
		return nil, err
	}
	w.primary = w.parsed.primaryOf()
	if w.was != nil && w.was.primary != w.primary {
		w.upset = true
		s.startOver(w)
		if err := s.read(w); err != nil {
			return nil, err
		}
	}
	files, names := w.parsed.take(w.importable)
	w.byChain = chains(names)
	w.imports = importsOf(files)
	all, _ := w.parsed.take(func(*source) bool { return true })
	w.allImports = importsOf(all)
	return w, nil
}

// read parses a package's files: whole those that differ and those that use what
// differs.
func (s *step) read(w *work) error {
	if w.parsed != nil {
		return nil
	}
	known := w.files
	if w.whole {
		known = nil
	}
	var err error
	w.parsed, err = s.parseDir(w, known, func(k *kept) bool {
		return k.using(w.changed) || k.routing || len(w.routers) > 0 && k.using(w.routers)
	})
	return err
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
		w.imported = false
		w.deps, w.allDeps = resolved(w, w.imports), resolved(w, w.allImports)
	}
	components(s.work)
	for _, w := range s.work {
		w.deps = slices.DeleteFunc(w.deps, func(d *work) bool { return d.component == w.component })
		circled := false
		for _, d := range w.allDeps {
			d.imported = true
			circled = circled || d.component == w.component
		}
		meant := make([]string, len(w.allImports))
		for i, imp := range w.allImports {
			meant[i] = "-"
			if d := s.layout.find(w.dir, imp); d != nil {
				meant[i] = d.path
			}
		}
		if was := w.was; was != nil && (circled || was.circled || !meansTheSame(w.allImports, meant, was)) {
			w.dirty, w.replaced = true, true
			w.elsewhere = circled != was.circled || !circled
			s.startOver(w)
		}
		w.meant, w.circled = meant, circled
	}
}

// meansTheSame reports whether imports that were there before mean what they meant.
func meansTheSame(imports, meant []string, was *pkg) bool {
	for i, imp := range imports {
		if j, ok := slices.BinarySearch(was.allImports, imp); ok && was.meant[j] != meant[i] {
			return false
		}
	}
	return true
}

// startOver lets nothing be kept of a package's files.
func (s *step) startOver(w *work) {
	w.whole = true
	w.uncheck()
	if w.parsed != nil && slices.ContainsFunc(w.parsed.files, (*source).partial) {
		w.reread()
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
			w.replaced = true
			w.elsewhere = w.elsewhere || d.elsewhere
			w.effect.add(d.effect)
		}
	}
	s.notice(w)
	if !w.imported {
		w.types, w.offered = nil, nil
		return nil
	}
	if w.types != nil && !w.replaced {
		same := !w.dirty
		if !same && !w.whole {
			// Where all that it declares is as it was, so is what it offers.
			var err error
			if same, err = s.checkUnits(w); err != nil {
				return err
			}
		}
		if same {
			s.publish(w)
			return nil
		}
	}
	if err := s.read(w); err != nil {
		return err
	}
	files, _ := w.parsed.take(w.importable)
	if len(files) == 0 {
		w.upset = w.upset || w.known() && w.types != nil
		w.replaced = w.replaced || w.types != nil
		w.types, w.offered = nil, nil
		return nil
	}
	offered, ok := checkDeclarations(w.parsed.fset, w.importPath, files, s.importsOf(w, nil))
	if !ok {
		offered = nil // nobody can rely on half a package
	}
	api := fingerprint(offered, w.byChain)
	if w.types == nil || w.replaced || api != w.api {
		w.upset = w.upset || w.known() && (w.types == nil) != (offered == nil)
		before := w.offered
		w.types, w.api, w.offered, w.replaced = offered, api, meanings{}, w.replaced || w.known()
		if offered != nil {
			w.offered.mean(offered, func(obj types.Object) schemas.NodeKey { return s.offeredKey(w, offered, obj) })
		}
		if before != nil { // else who imports it keeps nothing
			w.effect.differing(before, w.offered)
		}
	}
	s.publish(w)
	return nil
}

// publish notes where what a package offers stands.
func (s *step) publish(w *work) {
	if w.types != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.of[w.types] = w.byChain
	}
}

// published finds where what a package of the repository offers stands; ours is false
// for all others.
func (s *step) published(pkg *types.Package) (byChain map[string]schemas.NodeKey, ours bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	byChain, ours = s.of[pkg]
	return byChain, ours
}

// known reports whether a file from before may import the package: what came to be
// imported is met in files that changed.
func (w *work) known() bool { return w.was != nil && w.was.imported }

// offeredKey is the node of an object as importers of a package know it.
func (s *step) offeredKey(w *work, offered *types.Package, obj types.Object) schemas.NodeKey {
	obj = origin(obj)
	if obj.Pkg() == offered {
		return w.byChain[chainOf(obj)]
	}
	byChain, _ := s.published(obj.Pkg())
	return byChain[chainOf(obj)]
}

// notice takes in what differs of what a package and its tests import.
func (s *step) notice(w *work) {
	for _, d := range w.allDeps {
		if d.replaced && d.ready {
			w.changed.add(d.effect)
			if d.upset || d.elsewhere {
				s.startOver(w)
			}
		}
	}
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
			case found == w.pkg, s.hidden(w, found), found.types == nil:
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
	if slices.ContainsFunc(w.allDeps, func(d *work) bool { return d.replaced && d.late(w) }) {
		w.uncheck() // the units hold types of before
		w.unread()
	}
	s.notice(w)
	if !w.dirty && !w.whole && !w.anyUsing() {
		w.unread()
		return nil
	}
	if _, err := s.checkUnits(w); err != nil {
		return err
	}
	for s.link(w) {
		s.startOver(w)
		if _, err := s.checkUnits(w); err != nil {
			return err
		}
	}
	if !w.alike() {
		w.declares = w.saying()
	}
	s.finish(w)
	return nil
}

// late says that w was gone over before d.
func (d *work) late(w *work) bool { return d.component >= w.component }

// anyUsing reports whether a file uses what changed.
func (w *work) anyUsing() bool {
	for _, k := range w.files {
		if k.using(w.changed) {
			return true
		}
	}
	return false
}

// checkUnits checks a package, with every file whole that may say something else
// than before. same is true where all that it declares is as it was.
func (s *step) checkUnits(w *work) (same bool, err error) {
	for {
		if w.units == nil {
			if err := s.read(w); err != nil {
				return false, err
			}
			w.units = s.unitsOf(w)
		}
		if !w.whole && slices.ContainsFunc(w.units, func(u *unit) bool { return u.failed }) {
			s.startOver(w) // how far the checker came is not to depend on what it was given
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
		w.uncheck()
		w.reread()
	}
}

// uncheck forgets what the checker said.
func (w *work) uncheck() { w.units, w.said = nil, nil }

// reread has the package read anew, but for the files that were read whole.
func (w *work) reread() {
	w.taken = map[string]*wholeFile{}
	for i, f := range w.parsed.files {
		if f.kept == nil {
			w.taken[f.Path] = &wholeFile{source: f, names: w.parsed.names[i]}
		}
	}
	w.parsed = nil
}

// unread forgets a package's syntax.
func (w *work) unread() {
	if w.parsed != nil {
		w.parsed.drop()
		w.parsed = nil
	}
}

// alike reports whether only the bodies of functions differ from before: then the
// package declares what it declared.
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

// saying is what the units declare.
func (w *work) saying() meanings {
	if w.said == nil {
		w.said = declares(w.units, len(w.declares))
	}
	return w.said
}

// declares is what units declare: about so many meanings as before.
func declares(units []*unit, before int) meanings {
	m := make(meanings, before)
	for _, u := range units {
		m.mean(u.pkg, func(obj types.Object) schemas.NodeKey { return u.target(obj).key })
	}
	return m
}

// unitsOf checks the package with its tests, its external tests, and what does not
// belong together.
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

// link makes the edges of a package's units. Again says that a file of which only
// the declarations were read may have routes.
func (s *step) link(w *work) (again bool) {
	routers := marks{}
	for _, u := range w.units {
		u.link()
		routers.add(u.routes())
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

// finish makes the graphs of a package's files, and what is kept of them.
func (s *step) finish(w *work) {
	p, units := w.parsed, w.units
	w.parsed = nil
	w.uncheck()
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
		all := make([]*kept, len(u.files))
		spread(len(all), func(i int) { all[i] = u.keep(i) })
		for i, k := range all {
			files[u.files[i].Path], local[u.files[i].Path] = k, k.local
			w.graphs = append(w.graphs, k.graph)
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
	for path, k := range w.files {
		if files[path] != k {
			k.drop(p.fset)
		}
	}
	w.files, w.local = files, local
	p.drop()
}

// keep is what is kept of a file that was checked.
func (u *unit) keep(i int) *kept {
	f := u.files[i]
	if f.kept != nil {
		return f.kept
	}
	g := u.graphs[i]
	g.Normalize()
	k := &kept{
		blob: f.Blob, graph: g, local: hashGraph(&g), facts: factsOf(u, i),
		routing: routed(u.files[i : i+1]), external: f.external(),
		head: f.head(u.fset), parts: map[schemas.NodeKey]*part{},
	}
	u.separate(i, k)
	if !u.failed {
		k.skeleton = f.skeleton(u.fset)
	}
	return k
}

// separate finds what a file's functions use and what flows in them, each by itself,
// and of the rest together.
func (u *unit) separate(i int, k *kept) {
	f, names := u.files[i], u.names[i]
	flow, used := newFlowing(u), newUses(u)
	restFlow, rest := newFlowing(u), newUses(u)
	all := marks{}
	keep := func(uses []mark) {
		for _, m := range uses {
			all[m] = struct{}{}
		}
	}
	rest.below(f.syntax.Name)
	if routed(u.files) {
		rest.members["ServeHTTP"] = true // what has it is a handler
	}
	for j, decl := range f.syntax.Decls {
		c := f.carries(j)
		if c == nil && (f.problem != "" || !separable(names, decl)) {
			rest.below(decl)
			restFlow.declaration(decl, names)
			continue
		}
		at := f.place(u.fset, decl)
		if c == nil {
			used.below(decl)
			flow.declaration(decl, names)
			key := names.ofName[decl.(*ast.FuncDecl).Name]
			c = &carried{part: &part{text: f.text(u.fset, decl), column: at.Column, uses: used.take(), flow: flow.take()}, key: key}
			c.flow.line = at.Line
		}
		p := *c.part
		p.line = at.Line
		k.parts[c.key] = &p
		k.facts.flows = append(k.facts.flows, flowAt{p.flow, p.line - p.flow.line})
		keep(p.uses)
	}
	k.facts.flows = append(k.facts.flows, flowAt{flow: restFlow.take()})
	keep(rest.take())
	k.uses = slices.Sorted(maps.Keys(all))
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
		byChain, ours := s.published(pkg)
		return byChain[chain], ours
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
