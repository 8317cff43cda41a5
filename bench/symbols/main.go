// Command symbols scores `recount symbols` on descriptions in words, each with the symbols
// that a person expects: precision and recall of the first ten, and the mean reciprocal rank
// of the first that is right. Beside it stand ripgrep, as a person uses it, and Okapi BM25
// over the same declarations.
//
//	go -C bench run ./symbols -repos DIR [-half dev|held|unseen] [-misses]
//	go -C bench run ./symbols -questions DIR -repo DIR [-misses]
//
// The first form scores the tasks of testdata/tasks.tsv on clones in DIR, named as in
// testdata/repositories.tsv and at its commits. The second reads YAML files with `description`
// and `ground_truth` about the HEAD of one repository. Scored strictly: a symbol is right where
// its name, or the end of it behind a dot, is an expected one; each expected name counts
// once, so that two symbols of one name are one; precision is over ten whatever comes
// back; a question without an answer scores 0.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/bench/graphs"
	"github.com/recountdb/recount/query/code"
)

const shown = 10

type options struct {
	misses    bool
	baselines bool
	scratch   string
}

func main() {
	log.SetFlags(0)
	questions := flag.String("questions", "", "the folder of questions as YAML")
	repo := flag.String("repo", "", "the repository's folder, with -questions")
	repos := flag.String("repos", "", "the folder of the repositories of testdata/repositories.tsv")
	half := flag.String("half", "", "only this half of the tasks: dev or held; or unseen, which are others")
	var o options
	flag.BoolVar(&o.misses, "misses", false, "print what was found and what was expected")
	flag.BoolVar(&o.baselines, "baselines", true, "score the baselines too")
	flag.StringVar(&o.scratch, "graphs", "", "the folder in which graphs are kept for the next run (default: none)")
	flag.Parse()
	ctx := context.Background()
	var err error
	switch {
	case *questions != "" && *repo != "":
		var tasks []task
		if tasks, err = questionsOf(*questions, filepath.Base(*repo)); err == nil {
			err = run(ctx, filepath.Dir(*repo), tasks, o)
		}
	case *repos != "" && *half == "unseen":
		var tasks []task
		if tasks, err = tasksOf(unseenFile); err == nil {
			err = run(ctx, *repos, tasks, o)
		}
	case *repos != "" && slices.Contains([]string{"", "dev", "held"}, *half):
		var tasks []task
		if tasks, err = tasksOf(tasksFile); err == nil {
			tasks = slices.DeleteFunc(tasks, func(t task) bool { return *half != "" && t.heldOut() != (*half == "held") })
			err = run(ctx, *repos, tasks, o)
		}
	default:
		err = errors.New("-repos DIR [-half dev|held], or -questions DIR and -repo DIR, are needed")
	}
	if err != nil {
		log.Fatal("bench/symbols: ", err)
	}
}

// run scores tasks, repository by repository.
func run(ctx context.Context, dir string, tasks []task, o options) error {
	scratch := o.scratch
	if scratch == "" {
		var err error
		if scratch, err = os.MkdirTemp("", "recount-bench-symbols-"); err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
	}
	whole := map[string]*figures{}
	var took time.Duration
	var all []time.Duration
	names := []string{"recount", "BM25 of heads", "BM25 of declarations", "ripgrep", "BM25 with documents"}
	for len(tasks) > 0 {
		repo := tasks[0].repo
		end := slices.IndexFunc(tasks, func(t task) bool { return t.repo != repo })
		if end < 0 {
			end = len(tasks)
		}
		set, err := graphs.Load(ctx, filepath.Join(dir, repo), filepath.Join(scratch, repo))
		if err != nil {
			return fmt.Errorf("%s: %w", repo, err)
		}
		s := code.Sources{Set: set, Graphs: code.NewCache(0)}
		var b *baselines
		if o.baselines {
			if b, err = readBaselines(ctx, filepath.Join(dir, repo)); err != nil {
				return err
			}
		}
		here := map[string]*figures{}
		score := func(name string, found []string, t task) int {
			for _, in := range []map[string]*figures{here, whole} {
				if in[name] == nil {
					in[name] = &figures{}
				}
			}
			here[name].add(found, t.Expected)
			return whole[name].add(found, t.Expected)
		}
		for i, t := range tasks[:end] {
			began := time.Now()
			r, err := code.Symbols(ctx, s, code.SymbolsRequest{Text: t.Description, Limit: shown})
			if err != nil {
				return fmt.Errorf("%s: %w", t.Description, err)
			}
			if i > 0 { // the first one builds the index
				all = append(all, time.Since(began))
				took += time.Since(began)
			}
			var found []string
			for _, h := range r.Symbols {
				found = append(found, h.Name)
			}
			right := score(names[0], found, t)
			if o.misses {
				fmt.Printf("%s: %s\n  want %s: %d right\n", repo, t.Description, strings.Join(t.Expected, ", "), right)
				for _, h := range r.Symbols {
					fmt.Printf("    %s %s %s\n", h.Name, h.Kind, h.Place())
				}
			}
			if b != nil {
				score(names[1], b.bm25(t.Description, func(u *unit) map[string]float64 { return u.head }), t)
				score(names[2], b.bm25(t.Description, func(u *unit) map[string]float64 { return u.whole }), t)
				score(names[3], b.ripgrep(t.Description), t)
				score(names[4], b.bm25(t.Description, func(u *unit) map[string]float64 { return u.said }), t)
			}
		}
		for _, name := range names {
			if here[name] != nil {
				fmt.Printf("%-10s %-22s %v\n", repo, name, here[name])
			}
		}
		if err := set.Close(); err != nil {
			return err
		}
		tasks = tasks[end:]
	}
	for _, name := range names {
		if whole[name] != nil {
			fmt.Printf("%-10s %-22s %v\n", "all", name, whole[name])
		}
	}
	if slices.Sort(all); len(all) > 0 {
		fmt.Printf("a question with the index in memory: mean %v, median %v\n", (took / time.Duration(len(all))).Round(10*time.Microsecond), all[len(all)/2].Round(10*time.Microsecond))
	}
	return nil
}
