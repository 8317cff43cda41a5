// Command context measures what `recount context` finds for a task: which files, which symbols, and
// whether it knows when there is nothing. `go -C bench run ./context -help` says how to run it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

const help = `Measures what recount context finds, against BM25, aider's RepoMap and ripgrep.

  go -C bench run ./context -mirrors DIR files [-half HALF] [-published FILE] [-python PATH] [-authors DIR]
  go -C bench run ./context -mirrors DIR generate [-repos …] > testdata/samples.tsv

DIR has a git directory OWNER+NAME/repo of each repository in testdata/repositories.tsv, and is
fetched by whoever runs this: at github.com, at the commits that the file names.

  files     code2test and edit2ripple: a change of the history is described by its title and body,
            one of its files is given, and the other files are to be found among all files of its
            first parent. Metrics: mean reciprocal rank, recall among 20, yield at 8,000 tokens.
  packed    what answers of 8,000 tokens to the samples of files list and quote of the files to be found.
  symbols   descriptions of tasks, each with the symbols that a person expects: strict precision of the
            first ten, and mean reciprocal rank.
  abstain   the descriptions of tasks.tsv, and those of changes, asked of the right repository as it was
            before and of others of the same half.
  background  counts how common words are in other repositories, for query/context/background.bin.
  others    writes texts of the same repositories, for query/context/others.bin.
  budget    random calls, their tokens counted.
  time      calls on the newest commit of a repository, or on -copies of it in one.
  again     the samples of files with and without feedback about all commits before them.
  graphs    imports the repositories' histories into -keep, which files does otherwise.
  generate  writes the samples, by the rules in generate.go.

Flags:
`

type options struct {
	mirrors, half, keep, python, authors string
	repos, systems                       string
	dump, profile                        string
	questions, published                 string
	json, misses                         bool
	seed                                 int64
	calls, copies                        int
}

func main() {
	var o options
	flags := flag.NewFlagSet("context", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), help)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.mirrors, "mirrors", "", "the folder of the repositories (required)")
	flags.StringVar(&o.half, "half", "", "only repositories of this half: dev or more, to choose with, or held or third, to look at last")
	flags.StringVar(&o.repos, "repos", "", "only these repositories, OWNER/NAME with commas between")
	flags.StringVar(&o.systems, "systems", "", "only systems whose names begin with one of these, with commas between")
	flags.StringVar(&o.keep, "keep", filepath.Join(os.TempDir(), "recount-bench-context"), "the folder in which graphs and RepoMap's answers are kept for the next run")
	flags.StringVar(&o.python, "python", "", "a Python with aider-chat, for RepoMap (default: only what is kept of earlier runs)")
	flags.StringVar(&o.authors, "authors", "", "the folder src of a checkout of github.com/eyuansu62/agent-retrieval-bench, for its RepoMap (needs -python)")
	flags.StringVar(&o.dump, "dump", "", "write Recount's files and their channels, or the answers of time, to this file, one a line")
	flags.StringVar(&o.profile, "profile", "", "write profiles of time to files that begin so: .first of the first call, .calls of the others")
	flags.StringVar(&o.questions, "questions", "", "a folder with folders flask and caddy of questions as YAML, for symbols")
	flags.StringVar(&o.published, "published", "", "measure files on the code2test samples of this file of Agent Retrieval Bench: data/benchmark/v0_1/samples.jsonl")
	flags.BoolVar(&o.misses, "misses", false, "print what symbols and abstain got wrong")
	flags.Int64Var(&o.seed, "seed", 1, "the seed of budget")
	flags.IntVar(&o.calls, "calls", 10_000, "the number of calls of budget and time")
	flags.IntVar(&o.copies, "copies", 1, "how often time has the repository's files")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	if err := flags.Parse(os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, flags.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench/context:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, args []string) error {
	switch {
	case o.mirrors == "":
		return errors.New("want -mirrors DIR, the folder of the repositories; -help says more")
	case o.half != "" && !slices.Contains(halves, o.half):
		return fmt.Errorf("-half %s: want dev, more, held or third", o.half)
	case len(args) != 1:
		return errors.New("want one of: files, packed, symbols, abstain, background, others, budget, time, again, graphs, generate")
	}
	switch args[0] {
	case "files":
		return runFiles(ctx, o)
	case "symbols":
		return runSymbols(ctx, o)
	case "abstain":
		return runAbstain(ctx, o)
	case "budget":
		return runBudget(ctx, o)
	case "time":
		return runTime(ctx, o)
	case "again":
		return runAgain(ctx, o)
	case "packed":
		return runPacked(ctx, o)
	case "graphs":
		return runGraphs(ctx, o)
	case "background":
		return runBackground(ctx, o)
	case "others":
		return runOthers(ctx, o)
	case "generate":
		return generate(ctx, o, os.Stdout, os.Stderr)
	}
	return fmt.Errorf("no measurement %q: want files, packed, symbols, abstain, background, others, budget, time, again, graphs or generate", args[0])
}

// wanted reports whether a list with commas has a name, or one that a name begins with; an empty list has all.
func wanted(list, name string) bool {
	if list == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(list, ","), func(begin string) bool { return strings.HasPrefix(name, begin) })
}
