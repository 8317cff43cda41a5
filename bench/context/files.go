package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
)

// system ranks files for a sample: the best first, without the given one. known is false if it has
// no answer for this sample, which is then not measured for any system in the paired table.
type system struct {
	name string
	rank func(ctx context.Context, q question) (paths []string, known bool, err error)
}

// question is a sample with the files of its base.
type question struct {
	sample
	corpus *corpus
	file   file   // the given one
	others []file // all others
}

// row is a system's figures on some of the samples.
type row struct {
	System string `json:"system"`
	Half   string `json:"half"`
	Task   string `json:"task"`
	// Paired is set where only the samples count that RepoMap has ranked.
	Paired bool `json:"paired"`
	figures
}

func runFiles(ctx context.Context, o options) error {
	var all []sample
	var err error
	if o.published != "" {
		all, err = readPublished(ctx, o.published, o.mirrors)
	} else {
		all, err = samples(ctx, o.mirrors, o.half)
	}
	if err != nil {
		return err
	}
	aider, err := startRepomap(ctx, o.python, aiderProgram, o.keep+"/repomap", o.mirrors)
	if err != nil {
		return err
	}
	python := o.python
	if o.authors == "" {
		python = ""
	}
	authors, err := startRepomap(ctx, python, authorsProgram, o.keep+"/repomap", o.mirrors, o.authors)
	if err != nil {
		return err
	}
	ours := newRecount(o, all)
	if o.dump != "" {
		f, err := os.Create(o.dump)
		if err != nil {
			return err
		}
		defer f.Close()
		ours.dump = json.NewEncoder(f)
	}
	systems := []system{{"Recount", ours.rank}, ripgrep, aider.system("RepoMap of aider"), authors.system("RepoMap of the authors")}
	systems = append(systems, bm25s()...)
	t := table{cells: map[row]*figures{}}
	var c *corpus
	for i, s := range all {
		if !wanted(o.repos, s.repo) {
			continue
		}
		if c == nil || c.m != mirrorOf(o.mirrors, s.repo) {
			c = &corpus{mirrorOf(o.mirrors, s.repo), map[string]*text{}, map[string][]string{}}
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d, %s                    ", i+1, len(all), s.repo)
		q, shown, err := c.ask(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.id(), err)
		}
		measured := map[string]figures{}
		for _, sys := range systems {
			if !wanted(o.systems, sys.name) {
				continue
			}
			paths, known, err := sys.rank(ctx, q)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", s.id(), sys.name, err)
			}
			if known {
				measured[sys.name] = measure(paths, s.gold, shown)
			}
		}
		_, paired := measured["RepoMap of aider"]
		for _, sys := range systems {
			if m, known := measured[sys.name]; known {
				t.add(sys.name, s, paired, m)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	if err := errors.Join(aider.close(), authors.close(), ours.close()); err != nil {
		return err
	}
	return t.print(o)
}

// ask reads the files of a sample's base.
func (c *corpus) ask(ctx context.Context, s sample) (question, map[string]file, error) {
	files, err := c.at(ctx, s.base)
	q := question{sample: s, corpus: c}
	shown := map[string]file{}
	for _, f := range files {
		if f.path == s.given {
			q.file = f
			continue
		}
		q.others = append(q.others, f)
		shown[f.path] = f
	}
	return q, shown, err
}

// table sums figures by system, half and task; order is that of the first sums.
type table struct {
	cells map[row]*figures
	order []row
}

func (t *table) add(name string, s sample, paired bool, m figures) {
	for _, task := range []string{s.task, "all"} {
		for _, p := range []bool{false, true} {
			key := row{System: name, Half: s.half, Task: task, Paired: p}
			if p && !paired {
				continue
			}
			if t.cells[key] == nil {
				t.cells[key] = &figures{}
				t.order = append(t.order, key)
			}
			t.cells[key].add(m)
		}
	}
}

func (t *table) print(o options) error {
	var rows []row
	for _, key := range t.order {
		key.figures = t.cells[key].mean()
		rows = append(rows, key)
	}
	if o.json {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "half\ttask\tsystem\tsamples\tMRR\trecall@20\tyield@8K")
	for _, paired := range []bool{false, true} {
		if paired {
			fmt.Fprintln(w, "\nOnly samples that RepoMap of aider ranked:\t\t\t\t\t\t")
		}
		for _, r := range rows {
			if r.Paired == paired {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.3f\t%.3f\t%.3f\n", r.Half, r.Task, r.System, r.Samples, r.MRR, r.Recall20, r.Yield8K)
			}
		}
	}
	return w.Flush()
}
