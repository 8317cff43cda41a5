// Command pycg compares the calls that the resolver of Python finds with those that
// PyCG's micro-benchmark lists (github.com/vitsalis/PyCG, micro-benchmark/snippets).
//
//	go -C bench run ./pycg [-misses] SNIPPETS
//	go -C bench run ./pycg -measure DIR
//
// Every folder with a callgraph.json is a program. Pairs are of functions, files
// (a module's own code) and names of elsewhere. PyCG knows no calls of classes: those
// that have no constructor are left out, and what is decorated calls its decorator
// from the scope around it. A lambda has a name here only where it is given one, and
// is then PyCG's of the same place in order.
// -measure only resolves the Python files of a directory, and says what it took.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/languages/python"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

type pair struct{ from, to string }

func main() {
	log.SetFlags(0)
	misses := flag.Bool("misses", false, "print the pairs that only one side has")
	measure := flag.Bool("measure", false, "only resolve, and report what it took")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	run := compare
	if *measure {
		run = func(dir string, _ bool) error { return resolveOnly(dir) }
	}
	if err := run(flag.Arg(0), *misses); err != nil {
		log.Fatalf("pycg: %v", err)
	}
}

func isPython(path string) bool {
	return strings.HasSuffix(path, ".py") || strings.HasSuffix(path, ".pyi")
}

// graphOf resolves a directory.
func graphOf(dir string) ([]resolve.FileGraph, time.Duration, error) {
	tree, err := resolvetest.Dir(os.DirFS(dir), isPython, languages.Facts)
	if err != nil {
		return nil, 0, err
	}
	before := userTime()
	graphs, err := python.NewResolver().Resolve(context.Background(), tree, resolve.Change{})
	return graphs, userTime() - before, err
}

func userTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// found are the pairs of a graph, of calls and of may_call.
func found(graphs []resolve.FileGraph) (calls, may map[pair]bool, dangling int) {
	nodes := map[schemas.NodeKey]*recountv1.CodeNode{}
	lambdas := map[schemas.NodeKey]string{}
	for _, g := range graphs {
		count := map[string]int{}
		for _, n := range byPlace(g.Nodes) {
			nodes[n.Key] = n.Node
			if strings.Contains(n.Node.Signature, "lambda") {
				count[n.Node.Owner]++
				lambdas[n.Key] = strings.TrimPrefix(fmt.Sprintf("%s.<lambda%d>", n.Node.Owner, count[n.Node.Owner]), ".")
			}
		}
	}
	name := func(k schemas.NodeKey) string {
		module := strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(k.Path(), ".py"), "/__init__"), "/", ".")
		chain := k.Chain()
		if l := lambdas[k]; l != "" {
			chain = l
		}
		return strings.TrimSuffix(module+"."+chain, ".")
	}
	calls, may = map[pair]bool{}, map[pair]bool{}
	for _, g := range graphs {
		for _, e := range g.Edges {
			if nodes[e.From] == nil || nodes[e.To] == nil {
				dangling++
				continue
			}
			p := pair{name(e.From), name(e.To)}
			switch {
			case e.To.Kind() == recountv1.SymbolKind_SYMBOL_KIND_CLASS:
			case e.Kind == recountv1.EdgeKind_EDGE_KIND_CALLS:
				calls[p] = true
			case e.Kind == recountv1.EdgeKind_EDGE_KIND_MAY_CALL:
				may[p] = true
			case e.Kind == recountv1.EdgeKind_EDGE_KIND_DECORATES:
				p.from = p.from[:strings.LastIndexByte(p.from, '.')]
				calls[p] = true
			}
		}
		for _, e := range g.Externals {
			pkg := e.Package
			if pkg == "builtins" {
				pkg = "<builtin>"
			}
			p := pair{name(e.From), pkg + "." + e.Name}
			switch e.Kind {
			case recountv1.EdgeKind_EDGE_KIND_CALLS:
				calls[p] = true
			case recountv1.EdgeKind_EDGE_KIND_MAY_CALL:
				may[p] = true
			}
		}
	}
	return calls, may, dangling
}

