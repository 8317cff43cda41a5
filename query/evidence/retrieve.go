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
	"github.com/recountdb/recount/schemas"
)

// minDepth is how many candidates the paths lexical, dense and temporal bring at least;
// named is how many each name brings, the newest.
const (
	minDepth = 30
	named    = 64
	// seeds are how many of the best the graph's path begins with.
	seeds = 5
)

// candidate is a version of an object that may be answered.
type candidate struct {
	ref        schemas.ObjectRef
	time       int64
	importance float32
	// part is the one that matched best, -1 where no path says.
	part int

	fused    float64
	scores   []query.PathScore
	standing Standing
	score    float64
}

// retrieval is what the paths found.
type retrieval struct {
	*session
	plan  plan
	scope *scope

	lists []ranked
	// began is how long the proof was before the first path.
	began int
}

// take notes a candidate and returns its number, -1 where it may not be answered.
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

// before orders candidates of equal scores: the newer first.
func (c *candidate) before(o *candidate) int {
	return cmp.Or(cmp.Compare(o.time, c.time), o.ref.Compare(c.ref))
}

// retrieve takes the paths of the plan, in its order, and gives the candidates their
// scores.
func (a *session) retrieve(p plan, sc *scope, vec []float32) (*retrieval, error) {
	t := &retrieval{session: a, plan: p, scope: sc, began: len(a.Proof)}
	for _, path := range []struct {
		name string
		take func(*ranked) error
	}{
		{pathID, t.byID},
		{pathEntity, t.byEntity},
		{pathLexical, t.byWords},
		{pathDense, func(l *ranked) error { return t.byMeaning(l, vec) }},
		{pathTemporal, t.byTime},
	} {
		if err := t.run(path.name, path.take); err != nil {
			return nil, err
		}
	}
	t.fuse()
	if t.plan.takes(pathGraph) && len(t.candidates) > 0 {
		if err := t.run(pathGraph, t.byEdges); err != nil {
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

// depth is how many candidates the paths lexical, dense and temporal bring: three times
// the limit, if that is more than the least.
func (t *retrieval) depth() int { return max(minDepth, 3*t.r.Limit) }

func (t *retrieval) run(path string, take func(*ranked) error) error {
	if !t.plan.takes(path) {
		return nil
	}
	if err := t.Ctx.Err(); err != nil {
		return err
	}
	l := ranked{path: path, operator: "lookup", inputs: map[string]string{}, counts: map[string]int64{}}
	if err := take(&l); err != nil {
		return fmt.Errorf("path %s: %w", path, err)
	}
	l.counts["candidates"] = int64(len(l.keys))
	l.inputs["weight"] = strconv.FormatFloat(t.w.of(path), 'g', -1, 64)
	t.lists = append(t.lists, l)
	t.RecordTime(path)
	return nil
}

// fuse scores all candidates by the lists so far, and by what is known of their standing
// without reading them.
func (t *retrieval) fuse() {
	fuse(t.candidates, t.lists, &t.w)
	for key := range t.candidates {
		c := &t.candidates[key]
		c.standing = Standing{Age: t.w.age(t.moment - c.time), Importance: t.w.importance(c.importance), Use: 1, Holds: 1}
		c.score = float64(c.fused*c.standing.Age) * c.standing.Importance
	}
}

// best are the candidates by score, as many as are taken.
func (t *retrieval) best() iter.Seq[int] {
	return func(yield func(int) bool) {
		// A heap, since few are taken.
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

// seeds are the best candidates, with which paths begin that follow edges.
func (t *retrieval) seeds() []int {
	keys := make([]int, 0, seeds)
	for key := range t.best() {
		if keys = append(keys, key); len(keys) == seeds {
			break
		}
	}
	return keys
}

// byID looks up the ids and positions that the text names.
func (t *retrieval) byID(l *ranked) error {
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
		if key := t.take(o.Ref, -1); key >= 0 && !slices.Contains(l.keys, key) {
			l.add(key, 1)
		}
	}
	l.inputs["ids"] = strconv.Itoa(len(t.plan.refs.ids) + len(t.plan.refs.positions))
	return nil
}

func newestFirst(x, y *objects.Stored) int {
	return cmp.Or(cmp.Compare(y.TimeUnixNano, x.TimeUnixNano), y.Ref.Compare(x.Ref))
}

// byEntity looks up what the text names, the objects that name most of it first.
func (t *retrieval) byEntity(l *ranked) error {
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
		l.add(key, float64(names[key]))
	}
	l.inputs["names"] = strings.Join(t.plan.refs.entities, " ")
	return nil
}

// byWords searches by BM25, in each audience by its own statistics.
func (t *retrieval) byWords(l *ranked) error {
	l.operator = "search"
	hits, _, err := t.lexical.SearchObjects(t.Ctx, lexical.ObjectQuery{
		Text: t.r.Text, Audiences: t.scope.ids, Below: t.at.Below, K: t.depth(), Distinct: true, Filter: t.scope.pushed, Only: t.scope.only,
	})
	if err != nil {
		return err
	}
	for _, h := range hits {
		if key := t.take(h.Ref, int(h.Part)); key >= 0 {
			l.add(key, h.Score)
		}
	}
	return nil
}

// byTime takes the newest, since the time that the text names.
func (t *retrieval) byTime(l *ranked) error {
	l.operator = "newest"
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
			l.add(key, float64(t.candidates[key].time)/1e9)
		}
	}
	return nil
}

// byEdges goes from the best of the other paths along edges: what several of them lead
// to, and what the best ones do, comes first. Where one begins it keeps its own score, as
// in spreading activation: what the other paths found best is not lost behind what merely
// lies beside it. What took the place of one is as good as it.
func (t *retrieval) byEdges(l *ranked) error {
	order := t.seeds()
	gain := map[int]float64{}
	for _, key := range order {
		from := t.candidates[key]
		p := t.partAt(from.ref)
		if p == nil {
			continue
		}
		gain[key] += from.score
		around, err := t.around(p)
		if err != nil {
			return err
		}
		for _, n := range around {
			if n.to == nil || !n.carries() || n.confidence < t.r.Expand.MinConfidence {
				continue
			}
			if to := t.take(n.to.ref, -1); to >= 0 && to != key {
				gain[to] += float64(from.score * n.confidence) // no sum and product in one
			}
		}
	}
	t.rank(l, gain)
	l.operator = "expand"
	l.inputs["seeds"] = strconv.Itoa(len(order))
	return nil
}

// rank adds candidates by what they gained, the most first.
func (t *retrieval) rank(l *ranked, gain map[int]float64) {
	keys := slices.SortedFunc(maps.Keys(gain), func(x, y int) int {
		return cmp.Or(cmp.Compare(gain[y], gain[x]), t.candidates[x].before(&t.candidates[y]))
	})
	for _, key := range keys {
		l.add(key, gain[key])
	}
}
