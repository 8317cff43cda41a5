package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// MaxSites is how many places an edge keeps; CodeEdge.site_count has them all.
const MaxSites = 16

// Confidence is what an edge known in some way is worth, in thousandths.
// Resolvers may state less for a particular edge, never more.
func Confidence(p recountv1.Provenance) uint32 {
	switch p {
	case recountv1.Provenance_PROVENANCE_DECLARED:
		return 1000
	case recountv1.Provenance_PROVENANCE_TYPES_RESOLVED:
		return 980
	case recountv1.Provenance_PROVENANCE_LSP_RESOLVED, recountv1.Provenance_PROVENANCE_SCIP_RESOLVED:
		return 950
	case recountv1.Provenance_PROVENANCE_SCOPE_RESOLVED:
		return 800
	case recountv1.Provenance_PROVENANCE_FLOW:
		return 700
	case recountv1.Provenance_PROVENANCE_NAME_MATCHED:
		return 500
	}
	return 0
}

// FileKey is the key of a file's own node, PackageKey that of the package in a
// directory ("" is the root).
func FileKey(path string) schemas.NodeKey {
	return schemas.NewNodeKey(path, "", "", recountv1.SymbolKind_SYMBOL_KIND_FILE, "")
}

// PackageKey is the key of the node of the package in a directory.
func PackageKey(dir string) schemas.NodeKey {
	return schemas.NewNodeKey(PackagePath(dir), "", "", recountv1.SymbolKind_SYMBOL_KIND_PACKAGE, "")
}

// PackagePath is the path under which a package's node stands: FileGraph.Path of
// what belongs to no single file.
func PackagePath(dir string) string {
	if dir == "" || dir == "." {
		return "/"
	}
	return dir + "/"
}

// Declared are a file's declarations with their names in the graph, index by
// index as in the facts.
type Declared struct {
	Keys []schemas.NodeKey
	// Owners are the chains of enclosing names, Variants what tells equal names apart.
	Owners, Variants []string
}

// Declare names the declarations of a file. Of several with one name, owner and
// kind the first keeps the name and the others get a variant, "#2" and so on, so
// that none is lost.
func Declare(path string, facts *recountv1.FileFacts) Declared {
	n := len(facts.Declarations)
	d := Declared{make([]schemas.NodeKey, n), make([]string, n), make([]string, n)}
	chains := make([]string, n)
	times := make(map[schemas.NodeKey]int, n)
	for i, decl := range facts.Declarations {
		owner := decl.OwnerPath
		if o := int(decl.Owner); o > 0 && o <= i {
			owner = chains[o-1]
		}
		d.Owners[i] = owner
		chains[i] = decl.Name
		if owner != "" {
			chains[i] = owner + "." + decl.Name
		}
		plain := schemas.NewNodeKey(path, owner, decl.Name, decl.Kind, "")
		times[plain]++
		if t := times[plain]; t > 1 {
			d.Variants[i] = fmt.Sprintf("#%d", t)
			plain = schemas.NewNodeKey(path, owner, decl.Name, decl.Kind, d.Variants[i])
		}
		d.Keys[i] = plain
	}
	return d
}

// Base is the part of a file's graph that its facts give without resolving
// anything: the nodes of the file and its declarations, and what contains what.
func Base(f File, facts *recountv1.FileFacts, pkg string) FileGraph {
	g := FileGraph{Path: f.Path}
	file := FileKey(f.Path)
	g.Nodes = append(g.Nodes, Node{file, fileNode(f, facts, pkg)})
	if facts == nil {
		return g
	}
	d := Declare(f.Path, facts)
	for i, decl := range facts.Declarations {
		g.Nodes = append(g.Nodes, Node{d.Keys[i], &recountv1.CodeNode{
			Kind: decl.Kind, Language: f.Language, Package: pkg,
			Owner: d.Owners[i], Name: decl.Name, Variant: d.Variants[i],
			Signature: decl.Signature, Doc: decl.Doc, Start: decl.Start, End: decl.End,
			Exported: decl.Exported, Test: decl.Test, BodyHash: decl.BodyHash, Attributes: decl.Attributes,
		}})
		owner := file
		if o := int(decl.Owner); o > 0 && o <= i {
			owner = d.Keys[o-1]
		}
		g.Edges = append(g.Edges, Edge{owner, d.Keys[i], recountv1.EdgeKind_EDGE_KIND_CONTAINS, EdgeAt(recountv1.Provenance_PROVENANCE_DECLARED, decl.Start)})
	}
	return g
}

