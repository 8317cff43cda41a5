package code

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
)

// ImpactRequest asks what a change of a symbol, or the change between two revisions, can reach.
type ImpactRequest struct {
	Scope
	Symbol        string  `json:"symbol,omitempty" maxLength:"4096" example:"Client.Produce" doc:"The symbol that changes. Give either symbol or diff."`
	Diff          string  `json:"diff,omitempty" maxLength:"2048" example:"main~3..main" doc:"The change between two revisions, REV..REV; an empty side means HEAD. Give either symbol or diff. The second revision is searched."`
	Depth         int     `json:"depth,omitempty" minimum:"1" maximum:"64" example:"3" doc:"Maximum distance in edges; default unlimited."`
	MinConfidence float64 `json:"min_confidence,omitempty" minimum:"0" maximum:"1" example:"0.8" doc:"Follow only edges with at least this confidence."`
	Limit         int     `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of symbols in all groups together; tests and documents each have the same limit of their own."`

	Runtime *RuntimeWindow `json:"runtime,omitempty" doc:"Also list services that called the reached symbols, according to spans."`
}

// ImpactResponse is the answer of impact: the blast radius.
type ImpactResponse struct {
	query.Basis
	query.Announced
	Revision Revision      `json:"revision" doc:"The revision that was searched."`
	Base     *Revision     `json:"base,omitempty" doc:"For a diff: its first revision."`
	Changed  []Symbol      `json:"changed" nullable:"false" doc:"The changed symbols: the symbol, or those that the diff touches, up to limit."`
	Groups   []ImpactGroup `json:"groups" nullable:"false" doc:"The reached symbols without tests and documents, by repository and package, the largest group first."`
	Tests    []Affected    `json:"tests" nullable:"false" doc:"The tests that reach the changed symbols, by confidence, then by distance."`
	// Documents may become untrue; no code depends on them.
	Documents []Affected `json:"documents" nullable:"false" doc:"The documents (Markdown, reStructuredText) that name the changed symbols."`
	// The counts include what was omitted from the lists.
	ChangedCount int `json:"changed_count" example:"2" doc:"The number of changed symbols."`
	Total        int `json:"total" example:"120" doc:"The number of reached symbols, without tests and documents."`
	TestCount    int `json:"test_count" example:"14" doc:"The number of tests that reach the change."`
	// DocumentCount is not part of Total.
	DocumentCount int `json:"document_count" example:"3" doc:"The number of documents that name the change."`
	Truncated     int `json:"truncated" example:"0" doc:"The number of symbols, tests and documents left out of the lists."`
	// Runtime is separate, since calls seen at run time are not edges of the code.
	Runtime *RuntimeUse `json:"runtime,omitempty" doc:"Observed callers of the reached symbols, if runtime was set."`
}

// Subjects returns the changed symbols, and the symbols and documents that a change reaches, without
// tests.
func (r *ImpactResponse) Subjects() (all []query.Subject) {
	for _, s := range r.Changed {
		all = append(all, s.subject())
	}
	for _, g := range r.Groups {
		for _, s := range g.Symbols {
			all = append(all, s.subject())
		}
	}
	for _, d := range r.Documents {
		all = append(all, d.subject())
	}
	return all
}

