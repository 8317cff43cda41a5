package golang

import (
	"cmp"
	"context"
	"errors"
	"go/token"
	"go/types"
	"slices"
	"sync"

	"github.com/recountdb/recount/languages/golang/stdlib"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
)

// step is the transition from one snapshot to the next: which packages must be read and checked
// again, in which order, and their graphs.
//
// A package is checked again if its files differ, if an import means another directory than before,
// or if one of its files uses something that a package it imports, directly or through others, now
// offers differently. Of such a package the files that changed are read completely, and so are
// those that use what changed (see uses); of the other files the checker sees the declarations, and
// what is kept of them stays valid.
//
// If a package offers the same, by a fingerprint without positions, the types that others already
// hold are kept.
type step struct {
	fset   *token.FileSet
	std    *stdlib.Importer
	spare  *infos
	book   *book
	tree   resolve.Tree
	layout *layout
	before map[string]*pkg
	byPath map[string]*pkg
	work   []*work               // by directory
	ahead  map[string]*wholeFile // by path, until the packages have begun

	mu sync.RWMutex // guards the following fields while packages are checked
	// of has the nodes of packages that others import, by their names.
	of map[*types.Package]map[string]schemas.NodeKey
}

// work is a package and its state during a step.
type work struct {
	*pkg
	was    *pkg // before the step; nil if it is new
	parsed *parsed
	// taken has files that were read completely, by path, for when the package is parsed again.
	taken map[string]*wholeFile
	// gone has files whose positions nobody needs after the step.
	gone  []*token.File
	units []*unit  // set once they are checked
	said  meanings // what the units declare, once it has been computed
	// deps has the packages of the repository that it imports, without those that are hidden
	// because they import it; allDeps also has those of its tests.
	deps, allDeps []*work
	dirty         bool // its files or what they import differ
	replaced      bool // its types are not those of the previous snapshot
	// effect is what importers may see differ, in the package and in those it imports.
	effect marks
	// upset is true if the package appeared or disappeared: its importers can keep nothing.
	// elsewhere is true if an import of it, or of a package that it imports, means another
	// directory: then packages that import it through others can keep nothing either.
	upset, elsewhere bool
	// changed is what the package's own files may see differ; whole is true if nothing of them can
	// be kept.
	changed   marks
	whole     bool
	ready     bool // its types are available, if any package imports them
	done      bool
	component int // of packages that import each other, numbered in order of dependence
}

func newStep(fset *token.FileSet, std *stdlib.Importer, spare *infos, b *book, tree resolve.Tree, l *layout, before map[string]*pkg) *step {
	return &step{
		fset: fset, std: std, spare: spare, book: b, tree: tree, layout: l, before: before,
		byPath: map[string]*pkg{}, of: map[*types.Package]map[string]schemas.NodeKey{},
	}
}

// run processes the packages: what they offer in the order of dependence and, on all cores, what
// they contain.
func (s *step) run(ctx context.Context) error {
	defer func() {
		for _, w := range s.work {
			for _, f := range w.gone {
				if f != nil {
					s.fset.RemoveFile(f)
				}
			}
		}
	}()
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
	s.ahead = nil // the packages have taken all of it
	s.resolveImports(at)
	order := slices.Clone(s.work)
	slices.SortStableFunc(order, func(a, b *work) int { return cmp.Compare(a.component, b.component) })
	checks := newWorkerPool()
	for _, w := range order {
		var anew func()
		err := ctx.Err()
		if err == nil {
			anew, err = s.offer(w)
		}
		if err != nil {
			return errors.Join(err, checks.wait())
		}
		if !slices.ContainsFunc(w.allDeps, func(d *work) bool { return !d.ready }) {
			w.done = true
			checks.run(func() error { return s.check(w) })
		}
		if anew != nil {
			anew()
		}
		w.ready = true
	}
	for _, w := range order { // the packages whose tests import later ones
		if !w.done {
			checks.run(func() error { return s.check(w) })
		}
	}
	return checks.wait()
}

// begin takes a directory over from the previous snapshot, and reads it if its files differ.
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
	if w.was != nil && (w.was.primary != w.primary || w.parsed.regrouped(w.files)) {
		w.upset = w.was.primary != w.primary
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

// read parses a package's files: completely those that differ and those that use what differs.
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

// importable reports whether other packages may import the file.
func (w *work) importable(f *source) bool { return f.pkg == w.primary && !f.test }

// startOver discards everything that was kept of a package's files.
func (s *step) startOver(w *work) {
	w.whole = true
	w.uncheck()
	if w.parsed != nil && slices.ContainsFunc(w.parsed.files, (*source).partial) {
		w.reread()
	}
}

// check builds a package's graphs, if they may differ from the previous ones.
func (s *step) check(w *work) error {
	if slices.ContainsFunc(w.allDeps, func(d *work) bool { return d.replaced && d.late(w) }) {
		w.uncheck() // the units hold outdated types
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

// late reports whether d is processed after w.
func (d *work) late(w *work) bool { return d.component >= w.component }

// anyUsing reports whether a file uses anything that changed.
func (w *work) anyUsing() bool {
	for _, k := range w.files {
		if k.using(w.changed) {
			return true
		}
	}
	return false
}
