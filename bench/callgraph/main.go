// Command callgraph compares the call edges that the Go resolver finds in a module
// with those of golang.org/x/tools: the static call graph (including static calls inside
// function literals, which its own algorithm visits only if the literal is called), and
// VTA's.
//
//	go -C bench run ./callgraph [-package P] [-misses N] DIR
//	go -C bench run ./callgraph -measure DIR
//	go -C bench run ./callgraph -replay N [-every M] REPOSITORY
//
// It compares distinct pairs of declared functions of the module, without tests: the calls
// of a literal belong to its enclosing function, those of an instance to its generic
// function, and those of an initialiser to the package's init. Calls of an interface's
// method are not pairs in either graph. DIR's dependencies must be in the module cache.
// -measure only resolves, and reports time and memory. -replay resolves the last N commits
// of a git repository one by one.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/languages/golang"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// pair is a call between two functions, each named by package path and chain.
type pair struct{ from, to string }

func main() {
	log.SetFlags(0)
	only := flag.String("package", "", "compare only calls from packages at or below this import path")
	misses := flag.Int("misses", 0, "print up to so many pairs that only one side has")
	measure := flag.Bool("measure", false, "only resolve, and report time and memory")
	commits := flag.Int("replay", 0, "resolve so many commits of a git repository one by one")
	every := flag.Int("every", 10, "with -replay: resolve every so many of the commits whole, too, and compare")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if *commits > 0 {
		if err := replay(flag.Arg(0), *commits, max(1, *every)); err != nil {
			log.Fatalf("callgraph: %v", err)
		}
		return
	}
	if err := run(flag.Arg(0), *only, *misses, *measure); err != nil {
		log.Fatalf("callgraph: %v", err)
	}
}

func run(dir, only string, misses int, measure bool) error {
	tree, err := resolvetest.Dir(os.DirFS(dir), func(p string) bool {
		return strings.HasSuffix(p, ".go") || path.Base(p) == "go.mod"
	}, languages.Facts)
	if err != nil {
		return err
	}
	start, cpu := time.Now(), cpuTime()
	r := golang.New()
	graphs, err := r.Resolve(context.Background(), tree, resolve.Change{})
	if err != nil {
		return err
	}
	fmt.Printf("resolved in %v, %v CPU\n", time.Since(start).Round(time.Millisecond), (cpuTime() - cpu).Round(time.Millisecond))
	count(graphs)
	if measure {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			return err
		}
		fmt.Printf("peak RSS %d MiB, the files' text included\n", usage.Maxrss>>10)
		return nil
	}
	of, err := load(dir)
	if err != nil {
		return err
	}
	ours := pairsOf(graphs)
	in := func(p pair) bool {
		pkg, _, _ := strings.Cut(p.from, " ")
		return only == "" || pkg == only || strings.HasPrefix(pkg, only+"/")
	}
	compare("calls against static", keep(ours.calls, in), keep(of.static, in), misses)
	both := maps.Clone(ours.calls)
	maps.Copy(both, ours.mayCall)
	compare("calls against vta", keep(ours.calls, in), keep(of.vta, in), 0)
	compare("calls and may_call against vta", keep(both, in), keep(of.vta, in), misses)
	return nil
}

func keep(pairs map[pair]bool, in func(pair) bool) map[pair]bool {
	pairs = maps.Clone(pairs)
	maps.DeleteFunc(pairs, func(p pair, _ bool) bool { return !in(p) })
	return pairs
}

func compare(what string, ours, theirs map[pair]bool, misses int) {
	both := 0
	var wrong, missed []pair
	for p := range ours {
		if theirs[p] {
			both++
		} else {
			wrong = append(wrong, p)
		}
	}
	for p := range theirs {
		if !ours[p] {
			missed = append(missed, p)
		}
	}
	fmt.Printf("%-32s precision %.4f recall %.4f (%d ours, %d theirs)\n", what,
		float64(both)/float64(max(1, len(ours))), float64(both)/float64(max(1, len(theirs))), len(ours), len(theirs))
	for name, list := range map[string][]pair{"only ours": wrong, "only theirs": missed} {
		slices.SortFunc(list, func(a, b pair) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
		for _, p := range list[:min(misses, len(list))] {
			fmt.Printf("  %s: %s -> %s\n", name, p.from, p.to)
		}
	}
}

type edges struct{ calls, mayCall map[pair]bool }

// pairsOf returns the resolver's edges as pairs.
func pairsOf(graphs []resolve.FileGraph) edges {
	names := map[schemas.NodeKey]string{}
	interfaces := map[string]bool{}
	for _, g := range graphs {
		for _, n := range g.Nodes {
			if n.Node.Kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE {
				interfaces[n.Node.Package+" "+n.Key.Chain()] = true
			}
		}
	}
	for _, g := range graphs {
		for _, n := range g.Nodes {
			name := n.Node.Package + " " + n.Key.Chain()
			switch k := n.Node.Kind; {
			case n.Node.Test, interfaces[n.Node.Package+" "+n.Node.Owner]:
				continue
			case k == recountv1.SymbolKind_SYMBOL_KIND_VARIABLE:
				name = n.Node.Package + " init"
			case k != recountv1.SymbolKind_SYMBOL_KIND_FUNCTION && k != recountv1.SymbolKind_SYMBOL_KIND_METHOD:
				continue
			}
			names[n.Key] = name
		}
	}
	e := edges{map[pair]bool{}, map[pair]bool{}}
	for _, g := range graphs {
		for _, edge := range g.Edges {
			into := e.calls
			switch edge.Kind {
			case recountv1.EdgeKind_EDGE_KIND_CALLS:
			case recountv1.EdgeKind_EDGE_KIND_MAY_CALL:
				into = e.mayCall
			default:
				continue
			}
			if from, to := names[edge.From], names[edge.To]; from != "" && to != "" {
				into[pair{from, to}] = true
			}
		}
	}
	return e
}

func count(graphs []resolve.FileGraph) {
	kinds := map[string]int{}
	nodes, externals, unresolved := 0, 0, 0
	for _, g := range graphs {
		nodes += len(g.Nodes)
		externals += len(g.Externals)
		unresolved += len(g.Unresolved)
		for _, e := range g.Edges {
			kinds[strings.ToLower(strings.TrimPrefix(e.Kind.String(), "EDGE_KIND_"))]++
		}
	}
	fmt.Printf("%d graphs, %d nodes, %d externals, %d unresolved; edges:", len(graphs), nodes, externals, unresolved)
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Printf(" %s %d", k, kinds[k])
	}
	fmt.Println()
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
