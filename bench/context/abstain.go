package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// asked is a task in words, its repository, and the revision before it was done.
type asked struct{ set, half, repo, base, text string }

// descriptionsFile has further descriptions, without symbols: each a repository and a text.
//
//go:embed testdata/descriptions.tsv
var descriptionsFile string

// abstentions returns the descriptions of tasks.tsv and descriptions.tsv, and the titles and bodies of code2test and
// edit2ripple without the given file. Halves are those of the repositories.
func abstentions(ctx context.Context, o options) (all []asked, changes []sample, repos []string, err error) {
	if changes, err = samples(ctx, o.mirrors, ""); err != nil {
		return nil, nil, nil, err
	}
	halfOf := map[string]string{}
	seen := map[string]bool{}
	for _, s := range changes {
		if halfOf[s.repo] == "" && (o.half == "" || s.half == o.half) {
			repos = append(repos, s.repo)
		}
		halfOf[s.repo] = s.half
		if !seen[s.change] {
			all = append(all, asked{"changes", s.half, s.repo, s.base, s.title + "\n\n" + s.body})
		}
		seen[s.change] = true
	}
	descriptions, err := tasks("")
	for _, t := range descriptions {
		all = append(all, asked{"descriptions", halfOf[t.repo], t.repo, "", t.Description})
	}
	for line := range strings.Lines(descriptionsFile) {
		repo, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all = append(all, asked{"descriptions", halfOf[repo], repo, "", text})
	}
	return all, changes, repos, err
}

// perTask is the number of wrong repositories that a change is asked of; a description is asked of
// all of its half.
const perTask = 4

// runAbstain asks each task of its own repository, as it was before the task was done, and of others
// of the same half. Only the wanted repositories are asked, and each of them what it would be asked
// among all.
func runAbstain(ctx context.Context, o options) error {
	texts, changes, repos, err := abstentions(ctx, o)
	if err != nil {
		return err
	}
	r := newRecount(o, changes)
	sums := map[string]*refusals{}
	var rows []refusals
	for at, repo := range repos {
		if !wanted(o.repos, repo) {
			continue
		}
		if err := r.open(ctx, repo); err != nil {
			return fmt.Errorf("%s: %w", repo, err)
		}
		newest, _, err := mirrorOf(o.mirrors, repo).span(ctx, r.bases(repo))
		if err != nil {
			return err
		}
		for i, t := range texts {
			// The distance in the list says which repositories a task is asked of.
			away := (at - slices.Index(repos, t.repo) + len(repos)) % len(repos)
			if !slices.Contains(repos, t.repo) || t.set == "changes" && away != 0 && (away+i)%max(1, (len(repos)-1)/perTask) != 0 {
				continue
			}
			fmt.Fprintf(os.Stderr, "\r%s: %d of %d                    ", repo, i+1, len(texts))
			revision := newest
			if t.repo == repo && t.base != "" {
				revision = t.base
			}
			req := packing.Request{Task: t.text, Repository: repo, Revision: revision, Budget: 1000}
			resp, err := packing.Pack(ctx, r.sources, req)
			if err != nil {
				return fmt.Errorf("%s: %w", t.text, err)
			}
			key := t.set + " " + t.half
			if sums[key] == nil {
				sums[key] = &refusals{Set: key}
			}
			if f := sums[key]; t.repo == repo {
				f.Own++
				f.OwnNo += one(!resp.Known)
			} else {
				f.Wrong++
				f.WrongNo += one(!resp.Known)
			}
			if o.misses {
				ranked, err := packing.Rank(ctx, r.sources, req)
				if err != nil {
					return err
				}
				first, _, _ := strings.Cut(t.text, "\n")
				fmt.Printf("%s\t%s\t%s\tknown %v\t%.3f\t%s\n", t.set, t.repo, repo, resp.Known, ranked.Belongs, first)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	if err := r.close(); err != nil {
		return err
	}
	for _, set := range []string{"descriptions", "changes"} {
		for _, half := range halves {
			if f := sums[set+" "+half]; f != nil {
				rows = append(rows, *f)
			}
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

// bases returns the revisions of a repository's samples.
func (r *recount) bases(repo string) (all []string) {
	for _, s := range r.all {
		if s.repo == repo && !slices.Contains(all, s.base) {
			all = append(all, s.base)
		}
	}
	return all
}

// open opens the graph of a repository, with the revisions of all its samples.
func (r *recount) open(ctx context.Context, repo string) error {
	return r.openAs(ctx, repo, repo, r.bases(repo), filepath.Join(r.dir, strings.ReplaceAll(repo, "/", "+")))
}
