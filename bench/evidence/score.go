package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
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
	// recall3 is recall among the first three; rank sums the reciprocal rank of the first event
	// of the evidence among the first k.
	recall3, rank float64
	// top counts the questions for which one of the first 1, 3 and 10 is evidence.
	top [len(tops)]float64
	// inAnswer is recall over everything that the answer shows.
	inAnswer float64
	// first is the rank of the first event of the evidence in the answer, 0 if it is not there.
	first int
	// precision is the fraction of the first k that are evidence or in the chain.
	precision float64
	// chains counts the questions with a chain; whole counts the answers that showed all of
	// it, links sums the fractions of its events that they showed.
	chains       int
	whole, links float64
	// events and bytes are the sizes of answers.
	events, bytes int
	took          []time.Duration
}

// tops are the numbers of hits for which top counts questions.
var tops = [...]int{1, 3, 10}

func (t *tally) add(o tally) {
	t.questions += o.questions
	t.recall += o.recall
	t.recall3 += o.recall3
	t.rank += o.rank
	for i := range t.top {
		t.top[i] += o.top[i]
	}
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

// all returns the event and its results.
func (s shown) all() []int { return append([]int{s.event}, s.results...) }

// mark compares what is shown with the events expected. The results of a call count where it does.
func mark(d *dataset, q question, found []shown, k int) tally {
	t := tally{questions: 1, events: len(found)}
	at := map[string]int{}
	for rank, s := range found {
		for _, i := range s.all() {
			if id := d.events[i].ID; at[id] == 0 {
				at[id] = rank + 1
			}
		}
	}
	wanted := map[string]bool{}
	in := func(group []string, below int) bool {
		return slices.ContainsFunc(group, func(id string) bool {
			return at[id] > 0 && at[id] <= below
		})
	}
	for _, group := range q.Evidence {
		for _, id := range group {
			wanted[id] = true
		}
		if in(group, k) {
			t.recall += 1 / float64(len(q.Evidence))
		}
		if in(group, 3) {
			t.recall3 += 1 / float64(len(q.Evidence))
		}
		if in(group, len(found)) {
			t.inAnswer += 1 / float64(len(q.Evidence))
		}
	}
	if t.recall > 1-1e-9 {
		t.all = 1
	}
	is := func(s shown) bool {
		return slices.ContainsFunc(s.all(), func(i int) bool { return wanted[d.events[i].ID] })
	}
	if rank := slices.IndexFunc(found, is); rank >= 0 {
		t.first = rank + 1
		if rank < k {
			t.rank = 1 / float64(rank+1)
		}
		for i, n := range tops {
			if rank < n {
				t.top[i] = 1
			}
		}
	}
	for _, id := range q.Chain {
		wanted[id] = true
	}
	if len(q.Chain) > 1 {
		t.chains = 1
		for _, id := range q.Chain {
			if at[id] > 0 {
				t.links += 1 / float64(len(q.Chain))
			}
		}
		if t.links > 1-1e-9 {
			t.whole = 1
		}
	}
	if n := min(len(found), k); n > 0 {
		for _, s := range found[:n] {
			if is(s) {
				t.precision += 1 / float64(n)
			}
		}
	}
	return t
}

// result has a side's scores of each question.
type result []tally

func score(ctx context.Context, d *dataset, s side, k int) (result, error) {
	var res result
	for _, q := range d.questions {
		found, size, took, err := timed(ctx, s, q)
		if err != nil {
			return nil, fmt.Errorf("%s: question %s: %w", s.name(), q.ID, err)
		}
		t := mark(d, q, found, k)
		t.bytes, t.took = size, []time.Duration{took}
		res = append(res, t)
	}
	return res, nil
}

// sum returns the scores of the questions for which of returns true.
func (r result) sum(d *dataset, of func(question) bool) *tally {
	sum := &tally{}
	for i, t := range r {
		if of(d.questions[i]) {
			sum.add(t)
		}
	}
	slices.Sort(sum.took)
	return sum
}

// report prints the sides next to each other, for the questions of a half, or for all.
func report(w io.Writer, d *dataset, sides []side, results []result, k int, half string) {
	inHalf := func(q question) bool { return half == "" || q.half == half }
	n := 0
	kinds := map[string]int{}
	for _, q := range d.questions {
		if inHalf(q) {
			n++
			kinds[q.Kind]++
		}
	}
	fmt.Fprintf(w, "\n%s: %d events, %d questions (%s)\n\n", d.name, len(d.events), n, cmp.Or(half, "all"))
	fmt.Fprintf(w, "| side | evidence recall@%d | recall@3 | MRR | top 1 | top 3 | top 10 | in the answer | precision@%d | chain whole | chain links | events | bytes | p50 | p99 |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n", k, k)
	for i, s := range sides {
		t := results[i].sum(d, inHalf)
		n, c := float64(max(t.questions, 1)), float64(max(t.chains, 1))
		fmt.Fprintf(w, "| %s | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.1f | %.0f | %s | %s |\n", s.name(),
			t.recall/n, t.recall3/n, t.rank/n, t.top[0]/n, t.top[1]/n, t.top[2]/n, t.inAnswer/n, t.precision/n, t.whole/c, t.links/c, float64(t.events)/n, float64(t.bytes)/n, quantile(t.took, .5), quantile(t.took, .99))
	}
	if len(kinds) < 2 {
		return
	}
	fmt.Fprintf(w, "\n| recall@%d by kind | questions |", k)
	for _, s := range sides {
		fmt.Fprintf(w, " %s |", s.name())
	}
	fmt.Fprintf(w, "\n|---|---|%s\n", strings.Repeat("---|", len(sides)))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(w, "| %s | %d |", kind, kinds[kind])
		for i := range sides {
			t := results[i].sum(d, func(q question) bool { return inHalf(q) && q.Kind == kind })
			fmt.Fprintf(w, " %.3f |", t.recall/float64(t.questions))
		}
		fmt.Fprintln(w)
	}
}

// detail prints the rank of the evidence of each question on each side.
func detail(w io.Writer, d *dataset, sides []side, results []result) {
	fmt.Fprint(w, "\n")
	for _, s := range sides {
		fmt.Fprintf(w, "%s\t", s.name())
	}
	fmt.Fprintln(w, "question")
	for i, q := range d.questions {
		for side := range sides {
			fmt.Fprintf(w, "%d\t", results[side][i].first)
		}
		fmt.Fprintf(w, "%s %s\n", q.half, q.Text)
	}
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Round(10 * time.Microsecond)
}
