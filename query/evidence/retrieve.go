package evidence

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/fusion"
	"github.com/recountdb/recount/schemas"
)

// minDepth is the minimum number of candidates from the paths lexical, dense and temporal. named is
// the number of objects found per name, the newest.
const (
	minDepth = 30
	named    = 64
	// flat is how many candidates must be before one that counts half as much as the first, in a list
	// whose scores have no scale.
	flat = 61
	// seeds is the number of best candidates whose edges paths follow.
	seeds = 5
)

// candidate is a version of an object that may be in the answer.
type candidate struct {
	ref        schemas.ObjectRef
	time       int64
	importance float32
	// part is the index of the part that matched best, or -1 if no path reports one.
	part int

	fused    float64
	scores   []query.PathScore
	standing Standing
	score    float64
}

// retrieval has the results of the paths.
type retrieval struct {
	*session
	plan  plan
	scope *scope

	lists []fusion.List
	// began is the length of the proof before the first path.
	began int
}

// take adds a candidate and returns its index, or -1 if the object is not in the scope.
func (t *retrieval) take(ref schemas.ObjectRef, part int) int {
	if key, known := t.keys[ref]; known {
		if t.candidates[key].part < 0 {
			t.candidates[key].part = part
		}
		return key
	}
	nanos, importance, ok := t.view.Ranking(ref)
	if !ok || !t.scope.holds(ref) {
		return -1
	}
	key := len(t.candidates)
	t.keys[ref] = key
	t.candidates = append(t.candidates, candidate{ref: ref, time: nanos, importance: importance, part: part})
	return key
}

// before orders candidates of equal scores, the newer first.
func (c *candidate) before(o *candidate) int {
	return cmp.Or(cmp.Compare(o.time, c.time), o.ref.Compare(c.ref))
}

// retrieve runs the paths of the plan, in order, and computes the candidates' scores.
func (a *session) retrieve(p plan, sc *scope, vec []float32) (*retrieval, error) {
	t := &retrieval{session: a, plan: p, scope: sc, began: len(a.Proof)}
	for _, path := range []struct {
		name string
		take func(*fusion.List) error
	}{
		{pathID, t.byID},
		{pathEntity, t.byEntity},
		{pathLexical, t.byWords},
		{pathDense, func(l *fusion.List) error { return t.byMeaning(l, vec) }},
		{pathTemporal, t.byTime},
	} {
		if err := t.run(path.name, path.take); err != nil {
			return nil, err
		}
	}
	t.fuse()
	if t.plan.takes(pathLexical) && t.w.Claim > 0 {
		if err := t.runClaims(); err != nil {
			return nil, err
		}
	}
	if t.plan.takes(pathGraph) && len(t.candidates) > 0 {
		if err := t.run(pathGraph, t.byNearness); err != nil {
			return nil, err
		}
		t.fuse()
	}
	if t.plan.takes(pathReason) && len(t.candidates) > 0 {
		if err := t.run(pathReason, t.byReason); err != nil {
			return nil, err
		}
		t.fuse()
	}
	if t.plan.takes(pathRemedy) && len(t.candidates) > 0 {
		if err := t.run(pathRemedy, t.byRemedy); err != nil {
			return nil, err
		}
		t.fuse()
	}
	return t, nil
}

// depth returns the number of candidates from the paths lexical, dense and temporal: three times
// the limit, but at least minDepth.
func (t *retrieval) depth() int { return max(minDepth, 3*t.r.Limit) }

func (t *retrieval) run(path string, take func(*fusion.List) error) error {
	if !t.plan.takes(path) {
		return nil
	}
	if err := t.Ctx.Err(); err != nil {
		return err
	}
	l := fusion.List{Path: path, Operator: "lookup", Inputs: map[string]string{}, Counts: map[string]int64{}}
	if err := take(&l); err != nil {
		return fmt.Errorf("path %s: %w", path, err)
	}
	l.Counts["candidates"] = int64(len(l.Keys))
	l.Inputs["weight"] = strconv.FormatFloat(t.w.weightOf(path), 'g', -1, 64)
	t.lists = append(t.lists, l)
	t.RecordTime(path)
	return nil
}

// runClaims runs the path claim, which is in the proof only if it finds something: most logs have no
// statement of what is asked.
func (t *retrieval) runClaims() error {
	l := fusion.List{Path: pathClaim, Operator: "read", Inputs: map[string]string{}, Counts: map[string]int64{}}
	if err := t.byClaims(&l); err != nil {
		return fmt.Errorf("path %s: %w", pathClaim, err)
	}
	if len(l.Keys) == 0 {
		return nil
	}
	l.Counts["candidates"] = int64(len(l.Keys))
	l.Inputs["weight"] = strconv.FormatFloat(t.w.Claim, 'g', -1, 64)
	t.lists = append(t.lists, l)
	t.RecordTime(pathClaim)
	t.fuse()
	return nil
}

// fuse computes the scores of all candidates from the lists so far, and from the factors that are
// known without reading the objects.
func (t *retrieval) fuse() {
	for i, sum := range fusion.Weighted(len(t.candidates), t.lists, t.w.weightOf) {
		t.candidates[i].fused = sum
	}
	for key := range t.candidates {
		c := &t.candidates[key]
		c.standing = Standing{Age: t.w.age(t.moment - c.time), Importance: t.w.importance(c.importance), Use: 1, Holds: 1}
		c.score = float64(c.fused*c.standing.Age) * c.standing.Importance
	}
}

