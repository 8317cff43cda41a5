package resolvetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Graph has the graph of a snapshot, by path.
type Graph map[string]resolve.FileGraph

// Full resolves a whole snapshot and checks the contract of resolve.Resolver.
func Full(tb testing.TB, r resolve.Resolver, tree *Tree) Graph {
	tb.Helper()
	g := Graph{}
	g.Apply(tb, r, tree, nil)
	return g
}

// Edges resolves an archive, compares the edges of some kinds (as Text writes them) with
// the wanted lines, and returns the graph.
func Edges(tb testing.TB, r resolve.Resolver, extract Extract, archive, want string, kinds ...string) Graph {
	tb.Helper()
	g := Full(tb, r, Archive(tb, archive, extract))
	if diff := gocmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), g.Text(kinds...)); diff != "" {
		tb.Errorf("edges (-want +got):\n%s", diff)
	}
	return g
}

// Apply resolves the change from base to tree and checks the contract. g is the graph of base,
// and becomes that of tree; if base is nil, g must be empty.
func (g Graph) Apply(tb testing.TB, r resolve.Resolver, tree, base *Tree) {
	tb.Helper()
	change := tree.Change(base)
	graphs, err := r.Resolve(context.Background(), tree, change)
	if err != nil {
		tb.Fatalf("%s: %v", r.Name(), err)
	}
	if !slices.IsSortedFunc(graphs, func(a, b resolve.FileGraph) int { return cmp.Compare(a.Path, b.Path) }) {
		tb.Errorf("%s: the graphs are not sorted by path", r.Name())
	}
	for _, p := range change.Paths {
		if f, there := tree.File(p); !there || f.Skipped != "" || !slices.Contains(r.Languages(), f.Language) {
			delete(g, p) // a manifest that is broken is any YAML
		}
	}
	for i, fg := range graphs {
		if i > 0 && graphs[i-1].Path == fg.Path {
			tb.Errorf("%s: %s is returned twice", r.Name(), fg.Path)
		}
		if g[fg.Path] = fg; len(fg.Nodes) == 0 {
			delete(g, fg.Path)
		}
	}
	g.check(tb, r, tree)
}

// check checks the contract: the graphs are sorted, keys are unique, no edge has a missing end,
// every key is under its graph's path, and no file of the resolver's languages is missing.
func (g Graph) check(tb testing.TB, r resolve.Resolver, tree *Tree) {
	tb.Helper()
	nodes := map[schemas.NodeKey]bool{}
	for path, fg := range g {
		for _, n := range fg.Nodes {
			nodes[n.Key] = true
			want := schemas.NewNodeKey(path, n.Node.Owner, n.Node.Name, n.Node.Kind, n.Node.Variant)
			if k := n.Node.Kind; k == recountv1.SymbolKind_SYMBOL_KIND_FILE || k == recountv1.SymbolKind_SYMBOL_KIND_PACKAGE {
				want = schemas.NewNodeKey(path, "", "", k, "")
			}
			if n.Key != want {
				tb.Errorf("%s: node %q should have the key %q", path, n.Key, want)
			}
		}
		normal := resolve.FileGraph{
			Path: path, Nodes: slices.Clone(fg.Nodes), Edges: slices.Clone(fg.Edges),
			Externals: slices.Clone(fg.Externals), Unresolved: slices.Clone(fg.Unresolved),
		}
		normal.Normalize()
		if !slices.Equal(text(normal), text(fg)) {
			tb.Errorf("%s: the graph of %s is not normalized", r.Name(), path)
		}
	}
	for path, fg := range g {
		for _, e := range fg.Edges {
			if e.From.Path() != path || !nodes[e.From] || !nodes[e.To] {
				tb.Errorf("%s: dangling or misplaced edge %s", path, edgeText(e))
			}
		}
		for _, e := range fg.Externals {
			if !nodes[e.From] || e.From.Path() != path {
				tb.Errorf("%s: misplaced external from %q", path, e.From)
			}
		}
		for _, u := range fg.Unresolved {
			if !nodes[u.From] || u.From.Path() != path {
				tb.Errorf("%s: misplaced unresolved %s from %q", path, u.Path, u.From)
			}
		}
	}
	for f := range tree.Files("") {
		if slices.Contains(r.Languages(), f.Language) && f.Skipped == "" {
			if _, ok := g[f.Path]; !ok {
				tb.Errorf("%s returned no graph for %s", r.Name(), f.Path)
			}
		}
	}
}

