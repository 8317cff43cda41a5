// Command code measures the code graph on a real repository: the import of its history as events,
// the extraction of its files' facts, and the folding of its commits into snapshots, each by itself
// and in one process, over a projection on disk.
//
//	go -C bench run ./code -repo DIR [-history N] [-every N] [-cpuprofile FILE]
//	go -C bench run ./code -repo DIR -together [-history N]
//	go -C bench run ./code -keep DIR [-asked N]
//
// With -together, the three run concurrently, as in a node that follows the log: the importer's
// events are turned into facts and folded while it continues to read.
//
// With -every, the snapshot of every Nth commit is also built from scratch and compared. With
// -keep, the projection is kept in a directory; an existing one is not rebuilt but measured: the
// size of its snapshots, and the time of the first query to an old snapshot.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"syscall"
	"time"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func main() {
	log.SetFlags(0)
	debug.SetGCPercent(50) // as in a node: docs/decisions/0029
	repo := flag.String("repo", "", "the repository's folder")
	history := flag.Int("history", 0, "how many commits back from HEAD contents begin")
	every := flag.Int("every", 0, "make every Nth commit's snapshot from nothing, too, and compare")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the folding, or of the questions")
	keep := flag.String("keep", "", "the folder of the projection, which is kept there")
	atOnce := flag.Bool("together", false, "import, make facts and fold at once")
	asked := flag.Int("asked", 40, "how many snapshots are asked, spread over the history")
	flag.Parse()
	ctx := context.Background()
	var err error
	if _, gone := os.Stat(filepath.Join(*keep, code.Name)); *keep != "" && gone == nil {
		err = look(ctx, *keep, *asked, *profile)
	} else if *repo == "" {
		err = errors.New("-repo DIR is needed")
	} else if *atOnce {
		err = together(ctx, *repo, *history)
	} else {
		err = run(ctx, *repo, *keep, *history, *every, *profile)
	}
	if err != nil {
		log.Fatal("bench/code: ", err)
	}
}

const name = "bench"

func run(ctx context.Context, dir, keep string, history, every int, profile string) error {
	scratch, err := os.MkdirTemp("", "recount-bench-code-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	var events []schemas.Event
	var importing clock
	c := start()
	err = imported(ctx, dir, scratch, history, func(_ context.Context, more []schemas.Event) error {
		events = append(events, more...)
		return nil
	})
	if err != nil {
		return err
	}
	importing.add(c)
	importing.print(fmt.Sprintf("import: %d events", len(events)))

	if keep == "" {
		keep = mkdir(scratch, "graph")
	}
	set, graph, err := open(keep)
	if err != nil {
		return err
	}
	defer set.Close()
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
	f := folding{graph: graph, events: events, keep: every > 0, first: history > 0}
	events = nil // folding releases them
	if err := f.run(ctx); err != nil {
		return err
	}
	times, one, records := f.times, f.one, f.records
	f.making.print("facts")
	f.applying.print(fmt.Sprintf("folding: %d commits with a graph", len(times)))
	if n := len(times); n > 1 {
		rest := slices.Sorted(slices.Values(times[1:]))
		fmt.Printf("  the first %v; then a commit p50 %v, p90 %v, p99 %v, most %v\n", times[0].Round(time.Millisecond),
			rest[(n-1)/2].Round(10*time.Microsecond), rest[(n-1)*9/10].Round(10*time.Microsecond), rest[(n-1)*99/100].Round(10*time.Microsecond), rest[n-2].Round(time.Millisecond))
	}
	pprof.StopCPUProfile()
	if err := describe(graph, records); err != nil {
		return err
	}
	if n := len(times); n > 1 {
		all, err := stored(graph)
		if err != nil {
			return err
		}
		fmt.Printf("chunks on disk: the first snapshot has %d KiB, all %d have %d KiB, %.2f times as much; if so on, 1000 have %.2f times\n",
			one>>10, n, all>>10, float64(all)/float64(one), 1+float64(all-one)/float64(one)/float64(n-1)*999)
	}
	if every > 0 {
		return compare(ctx, graph, records, scratch, every)
	}
	return nil
}

// open opens the projection below a folder, as a node does.
func open(dir string) (*projections.Set, *code.Code, error) {
	set, err := projections.Open(dir, projections.Options{}, code.Kind(code.Options{}))
	if err != nil {
		return nil, nil, err
	}
	p, release, err := set.Acquire(code.Name)
	if err != nil {
		return nil, nil, errors.Join(err, set.Close())
	}
	release() // nothing rebuilds it in the meantime
	return set, p.(*code.Code), nil
}

// describe prints the last commit's snapshot, and the size of all snapshots.
func describe(graph *code.Code, records []*recountv1.Record) error {
	v, err := graph.View()
	if err != nil {
		return err
	}
	defer v.Close()
	repo, err := v.Repository(name)
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(records) {
		if c := r.GetCommit(); c != nil && c.Scope != recountv1.Scope_SCOPE_METADATA {
			s, err := v.Snapshot(repo, c.Commit)
			if err != nil {
				return err
			}
			fmt.Printf("the last commit is %.12s, its snapshot %s\n", c.Commit, s.Hash())
			return nil
		}
	}
	return nil
}

// stored returns the size of the chunks of all snapshots on disk, in bytes.
func stored(graph *code.Code) (int64, error) {
	bytes, err := graph.ChunkBytes()
	return int64(bytes), err
}

func mkdir(parent, name string) string {
	dir := filepath.Join(parent, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		log.Fatal(err)
	}
	return dir
}

// imported reads the repository as `recount import git` does.
func imported(ctx context.Context, dir, scratch string, history int, take func(context.Context, []schemas.Event) error) error {
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return err
	}
	state, err := commits.OpenState(ctx, mkdir(scratch, "state"), "bench", name)
	if err != nil {
		return err
	}
	defer state.Close()
	_, err = commits.Import(ctx, repo, state, commits.Options{
		Repository: name, History: history,
		Language: languages.NameOf,
		Limits:   commits.Limits{Content: source.MaxContent, Event: 8 << 20},
		Now:      time.Now,
		Append: func(ctx context.Context, more []schemas.Event) (commits.Appended, error) {
			return commits.Appended{}, take(ctx, more)
		},
	})
	return err
}

