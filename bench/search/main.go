// Command search measures what ctrl-R finds: the rank of the wanted command in the list of recount
// search, against Atuin's and fzf's over the same history, and how long a keystroke takes.
//
//	make && go -C bench run ./search -bin $PWD/bin -nl2bash PAIRS -tldr TSV
//	make && go -C bench run ./search -bin $PWD/bin -latency 100000
//
// PAIRS are those of NL2Bash, TSV is tldr.tsv of bench/examples. atuin and fzf are looked for on the
// PATH, and left out if they are not there. -latency needs tmux.
//
// A task is a description of a command that nothing of Recount was developed on (pairs.HeldOut): 100
// of each collection, chosen by a seed. What is typed are the first three words of more than three
// letters of the description or, in the second table, the beginnings of up to three words of the
// command: its first three to five letters. The history is every command of both collections, each
// run at least once and some many times, 15,000 runs in all. Tasks are split by a hash of their
// description: the ranking was tuned on the half dev, and test was looked at once, at the end.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/recountdb/recount/bench/pairs"
)

func main() {
	bin := flag.String("bin", "", "the folder with the programs of make, absolute")
	nl2bash := flag.String("nl2bash", "", "NL2Bash's pairs")
	tldr := flag.String("tldr", "", "tldr.tsv of bench/examples")
	half := flag.String("half", "both", "dev, test or both")
	latency := flag.Int("latency", 0, "measure keystrokes over this many commands instead")
	tries := flag.Int("n", 21, "with -latency: how often each is measured")
	show := flag.Bool("v", false, "print the rank of every task")
	flag.Parse()
	var err error
	switch {
	case *bin == "":
		err = errors.New("name the folder of the programs: -bin $PWD/bin")
	case *latency > 0:
		err = measureLatency(*bin, *latency, *tries)
	default:
		err = measureRanks(*bin, *nl2bash, *tldr, *half, *show)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "search: %s\n", err)
		os.Exit(1)
	}
}

// measureRanks prints how high each program ranks the wanted commands.
func measureRanks(bin, nl2bash, tldr, half string, show bool) (err error) {
	var all []pairs.Pair
	var collections [][]pairs.Pair
	for _, file := range []string{nl2bash, tldr} {
		p, err := pairs.Load(file)
		if err != nil {
			return err
		}
		collections = append(collections, p)
		all = append(all, p...)
	}
	dir, err := os.MkdirTemp("", "search-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	lines := makeHistory(all)
	w := &world{dir: dir, bin: bin, history: filepath.Join(dir, "bash_history")}
	if err := w.write(lines); err != nil {
		return err
	}
	programs, end, err := w.programs(lines)
	if err != nil {
		return err
	}
	defer end()
	tasks := makeTasks(collections)
	fmt.Printf("%d runs of %d commands, %d tasks\n", len(lines), distinct(lines), len(tasks))
	for _, kind := range []string{"description", "command"} {
		for _, h := range []string{"dev", "test"} {
			if half != "both" && half != h {
				continue
			}
			for _, p := range programs {
				s := score{}
				for _, t := range tasks {
					if t.half != h {
						continue
					}
					typed := t.words
					if kind == "command" {
						typed = t.fragments
					}
					rank, err := p.rank(typed, t.wanted)
					if err != nil {
						return fmt.Errorf("%s: %q: %w", p.name, typed, err)
					}
					s.add(rank)
					if show {
						fmt.Printf("%s\t%s\t%s\t%d\t%s\t%s\n", kind, h, p.name, rank, typed, t.wanted[0])
					}
				}
				fmt.Printf("%-12s %-4s %-28s %s\n", kind, h, p.name, s)
			}
		}
	}
	return nil
}

// score is what a program reached.
type score struct {
	n, first, ten int
	sum           float64
}

func (s *score) add(rank int) {
	s.n++
	if rank == 0 {
		return
	}
	s.sum += 1 / float64(rank)
	if rank == 1 {
		s.first++
	}
	if rank <= 10 {
		s.ten++
	}
}

func (s score) String() string {
	n := float64(max(s.n, 1))
	return fmt.Sprintf("%3d tasks  MRR %.3f  first %.3f  among ten %.3f", s.n, s.sum/n, float64(s.first)/n, float64(s.ten)/n)
}
