package golang

import (
	"cmp"
	"go/types"
	"slices"
)

// resolveImports resolves imports, and finds packages that import each other in a cycle: these do
// not see each other.
func (s *step) resolveImports(at map[string]*work) {
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

// meansTheSame reports whether existing imports still have the same meaning.
func meansTheSame(imports, meant []string, was *pkg) bool {
	for i, imp := range imports {
		if j, ok := slices.BinarySearch(was.allImports, imp); ok && was.meant[j] != meant[i] {
			return false
		}
	}
	return true
}

// components numbers the strongly connected components of the import graph, imported ones
// before importing ones (Tarjan's algorithm).
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

// importsOf returns the importer for a package's files. self is the package of the
// directory's own path: nil except for its external tests.
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

// hidden reports whether two packages import each other in a cycle.
func (s *step) hidden(w *work, found *pkg) bool {
	return !slices.ContainsFunc(w.deps, func(d *work) bool { return d.pkg == found }) &&
		slices.ContainsFunc(w.allDeps, func(d *work) bool { return d.pkg == found && d.component == w.component })
}
