// Command vectors measures the vector indexes: recall, latency and build time of
// projections/vector/flat and coder against hnswlib and an exact scan, over the
// same rows and the same queries, in turns.
//
//	pip download hnswlib==0.8.0 --no-binary hnswlib --no-deps
//	tar xzf hnswlib-0.8.0.tar.gz
//	go -C bench run ./vectors -hnswlib hnswlib-0.8.0
//
// hnswlib (Apache-2.0) is built with g++ -O3 -march=native. Without -hnswlib the
// exact scan is what the others are compared with.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/recountdb/recount/projections/vector/coder"
	"github.com/recountdb/recount/projections/vector/flat"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/index/indextest"
	"github.com/recountdb/recount/projections/vector/kernel"
)

//go:embed hnswlib/main.cc
var hnswlibSource []byte

type config struct {
	rows, queries, k, runs int
	seed                   uint64
	opt                    index.Options
	hnswlib                string // the program
	coder                  bool
	dir                    string
}

func main() {
	var c config
	flag.IntVar(&c.rows, "rows", 10_000, "rows of the index")
	flag.IntVar(&c.queries, "queries", 1000, "different queries, none of them a row")
	flag.IntVar(&c.k, "k", 10, "neighbours asked for")
	flag.IntVar(&c.runs, "runs", 5, "runs over all queries of each side, in turns; medians are reported")
	flag.Uint64Var(&c.seed, "seed", 1, "seed of all vectors")
	flag.IntVar(&c.opt.M, "m", 16, "links of a row")
	flag.IntVar(&c.opt.EfConstruction, "efc", 200, "candidates while building")
	flag.IntVar(&c.opt.Ef, "ef", 50, "candidates of a search")
	flag.BoolVar(&c.opt.Generic, "generic", false, "no vector instructions")
	flag.BoolVar(&c.coder, "coder", false, "measure coder/hnsw, too: slow to build")
	shapes := flag.String("shapes", "clustered,low-rank,uniform", "how the vectors lie")
	headers := flag.String("hnswlib", "", "directory with hnswlib/hnswlib.h")
	flag.Parse()
	c.opt.Dim, c.opt.ScanBelow = 384, -1
	if err := run(c, *headers, strings.Split(*shapes, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(c config, headers string, shapes []string) error {
	dir, err := os.MkdirTemp("", "recount-vectors")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c.dir = dir
	if headers != "" {
		source := filepath.Join(dir, "hnswlib.cc")
		c.hnswlib = filepath.Join(dir, "hnswlib")
		if err := os.WriteFile(source, hnswlibSource, 0o600); err != nil {
			return err
		}
		out, err := exec.Command("g++", "-O3", "-march=native", "-std=c++17", "-I", headers, source, "-o", c.hnswlib).CombinedOutput()
		if err != nil {
			return fmt.Errorf("build hnswlib: %w\n%s", err, out)
		}
	}
	fmt.Printf("%s/%s, %d cores, %s, kernel %s; %d rows × %d, M=%d, efConstruction=%d, ef=%d, recall@%d; %d queries, %d runs, seed %d\n\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), kernel.Best().Name(),
		c.rows, c.opt.Dim, c.opt.M, c.opt.EfConstruction, c.opt.Ef, c.k, c.queries, c.runs, c.seed)
	fmt.Printf("| vectors | index | recall | p50 µs | p99 µs | p50 ratio | build CPU s | ratio | bytes a row |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, shape := range shapes {
		if err := measure(c, indextest.Shape(shape)); err != nil {
			return fmt.Errorf("%s: %w", shape, err)
		}
	}
	return nil
}

// side is one of the indexes compared. The first is what the others' ratios are
// to.
type side struct {
	name   string
	cpu    float64 // of the build, in seconds
	bytes  float64 // a row
	search func() (p50, p99 time.Duration, found [][]uint32, err error)

	p50s, p99s []float64 // µs, of each run
	recall     float64
}

func measure(c config, shape indextest.Shape) error {
	rows := indextest.Vectors(shape, c.rows, c.opt.Dim, c.seed, 0)
	queries := indextest.Vectors(shape, c.queries, c.opt.Dim, c.seed, 1)
	truth := make([][]uint32, len(queries))
	for i, q := range queries {
		truth[i] = exact(rows, q, c.k)
	}
	var sides []*side
	if c.hnswlib != "" {
		both, stop, err := startHnswlib(c, rows, queries)
		if err != nil {
			return err
		}
		defer stop()
		sides = append(sides, both...)
	} else {
		sides = append(sides, &side{name: "exact scan, float32", bytes: float64(4 * c.opt.Dim), search: func() (time.Duration, time.Duration, [][]uint32, error) {
			return timed(queries, func(q []float32) ([]uint32, error) { return exact(rows, q, c.k), nil })
		}})
	}
	type backend struct {
		name string
		make func(index.Options, index.Vectors) (index.Index, error)
	}
	backends := []backend{{"flat", func(o index.Options, v index.Vectors) (index.Index, error) { return flat.New(o, v) }}}
	if c.coder {
		backends = append(backends, backend{"coder", func(o index.Options, v index.Vectors) (index.Index, error) { return coder.New(o, v) }})
	}
	for _, b := range backends {
		s, err := buildSide(c, b.name, b.make, rows, queries)
		if err != nil {
			return err
		}
		sides = append(sides, s)
	}
	for range c.runs {
		for _, s := range sides {
			p50, p99, found, err := s.search()
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.p50s = append(s.p50s, float64(p50)/1e3)
			s.p99s = append(s.p99s, float64(p99)/1e3)
			s.recall = recall(found, truth)
		}
	}
	base := sides[0]
	for _, s := range sides {
		var ratios []float64
		for i := range s.p50s {
			ratios = append(ratios, s.p50s[i]/base.p50s[i])
		}
		build := "–" // an exact scan has none
		if base.cpu > 0 {
			build = fmt.Sprintf("%.2f", s.cpu/base.cpu)
		}
		fmt.Printf("| %s | %s | %.4f | %.1f | %.1f | %.2f | %.2f | %s | %.0f |\n", shape, s.name, s.recall,
			median(s.p50s), median(s.p99s), median(ratios), s.cpu, build, s.bytes)
	}
	return nil
}

// buildSide builds one of ours in this process.
func buildSide(c config, name string, create func(index.Options, index.Vectors) (index.Index, error), rows, queries [][]float32) (*side, error) {
	s := &side{name: name}
	before, cpu := heap(), cpuSeconds()
	x, err := create(c.opt, func(row uint32) []float32 { return rows[row] })
	if err != nil {
		return nil, err
	}
	for _, v := range rows {
		if err := x.Add(v); err != nil {
			return nil, err
		}
	}
	s.cpu = cpuSeconds() - cpu
	s.bytes = float64(heap()-before)/float64(len(rows)) + float64(4*c.opt.Dim) // the vectors, which rows keeps
	s.search = func() (time.Duration, time.Duration, [][]uint32, error) {
		return timed(queries, func(q []float32) ([]uint32, error) {
			got, err := x.Search(q, c.k, 0, nil)
			var ids []uint32
			for _, n := range got {
				ids = append(ids, n.Row)
			}
			return ids, err
		})
	}
	return s, nil
}

func timed(queries [][]float32, search func([]float32) ([]uint32, error)) (p50, p99 time.Duration, found [][]uint32, err error) {
	runtime.GC()
	times := make([]time.Duration, len(queries))
	for i, q := range queries {
		start := time.Now()
		ids, err := search(q)
		times[i] = time.Since(start)
		if err != nil {
			return 0, 0, nil, err
		}
		found = append(found, ids)
	}
	slices.Sort(times)
	return times[len(times)/2], times[len(times)*99/100], found, nil
}

// startHnswlib builds the index in a process of its own, which then waits to be
// told to search: with ef, and with as many candidates as flat keeps for that ef.
func startHnswlib(c config, rows, queries [][]float32) ([]*side, func(), error) {
	file := filepath.Join(c.dir, "vectors")
	if err := writeVectors(file, rows, queries); err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(c.hnswlib, file, strconv.Itoa(c.opt.M), strconv.Itoa(c.opt.EfConstruction), strconv.Itoa(c.k))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop := func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	out := bufio.NewReaderSize(pipe, 1<<20)
	s := &side{name: "hnswlib 0.8.0"}
	if _, err := fmt.Fscanln(out, &s.cpu, &s.bytes); err != nil {
		stop()
		return nil, nil, fmt.Errorf("hnswlib: %w", err)
	}
	search := func(ef int) (time.Duration, time.Duration, [][]uint32, error) {
		if _, err := fmt.Fprintln(in, ef); err != nil {
			return 0, 0, nil, err
		}
		line, err := out.ReadString('\n')
		if err != nil {
			return 0, 0, nil, err
		}
		var numbers []int64
		for _, f := range strings.Fields(line) {
			v, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return 0, 0, nil, err
			}
			numbers = append(numbers, v)
		}
		if len(numbers) != 2+len(queries)*c.k {
			return 0, 0, nil, fmt.Errorf("%d numbers from hnswlib", len(numbers))
		}
		var found [][]uint32
		for i := range queries {
			ids := make([]uint32, c.k)
			for j := range ids {
				ids[j] = uint32(numbers[2+i*c.k+j])
			}
			found = append(found, ids)
		}
		return time.Duration(numbers[0]), time.Duration(numbers[1]), found, nil
	}
	wide := &side{name: fmt.Sprintf("hnswlib 0.8.0, ef=%d", c.opt.Ef*3/2), cpu: s.cpu, bytes: s.bytes}
	for _, side := range []struct {
		*side
		ef int
	}{{s, c.opt.Ef}, {wide, c.opt.Ef * 3 / 2}} {
		side.search = func() (time.Duration, time.Duration, [][]uint32, error) { return search(side.ef) }
	}
	return []*side{s, wide}, stop, nil
}

func writeVectors(file string, rows, queries [][]float32) error {
	var b bytes.Buffer
	for _, n := range []int{len(rows), len(queries), len(rows[0])} {
		_ = binary.Write(&b, binary.LittleEndian, uint32(n))
	}
	for _, vs := range [][][]float32{rows, queries} {
		for _, v := range vs {
			for _, x := range v {
				b.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
			}
		}
	}
	return os.WriteFile(file, b.Bytes(), 0o600)
}

// exact gives the k nearest rows by float32 score.
func exact(rows [][]float32, q []float32, k int) []uint32 {
	kern := kernel.Best()
	var best []index.Neighbour
	for i, v := range rows {
		n := index.Neighbour{Row: uint32(i), Score: kern.Dot(q, v)}
		if len(best) == k && n.Score <= best[k-1].Score {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, n, func(a, b index.Neighbour) int {
			if a.Score > b.Score || a.Score == b.Score && a.Row < b.Row {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, n)[:min(k, len(best)+1)]
	}
	ids := make([]uint32, len(best))
	for i, n := range best {
		ids[i] = n.Row
	}
	return ids
}

func recall(found, truth [][]uint32) float64 {
	hits, all := 0, 0
	for i, want := range truth {
		all += len(want)
		for _, id := range want {
			if slices.Contains(found[i], id) {
				hits++
			}
		}
	}
	return float64(hits) / float64(all)
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[len(xs)/2]
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
