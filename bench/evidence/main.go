// Evidence measures how well questions about what agents did are answered with evidence:
// recall of the events that hold the answer among the first ten, precision, whether the
// chain of causes is whole, the size of an answer and how long it takes. The baselines
// are what one has without a memory of causes: the k best events by BM25 (over words, and
// over English stems without stop words), by the vector of
// Recount's own embedder, and the last k.
//
//	go -C bench run ./evidence [flags] synthetic        a generated log (-seed, -incidents, …)
//	go -C bench run ./evidence [flags] runs FILE...     real runs: .traj, output.jsonl, …
//	go -C bench run ./evidence [flags] locomo FILE      conversations in LoCoMo's form
//	go -C bench run ./evidence [flags] dataset FOLDER   events.jsonl and questions.jsonl
//	go -C bench run ./evidence -write FOLDER synthetic  write the dataset, ask nothing
//
// Recount runs in this process with all of its pipeline, and is asked over HTTP, so that
// its times are of the whole way; the baselines are functions called, over arrays in
// memory. Its rows: an answer of the default form, of k hits, then what led to them as far
// as 8 KB hold it; mode subgraph with half as many hits, then what lies around them, which
// takes more bytes.
//
// What the generated log favours: its incidents are told the way agents' logs tell them,
// where the output of a program, what was changed and, every second time, what was
// understood do not repeat what the user called the trouble; they hang together by cause. So it favours
// whoever follows causes, other than in questions of kind "error", which quote what was
// printed, and "fact", and it is no measure of how well words are understood. The same
// trouble befalls several components, and an error is printed alike in each, so that
// evidence of the wrong incident is at hand. The words of the questions were chosen with
// the baselines alone in sight: at first they shared none with the log, and then nobody
// can tell one incident from another. Seeds of 100 and above are held out: they are for
// the figures that are published, and for nothing else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/recountdb/recount/query/evidence"
)

type flags struct {
	seed  uint64
	size  size
	k     int
	write string
	alone bool
}

func main() {
	var f flags
	flag.Uint64Var(&f.seed, "seed", 1, "seed of the generated log")
	flag.IntVar(&f.size.incidents, "incidents", 100, "generated sessions in which something fails")
	flag.IntVar(&f.size.quiet, "quiet", 6, "generated sessions beside each of those in which nothing of note happens")
	flag.IntVar(&f.size.statements, "statements", 24, "generated facts that are stated, repeated, changed and contradicted")
	flag.IntVar(&f.k, "k", 10, "recall among how many events")
	flag.StringVar(&f.write, "write", "", "write the dataset into this folder instead of asking")
	flag.BoolVar(&f.alone, "baselines", false, "ask the baselines alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, f, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

// load reads or makes the dataset that the arguments name.
func load(f flags, args []string) (*dataset, error) {
	what := ""
	if len(args) > 0 {
		what = args[0]
	}
	switch {
	case what == "synthetic" && len(args) == 1:
		return generate(f.seed, f.size), nil
	case what == "runs" && len(args) > 1:
		return readRuns(args[1:])
	case what == "locomo" && len(args) == 2:
		return readLoCoMo(args[1])
	case what == "dataset" && len(args) == 2:
		return readDataset(args[1])
	}
	return nil, errors.New("want one of: synthetic, runs FILE..., locomo FILE, dataset FOLDER")
}

func run(ctx context.Context, w io.Writer, f flags, args []string) (err error) {
	d, err := load(f, args)
	if err != nil {
		return err
	}
	if f.write != "" {
		return d.write(f.write)
	}
	c := newCorpus(d)
	sides := []side{newBM25(c, "BM25", words, f.k), newBM25(c, "BM25, stems", stems, f.k), vector{c, f.k}, latest{c, f.k}}
	if !f.alone {
		dir, err := os.MkdirTemp("", "recount-evidence")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s, err := startSystem(ctx, dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.stop()) }()
		if err := s.load(ctx, d); err != nil {
			return err
		}
		sides = append(sides,
			recount{s, "Recount", evidence.ModeEvidence, f.k},
			recount{s, "Recount, subgraph", evidence.ModeSubgraph, (f.k + 1) / 2})
	}
	results := make([]result, len(sides))
	for i, s := range sides {
		if results[i], err = score(ctx, d, s, f.k); err != nil {
			return err
		}
	}
	report(w, d, sides, results, f.k)
	return nil
}
