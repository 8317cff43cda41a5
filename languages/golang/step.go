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
	spare  *infos
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
	// gone are files whose positions nobody needs after the step.
	gone  []*token.File
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

func newStep(fset *token.FileSet, std *stdlib.Importer, spare *infos, b *book, tree resolve.Tree, l *layout, before map[string]*pkg) *step {
	return &step{
		fset: fset, std: std, spare: spare, book: b, tree: tree, layout: l, before: before,
		byPath: map[string]*pkg{}, of: map[*types.Package]map[string]schemas.NodeKey{},
	}
}

// run goes over the packages: what they offer in the order of dependence, and, on all
// cores, what they hold.
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
	s.ahead = nil // all of it is taken
	s.connect(at)
	order := slices.Clone(s.work)
	slices.SortStableFunc(order, func(a, b *work) int { return cmp.Compare(a.component, b.component) })
	checks := newCrew()
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

// startOver lets nothing be kept of a package's files.
func (s *step) startOver(w *work) {
	w.whole = true
	w.uncheck()
	if w.parsed != nil && slices.ContainsFunc(w.parsed.files, (*source).partial) {
		w.reread()
	}
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
