package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	known "github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// label is a line of a file of labels.
type label struct {
	commit, place, name, half string
	// what is "external", "dynamic" or "none", or empty if there are targets.
	what    string
	targets []labelled
}

// labelled is a declaration as a label names it.
type labelled struct {
	path string
	line uint32
	name string
}

func readLabels(file string) ([]label, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []label
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		cols := strings.Split(lines.Text(), "\t")
		if len(cols) != 6 {
			return nil, fmt.Errorf("%s:%d: %d columns, not 6", file, n, len(cols))
		}
		l := label{commit: cols[1], place: cols[2], name: cols[3], half: cols[4]}
		switch cols[5] {
		case "external", "dynamic", "none":
			l.what = cols[5]
		default:
			for text := range strings.SplitSeq(cols[5], " | ") {
				t, err := parseTarget(text)
				if err != nil {
					return nil, fmt.Errorf("%s:%d: label %q: %w", file, n, text, err)
				}
				l.targets = append(l.targets, t)
			}
		}
		all = append(all, l)
	}
	return all, lines.Err()
}

func parseTarget(text string) (labelled, error) {
	place, name, ok := strings.Cut(text, " ")
	colon := strings.LastIndexByte(place, ':')
	if !ok || colon < 0 {
		return labelled{}, fmt.Errorf("write path:line name, external, dynamic or none")
	}
	line, err := strconv.ParseUint(place[colon+1:], 10, 32)
	return labelled{place[:colon], uint32(line), name}, err
}

// graph has the resolver's edges for a clone.
type graph struct {
	nodes map[string][]resolve.Node // by path
	known map[schemas.NodeKey]bool
	// at are the edges and externals of calls, by the place of a site.
	edges     map[string][]resolve.Edge
	externals map[string][]resolve.External
	// more are the edges with more sites than they store, by file.
	more     map[string][]resolve.Edge
	dangling int
}

func isCall(k recountv1.EdgeKind) bool {
	return k == recountv1.EdgeKind_EDGE_KIND_CALLS || k == recountv1.EdgeKind_EDGE_KIND_MAY_CALL
}

// graphOf resolves a clone with every resolver that handles files of the sites.
func graphOf(dir string, labels []label) (*graph, error) {
	wanted := map[string]bool{}
	for _, l := range labels {
		path, _, _ := strings.Cut(l.place, ":")
		lang, _ := known.OfPath(path)
		wanted[lang.Name] = true
	}
	tree, err := resolvetest.Dir(os.DirFS(dir), func(path string) bool {
		return known.NameOf(path) != "" && !strings.Contains("/"+path, "/node_modules/")
	}, known.Facts)
	if err != nil {
		return nil, err
	}
	g := &graph{
		nodes: map[string][]resolve.Node{}, known: map[schemas.NodeKey]bool{}, edges: map[string][]resolve.Edge{},
		externals: map[string][]resolve.External{}, more: map[string][]resolve.Edge{},
	}
	for _, r := range known.Resolvers() {
		if !slices.ContainsFunc(r.Languages(), func(l string) bool { return wanted[l] }) {
			continue
		}
		graphs, err := r.Resolve(context.Background(), tree, resolve.Change{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name(), err)
		}
		g.add(graphs)
	}
	return g, nil
}

func (g *graph) add(graphs []resolve.FileGraph) {
	for _, file := range graphs {
		for _, n := range file.Nodes {
			g.nodes[file.Path] = append(g.nodes[file.Path], n)
			g.known[n.Key] = true
		}
	}
	for _, file := range graphs {
		for _, e := range file.Edges {
			if !g.known[e.From] || !g.known[e.To] {
				g.dangling++
			}
			if !isCall(e.Kind) {
				continue
			}
			for _, at := range e.Edge.Sites {
				place := fmt.Sprintf("%s:%d:%d", e.From.Path(), at.Line, at.Column)
				g.edges[place] = append(g.edges[place], e)
			}
			if int(e.Edge.SiteCount) > len(e.Edge.Sites) {
				g.more[e.From.Path()] = append(g.more[e.From.Path()], e)
			}
		}
		for _, e := range file.Externals {
			if !isCall(e.Kind) {
				continue
			}
			for _, at := range e.Edge.Sites {
				place := fmt.Sprintf("%s:%d:%d", e.From.Path(), at.Line, at.Column)
				g.externals[place] = append(g.externals[place], e)
			}
		}
	}
}

// edgesAt returns the edges that begin at a site. An edge stores only its first sites; for
// later sites it counts if the same declaration calls the same name.
func (g *graph) edgesAt(l label) []resolve.Edge {
	if found := g.edges[l.place]; len(found) > 0 || len(g.externals[l.place]) > 0 {
		return found
	}
	cols := strings.Split(l.place, ":")
	line, _ := strconv.Atoi(cols[1])
	var found []resolve.Edge
	for _, e := range g.more[cols[0]] {
		last := e.Edge.Sites[len(e.Edge.Sites)-1]
		if n := g.node(e.From); n != nil && int(last.Line) <= line && (n.End == nil || line <= int(n.End.Line)) && called(e.To) == l.name { // a file has no end
			found = append(found, e)
		}
	}
	return found
}

func (g *graph) node(k schemas.NodeKey) *recountv1.CodeNode {
	for _, n := range g.nodes[k.Path()] {
		if n.Key == k {
			return n.Node
		}
	}
	return nil
}

