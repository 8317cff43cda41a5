package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// tally has the scores of one side for the questions of one kind.
type tally struct {
	questions int
	// recall sums, over questions, the fraction of the evidence among the first k events
	// shown; all counts the questions with all of it.
	recall, all float64
	// inAnswer is recall over everything that the answer shows.
	inAnswer float64
	// precision is the fraction of the first k events that are evidence or in the chain.
	precision float64
	// chains counts the questions with a chain; whole counts the answers that showed all of
	// it, links sums the fractions of its events that they showed.
	chains       int
	whole, links float64
	// events and bytes are the sizes of answers.
	events, bytes int
	took          []time.Duration
}

func (t *tally) add(o tally) {
	t.questions += o.questions
	t.recall += o.recall
	t.all += o.all
	t.inAnswer += o.inAnswer
	t.precision += o.precision
	t.chains += o.chains
	t.whole += o.whole
	t.links += o.links
	t.events += o.events
	t.bytes += o.bytes
	t.took = append(t.took, o.took...)
}

// mark compares the events shown with the expected ones.
func mark(d *dataset, q question, shown []int, k int) tally {
	t := tally{questions: 1, events: len(shown)}
	at := map[string]int{}
	for rank, i := range shown {
		id := d.events[i].ID
		if _, twice := at[id]; !twice {
			at[id] = rank
		}
	}
	wanted := map[string]bool{}
	in := func(group []string, below int) bool {
		return slices.ContainsFunc(group, func(id string) bool {
			rank, ok := at[id]
			return ok && rank < below
		})
	}
	for _, group := range q.Evidence {
		for _, id := range group {
			wanted[id] = true
		}
		if in(group, k) {
			t.recall += 1 / float64(len(q.Evidence))
		}
		if in(group, len(shown)) {
			t.inAnswer += 1 / float64(len(q.Evidence))
		}
	}
	if t.recall > 1-1e-9 {
		t.all = 1
	}
	for _, id := range q.Chain {
		wanted[id] = true
	}
	if len(q.Chain) > 1 {
		t.chains = 1
		for _, id := range q.Chain {
			if _, ok := at[id]; ok {
				t.links += 1 / float64(len(q.Chain))
			}
		}
		if t.links > 1-1e-9 {
			t.whole = 1
		}
	}
	if n := min(len(shown), k); n > 0 {
		for id, rank := range at {
			if rank < k && wanted[id] {
				t.precision += 1 / float64(n)
			}
		}
	}
	return t
}

// result has a side's scores by kind of question, and in total under "".
type result map[string]*tally

func score(ctx context.Context, d *dataset, s side, k int) (result, error) {
	res := result{"": {}}
	for _, q := range d.questions {
		shown, size, took, err := timed(ctx, s, q)
		if err != nil {
			return nil, fmt.Errorf("%s: question %s: %w", s.name(), q.ID, err)
		}
		t := mark(d, q, shown, k)
		t.bytes, t.took = size, []time.Duration{took}
		if res[q.Kind] == nil {
			res[q.Kind] = &tally{}
		}
		res[q.Kind].add(t)
		res[""].add(t)
	}
	return res, nil
}

// report prints the sides next to each other.
func report(w io.Writer, d *dataset, sides []side, results []result, k int) {
	fmt.Fprintf(w, "\n%s: %d events, %d questions\n\n", d.name, len(d.events), len(d.questions))
	fmt.Fprintf(w, "| side | evidence recall@%d | whole at %d | in the answer | precision@%d | chain whole | chain links | events | bytes | p50 | p99 |\n|---|---|---|---|---|---|---|---|---|---|---|\n", k, k, k)
	for i, s := range sides {
		t := results[i][""]
		n, c := float64(max(t.questions, 1)), float64(max(t.chains, 1))
		slices.Sort(t.took)
		fmt.Fprintf(w, "| %s | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.1f | %.0f | %s | %s |\n", s.name(),
			t.recall/n, t.all/n, t.inAnswer/n, t.precision/n, t.whole/c, t.links/c, float64(t.events)/n, float64(t.bytes)/n, quantile(t.took, .5), quantile(t.took, .99))
	}
	var kinds []string
	for kind := range results[0] {
		if kind != "" {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) < 2 {
		return
	}
	slices.Sort(kinds)
	fmt.Fprintf(w, "\n| recall@%d by kind | questions |", k)
	for _, s := range sides {
		fmt.Fprintf(w, " %s |", s.name())
	}
	fmt.Fprintf(w, "\n|---|---|%s\n", strings.Repeat("---|", len(sides)))
	for _, kind := range kinds {
		fmt.Fprintf(w, "| %s | %d |", kind, results[0][kind].questions)
		for i := range sides {
			t := results[i][kind]
			fmt.Fprintf(w, " %.3f |", t.recall/float64(t.questions))
		}
		fmt.Fprintln(w)
	}
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Round(10 * time.Microsecond)
}
