package golang

import (
	"go/ast"
	"go/types"

	"github.com/recountdb/recount/schemas"
)

// offer provides the types that other packages import, if any do: the existing ones, or it returns
// a function that rebuilds them. That function uses nothing that the package's own check changes at
// the same time.
func (s *step) offer(w *work) (anew func(), err error) {
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
		return nil, nil
	}
	if w.types != nil && !w.replaced && !w.dirty {
		s.publish(w)
		return nil, nil
	}
	if err := s.read(w); err != nil {
		return nil, err
	}
	if w.types != nil && !w.replaced && w.alike() {
		s.publish(w)
		return nil, nil
	}
	files, _ := w.parsed.take(w.importable)
	if len(files) == 0 {
		w.upset = w.upset || w.known() && w.types != nil
		w.replaced = w.replaced || w.types != nil
		w.types, w.offered = nil, nil
		return nil, nil
	}
	syntax := syntaxOf(files)
	return func() { s.offerAnew(w, syntax) }, nil
}

// offerAnew rebuilds the types that other packages import, and keeps the existing ones if they
// offer the same.
func (s *step) offerAnew(w *work, syntax []*ast.File) {
	offered, ok := checkDeclarations(s.fset, w.importPath, syntax, s.importsOf(w, nil))
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
		if before != nil { // otherwise its importers keep nothing
			w.effect.differing(before, w.offered)
		}
	}
	s.publish(w)
}

// publish registers the nodes of what a package offers.
func (s *step) publish(w *work) {
	if w.types != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.of[w.types] = w.byChain
	}
}

// published returns the nodes of what a package of the repository offers; ours is false for all
// other packages.
func (s *step) published(pkg *types.Package) (byChain map[string]schemas.NodeKey, ours bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	byChain, ours = s.of[pkg]
	return byChain, ours
}

// known reports whether a file of the previous snapshot may import the package: if the package was
// not imported before, only files that changed import it.
func (w *work) known() bool { return w.was != nil && w.was.imported }

// offeredKey returns the node of an object as importers of a package see it.
func (s *step) offeredKey(w *work, offered *types.Package, obj types.Object) schemas.NodeKey {
	obj = origin(obj)
	if obj.Pkg() == offered {
		return w.byChain[chainOf(obj)]
	}
	byChain, _ := s.published(obj.Pkg())
	return byChain[chainOf(obj)]
}

// notice records what has changed in the packages that a package and its tests import.
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