// ImpactGroup has the reached symbols of one package.
type ImpactGroup struct {
	Repo    string     `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Package string     `json:"package,omitempty" example:"github.com/acme/shop/pkg/kgo" doc:"The package."`
	Count   int        `json:"count" example:"40" doc:"The number of its symbols that are reached."`
	Least   float64    `json:"min_confidence" example:"0.7" doc:"The lowest confidence among them."`
	Symbols []Affected `json:"symbols" nullable:"false" doc:"Its reached symbols, by confidence, then by distance."`
}

// Affected is one symbol that a change can reach.
type Affected struct {
	Symbol
	Distance   int     `json:"distance" example:"2" doc:"Distance in edges on the path with the highest confidence."`
	Confidence float64 `json:"confidence" example:"0.98" doc:"The lowest confidence on the path whose lowest confidence is highest."`
	Via        string  `json:"via,omitempty" example:"kgo.Client.flush" doc:"The preceding symbol on that path."`
	Edge       string  `json:"edge,omitempty" example:"calls" doc:"The kind of the last edge; absent for a changed symbol."`
	Site       string  `json:"site,omitempty" example:"pkg/kgo/sink.go:88" doc:"The last edge's place in the code."`
}

func (r ImpactRequest) check() error {
	switch {
	case (r.Symbol == "") == (r.Diff == ""):
		return &query.RequestError{Field: "symbol", Value: fmt.Sprintf("%q", r.Symbol), Reason: "want either symbol or diff"}
	case len(r.Symbol) > query.MaxName:
		return checkSubject("symbol", r.Symbol)
	case r.Depth < 0 || r.Depth > MaxDepth:
		return &query.RequestError{Field: "depth", Value: r.Depth, Reason: fmt.Sprintf("want 1 to %d, or none", MaxDepth)}
	}
	return cmp.Or(r.Scope.check(), r.Runtime.check(), checkConfidence(r.MinConfidence), checkLimit(r.Limit))
}

// Impact returns what a change can reach.
func Impact(ctx context.Context, s Sources, r ImpactRequest) (ImpactResponse, error) {
	var resp ImpactResponse
	r.Limit = cmp.Or(r.Limit, DefaultLimit)
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	c, err := a.changing(r)
	if err != nil {
		return resp, err
	}
	all := a.affected(c.w, c.seeds, r.Depth, r.MinConfidence)
	resp.Revision, resp.Base = revisionAt(c.now), c.base
	resp.ChangedCount, resp.Changed = len(c.roots), []Symbol{}
	for _, n := range c.roots[:min(len(c.roots), r.Limit)] {
		resp.Changed = append(resp.Changed, c.w.symbol(n))
	}
	resp.group(c.w, all, r.Limit)
	if resp.Runtime, err = a.running(r.Runtime, c.w, all, r.Limit); err != nil {
		return resp, err
	}
	hint := c.w.leftOut()
	reaches := resp.Total + resp.TestCount + resp.DocumentCount
	if reaches == 0 {
		hint = "no known code uses the changed symbols; unresolved references might"
		switch len(c.roots) {
		case 0:
			hint = "no symbol differs between the two"
		case 1:
			hint = cmp.Or(c.w.unresolvedHint(c.roots[0]), hint)
		}
	}
	for _, root := range c.roots {
		unread, err := a.unreadHint(c.w, root)
		if err != nil {
			return resp, err
		}
		if unread != "" {
			hint = unread
			break
		}
	}
	empty := reaches == 0 && (resp.Runtime == nil || resp.Runtime.Total == 0)
	resp.Basis = a.basis(empty, hint, append(confidenceFilter(r.MinConfidence), runtimeFilters(r.Runtime)...)...)
	return resp, nil
}

// changing is the change that a request describes.
type changing struct {
	now  *snapshots.Snapshot
	base *Revision
	w    *world
	// roots are the changed symbols that the answer names; seeds are the nodes at which the walk
	// begins.
	roots, seeds []ref
}

func (a *session) changing(r ImpactRequest) (c changing, err error) {
	if r.Diff == "" {
		if c.now, c.w, err = a.world(r.Scope, r.Symbol); err != nil {
			return c, err
		}
		overloads, err := a.named(c.w, r.Symbol)
		if err != nil {
			return c, err
		}
		c.roots, c.seeds = overloads[:1], c.w.seeds(overloads)
		return c, nil
	}
	before, now, err := a.pair(r.Scope, r.Diff)
	if err != nil {
		return c, err
	}
	was := revisionAt(before)
	c.now, c.base = now, &was
	if c.w, err = a.around(now); err != nil {
		return c, err
	}
	all, err := changes(before, now)
	if err != nil {
		return c, err
	}
	c.roots = changedSeeds(c.w.graphs[0], all)
	c.seeds = c.roots
	a.Step(query.Step{Operator: "changes", Inputs: map[string]string{"diff": r.Diff}, Counts: map[string]int64{"nodes": int64(len(all)), "changed": int64(len(c.roots))}})
	a.RecordTime("changes")
	return c, nil
}

// affected returns what the seeds reach, including the seeds.
func (a *session) affected(w *world, seeds []ref, depth int, least float64) []reached {
	by := toAffected
	by.min = permille(least)
	var all []reached
	if depth == 0 {
		all = w.widest(seeds, &by)
	} else {
		all = w.levels(seeds, &by, depth)
	}
	a.Step(query.Step{
		Operator: "impact", Inputs: map[string]string{"depth": strconv.Itoa(depth), "min_confidence": fmt.Sprint(least)},
		Counts: map[string]int64{"seeds": int64(len(seeds)), "reached": int64(len(all) - len(seeds))},
	})
	a.RecordTime("impact")
	return all
}

// surest compares affected symbols for an answer: the highest confidence first, then the nearest,
// then by place.
func (w *world) surest(a, b reached) int {
	return cmp.Or(cmp.Compare(b.confidence, a.confidence), cmp.Compare(a.depth, b.depth), cmp.Compare(a.g, b.g), cmp.Compare(a.n, b.n))
}

// group fills in the answer: tests and documents separately, the rest by repository and package. Of
// documents it has those that name what changes itself.
func (resp *ImpactResponse) group(w *world, all []reached, limit int) {
	type place struct{ g, pkg int32 }
	members := map[place][]reached{}
	var order []place
	var tests, documents []reached
	for _, x := range all {
		n := &w.graphs[x.g].nodes[x.n]
		switch {
		case x.depth == 0:
		case w.graphs[x.g].isDocument(x.n):
			if x.depth == 1 { // a farther one names what uses the change
				documents = append(documents, x)
			}
		case n.test:
			if runs(w.graphs[x.g], x.n) { // as the verb tests counts them
				tests = append(tests, x)
			}
		default:
			p := place{x.g, n.pkg}
			if members[p] == nil {
				order = append(order, p)
			}
			members[p] = append(members[p], x)
			resp.Total++
		}
	}
	slices.SortFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(len(members[b]), len(members[a])), cmp.Compare(a.g, b.g), cmp.Compare(w.graphs[a.g].packages[a.pkg], w.graphs[b.g].packages[b.pkg]))
	})
	resp.Groups = []ImpactGroup{}
	sizes := make([]int, len(order))
	for i, p := range order {
		sizes[i] = len(members[p])
	}
	shares := sharesOf(sizes, limit)
	for i, p := range order {
		in := members[p]
		slices.SortFunc(in, w.surest)
		g := ImpactGroup{Repo: w.graphs[p.g].repo, Package: w.graphs[p.g].packages[p.pkg], Count: len(in), Least: confidence(in[len(in)-1].confidence), Symbols: []Affected{}}
		for _, x := range in[:shares[i]] {
			g.Symbols = append(g.Symbols, w.affected(all, x))
		}
		resp.Truncated += len(in) - len(g.Symbols)
		resp.Groups = append(resp.Groups, g)
	}
	apart := func(of []reached) []Affected {
		slices.SortFunc(of, w.surest)
		shown := []Affected{}
		for _, x := range of[:min(len(of), limit)] {
			shown = append(shown, w.affected(all, x))
		}
		resp.Truncated += len(of) - len(shown)
		return shown
	}
	resp.TestCount, resp.Tests = len(tests), apart(tests)
	resp.DocumentCount, resp.Documents = len(documents), apart(documents)
}

// sharesOf returns how many members of each group are shown, given their sizes, the largest first, and
// the limit of all together. Every group gets a share, so that a large one does not displace the others;
// what the small ones leave goes to the larger ones. With more groups than the limit, the largest get
// one each.
func sharesOf(sizes []int, limit int) []int {
	shares := make([]int, len(sizes))
	for i := min(len(sizes), limit) - 1; i >= 0; i-- {
		shares[i] = min(sizes[i], limit/(i+1))
		limit -= shares[i]
	}
	return shares
}

func (w *world) affected(all []reached, x reached) Affected {
	f := Affected{Symbol: w.symbol(x.ref), Distance: int(x.depth), Confidence: confidence(x.confidence), Edge: edgeName(x.by.kind), Site: w.site(x.by)}
	if x.via >= 0 {
		before := all[x.via]
		f.Via = w.graphs[before.g].display(before.n)
	}
	return f
}
