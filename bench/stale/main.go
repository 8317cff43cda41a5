// Command stale prints a sample of the functions that `recount stale` calls unused, for people to
// check, and scores their labels.
//
//	go -C bench run ./stale -repo DIR [-n 30] [-seed 1] [-language NAME] [-tests]
//	go -C bench run ./stale -score FILE
//
// A sample is drawn by a hash of the seed and the place, so that it does not depend on the order of
// findings. A line of a sample is the repository, the place, the name, the confidence and the reason;
// the labelled file has `unused` or `used` in a sixth column, with the reason in a seventh. With -tests
// also functions that tests alone use are drawn; `unused` then means that nothing but a test uses it.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recountdb/recount/bench/graphs"
	"github.com/recountdb/recount/query/code"
)

func main() {
	log.SetFlags(0)
	repo := flag.String("repo", "", "the repository's folder")
	n := flag.Int("n", 30, "how many findings to draw")
	seed := flag.Int("seed", 1, "seed of the draw")
	language := flag.String("language", "", "only findings in this language")
	tests := flag.Bool("tests", false, "also functions that tests alone use")
	kept := flag.String("graphs", "", "the folder in which graphs are kept for the next run (default: none)")
	labels := flag.String("score", "", "the file of labelled findings")
	flag.Parse()
	var err error
	switch {
	case *labels != "":
		err = score(*labels)
	case *repo != "":
		err = sample(context.Background(), *repo, *kept, *language, *seed, *n, *tests)
	default:
		err = fmt.Errorf("-repo DIR or -score FILE is needed")
	}
	if err != nil {
		log.Fatal("bench/stale: ", err)
	}
}

func sample(ctx context.Context, repo, kept, language string, seed, n int, tests bool) error {
	if kept == "" {
		var err error
		if kept, err = os.MkdirTemp("", "recount-bench-stale-"); err != nil {
			return err
		}
		defer os.RemoveAll(kept)
	}
	name := filepath.Base(repo)
	set, err := graphs.Load(ctx, repo, filepath.Join(kept, name))
	if err != nil {
		return err
	}
	defer set.Close()
	again, err := os.MkdirTemp("", "recount-bench-stale-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(again)
	contents, err := graphs.Contents(ctx, repo, again)
	if err != nil {
		return err
	}
	s := code.Sources{Set: set, Graphs: code.NewCache(0), Contents: contents}
	r, err := code.Stales(ctx, s, code.StaleRequest{Kinds: []string{"unused"}, Limit: code.MaxLimit})
	if err != nil {
		return err
	}
	of := func(f code.Stale) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s %s", seed, f.Place(), f.Name)
		return h.Sum64()
	}
	found := slices.DeleteFunc(r.Findings, func(f code.Stale) bool {
		return language != "" && f.Language != language || !tests && strings.HasPrefix(f.Why, "only tests")
	})
	log.Printf("%s: %d findings, %d of them drawn from", name, r.Counts["unused"], len(found))
	slices.SortFunc(found, func(a, b code.Stale) int { return cmp.Compare(of(a), of(b)) })
	for _, f := range found[:min(n, len(found))] {
		fmt.Printf("%s\t%s\t%s\t%.2f\t%s\n", name, f.Place(), f.Name, f.Confidence, f.Why)
	}
	return nil
}

func score(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	right, all := map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(b)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) < 6 || fields[5] != "used" && fields[5] != "unused" {
			return fmt.Errorf("%s: want used or unused in column 6: %q", file, line)
		}
		for _, of := range []string{fields[0], "all"} {
			all[of]++
			if fields[5] == "unused" {
				right[of]++
			}
		}
	}
	for _, of := range slices.Sorted(func(yield func(string) bool) {
		for name := range all {
			if !yield(name) {
				return
			}
		}
	}) {
		fmt.Printf("%-14s %3d of %3d: precision %.3f\n", of, right[of], all[of], float64(right[of])/float64(all[of]))
	}
	return nil
}
