// Command bench measures the whole system: `go -C bench run . NAME…` runs the named benchmarks
// (without names it lists them) and prints one table each, with the machine, the commit and the
// seed, as bench/README.md shows them. A ratio to a peer or a limit is always measured in the same
// run: repeated runs alternate between the two, and the median is reported.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

// benchmark is one measurement. A new one is a file with a function, and an entry in benchmarks.
type benchmark struct {
	name string
	what string
	run  func(ctx context.Context, o options, r *report) error
}

var benchmarks = []benchmark{
	{"produce", "durable produce, 1 KiB, 16 partitions, one client, against kfake unsynced and SyncWrites", benchProduce},
	{"latency", "produce to consume at a fixed rate, 16 partitions, durable", benchLatency},
	{"memory-append", "the same callers with the same calls: Broker.Append, a client over loopback, a client in memory", benchMemoryAppend},
	{"reopen", "open after kill -9 with a large log: time and peak RSS", benchReopen},
	{"amplification", "bytes written to disk for each byte produced", benchAmplification},
	{"rebuild", "projections from offset zero", benchRebuild},
	{"visible", "HTTP append to findable, at a fixed rate", benchVisible},
	{"find", "find over HTTP", benchFind},
	{"whole", "a long history through the live pipeline into every projection, then find and why of it", benchWhole},
	{"runtime", "a day of spans into the projection runtime, then what is served and who calls whom", benchRuntime},
	{"spans", "spans by OTLP over gRPC, 100 a request: durable, projected, and the time of an export", benchSpans},
	{"agents", "agents' events over HTTP from four clients, of many runs and of one: durable, in every projection; then at a fixed rate", benchAgents},
	{"forget", "one command of 100,000 is erased, without and with 200 clients that ask for every intent and do not read", benchForget},
	{"query", "evidence over HTTP by 16 clients at once, among 10,000 objects of agents (-objects for more)", benchQuery},
	{"retrieval", "find by description against BM25 alone, NL2Bash", benchRetrieval},
}

type options struct {
	seed     int64
	runs     int
	size     int64  // bytes, for reopen and amplification
	commands int    // for rebuild, whole and find
	spans    int    // for runtime
	events   int    // for agents
	objects  int    // for query
	keep     string // data directory of query, which is kept
	rate     int    // per second, for latency and visible
	duration time.Duration
	data     string // NL2Bash pairs: description, tab, command
	dir      string
	rebuild  []string // projections that rebuild rebuilds; all if empty
	heap     string   // directory for the heap profiles that whole writes after each tenth
}

func main() {
	var o options
	flag.Int64Var(&o.seed, "seed", 1, "seed of all generated input")
	flag.IntVar(&o.runs, "runs", 5, "runs of each side, alternating; the median is reported")
	flag.Int64Var(&o.size, "size", 5<<30, "bytes of log for reopen and amplification")
	flag.IntVar(&o.commands, "commands", 0, "commands for rebuild and whole (default 1000000) and find (default 100000)")
	flag.IntVar(&o.spans, "spans", 10_000_000, "spans for runtime; a fifth of them for spans")
	flag.IntVar(&o.events, "events", 100_000, "events for agents, of many runs and of one each")
	flag.IntVar(&o.objects, "objects", 10_000, "events of agents that query asks among")
	flag.StringVar(&o.keep, "keep", "", "data directory that query fills if it is empty, asks, and leaves there (default: one that is removed)")
	flag.IntVar(&o.rate, "rate", 1000, "events a second for latency, visible and agents")
	flag.DurationVar(&o.duration, "duration", 20*time.Second, "how long latency, visible and agents run")
	flag.StringVar(&o.data, "data", "", "file of description<TAB>command lines to draw commands from")
	flag.StringVar(&o.dir, "dir", "", "where to put scratch data (default: a temporary directory)")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the run here")
	projections := flag.String("projections", "", "projections that rebuild makes anew, with commas between (default: all)")
	flag.StringVar(&o.heap, "heapprofiles", "", "write a heap profile after each tenth of whole into this folder")
	child := flag.String("child", "", "internal: the part of a benchmark that runs in its own process")
	flag.Parse()
	if *projections != "" {
		o.rebuild = strings.Split(*projections, ",")
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	err := run(ctx, o, *child, flag.Args())
	pprof.StopCPUProfile()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, child string, names []string) error {
	if child != "" {
		return runChild(ctx, child, o)
	}
	if len(names) == 0 {
		for _, b := range benchmarks {
			fmt.Printf("%-15s %s\n", b.name, b.what)
		}
		return nil
	}
	tmp, err := os.MkdirTemp(o.dir, "recount-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	o.dir = tmp
	fmt.Printf("machine: %s\ncommit: %s  seed: %d  runs: %d\n", machine(), commit(), o.seed, o.runs)
	for _, name := range names {
		i := slices.IndexFunc(benchmarks, func(b benchmark) bool { return b.name == name })
		if i < 0 {
			return fmt.Errorf("no benchmark %q: run without a name for the list", name)
		}
		r := &report{}
		if err := benchmarks[i].run(ctx, o, r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("\n## %s: %s\n\n%s", name, benchmarks[i].what, r)
	}
	return nil
}

// report is a Markdown table of measurements.
type report struct{ rows [][2]string }

func (r *report) add(what, format string, args ...any) {
	r.rows = append(r.rows, [2]string{what, fmt.Sprintf(format, args...)})
}

func (r *report) String() string {
	var b strings.Builder
	b.WriteString("| what | measured |\n|---|---|\n")
	for _, row := range r.rows {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	return b.String()
}

// latencies is a list of durations; quantile sorts it.
type latencies []time.Duration

func (l latencies) quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	slices.Sort(l)
	return l[min(len(l)-1, int(q*float64(len(l))))]
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	if len(xs) == 0 {
		return 0
	}
	return xs[len(xs)/2]
}

func machine() string {
	model := "unknown CPU"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				model = strings.TrimSpace(v)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s, %s/%s", model, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
