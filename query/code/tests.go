package code

import (
	"cmp"
	"context"
	"slices"

	"github.com/recountdb/recount/query"
)

// TestsRequest asks which tests reach a change.
type TestsRequest struct {
	Scope
	Symbol        string  `json:"symbol,omitempty" maxLength:"4096" example:"Client.Produce" doc:"The symbol that changes. Give either symbol or diff."`
	Diff          string  `json:"diff,omitempty" maxLength:"2048" example:"main~3..main" doc:"The change between two revisions, REV..REV. Give either symbol or diff."`
	MinConfidence float64 `json:"min_confidence,omitempty" minimum:"0" maximum:"1" example:"0.8" doc:"Follow only edges with at least this confidence."`
	Limit         int     `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of tests."`
}

// TestsResponse is the answer of tests.
type TestsResponse struct {
	query.Basis
	Revision Revision    `json:"revision" doc:"The revision that was searched."`
	Base     *Revision   `json:"base,omitempty" doc:"For a diff: its first revision."`
	Changed  int         `json:"changed" example:"2" doc:"The number of changed symbols."`
	Packages []TestGroup `json:"packages" nullable:"false" doc:"The tests, by the file's directory, in order."`
	// Uncovered are symbols that change and that no test reaches.
	Uncovered      []Symbol `json:"uncovered" nullable:"false" doc:"Changed symbols, without tests, that no test reaches; up to limit."`
	UncoveredCount int      `json:"uncovered_count" example:"1" doc:"The total number of these."`
	Total          int      `json:"total" example:"14" doc:"Total number of tests."`
	Truncated      int      `json:"truncated" example:"0" doc:"The number of them left out of the list."`
}

// TestGroup has the tests of one directory.
type TestGroup struct {
	Repo  string     `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Dir   string     `json:"dir" example:"pkg/kgo" doc:"The directory, as test runners expect it; . is the root."`
	Tests []Affected `json:"tests" nullable:"false" doc:"The tests, by confidence, then by distance."`
}

func (r TestsRequest) impact() ImpactRequest {
	return ImpactRequest{Scope: r.Scope, Symbol: r.Symbol, Diff: r.Diff, MinConfidence: r.MinConfidence, Limit: r.Limit}
}

func (r TestsRequest) check() error { return r.impact().check() }

// Tests returns the tests that reach what changes, by calls and the other edges that impact
// follows. A test that changes reaches itself.
func Tests(ctx context.Context, s Sources, r TestsRequest) (TestsResponse, error) {
	var resp TestsResponse
	r.Limit = cmp.Or(r.Limit, DefaultLimit)
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	c, err := a.changing(r.impact())
	if err != nil {
		return resp, err
	}
	all := a.affected(c.w, c.seeds, 0, r.MinConfidence)
	resp.Revision, resp.Base, resp.Changed = revisionAt(c.now), c.base, len(c.roots)
	var tests []reached
	for _, x := range all {
		if c.w.graphs[x.g].nodes[x.n].test && runs(c.w.graphs[x.g], x.n) {
			tests = append(tests, x)
		}
	}
	slices.SortFunc(tests, c.w.surest)
	resp.Total, resp.Truncated = len(tests), max(0, len(tests)-r.Limit)
	resp.Packages = c.w.byDirectory(all, tests[:min(len(tests), r.Limit)])
	uncovered := c.w.uncovered(c.roots, a.coveredBy(c.w, tests, r.MinConfidence))
	resp.Uncovered, resp.UncoveredCount = []Symbol{}, len(uncovered)
	for _, u := range uncovered[:min(len(uncovered), r.Limit)] {
		resp.Uncovered = append(resp.Uncovered, c.w.symbol(u))
	}
	hint := c.w.leftOut()
	if len(tests) == 0 {
		hint = "no test is known to reach the change"
	}
	resp.Basis = a.basis(len(tests) == 0, hint, confidenceFilter(r.MinConfidence)...)
	return resp, nil
}

// runs reports whether a test runner would run a node, as opposed to a helper type or a file of
// tests.
func runs(g *Graph, n int32) bool {
	k := kindName(g.kind(n))
	return k == "function" || k == "method"
}

// coveredBy returns what tests reach along the same edges.
func (a *session) coveredBy(w *world, tests []reached, least float64) visit {
	by := rules{
		along: toAffected.against, against: toAffected.along, dispatchAgainst: toAffected.dispatchAlong,
		min: permille(least),
	}
	seeds := make([]ref, len(tests))
	for i, t := range tests {
		seeds[i] = t.ref
	}
	seen := w.visits()
	for _, x := range w.widest(seeds, &by) {
		*seen.slot(w, x.ref) = 1
	}
	return seen
}

// uncovered returns the roots that are not tests, can be called, and are not in seen.
func (w *world) uncovered(roots []ref, seen visit) (out []ref) {
	for _, r := range roots {
		g := w.graphs[r.g]
		if !g.nodes[r.n].test && runs(g, r.n) && *seen.slot(w, r) == 0 {
			out = append(out, r)
		}
	}
	return out
}

func (w *world) byDirectory(all, tests []reached) []TestGroup {
	groups := []TestGroup{}
	place := map[[2]string]int{}
	for _, x := range tests {
		t := w.affected(all, x)
		if x.depth == 0 {
			t.Edge, t.Site = "", ""
		}
		key := [2]string{t.Repo, directory(t.File)}
		i, ok := place[key]
		if !ok {
			i = len(groups)
			place[key] = i
			groups = append(groups, TestGroup{Repo: key[0], Dir: key[1], Tests: []Affected{}})
		}
		groups[i].Tests = append(groups[i].Tests, t)
	}
	home := w.graphs[0].repo
	slices.SortStableFunc(groups, func(a, b TestGroup) int {
		return cmp.Or(compareBool(a.Repo != home, b.Repo != home), cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Dir, b.Dir))
	})
	return groups
}

// directory returns the directory of a path; . is the root.
func directory(path string) string {
	dir, _, ok := cutLast(path, '/')
	if !ok {
		return "."
	}
	return dir
}
