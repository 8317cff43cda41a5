package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// MaxSites is the maximum number of sites that an edge keeps; CodeEdge.site_count counts all.
const MaxSites = 16

// Confidence returns the confidence of an edge with a provenance, in thousandths. Resolvers may
// state a lower one for a single edge, never a higher one.
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

// FileKey returns the key of the node of a file.
func FileKey(path string) schemas.NodeKey {
	return schemas.NewNodeKey(path, "", "", recountv1.SymbolKind_SYMBOL_KIND_FILE, "")
}

// PackageKey returns the key of the node of the package in a directory ("" is the root).
func PackageKey(dir string) schemas.NodeKey {
	return schemas.NewNodeKey(PackagePath(dir), "", "", recountv1.SymbolKind_SYMBOL_KIND_PACKAGE, "")
}

// PackagePath returns the path of a package's graph: the FileGraph.Path of what belongs to no
// single file.
func PackagePath(dir string) string {
	if dir == "" || dir == "." {
		return "/"
	}
	return dir + "/"
}

// Declared has the names in the graph of a file's declarations, by their index in the facts.
type Declared struct {
	Keys []schemas.NodeKey
	// Owners are the names of the enclosing declarations, joined with dots. Variants distinguish
	// declarations with equal names.
	Owners, Variants []string
}

// Declare names the declarations of a file. If several have the same name, owner and kind, the
// first keeps the name and the others get a variant, "#2" and so on, so that none is lost.
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

// Base returns the part of a file's graph that needs no resolution: the nodes of the file and its
// declarations, and which contains which.
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

const (
	// UnsureRoute is the confidence, in thousandths, of a route whose prefix is not known.
	UnsureRoute = 300
	// AssumedRoute is that of a route whose prefix is a setting's default.
	AssumedRoute = 600
)

// EdgeAt returns an edge with one site (or none) and the confidence of its provenance.
func EdgeAt(p recountv1.Provenance, at *recountv1.Place) *recountv1.CodeEdge {
	e := &recountv1.CodeEdge{Provenance: p, ConfidencePermille: Confidence(p)}
	if at != nil {
		e.Sites, e.SiteCount = []*recountv1.Place{at}, 1
	}
	return e
}

// Normalize sorts a file's graph and joins entries with equal keys. Of edges between the same
// nodes and of the same kind, the one with the highest confidence stays, with the sites of all.
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

// sortStable sorts what is usually in order already.
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

// ComparePlaces compares two places in a file by line and column.
func ComparePlaces(a, b *recountv1.Place) int {
	return cmp.Or(cmp.Compare(a.GetLine(), b.GetLine()), cmp.Compare(a.GetColumn(), b.GetColumn()))
}

// join replaces each run of equal entries by one.
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

// joinEdges returns one edge for several: with the highest confidence among them, and every site
// once and in order.
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
