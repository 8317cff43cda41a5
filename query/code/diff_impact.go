package code

import (
	"cmp"
	"slices"

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

// reach counts the results of a walk.
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
		case x.depth > 0:
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
