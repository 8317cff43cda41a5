package code

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// ImpactDelta compares what a change reaches before and after it.
type ImpactDelta struct {
	Before   Reach          `json:"before" doc:"What reaches the removed or changed symbols at the first revision."`
	After    Reach          `json:"after" doc:"What reaches the added or changed symbols at the second revision."`
	Symbols  []SymbolImpact `json:"symbols" nullable:"false" doc:"The first 50 symbols that differ, without tests, ordered by how much their reach changed."`
	Untested []Symbol       `json:"untested" nullable:"false" doc:"The first 50 added or changed functions and methods that no test reaches."`
}

// Reach counts what something reaches.
type Reach struct {
	Symbols      int `json:"symbols" example:"40" doc:"Number of symbols, without tests and without the changed symbols themselves."`
	Packages     int `json:"packages" example:"5" doc:"Number of packages that they are in."`
	Repositories int `json:"repositories" example:"1" doc:"Number of repositories that they are in."`
	Tests        int `json:"tests" example:"14" doc:"Number of tests."`
}

// SymbolImpact counts the symbols that one symbol reaches, without tests.
type SymbolImpact struct {
	Symbol
	Change string `json:"change" enum:"added,removed,signature,body,renamed,moved" example:"body" doc:"The kind of change."`
	Before int    `json:"before" example:"12" doc:"The number of symbols that it reached."`
	After  int    `json:"after" example:"14" doc:"The number of symbols that it reaches."`
}

// maxSymbolImpacts is the maximum number of symbols that a diff walks from separately.
const maxSymbolImpacts = 50

// impact walks back from the changed symbols in both revisions.
func (d *differing) impact() error {
	w, err := d.a.around(d.now)
	if err != nil {
		return err
	}
	g, err := d.a.graph(d.base)
	if err != nil {
		return err
	}
	// Both sides use the other repositories in their current state.
	old := &world{graphs: append([]*Graph{g}, w.graphs[1:]...), left: w.left}
	// A symbol that only moved changes nothing for its users.
	touched := slices.DeleteFunc(slices.Clone(d.nodes), func(c change) bool { return !d.moved.touched(c) })
	roots, gone := changedSeeds(w.graphs[0], touched), changedSeeds(g, touched)
	delta := ImpactDelta{Symbols: []SymbolImpact{}, Untested: []Symbol{}}
	by := toAffected
	delta.Before = old.reach(old.widest(gone, &by))
	all := w.widest(roots, &by)
	delta.After = w.reach(all)
	var tests []reached
	for _, x := range all {
		if g := w.graphs[x.g]; g.nodes[x.n].test && runs(g, x.n) {
			tests = append(tests, x)
		}
	}
	untested := w.uncovered(roots, d.a.coveredBy(w, tests, 0))
	for _, u := range untested[:min(len(untested), maxSymbolImpacts)] {
		delta.Untested = append(delta.Untested, w.symbol(u))
	}
	if err := d.eachImpact(&delta, old, w); err != nil {
		return err
	}
	counts := d.resp.Counts
	counts["impact"], counts["impact_before"], counts["impact_growth"] = delta.After.Symbols, delta.Before.Symbols, delta.After.Symbols-delta.Before.Symbols
	counts["tests"], counts["untested"] = delta.After.Tests, len(untested)
	d.resp.Impact = &delta
	d.a.Step(query.Step{
		Operator: "impact", Inputs: map[string]string{"before": d.base.Commit, "after": d.now.Commit},
		Counts: map[string]int64{"seeds before": int64(len(gone)), "seeds after": int64(len(roots)), "before": int64(delta.Before.Symbols), "after": int64(delta.After.Symbols)},
	})
	d.a.RecordTime("impact")
	return nil
}

// reach counts the results of a walk, without documents.
func (w *world) reach(all []reached) (r Reach) {
	type place struct{ g, pkg int32 }
	packages, repos := map[place]bool{}, map[int32]bool{}
	for _, x := range all {
		n := &w.graphs[x.g].nodes[x.n]
		switch {
		case n.test:
			// A test that changes reaches itself.
			if runs(w.graphs[x.g], x.n) {
				r.Tests++
			}
		case x.depth > 0 && !w.graphs[x.g].isDocument(x.n):
			r.Symbols++
			packages[place{x.g, n.pkg}], repos[x.g] = true, true
		}
	}
	r.Packages, r.Repositories = len(packages), len(repos)
	return r
}