// Text returns the edges of some kinds ("calls", "handles_route"; all, if none is given), or
// the "nodes", as sorted lines:
//
//	calls a.go:Client.Do -> b.go:open @3:4,7:1
//	calls a.go:Client.Do -> go fmt Println @4:2 (external)
//	calls a.go:Client.Do -> missing.Thing @5:2 (unresolved)
//	node a.go:Client.Do METHOD "func (c *Client) Do()" 2:0-9:1 exported
//
// A provenance other than TYPES_RESOLVED, SCOPE_RESOLVED or DECLARED is part of the line.
func (g Graph) Text(kinds ...string) []string {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(g)) {
		for _, line := range text(g[path]) {
			kind, _, _ := strings.Cut(line, " ")
			if len(kinds) == 0 || slices.Contains(kinds, kind) || kind == "node" && slices.Contains(kinds, "nodes") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// Name returns a key as Text writes it: path, chain of names and variant.
func Name(k schemas.NodeKey) string {
	if k.Chain() == "" {
		return k.Path()
	}
	return k.Path() + ":" + k.Chain() + k.Variant()
}

func text(g resolve.FileGraph) []string {
	var lines []string
	for _, n := range g.Nodes {
		line := fmt.Sprintf("node %s %s %q %s-%s", Name(n.Key), strings.TrimPrefix(n.Node.Kind.String(), "SYMBOL_KIND_"),
			n.Node.Signature, placeText(n.Node.Start), placeText(n.Node.End))
		if n.Node.Exported {
			line += " exported"
		}
		if n.Node.Test {
			line += " test"
		}
		lines = append(lines, line)
	}
	for _, e := range g.Edges {
		lines = append(lines, edgeText(e))
	}
	for _, e := range g.Externals {
		lines = append(lines, fmt.Sprintf("%s %s -> %s%s (external)", kindText(e.Kind), Name(e.From),
			strings.Join(slices.DeleteFunc([]string{e.Language, e.Package, e.Name}, func(s string) bool { return s == "" }), " "), knownText(e.Edge)))
	}
	for _, u := range g.Unresolved {
		line := fmt.Sprintf("%s %s -> %s", kindText(u.Kind), Name(u.From), u.Path)
		if u.At != nil {
			line += " @" + placeText(u.At)
		}
		lines = append(lines, line+" (unresolved)")
	}
	return lines
}

func edgeText(e resolve.Edge) string {
	return fmt.Sprintf("%s %s -> %s%s", kindText(e.Kind), Name(e.From), Name(e.To), knownText(e.Edge))
}

func kindText(k recountv1.EdgeKind) string {
	return strings.ToLower(strings.TrimPrefix(k.String(), "EDGE_KIND_"))
}

func placeText(p *recountv1.Place) string { return fmt.Sprintf("%d:%d", p.GetLine(), p.GetColumn()) }

func knownText(e *recountv1.CodeEdge) string {
	var b strings.Builder
	sep := " @"
	for _, at := range e.GetSites() {
		b.WriteString(sep + placeText(at))
		sep = ","
	}
	if more := int(e.GetSiteCount()) - len(e.GetSites()); more > 0 {
		fmt.Fprintf(&b, "+%d", more)
	}
	switch p := e.GetProvenance(); p {
	case recountv1.Provenance_PROVENANCE_DECLARED, recountv1.Provenance_PROVENANCE_TYPES_RESOLVED, recountv1.Provenance_PROVENANCE_SCOPE_RESOLVED:
		if e.GetConfidencePermille() == resolve.Confidence(p) {
			return b.String()
		}
		fmt.Fprintf(&b, " (%d)", e.GetConfidencePermille())
	default:
		fmt.Fprintf(&b, " (%s %d)", strings.ToLower(strings.TrimPrefix(p.String(), "PROVENANCE_")), e.GetConfidencePermille())
	}
	return b.String()
}

// Bytes returns all fields of the graph in order. Two graphs are equal if and only if their bytes
// are.
func (g Graph) Bytes(tb testing.TB) []byte {
	tb.Helper()
	out := []byte(strings.Join(g.Text(), "\n"))
	marshal := func(m proto.Message) {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			tb.Fatal(err)
		}
		out = fmt.Appendf(out, "\n%d ", len(b))
		out = append(out, b...)
	}
	for _, path := range slices.Sorted(maps.Keys(g)) {
		for _, n := range g[path].Nodes {
			out = append(out, n.Key...)
			marshal(n.Node)
		}
		for _, e := range g[path].Edges {
			out = append(append(out, e.From...), e.To...)
			marshal(e.Edge)
		}
		for _, e := range g[path].Externals {
			out = append(out, e.From...)
			marshal(e.Edge)
		}
	}
	return out
}

// Series resolves snapshots one after the other with one resolver: each as a change of the one
// before, then, like a branch, as a change of the second before it. After every step the graph
// must have the same bytes as that of a new resolver for the whole snapshot.
func Series(tb testing.TB, fresh func() resolve.Resolver, trees ...*Tree) {
	tb.Helper()
	kept := fresh()
	var graphs []Graph
	step := func(i, from int) Graph {
		g := Graph{}
		var base *Tree
		if from >= 0 {
			g, base = maps.Clone(graphs[from]), trees[from]
		}
		g.Apply(tb, kept, trees[i], base)
		want := Full(tb, fresh(), trees[i])
		if string(g.Bytes(tb)) != string(want.Bytes(tb)) {
			tb.Errorf("snapshot %d resolved from snapshot %d differs from the whole (-want +got):\n%s", i, from, Diff(want, g))
		}
		return g
	}
	for i := range trees {
		graphs = append(graphs, step(i, i-1))
	}
	for i := range trees {
		if i >= 2 {
			step(i, i-2)
		}
	}
}

// Diff returns the lines in which two graphs differ, at most 40.
func Diff(want, got Graph) string {
	count := map[string]int{}
	for _, line := range want.Text() {
		count[line]--
	}
	for _, line := range got.Text() {
		count[line]++
	}
	var lines []string
	for line, n := range count {
		switch {
		case n > 0:
			lines = append(lines, "+ "+line)
		case n < 0:
			lines = append(lines, "- "+line)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Or(cmp.Compare(a[2:], b[2:]), cmp.Compare(a, b)) })
	if len(lines) == 0 {
		return "the text is equal: fields that it does not show differ\n"
	}
	return strings.Join(lines[:min(40, len(lines))], "\n") + "\n"
}