// facts returns the pipeline's records of events, the first of which has the offset from.
func facts(ctx context.Context, events []schemas.Event, from int64) ([]*recountv1.Record, error) {
	in := make([]schemas.LogRecord, len(events))
	for i, e := range events {
		in[i] = schemas.LogRecord{
			Position: schemas.Position{Topic: "recount.commits", Offset: from + int64(i)},
			Key:      []byte(name), Headers: e.Headers(), Value: e.Payload, Timestamp: e.Time,
		}
	}
	return processors.Records(ctx, in, processors.Chain{})
}

// streamBatch is the number of events that the live stream passes on at once (configs/commits.yaml).
const streamBatch = 256

// folding extracts facts and applies them batch by batch, as the live stream does, so that it needs
// no more memory.
type folding struct {
	graph  *code.Code
	events []schemas.Event
	// keep is true if applied contents are kept; first, if the chunks of the first graph are
	// measured.
	keep, first bool

	records          []*recountv1.Record // of all events, without the contents that are not kept
	times            []time.Duration     // of each commit with a graph
	one              int64               // bytes of the first one's chunks
	making, applying clock
}

func (f *folding) run(ctx context.Context) error {
	for from := 0; from < len(f.events); from += streamBatch {
		c, batch := start(), f.events[from:min(from+streamBatch, len(f.events))]
		records, err := facts(ctx, batch, int64(from))
		if err != nil {
			return err
		}
		clear(batch)
		f.making.add(c)
		if err := f.apply(ctx, from, records); err != nil {
			return err
		}
		for i, r := range records {
			if r.GetFileFacts() != nil && !f.keep {
				records[i] = &recountv1.Record{}
			}
		}
		f.records = append(f.records, records...)
	}
	c := start()
	if err := f.graph.Flush(); err != nil {
		return err
	}
	f.applying.add(c)
	return nil
}