func fileNode(f File, facts *recountv1.FileFacts, pkg string) *recountv1.CodeNode {
	n := &recountv1.CodeNode{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_FILE, Language: f.Language, Package: pkg,
		Name: f.Path[strings.LastIndexByte(f.Path, '/')+1:],
	}
	if facts != nil && facts.Generated {
		n.Attributes = map[string]string{"generated": "true"}
	}
	return n
}

// EdgeAt is an edge with one site (or none), at the confidence of its provenance.
func EdgeAt(p recountv1.Provenance, at *recountv1.Place) *recountv1.CodeEdge {
	e := &recountv1.CodeEdge{Provenance: p, ConfidencePermille: Confidence(p)}
	if at != nil {
		e.Sites, e.SiteCount = []*recountv1.Place{at}, 1
	}
	return e
}

// Normalize sorts a file's graph and joins what has one key: of edges between two
// nodes of one kind the better known stays, with the sites of both.
func (g *FileGraph) Normalize() {
	sortStable(g.Nodes, compareNodes)
	g.Nodes = slices.CompactFunc(g.Nodes, func(a, b Node) bool { return a.Key == b.Key })

	sortStable(g.Edges, compareEdges)
	g.Edges = join(g.Edges, func(a, b Edge) bool { return compareEdges(a, b) == 0 }, func(e *Edge) **recountv1.CodeEdge { return &e.Edge })

	sortStable(g.Externals, compareExternals)
	g.Externals = join(g.Externals, func(a, b External) bool { return compareExternals(a, b) == 0 }, func(e *External) **recountv1.CodeEdge { return &e.Edge })

	sortStable(g.Unresolved, compareUnresolved)
	g.Unresolved = slices.CompactFunc(g.Unresolved, func(a, b Unresolved) bool { return compareUnresolved(a, b) == 0 })
}

// sortStable sorts what is mostly in order already.
func sortStable[E any](all []E, compare func(a, b E) int) {
	if !slices.IsSortedFunc(all, compare) {
		slices.SortStableFunc(all, compare)
	}
}

func compareNodes(a, b Node) int { return strings.Compare(string(a.Key), string(b.Key)) }

func compareEdges(a, b Edge) int {
	if c := strings.Compare(string(a.From), string(b.From)); c != 0 {
		return c
	}
	if a.Kind != b.Kind {
		return cmp.Compare(a.Kind, b.Kind)
	}
	return strings.Compare(string(a.To), string(b.To))
}

func compareExternals(a, b External) int {
	if c := strings.Compare(string(a.From), string(b.From)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Language, b.Language), strings.Compare(a.Package, b.Package), strings.Compare(a.Name, b.Name))
}

func compareUnresolved(a, b Unresolved) int {
	if c := strings.Compare(string(a.From), string(b.From)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Path, b.Path), ComparePlaces(a.At, b.At))
}

// ComparePlaces orders places as they stand in a file.
func ComparePlaces(a, b *recountv1.Place) int {
	return cmp.Or(cmp.Compare(a.GetLine(), b.GetLine()), cmp.Compare(a.GetColumn(), b.GetColumn()))
}

// join folds runs of equal entries into their first.
func join[E any](all []E, same func(a, b E) bool, edge func(*E) **recountv1.CodeEdge) []E {
	out := all[:0]
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && same(all[i], all[j]) {
			j++
		}
		e := all[i]
		if j > i+1 {
			run := make([]*recountv1.CodeEdge, 0, j-i)
			for k := i; k < j; k++ {
				run = append(run, *edge(&all[k]))
			}
			*edge(&e) = joinEdges(run)
		}
		out = append(out, e)
		i = j
	}
	return out
}

// joinEdges is one edge in the place of several: as well known as the best of
// them, with every site once and in order.
func joinEdges(run []*recountv1.CodeEdge) *recountv1.CodeEdge {
	best := run[0]
	var sites []*recountv1.Place
	count := uint32(0)
	for _, e := range run {
		if e.ConfidencePermille > best.ConfidencePermille {
			best = e
		}
		sites = append(sites, e.Sites...)
		count += e.SiteCount
	}
	slices.SortFunc(sites, ComparePlaces)
	all := len(sites)
	sites = slices.CompactFunc(sites, func(a, b *recountv1.Place) bool { return ComparePlaces(a, b) == 0 })
	count -= uint32(all - len(sites))
	return &recountv1.CodeEdge{
		Provenance: best.Provenance, ConfidencePermille: best.ConfidencePermille,
		Sites: sites[:min(len(sites), MaxSites)], SiteCount: count,
	}
}