// called returns the name by which a call names a node: a constructor has that of its class.
func called(k schemas.NodeKey) string {
	chain := strings.Split(k.Chain(), ".")
	if last := len(chain) - 1; last > 0 && constructorNames[chain[last]] {
		return chain[last-1]
	}
	return chain[len(chain)-1]
}

// constructorNames are the names of constructors in the graph.
var constructorNames = map[string]bool{"<init>": true, "ctor": true, "__init__": true, "constructor": true}

// find returns the innermost node with a label's name around its line. A constructor that begins
// there may be labelled with the name of its class.
func (g *graph) find(t labelled) (schemas.NodeKey, bool) {
	var best *resolve.Node
	for i, n := range g.nodes[t.path] {
		if n.Node.Start.GetLine() == t.line && n.Node.Name != t.name && constructorNames[n.Node.Name] && called(n.Key) == t.name {
			best = &g.nodes[t.path][i]
			break
		}
		if n.Node.Name != t.name || n.Node.Start.GetLine() > t.line || n.Node.End.GetLine() < t.line {
			continue
		}
		if best == nil || resolve.ComparePlaces(n.Node.Start, best.Node.Start) > 0 {
			best = &g.nodes[t.path][i]
		}
	}
	if best == nil {
		return "", false
	}
	return best.Key, true
}

// tally counts edges and sites.
type tally struct{ right, wrong, found, missing int }

func (t tally) String() string {
	return fmt.Sprintf("precision %.3f (%d right, %d wrong), recall %.3f (%d found, %d missing)",
		ratio(t.right, t.wrong), t.right, t.wrong, ratio(t.found, t.missing), t.found, t.missing)
}

func ratio(a, b int) float64 { return float64(a) / float64(max(1, a+b)) }

// result has the counts of one half.
type result struct {
	sites                        map[string]int // by what the label says
	calls, both                  tally
	externalRight, externalWrong int
}

func score(args []string) error {
	flags := flag.NewFlagSet("score", flag.ExitOnError)
	misses := flags.Bool("misses", false, "print what is wrong and what is missing")
	half := flags.String("half", "", "only this half, a or b")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 || flags.NArg()%2 != 0 {
		return fmt.Errorf("give a file of labels and the clone it is of, or several such pairs")
	}
	results := map[string]*result{}
	dangling := 0
	for i := 0; i < flags.NArg(); i += 2 {
		file, dir := flags.Arg(i), flags.Arg(i+1)
		labels, err := readLabels(file)
		if err != nil {
			return err
		}
		head, err := git(dir, "rev-parse", "HEAD")
		if err != nil {
			return err
		}
		g, err := graphOf(dir, labels)
		if err != nil {
			return err
		}
		dangling += g.dangling
		for _, l := range labels {
			if l.commit != head {
				return fmt.Errorf("%s is of commit %s: check it out in %s", file, l.commit, dir)
			}
			if *half != "" && l.half != *half {
				continue
			}
			for _, of := range []string{l.half, "all"} {
				if results[of] == nil {
					results[of] = &result{sites: map[string]int{}}
				}
				results[of].count(g, l, *misses && of != "all")
			}
		}
	}
	for _, of := range []string{"a", "b", "all"} {
		if r := results[of]; r != nil {
			fmt.Printf("%s: %d sites in the repository, %d external, %d dynamic, %d not known\n",
				of, r.sites[""], r.sites["external"], r.sites["dynamic"], r.sites["none"])
			fmt.Printf("  calls               %v\n", r.calls)
			fmt.Printf("  calls and may_call  %v\n", r.both)
			fmt.Printf("  external            %d right, %d wrong\n", r.externalRight, r.externalWrong)
		}
	}
	fmt.Printf("%d dangling edges\n", dangling)
	return nil
}

func (r *result) count(g *graph, l label, misses bool) {
	r.sites[l.what]++
	want := map[schemas.NodeKey]bool{}
	for _, t := range l.targets {
		if key, ok := g.find(t); ok {
			want[key] = true
		} else if misses {
			fmt.Printf("? %s %s: no node is %s:%d %s\n", l.place, l.name, t.path, t.line, t.name)
		}
	}
	calls, any := false, false
	for _, e := range g.edgesAt(l) {
		right := want[e.To]
		sure := e.Kind == recountv1.EdgeKind_EDGE_KIND_CALLS
		switch {
		case right && sure:
			r.calls.right++
			r.both.right++
		case right:
			r.both.right++
		case sure:
			r.calls.wrong++
			r.both.wrong++
		default:
			r.both.wrong++
		}
		calls, any = calls || right && sure, any || right
		if !right && misses {
			fmt.Printf("+ %s %s: %v to %s %s\n", l.place, l.name, strings.TrimPrefix(e.Kind.String(), "EDGE_KIND_"), e.To.Path(), e.To.Chain())
		}
	}
	if len(g.externals[l.place]) > 0 {
		if l.what == "external" {
			r.externalRight++
		} else {
			r.externalWrong++
			if misses {
				e := g.externals[l.place][0]
				fmt.Printf("+ %s %s: external %s %s\n", l.place, l.name, e.Package, e.Name)
			}
		}
	}
	if len(l.targets) == 0 {
		return
	}
	r.calls.site(calls)
	r.both.site(any)
	if !calls && misses {
		mark := "-"
		if any { // by may_call alone
			mark = "~"
		}
		fmt.Printf("%s %s %s: %s:%d %s\n", mark, l.place, l.name, l.targets[0].path, l.targets[0].line, l.targets[0].name)
	}
}

func (t *tally) site(found bool) {
	if found {
		t.found++
	} else {
		t.missing++
	}
}
