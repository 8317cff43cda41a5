package golang

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/recountdb/recount/languages/resolve"
)

// layout is where the repository's modules and packages are: it maps an import path to a directory.
type layout struct {
	repository string
	modules    []module // the innermost first: by decreasing length of dir, then by dir
	dirs       map[string]*dir
	sorted     []*dir // by path
	// of has the directories of an import path; two modules may share one.
	of map[string][]*dir
	// manifests is the key of what the go.mod files contribute to the layout, besides the set of
	// directories. A dependency's new version does not change it.
	manifests string
}

// module is what the layout needs of a go.mod file.
type module struct {
	dir, path string
	// replaced maps the module paths that the go.mod replaces by a directory of the repository to
	// that directory.
	replaced map[string]string
}

// dir is a directory with Go files.
type dir struct {
	path       string // "" is the root
	importPath string
	module     int // index in layout.modules, or -1
	// ignored is true if the go command ignores the directory (testdata, _x, .x, vendor).
	ignored bool
	files   []resolve.File // by path
}

// readLayout finds the modules and directories of a snapshot. known has modules by the path and
// blob of their go.mod; readLayout returns those of this snapshot in the same form. A module
// without a path stands for a go.mod that is not valid.
func readLayout(tree resolve.Tree, known map[string]module) (*layout, map[string]module, error) {
	modules := map[string]module{}
	l := &layout{repository: tree.Repository(), dirs: map[string]*dir{}, of: map[string][]*dir{}}
	for f := range tree.Files("") {
		switch {
		case f.Language == "go":
			p := dirOf(f.Path)
			d := l.dirs[p]
			if d == nil {
				d = &dir{path: p, ignored: Ignored(p)}
				l.dirs[p] = d
				l.sorted = append(l.sorted, d)
			}
			d.files = append(d.files, f)
		case path.Base(f.Path) == "go.mod" && f.Skipped == "" && !vendored(f.Path):
			id := f.Path + " " + f.Blob
			m, ok := known[id]
			if !ok {
				content, err := tree.Content(f)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
				}
				m = readModule(f.Path, content)
			}
			if modules[id] = m; m.path != "" {
				l.modules = append(l.modules, m)
			}
		}
	}
	slices.SortFunc(l.modules, func(a, b module) int {
		return cmp.Or(cmp.Compare(len(b.dir), len(a.dir)), cmp.Compare(a.dir, b.dir))
	})
	for _, m := range l.modules {
		l.manifests += fmt.Sprintf("%q %q %q\n", m.dir, m.path, m.replaced) // fmt prints maps in the order of their keys
	}
	slices.SortFunc(l.sorted, func(a, b *dir) int { return cmp.Compare(a.path, b.path) })
	for _, d := range l.sorted {
		slices.SortFunc(d.files, func(a, b resolve.File) int { return cmp.Compare(a.Path, b.Path) })
		d.module = slices.IndexFunc(l.modules, func(m module) bool { return within(m.dir, d.path) })
		base, below := l.repository, d.path
		if d.module >= 0 {
			m := l.modules[d.module]
			base, below = m.path, strings.TrimPrefix(strings.TrimPrefix(d.path, m.dir), "/")
		}
		d.importPath = path.Join(base, below)
		if !d.ignored {
			l.of[d.importPath] = append(l.of[d.importPath], d)
		}
	}
	return l, modules, nil
}

// find returns the directory that an import path means, nil if it is not in the repository. If
// several modules share a path, it prefers the importer's own, then one that the importer replaces
// the path by, then the one nearest to the root. Versions are ignored: a module of the repository
// that requires a released version of another is resolved against the other at the same commit.
func (l *layout) find(from *dir, importPath string) *dir {
	found := l.of[importPath]
	if len(found) == 0 {
		return l.findReplaced(from, importPath)
	}
	if len(found) == 1 {
		return found[0]
	}
	for _, d := range found {
		if d.module == from.module {
			return d
		}
	}
	if d := l.findReplaced(from, importPath); d != nil {
		return d
	}
	return slices.MinFunc(found, func(a, b *dir) int {
		return cmp.Or(cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/")), cmp.Compare(a.path, b.path))
	})
}

func (l *layout) findReplaced(from *dir, importPath string) *dir {
	if from.module < 0 {
		return nil
	}
	longest, target := -1, ""
	for old, local := range l.modules[from.module].replaced {
		if within(old, importPath) && len(old) > longest {
			longest = len(old)
			target = path.Join(local, strings.TrimPrefix(importPath, old))
		}
	}
	if longest < 0 {
		return nil
	}
	if target == "." {
		target = ""
	}
	if d := l.dirs[target]; d != nil && !d.ignored {
		return d
	}
	return nil
}

// readModule reads as much of a go.mod as can be understood. The result has no path if the file
// names none.
func readModule(file string, content []byte) module {
	m := module{dir: dirOf(file), path: modfile.ModulePath(content), replaced: map[string]string{}}
	f, err := modfile.ParseLax(file, content, nil)
	if err == nil {
		// ParseLax leaves replacements out; Parse reads them if the whole file is valid.
		if strict, err := modfile.Parse(file, content, nil); err == nil {
			f = strict
		}
		for _, r := range f.Replace {
			if r.New.Version == "" && (strings.HasPrefix(r.New.Path, "./") || strings.HasPrefix(r.New.Path, "../")) {
				if local := path.Join(m.dir, r.New.Path); local != ".." && !strings.HasPrefix(local, "../") {
					m.replaced[r.Old.Path] = local
				}
			}
		}
	}
	return m
}

// dirOf returns a file's directory, "" at the root.
func dirOf(file string) string {
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		return file[:i]
	}
	return ""
}

// within reports whether p is dir or below it.
func within(dir, p string) bool {
	return dir == "" || p == dir || strings.HasPrefix(p, dir+"/")
}

func vendored(p string) bool {
	return slices.Contains(strings.Split(p, "/"), "vendor")
}

// Ignored reports whether `go build ./...` ignores a directory. Its files have nodes and no edges.
func Ignored(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if part == "testdata" || part == "vendor" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") {
			return true
		}
	}
	return false
}