// apply applies a batch that begins at an offset, and measures each commit with a graph.
func (f *folding) apply(ctx context.Context, offset int, records []*recountv1.Record) error {
	from := 0
	for i, r := range records {
		if r.GetRejected() != nil {
			return fmt.Errorf("event %d was rejected: %s", offset+i, r.GetRejected().GetReason())
		}
		hasGraph := r.GetCommit() != nil && r.GetCommit().Scope != recountv1.Scope_SCOPE_METADATA
		if !hasGraph && i < len(records)-1 {
			continue
		}
		c := start()
		err := f.graph.Apply(ctx, schemas.Batch{Topic: "recount.commits", Next: int64(offset + i + 1), Records: records[from : i+1]})
		if err != nil {
			return err
		}
		f.applying.add(c)
		from = i + 1
		if !hasGraph {
			continue
		}
		if f.times = append(f.times, time.Since(c.at)); len(f.times) == 1 && f.first {
			if f.one, err = stored(f.graph); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare builds snapshots from scratch, from the facts and all of a commit's files at once, and
// compares them.
func compare(ctx context.Context, graph *code.Code, records []*recountv1.Record, scratch string, every int) error {
	v, err := graph.View()
	if err != nil {
		return err
	}
	defer v.Close()
	repo, err := v.Repository(name)
	if err != nil {
		return err
	}
	n, compared := 0, 0
	for i, r := range records {
		c := r.GetCommit()
		if c == nil || c.Scope == recountv1.Scope_SCOPE_METADATA {
			continue
		}
		if n++; n%every != 0 {
			continue
		}
		s, err := v.Snapshot(repo, c.Commit)
		if err != nil {
			return err
		}
		whole := &recountv1.CommitRecorded{Repository: name, Commit: c.Commit, Parents: c.Parents, Scope: recountv1.Scope_SCOPE_FULL}
		if whole.Changes, err = s.Changes(); err != nil {
			return err
		}
		alone, err := code.Open(mkdir(scratch, fmt.Sprintf("alone-%d", i)), code.Options{})
		if err != nil {
			return err
		}
		batch := schemas.Batch{Topic: "recount.commits", Next: int64(len(records) + 1)}
		for _, f := range records[:i] {
			if f.GetFileFacts() != nil {
				batch.Records = append(batch.Records, f)
			}
		}
		batch.Records = append(batch.Records, &recountv1.Record{
			Origin: &recountv1.Position{Topic: "recount.commits", Offset: int64(len(records))}, EventId: make([]byte, 16),
			Body: &recountv1.Record_Commit{Commit: whole},
		})
		if err := alone.Apply(ctx, batch); err != nil {
			return err
		}
		av, err := alone.View()
		if err != nil {
			return err
		}
		as, err := av.Snapshot(repo, c.Commit)
		if err != nil {
			return err
		}
		if as.Hash() != s.Hash() {
			return fmt.Errorf("commit %s: snapshot %s after increments, %s from nothing", c.Commit, s.Hash(), as.Hash())
		}
		av.Close()
		if err := alone.Close(); err != nil {
			return err
		}
		compared++
	}
	fmt.Printf("%d snapshots made from nothing are equal\n", compared)
	return nil
}

// clock measures a phase.
type clock struct {
	at        time.Time
	cpu, wall time.Duration
	allocated uint64
}

func start() clock { return clock{at: time.Now(), cpu: cpu(), allocated: allocated()} }

// add adds the time and memory used since another clock was started.
func (c *clock) add(since clock) {
	c.wall += time.Since(since.at)
	c.cpu += cpu() - since.cpu
	c.allocated += allocated() - since.allocated
}

func (c clock) print(what string) {
	fmt.Printf("%s: %v wall, %v CPU (user), %d MiB allocated; peak RSS so far %d MiB\n", what, c.wall.Round(time.Millisecond),
		c.cpu.Round(time.Millisecond), c.allocated>>20, peak())
}

// allocated returns the bytes that the process has allocated, which do not depend on the load.
func allocated() uint64 {
	all := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(all)
	return all[0].Value.Uint64()
}

// cpu returns the user CPU time of the process and of the children it has waited for.
func cpu() time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			log.Fatal(err)
		}
		total += time.Duration(u.Utime.Nano())
	}
	return total
}

func peak() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return u.Maxrss >> 10
}