// best yields the candidates by descending score.
func (t *retrieval) best() iter.Seq[int] {
	return func(yield func(int) bool) {
		// A heap is used because only few are consumed.
		heap := slices.Grow(t.order[:0], len(t.candidates))
		for i := range t.candidates {
			heap = append(heap, i)
		}
		t.order = heap
		better := func(x, y int) bool {
			a, b := &t.candidates[heap[x]], &t.candidates[heap[y]]
			return a.score > b.score || a.score == b.score && a.before(b) < 0
		}
		sink := func(i int) {
			for {
				child := 2*i + 1
				if child >= len(heap) {
					return
				}
				if child+1 < len(heap) && better(child+1, child) {
					child++
				}
				if !better(child, i) {
					return
				}
				heap[i], heap[child] = heap[child], heap[i]
				i = child
			}
		}
		for i := len(heap)/2 - 1; i >= 0; i-- {
			sink(i)
		}
		for len(heap) > 0 {
			if !yield(heap[0]) {
				return
			}
			last := len(heap) - 1
			heap[0], heap = heap[last], heap[:last]
			sink(0)
		}
	}
}

// seeds returns the best candidates, from which paths that follow edges start.
func (t *retrieval) seeds() []int {
	return t.first(seeds)
}

// first returns the n best candidates.
func (t *retrieval) first(n int) []int {
	keys := make([]int, 0, n)
	for key := range t.best() {
		if keys = append(keys, key); len(keys) == n {
			break
		}
	}
	return keys
}

// byID looks up the ids and positions in the text.
func (t *retrieval) byID(l *fusion.List) error {
	var found []*objects.Stored
	add := func(list []*objects.Stored, err error) error {
		found = append(found, t.keep(list)...)
		return err
	}
	for _, id := range t.plan.refs.ids {
		if err := add(t.view.ByEvent(id, t.bound(named))); err != nil {
			return err
		}
		if err := add(t.view.Versions(id, t.bound(named))); err != nil {
			return err
		}
	}
	for _, p := range t.plan.refs.positions {
		o, err := t.object(schemas.ObjectRef{Position: p})
		if err != nil {
			return err
		}
		if o != nil {
			found = append(found, o)
		}
	}
	slices.SortStableFunc(found, newestFirst)
	for _, o := range found {
		if key := t.take(o.Ref, -1); key >= 0 && !slices.Contains(l.Keys, key) {
			l.Add(key, 1)
		}
	}
	l.Inputs["ids"] = strconv.Itoa(len(t.plan.refs.ids) + len(t.plan.refs.positions))
	return nil
}

func newestFirst(x, y *objects.Stored) int {
	return cmp.Or(cmp.Compare(y.TimeUnixNano, x.TimeUnixNano), y.Ref.Compare(x.Ref))
}

// byEntity looks up the names in the text; the objects that name most of them come first.
func (t *retrieval) byEntity(l *fusion.List) error {
	names := map[int]int{}
	for _, name := range t.plan.refs.entities {
		spelled, err := t.spelled(name)
		if err != nil {
			return err
		}
		seen := map[int]bool{}
		for _, name := range spelled {
			edges, err := t.view.Entity(t.scope.ids, name, objects.Bound{Visible: t.scope.holds, Limit: named})
			if err != nil {
				return err
			}
			for _, e := range edges {
				if key := t.take(e.Ref, -1); key >= 0 && !seen[key] {
					seen[key] = true
					names[key]++
				}
			}
		}
	}
	var keys []int
	for key := range names {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(x, y int) int {
		return cmp.Or(cmp.Compare(names[y], names[x]), t.candidates[x].before(&t.candidates[y]))
	})
	for _, key := range keys {
		l.Add(key, float64(names[key]))
	}
	l.Unit = float64(len(t.plan.refs.entities))
	l.Inputs["names"] = strings.Join(t.plan.refs.entities, " ")
	return nil
}

// byWords searches by BM25, with separate statistics for each audience.
func (t *retrieval) byWords(l *fusion.List) error {
	l.Operator = "search"
	hits, _, err := t.lexical.SearchObjects(t.Ctx, lexical.ObjectQuery{
		Text: t.plan.refs.words, Audiences: t.scope.ids, Below: t.at.Below, K: t.depth(), Distinct: true, Filter: t.scope.pushed, Only: t.scope.only,
	})
	if err != nil {
		return err
	}
	for _, h := range hits {
		if key := t.take(h.Ref, int(h.Part)); key >= 0 {
			l.Add(key, h.Score)
		}
	}
	l.Unit = l.Best()
	return nil
}

// byTime adds the newest objects, since the time that the text names.
func (t *retrieval) byTime(l *fusion.List) error {
	l.Operator = "newest"
	k := t.r.Limit
	if t.r.Text != "" {
		k = t.depth()
	}
	refs, err := t.newest(t.scope, k)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		key := t.take(ref, -1)
		if key >= 0 && t.candidates[key].time >= t.plan.cues.from {
			l.Add(key, share(len(l.Keys)))
		}
	}
	return nil
}

// share returns what a candidate counts in a list whose scores have no scale, by the number of those
// before it: 1 for the first.
func share(before int) float64 { return flat / float64(flat+before) }

// rank adds candidates by what they gained, the greatest gain first.
func (t *retrieval) rank(l *fusion.List, gain map[int]float64) {
	keys := slices.SortedFunc(maps.Keys(gain), func(x, y int) int {
		return cmp.Or(cmp.Compare(gain[y], gain[x]), t.candidates[x].before(&t.candidates[y]))
	})
	for _, key := range keys {
		l.Add(key, gain[key])
	}
}