// eachImpact walks from each symbol separately.
func (d *differing) eachImpact(delta *ImpactDelta, old, now *world) error {
	walked := 0
	for _, s := range d.nodes {
		kind := d.moved.kind(s)
		if kind == changeOther || s.key.Chain() == "" || s.known().Test {
			continue
		}
		if walked++; walked > maxSymbolImpacts {
			break
		}
		symbol, err := d.symbol(s)
		if err != nil {
			return err
		}
		was, _ := d.moved.before(s)
		delta.Symbols = append(delta.Symbols, SymbolImpact{
			Symbol: symbol, Change: kind,
			Before: old.reachedFrom(was), After: now.reachedFrom(s.key),
		})
	}
	slices.SortStableFunc(delta.Symbols, func(x, y SymbolImpact) int {
		return cmp.Or(cmp.Compare(abs(y.After-y.Before), abs(x.After-x.Before)), cmp.Compare(y.After, x.After))
	})
	return nil
}

// reachedFrom counts what a node of the first graph reaches; 0 if it does not exist.
func (w *world) reachedFrom(k schemas.NodeKey) int {
	n, ok := w.graphs[0].find(k)
	if !ok {
		return 0
	}
	by := toAffected
	return w.reach(w.widest([]ref{{0, n}}, &by)).Symbols
}

func abs(n int) int { return max(n, -n) }

// Threshold is a limit on one count of a diff, such as removed>0.
type Threshold struct {
	Count string `json:"count" example:"removed" doc:"The name of the count."`
	Op    string `json:"op" enum:">,>=,<,<=,=" example:">" doc:"The comparison."`
	Bound int    `json:"bound" example:"0" doc:"The number to compare with."`
	Value int    `json:"value" example:"2" doc:"The actual count."`
}

func (t Threshold) String() string { return fmt.Sprintf("%s%s%d: %d", t.Count, t.Op, t.Bound, t.Value) }

// counted are the counts that thresholds may name.
var counted = []string{
	"added", "removed", "signature", "body", "renamed", "moved", "edges_added", "edges_removed", "files", "owners",
	"dependencies_added", "dependencies_removed", "used_elsewhere",
}

// needsImpact are the counts that require a walk over both graphs.
var needsImpact = map[string]bool{"impact": true, "impact_before": true, "impact_growth": true, "tests": true, "untested": true}

// parseThresholds parses a list such as removed>0,impact>=50.
func parseThresholds(s string) ([]Threshold, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var all []Threshold
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		bad := func(why string) error {
			return &query.RequestError{Field: "fail_on", Value: fmt.Sprintf("%q", part), Reason: why}
		}
		i := strings.IndexAny(part, "<>=")
		if i < 0 {
			return nil, bad("want a count, one of > >= < <= =, and a number, as in removed>0")
		}
		t := Threshold{Count: strings.TrimSpace(part[:i]), Op: part[i : i+1]}
		rest := part[i+1:]
		if t.Op != "=" && strings.HasPrefix(rest, "=") {
			t.Op, rest = part[i:i+2], rest[1:]
		}
		if !slices.Contains(counted, t.Count) && !needsImpact[t.Count] {
			return nil, bad("want a count of " + strings.Join(slices.Concat(counted, slices.Sorted(maps.Keys(needsImpact))), ", "))
		}
		n, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil {
			return nil, bad(fmt.Sprintf("%q is not a number", strings.TrimSpace(rest)))
		}
		t.Bound = n
		all = append(all, t)
	}
	return all, nil
}

// failed returns the thresholds that are met. For them a renamed symbol is also a removed one, since
// what uses the old name breaks.
func failed(all []Threshold, counts map[string]int) []Threshold {
	out := []Threshold{}
	for _, t := range all {
		t.Value = counts[t.Count]
		if t.Count == changeRemoved {
			t.Value += counts[changeRenamed]
		}
		holds := false
		switch t.Op {
		case ">":
			holds = t.Value > t.Bound
		case ">=":
			holds = t.Value >= t.Bound
		case "<":
			holds = t.Value < t.Bound
		case "<=":
			holds = t.Value <= t.Bound
		case "=":
			holds = t.Value == t.Bound
		}
		if holds {
			out = append(out, t)
		}
	}
	return out
}
