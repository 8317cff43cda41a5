package golang

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// pkg is a directory with Go files, and what is kept of it between snapshots: no
// syntax and nothing of what the checker said of it, but its graph and the types
// that others import.
type pkg struct {
	*dir
	key string // dir.key of what the rest was made of

	// primary is the name of the package that others import, "" where there is none.
	primary string
	// imports are the paths that the primary package's files import, sorted;
	// allImports those of its tests too.
	imports, allImports []string
	// meant are the directories that allImports mean, "-" what is elsewhere; circled
	// says that one of those imports the package, too.
	meant   []string
	circled bool
	// byChain finds the nodes that other packages may name.
	byChain map[string]schemas.NodeKey
	// imported says that another package imports it.
	imported bool
	// types is the package as others import it: what it declares, without tests. It is
	// nil until one does. api is its fingerprint, offered what it means.
	types   *types.Package
	api     uint64
	offered meanings

	// graphs are of its files by path, and the package's own first (its path is the
	// shortest). They hold what the package says alone; local are their hashes.
	graphs []resolve.FileGraph
	local  map[string]uint64
	// files are those that were checked, by path, and declares what its units declare.
	files    map[string]*kept
	declares meanings
	// routers are the names of what is known to route.
	routers marks
	// final are the hashes of the graphs as they were returned last, by path.
	final map[string]uint64
}

// parsed is the syntax of a directory's files.
type parsed struct {
	fset *token.FileSet
	// files are those with content, by path; names are their declarations.
	files []*source
	names []*declared
	// skipped are those without.
	skipped []resolve.File
}

// parseDir reads a package's files. Of those that are known from before, are the
// same, and need not be read whole, it reads the skeleton; of the others it cuts the
// functions that are known and need not be read (see part).
func (s *step) parseDir(w *work, before map[string]*kept, whole func(*kept) bool) (*parsed, error) {
	p := &parsed{fset: s.fset}
	var all, missing []*wholeFile // of files; nil where the skeleton will do
	for _, f := range w.dir.files {
		if f.Skipped != "" {
			p.skipped = append(p.skipped, f)
			continue
		}
		if k := before[f.Path]; k.same(f) && !whole(k) {
			src, names := k.read(s.fset, f, w.packageOf(k.external))
			p.files, p.names, all = append(p.files, src), append(p.names, names), append(all, nil)
			continue
		}
		r := w.taken[f.Path]
		if r == nil {
			r = s.ahead[f.Path]
		}
		if r == nil {
			r = &wholeFile{File: f, dir: w.dir}
			missing = append(missing, r)
		}
		p.files, p.names, all = append(p.files, nil), append(p.names, nil), append(all, r)
	}
	if err := s.parseWhole(missing); err != nil {
		return nil, err
	}
	for i, r := range all {
		if r != nil {
			p.files[i], p.names[i] = r.source, r.names
		}
	}
	// Routes are followed from function to function.
	separate := len(w.routers) == 0 && !slices.ContainsFunc(p.files, func(f *source) bool {
		return f.kept != nil && f.kept.routing || f.kept == nil && routed([]*source{f})
	})
	spread(len(all), func(i int) {
		if r := all[i]; r != nil {
			var known *kept
			if k := before[r.source.Path]; separate && k != nil && k.skeleton != nil {
				known = k
			}
			r.source.cut(s.fset, r.names, known, w.changed)
		}
	})
	w.taken = nil
	return p, nil
}

// packageOf is the canonical path of the directory's package, or of its external
// tests.
func (d *dir) packageOf(external bool) string {
	if external {
		return d.importPath + "_test"
	}
	return d.importPath
}

// drop has the positions of the files that were read whole forgotten, once all is said
// of them: what is kept of them has none.
func (w *work) drop(p *parsed) {
	for _, f := range p.files {
		if f.kept == nil {
			w.gone = append(w.gone, f.position(p.fset))
		}
	}
}

// primaryOf is the name of the package that most of the buildable files are of; of
// equals the first by name. Where there are only tests, it is the package they test.
func (p *parsed) primaryOf() string {
	count := map[string]int{}
	for _, f := range p.files {
		if f.built && !f.external() {
			if count[f.pkg]++; !f.test {
				count[f.pkg] += len(p.files)
			}
		}
	}
	best := ""
	for name, n := range count {
		if n > count[best] || n == count[best] && name < best {
			best = name
		}
	}
	return best
}

// take selects the buildable files that want takes, with their declarations.
func (p *parsed) take(want func(*source) bool) (files []*source, names []*declared) {
	for i, f := range p.files {
		if f.built && want(f) {
			files, names = append(files, f), append(names, p.names[i])
		}
	}
	return files, names
}

// importsOf is what files import, sorted.
func importsOf(files []*source) []string {
	var all []string
	for _, f := range files {
		for _, spec := range f.syntax.Imports {
			all = append(all, importPath(spec))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// chains finds nodes by the names that other packages use.
func chains(names []*declared) map[string]schemas.NodeKey {
	all := map[string]schemas.NodeKey{}
	for _, n := range names {
		for chain, key := range n.byChain {
			if was, taken := all[chain]; !taken || key < was {
				all[chain] = key
			}
		}
	}
	return all
}

// packageGraph is the package's own node, and the files that it contains.
func packageGraph(d *dir, primary string, p *parsed) resolve.FileGraph {
	key := resolve.PackageKey(d.path)
	node := &recountv1.CodeNode{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_PACKAGE, Language: language, Package: d.importPath,
		Name: primary, Test: true,
	}
	if primary != "" {
		node.Signature = "package " + primary
	}
	g := resolve.FileGraph{Path: resolve.PackagePath(d.path)}
	for _, f := range p.files {
		if !f.test {
			node.Test = false
		}
		if node.Doc == "" && f.built && f.pkg == primary {
			node.Doc = docText(f.syntax.Doc)
		}
	}
	for _, f := range d.files {
		g.Edges = append(g.Edges, resolve.Edge{
			From: key, To: resolve.FileKey(f.Path), Kind: recountv1.EdgeKind_EDGE_KIND_CONTAINS,
			Edge: resolve.EdgeAt(declaredByFile, nil),
		})
	}
	g.Nodes = []resolve.Node{{Key: key, Node: node}}
	return g
}
