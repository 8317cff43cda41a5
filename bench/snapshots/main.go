// Command snapshots measures questions that are asked of snapshots as they are
// stored, on graphs made for it: fsck of one, and the difference of two, by the
// number of edges.
//
//	go -C bench run ./snapshots [-edges 10000,100000,1000000] [-changed 50]
//
// A file has 16 functions that call five others each, anywhere; the second commit
// has other calls in some of them, in as many files. The same numbers give the same
// graphs. The projection is on disk; each measurement is of a view opened for it,
// with the projection's cache cold (reopened) or warm, the median of the runs.
package main

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/projections"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func main() {
	log.SetFlags(0)
	sizes := flag.String("edges", "10000,100000,1000000", "how many edges, one graph each")
	changed := flag.Int("changed", 50, "how many edges the second commit has otherwise")
	runs := flag.Int("runs", 20, "how often each is measured")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the fscks")
	flag.Parse()
	fmt.Println("| edges | fsck, cold | … user CPU | diff, cold | diff, warm | it lists |\n|---|---|---|---|---|---|")
	for size := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			log.Fatal("bench/snapshots: ", err)
		}
		if err := measure(context.Background(), n, *changed, *runs, *profile); err != nil {
			log.Fatal("bench/snapshots: ", err)
		}
	}
}

const (
	repo      = "bench"
	functions = 16 // a file
	calls     = 5  // a function; one more edge contains it
)

// kind is the projection with a resolver that takes the calls from the facts as
// they are: access paths of the form FILE:FUNCTION.
func kind() projections.Definition {
	return snapshots.Kind(snapshots.Options{
		Resolvers: func() []resolve.Resolver { return []resolve.Resolver{direct{}} },
		Language:  func(string) string { return "direct" },
	})
}

type direct struct{}

func (direct) Name() string        { return "direct/1" }
func (direct) Languages() []string { return []string{"direct"} }

func (direct) Resolve(_ context.Context, t resolve.Tree, c resolve.Change) ([]resolve.FileGraph, error) {
	var all []resolve.FileGraph
	for _, path := range c.Paths {
		f, ok := t.File(path)
		if !ok {
			continue
		}
		facts, err := t.Facts(f)
		if err != nil {
			return nil, err
		}
		g := resolve.Base(f, facts, "bench")
		for _, ref := range facts.References {
			file, name, _ := strings.Cut(ref.Path, ":")
			g.Edges = append(g.Edges, resolve.Edge{
				From: key(path, int(ref.In)-1), To: schemas.NewNodeKey(file, "", name, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, ""),
				Kind: ref.Edge, Edge: resolve.EdgeAt(recountv1.Provenance_PROVENANCE_TYPES_RESOLVED, ref.At),
			})
		}
		g.Normalize()
		all = append(all, g)
	}
	return all, nil
}

func fileName(i int) string { return fmt.Sprintf("pkg/p%02d/file_%05d.direct", i%50, i) }

func functionName(i int) string { return fmt.Sprintf("handleRequestOfKind%02d", i) }

func key(path string, i int) schemas.NodeKey {
	return schemas.NewNodeKey(path, "", functionName(i), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, "")
}

// history makes the events' records.
type history struct {
	rng     *rand.Rand
	files   int
	records []*recountv1.Record
	targets [][][]string // by file and function
}

func (h *history) add(r *recountv1.Record) {
	n := len(h.records)
	r.Origin = &recountv1.Position{Topic: "recount.commits", Offset: int64(n)}
	id := sha1.Sum(fmt.Append(nil, n))
	r.EventId = id[:16]
	h.records = append(h.records, r)
}

func (h *history) target() string {
	return fileName(h.rng.IntN(h.files)) + ":" + functionName(h.rng.IntN(functions))
}

// file adds a file's facts, and returns its blob.
func (h *history) file(i int) string {
	f := &recountv1.FileFacts{Repository: repo, Path: fileName(i), Language: "direct"}
	for j, targets := range h.targets[i] {
		line := uint32(3 + 12*j)
		f.Declarations = append(f.Declarations, &recountv1.Declaration{
			Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: functionName(j), Exported: true,
			Start: &recountv1.Place{Line: line}, End: &recountv1.Place{Line: line + 9}, BodyHash: xxh3.HashString(strings.Join(targets, " ")),
			Signature: "func " + functionName(j) + "(ctx context.Context, r *Request) (*Response, error)",
		})
		for k, t := range targets {
			f.References = append(f.References, &recountv1.Reference{Edge: recountv1.EdgeKind_EDGE_KIND_CALLS, Path: t, In: uint32(j + 1), At: &recountv1.Place{Line: line + uint32(k) + 1, Column: 4}})
		}
	}
	sum := sha1.Sum(fmt.Append(nil, i, h.targets[i]))
	f.Blob = hex.EncodeToString(sum[:])
	h.add(&recountv1.Record{Body: &recountv1.Record_FileFacts{FileFacts: f}})
	return f.Blob
}