func byPlace(nodes []resolve.Node) []resolve.Node {
	sorted := slices.Clone(nodes)
	slices.SortFunc(sorted, func(a, b resolve.Node) int { return resolve.ComparePlaces(a.Node.Start, b.Node.Start) })
	return sorted
}

type score struct{ right, wrong, missing int }

func (s score) String() string {
	return fmt.Sprintf("precision %.3f, recall %.3f (%d right, %d wrong, %d missing)",
		float64(s.right)/float64(max(1, s.right+s.wrong)), float64(s.right)/float64(max(1, s.right+s.missing)), s.right, s.wrong, s.missing)
}

func (s *score) add(got, want map[pair]bool) {
	for p := range got {
		if want[p] {
			s.right++
		} else {
			s.wrong++
		}
	}
	for p := range want {
		if !got[p] {
			s.missing++
		}
	}
}

func compare(dir string, misses bool) error {
	var onlyCalls, both, inside score
	programs, dangling := 0, 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "callgraph.json" {
			return err
		}
		programs++
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var listed map[string][]string
		if err := json.Unmarshal(text, &listed); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		want := map[pair]bool{}
		for from, all := range listed {
			for _, to := range all {
				want[pair{from, to}] = true
			}
		}
		graphs, _, err := graphOf(filepath.Dir(file))
		if err != nil {
			return err
		}
		calls, may, dangles := found(graphs)
		dangling += dangles
		onlyCalls.add(calls, want)
		maps.Copy(may, calls)
		both.add(may, want)
		inside.add(within(may), within(want))
		if misses {
			report(filepath.Dir(file), may, want)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if programs == 0 {
		return fmt.Errorf("no callgraph.json below %s", dir)
	}
	fmt.Printf("%d programs, %d dangling\n", programs, dangling)
	fmt.Printf("calls                            %v\n", onlyCalls)
	fmt.Printf("calls and may_call               %v\n", both)
	fmt.Printf("... without names of elsewhere   %v\n", inside)
	return nil
}

// within are the pairs that do not lead to a builtin.
func within(all map[pair]bool) map[pair]bool {
	out := map[pair]bool{}
	for p := range all {
		if !strings.HasPrefix(p.to, "<") && !strings.HasPrefix(p.to, "ext.") {
			out[p] = true
		}
	}
	return out
}

func report(dir string, got, want map[pair]bool) {
	var lines []string
	for p := range got {
		if !want[p] {
			lines = append(lines, fmt.Sprintf("+ %s: %s -> %s", dir, p.from, p.to))
		}
	}
	for p := range want {
		if !got[p] {
			lines = append(lines, fmt.Sprintf("- %s: %s -> %s", dir, p.from, p.to))
		}
	}
	slices.Sort(lines)
	for _, l := range lines {
		fmt.Println(l)
	}
}

// resolveOnly reports what resolving a directory takes, and what came of it.
func resolveOnly(dir string) error {
	start := time.Now()
	graphs, user, err := graphOf(dir)
	if err != nil {
		return err
	}
	count := map[string]int{}
	nodes, unresolved, outside := 0, 0, 0
	for _, g := range graphs {
		nodes += len(g.Nodes)
		for _, e := range g.Edges {
			count[strings.ToLower(strings.TrimPrefix(e.Kind.String(), "EDGE_KIND_"))]++
		}
		outside += len(g.Externals)
		for _, u := range g.Unresolved {
			if u.Kind == recountv1.EdgeKind_EDGE_KIND_CALLS {
				unresolved++
			}
		}
	}
	fmt.Printf("%d files, %d nodes, %d externals, %d unresolved calls\n", len(graphs), nodes, outside, unresolved)
	for _, k := range slices.Sorted(maps.Keys(count)) {
		fmt.Printf("%8d %s\n", count[k], k)
	}
	fmt.Printf("resolve: %v user CPU; with reading and extracting %v wall\n", user.Round(time.Millisecond), time.Since(start).Round(time.Millisecond))
	return nil
}
