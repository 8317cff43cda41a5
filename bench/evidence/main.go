// Evidence measures how well questions about agents' actions are answered with evidence:
// recall of the events with the answer among the first ten, precision, whether the chain
// of causes is complete, the size of an answer and its latency. The baselines do not use
// causes: the k best events by Okapi BM25 (over words; over English stems without stop
// words; the same with the neighbours in the session of the best five; and the same over
// calls joined with their results), the k best by the vectors of Recount's own embedder,
// and the last k.
//
//	go -C bench run ./evidence [flags] synthetic        a generated log (-seed, -incidents, …)
//	go -C bench run ./evidence [flags] runs FILE...     real runs: .traj, output.jsonl, …
//	go -C bench run ./evidence -questions FILE runs FILE...   the same, with questions by hand
//	go -C bench run ./evidence [flags] locomo FILE      conversations in LoCoMo's form
//	go -C bench run ./evidence [flags] dataset FOLDER   events.jsonl and questions.jsonl
//	go -C bench run ./evidence -write FOLDER synthetic  write the dataset, ask nothing
//
// Recount runs in this process with its whole pipeline and is queried over HTTP, so its
// times include everything; the baselines are function calls over arrays in memory. The
// rows for Recount: an answer in the default mode with k hits, then their causes as far as
// they fit into 8 KB; and mode subgraph with half as many hits, then the objects around
// them, which takes more bytes.
//
// Bias of the generated log: its incidents resemble agents' logs, in which the output of a
// program, the change and, every second time, the finding do not repeat the user's words
// for the problem; they are connected by causes. So it favours systems that follow causes,
// except in questions of kind "error", which quote the output, and "fact", and it does not
// measure the understanding of words. Several components have the same problem and print
// the same error, so that evidence of wrong incidents is available. The words of the
// questions were chosen with the baselines only: at first they shared none with the log,
// which made incidents indistinguishable. Seeds of 100 and above are held out and used
// only for published figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/recountdb/recount/query/evidence"
)

type flags struct {
	seed  uint64
	size  size
	k     int
	write string
	alone bool
	// questions is a file of questions about real runs, unlink and half are as the flags say.
	questions, half string
	unlink, detail  bool
}

func main() {
	var f flags
	flag.Uint64Var(&f.seed, "seed", 1, "seed of the generated log")
	flag.IntVar(&f.size.incidents, "incidents", 100, "generated sessions in which something fails")
	flag.IntVar(&f.size.quiet, "quiet", 6, "generated sessions beside each of those in which nothing of note happens")
	flag.IntVar(&f.size.statements, "statements", 24, "generated facts that are stated, repeated, changed and contradicted")
	flag.IntVar(&f.k, "k", 10, "recall among how many events")
	flag.StringVar(&f.write, "write", "", "write the dataset into this folder instead of asking")
	flag.StringVar(&f.questions, "questions", "", "ask about real runs what this file asks, instead of what rules derive from the runs")
	flag.BoolVar(&f.unlink, "unlinked", false, "append the events without their causes")
	flag.StringVar(&f.half, "half", "", "ask only the questions of this half (dev, held-out), if the dataset has halves; the default asks all")
	flag.BoolVar(&f.detail, "detail", false, "also print, for each question, the rank of its evidence on each side")
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
		return readRuns(args[1:], f.questions)
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
	if f.unlink {
		d.unlink()
	}
	if f.half != "" {
		d.questions = slices.DeleteFunc(d.questions, func(q question) bool { return q.half != f.half })
	}
	if f.write != "" {
		return d.write(f.write)
	}
	c := newCorpus(d)
	sides := []side{
		newBM25(c, bm25{as: "BM25", terms: words, k: f.k}), newBM25(c, bm25{as: "BM25, stems", terms: stems, k: f.k}),
		newBM25(c, bm25{as: "BM25, stems, neighbours", terms: stems, k: f.k, neighbors: 5}),
		newBM25(c, bm25{as: "BM25, stems, calls with results", terms: stems, k: f.k, pairs: true}),
		vector{c, f.k},
		latest{c, f.k},
	}
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
	if slices.ContainsFunc(d.questions, func(q question) bool { return q.half != "" }) {
		for _, half := range []string{dev, heldOut} {
			if f.half == "" || f.half == half {
				report(w, d, sides, results, f.k, half)
			}
		}
	}
	if f.half == "" {
		report(w, d, sides, results, f.k, "")
	}
	if f.detail {
		detail(w, d, sides, results)
	}
	return nil
}
