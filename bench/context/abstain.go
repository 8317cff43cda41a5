package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	packing "github.com/recountdb/recount/query/context"
)

// refusals count answers that say that the repository does not have what was asked.
type refusals struct {
	Set     string `json:"set"`
	Own     int    `json:"answerable"`
	OwnNo   int    `json:"answerable_refused"`
	Wrong   int    `json:"wrong_repository"`
	WrongNo int    `json:"wrong_repository_refused"`
}

// asked is a task in words, and its repository.
type asked struct{ set, half, repo, text string }

// runAbstain asks each task of its own repository, and of all others among those that tasks are
// about. Tasks are the descriptions of tasks.tsv and of -questions, and the titles and bodies of
// code2test and edit2ripple, without the given file.
func runAbstain(ctx context.Context, o options) error {
	all, err := tasks(o.questions)
	if err != nil {
		return err
	}
	var texts []asked
	var repos []string
	for _, t := range all {
		texts = append(texts, asked{"descriptions", t.half(), t.repo, t.Description})
		if len(repos) == 0 || repos[len(repos)-1] != t.repo {
			repos = append(repos, t.repo)
		}
	}
	changes, err := samples(ctx, o.mirrors, "")
	if err != nil {
		return err
	}
	for i, s := range changes {
		if i == 0 || changes[i-1].change != s.change {
			texts = append(texts, asked{"changes", s.half, s.repo, s.title + "\n\n" + s.body})
		}
	}
	r := newRecount(o, nil)
	sums := map[string]*refusals{}
	for _, repo := range repos {
		head, err := r.openHead(ctx, repo)
		if err != nil {
			return fmt.Errorf("%s: %w", repo, err)
		}
		for i, t := range texts {
			fmt.Fprintf(os.Stderr, "\r%s: %d of %d                    ", repo, i+1, len(texts))
			// A task may name another repository's product by right: only one in eight pairs is asked,
			// spread over all of them.
			if t.repo != repo && (i+len(repo))%8 != 0 || o.half != "" && t.half != o.half {
				continue
			}
			resp, err := packing.Pack(ctx, r.sources, packing.Request{Task: t.text, Repository: repo, Revision: head})
			if err != nil {
				return fmt.Errorf("%s: %w", t.text, err)
			}
			f := sums[t.set+" "+t.half]
			if f == nil {
				f = &refusals{Set: t.set + " " + t.half}
				sums[f.Set] = f
			}
			if t.repo == repo {
				f.Own++
				f.OwnNo += one(!resp.Known)
			} else {
				f.Wrong++
				f.WrongNo += one(!resp.Known)
			}
			if o.misses && resp.Known != (t.repo == repo) {
				first, _, _ := strings.Cut(t.text, "\n")
				fmt.Printf("%s asked %s: known %v: %s\n", t.repo, repo, resp.Known, first)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	if err := r.close(); err != nil {
		return err
	}
	var rows []refusals
	for _, set := range []string{"descriptions dev", "descriptions held", "changes dev", "changes held"} {
		if f := sums[set]; f != nil {
			rows = append(rows, *f)
		}
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(rows)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "tasks\tof their repository\trefused\tof another\trefused")
	for _, f := range rows {
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%d\t%.3f\n", f.Set, f.Own, float64(f.OwnNo)/float64(max(1, f.Own)), f.Wrong, float64(f.WrongNo)/float64(max(1, f.Wrong)))
	}
	return w.Flush()
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
