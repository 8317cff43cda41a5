package golang

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// pkg is a directory with Go files, and what is kept of it between snapshots: its graph and the
// types that others import, but no syntax and no other result of the checker.
type pkg struct {
	*dir
	key string // dir.key of the files that the other fields were built from

	// primary is the name of the package that others import, "" if there is none.
	primary string
	// imports has the paths that the primary package's files import, sorted; allImports also has
	// those of its tests.
	imports, allImports []string
	// meant has the directories that allImports mean, "-" for those outside the repository; circled
	// is true if one of them also imports this package.
	meant   []string
	circled bool
	// byChain has the nodes that other packages may name.
	byChain map[string]schemas.NodeKey
	// imported is true if another package imports it.
	imported bool
	// types is the package as others import it: what it declares, without tests. It is nil until
	// another package imports it. api is its fingerprint, and offered what its names mean.
	types   *types.Package
	api     uint64
	offered meanings

	// graphs has the graphs of its files by path, the package's own first (its path is the
	// shortest). They contain only what follows from the package alone; local has their hashes.
	graphs []resolve.FileGraph
	local  map[string]uint64
	// files has the files that were checked, by path, and declares what the units declare.
	files    map[string]*kept
	declares meanings
	// routers has the names of variables that are known to be routers.
	routers marks
	// routing has what the units say of routers and routes.
	routing []*routeFacts
	// final has the hashes of the graphs as they were last returned, by path.
	final map[string]uint64
}

// parsed is the syntax of a directory's files.
type parsed struct {
	fset *token.FileSet
	// files has the files with content, by path; names has their declarations.
	files []*source
	names []*declared
	// skipped has the files without content.
	skipped []resolve.File
}

// parseDir parses a package's files. Of a file that is known and has not changed it parses the
// skeleton, unless whole requires all of it; of any other it cuts the functions that are known and
// need not be read (see part).
func (s *step) parseDir(w *work, before map[string]*kept, whole func(*kept) bool) (*parsed, error) {
	p := &parsed{fset: s.fset}
	var all, missing []*wholeFile // of files; nil where the skeleton is enough
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

// packageOf returns the canonical path of the directory's package, or of its external tests.
func (d *dir) packageOf(external bool) string {
	if external {
		return d.importPath + "_test"
	}
	return d.importPath
}

// drop marks the positions of the files that were read completely for removal, once the package is
// finished: what is kept of them has no positions.
func (w *work) drop(p *parsed) {
	for _, f := range p.files {
		if f.kept == nil {
			w.gone = append(w.gone, f.position(p.fset))
		}
	}
}

// primaryOf returns the name of the package that most of the buildable files belong to, of several
// the first by name. If there are only tests, it is the package that they test.
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

// regrouped reports whether a file belongs to another package of the directory than before. What a name means
// is kept for the directory as a whole, and does not tell which of its packages lost the name.
func (p *parsed) regrouped(before map[string]*kept) bool {
	return slices.ContainsFunc(p.files, func(f *source) bool {
		was := before[f.Path]
		return f.built && was != nil && was.pkg != f.pkg
	})
}

// take returns the buildable files that want accepts, with their declarations.
func (p *parsed) take(want func(*source) bool) (files []*source, names []*declared) {
	for i, f := range p.files {
		if f.built && want(f) {
			files, names = append(files, f), append(names, p.names[i])
		}
	}
	return files, names
}

// importsOf returns the paths that files import, sorted.
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

// chains returns nodes by the names that other packages use.
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

// packageGraph returns the package's own node, and the edges to the files that it contains.
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