func (h *history) commit(parent string, changes []*recountv1.FileChange) string {
	sum := sha1.Sum(fmt.Append(nil, "commit", len(h.records)))
	c := &recountv1.CommitRecorded{Repository: repo, Commit: hex.EncodeToString(sum[:]), Scope: recountv1.Scope_SCOPE_FULL, Changes: changes}
	if parent != "" {
		c.Parents, c.Scope = []string{parent}, recountv1.Scope_SCOPE_CHANGES
	}
	h.add(&recountv1.Record{Body: &recountv1.Record_Commit{Commit: c}})
	return c.Commit
}

// make makes two commits: the second has so many calls otherwise.
func (h *history) make(changed int) (from, to string) {
	var changes []*recountv1.FileChange
	h.targets = make([][][]string, h.files)
	for i := range h.targets {
		h.targets[i] = make([][]string, functions)
		for j := range h.targets[i] {
			for range calls {
				h.targets[i][j] = append(h.targets[i][j], h.target())
			}
		}
		changes = append(changes, &recountv1.FileChange{Path: fileName(i), Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: h.file(i)})
	}
	from = h.commit("", changes)
	changes = nil
	// A call less and a call more are two edges; five calls change in a file.
	const perFile = 5
	for n := range changed / 2 / perFile {
		i := n * h.files / (changed / 2 / perFile)
		for range perFile {
			h.targets[i][h.rng.IntN(functions)][h.rng.IntN(calls)] = h.target()
		}
		changes = append(changes, &recountv1.FileChange{Path: fileName(i), Status: recountv1.ChangeStatus_CHANGE_STATUS_MODIFIED, Mode: 0o100644, Blob: h.file(i)})
	}
	return from, h.commit(from, changes)
}

func measure(ctx context.Context, edges, changed, runs int, profile string) error {
	dir, err := os.MkdirTemp("", "recount-bench-snapshots-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	h := &history{rng: rand.New(rand.NewPCG(1, uint64(edges))), files: edges / (functions * (calls + 1))}
	from, to := h.make(changed)
	set, err := projections.Open(dir, projections.Options{}, kind())
	if err != nil {
		return err
	}
	err = set.Apply(ctx, schemas.Batch{Topic: "recount.commits", Next: int64(len(h.records)), Records: h.records})
	if err != nil {
		return err
	}
	h.records = nil
	if err := set.Close(); err != nil {
		return err
	}
	var fsck, fsckCPU, cold, warm []time.Duration
	var listed string
	for range runs {
		if set, err = projections.Open(dir, projections.Options{}, kind()); err != nil {
			return err
		}
		ask := func(times *[]time.Duration) error {
			began := time.Now()
			r, err := code.Diff(ctx, code.Sources{Set: set, Graphs: code.NewCache(0)}, code.GraphDiffRequest{Diff: from + ".." + to})
			*times = append(*times, time.Since(began))
			listed = fmt.Sprintf("%d edges added, %d removed, %d bodies", r.Counts["edges_added"], r.Counts["edges_removed"], r.Counts["body"])
			return err
		}
		if err := ask(&cold); err != nil {
			return err
		}
		if err := ask(&warm); err != nil {
			return err
		}
		if err := set.Close(); err != nil {
			return err
		}
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for range min(runs, 5) {
		if set, err = projections.Open(dir, projections.Options{}, kind()); err != nil {
			return err
		}
		used := cpu()
		d, err := check(ctx, set)
		if err != nil {
			return err
		}
		fsck, fsckCPU = append(fsck, d), append(fsckCPU, cpu()-used)
		if err := set.Close(); err != nil {
			return err
		}
	}
	fmt.Printf("| %d | %v | %v | %v | %v | %s |\n", edges, median(fsck), median(fsckCPU), median(cold), median(warm), listed)
	return nil
}

func check(ctx context.Context, set *projections.Set) (time.Duration, error) {
	p, release, err := set.Acquire(snapshots.Name)
	if err != nil {
		return 0, err
	}
	defer release()
	v, err := p.(*snapshots.Code).View()
	if err != nil {
		return 0, err
	}
	defer v.Close()
	began := time.Now()
	done, faults, err := v.Check(ctx, nil)
	if err == nil && (len(faults) > 0 || done.Snapshots != 2) {
		err = fmt.Errorf("fsck: %+v %v", done, faults)
	}
	return time.Since(began), err
}

// cpu is the user CPU time of the process.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2].Round(10 * time.Microsecond)
}
