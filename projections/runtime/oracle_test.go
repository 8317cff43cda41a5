package runtime

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/cache"
	"github.com/recountdb/recount/projections/projtest"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	calledSide = recountv1.Side_SIDE_CALLED
	callerSide = recountv1.Side_SIDE_CALLER
)

// tally is computed from the whole log at once: counts by a line of terms, with the calls derived
// span by span.
type tally map[string][2]int64 // count, errors

func (y tally) add(failed bool, words ...any) {
	line := fmt.Sprintln(words...)
	n := y[line]
	n[0]++
	n[1] += int64(index(failed))
	y[line] = n
}

func tallyOf(log []projtest.Shard) tally {
	y := tally{}
	type node struct {
		told
		shard int
	}
	byID := map[string][]node{}
	id := func(trace, span []byte) string { return string(trace) + string(span) }
	failed := func(o *recountv1.Observation) bool { return o.Status == recountv1.Status_STATUS_ERROR }
	var spans []node
	for i, sh := range log {
		for _, r := range sh.Records {
			for _, o := range r.GetSpans().Observations {
				n := node{told{r.GetSpans().Observers[o.Observer], o}, i}
				if len(o.SpanId) > 0 {
					mine := slices.DeleteFunc(slices.Clone(byID[id(o.TraceId, o.SpanId)]), func(x node) bool { return x.shard != i })
					if slices.ContainsFunc(mine, func(x node) bool { return x.by.Service == n.by.Service && x.o.Side == o.Side }) {
						continue
					}
					if len(mine) < maxNamesakes {
						byID[id(o.TraceId, o.SpanId)] = append(byID[id(o.TraceId, o.SpanId)], n)
						spans = append(spans, n)
					}
				}
				switch o.Side {
				case calledSide:
					y.add(failed(o), "served", n.by.Service, o.Kind, o.Operation, o.Templated, o.System)
				case callerSide:
					y.add(failed(o), "asked", n.by.Service, o.Peer, o.Kind, o.Operation, o.Templated, o.System)
				}
			}
		}
	}
	shares := func(c, s node) bool {
		return c.o.Side == callerSide && s.o.Side == calledSide && string(c.o.ParentId) == string(s.o.ParentId)
	}
	call := func(x, n node) {
		kind, op, templated, system := n.o.Kind, n.o.Operation, n.o.Templated, n.o.System
		var askedKind recountv1.RuntimeKind
		var asked, askedSystem, peer string
		if x.o.Side == callerSide {
			askedKind, asked, askedSystem, peer = x.o.Kind, x.o.Operation, x.o.System, x.o.Peer
		}
		switch {
		case n.o.Side == calledSide:
			kind = cmp.Or(kind, askedKind)
		case x.o.Side == callerSide:
			kind, op, templated, system = askedKind, asked, x.o.Templated, askedSystem
		case n.o.Side == callerSide:
			kind, op, templated, system = 0, "", false, ""
		case kind != recountv1.RuntimeKind_RUNTIME_KIND_RPC && kind != recountv1.RuntimeKind_RUNTIME_KIND_CALLS:
			kind, templated, system = 0, false, ""
		}
		kind = cmp.Or(kind, recountv1.RuntimeKind_RUNTIME_KIND_CALLS)
		y.add(failed(n.o) || x.o.Side == callerSide && failed(x.o), "call", x.by.Service, n.by.Service, kind, op, templated, system, askedKind, asked, askedSystem, peer)
	}
	// below finds the caller among the spans with an id.
	below := func(n node, of []node) {
		var may []node
		own := slices.ContainsFunc(of, func(x node) bool { return x.by.Service == n.by.Service })
		for _, x := range of {
			crosses := x.by.Service != n.by.Service
			if !crosses && !(x.o.Side == callerSide && n.o.Side == calledSide) {
				return
			}
			if !own || !crosses {
				may = append(may, x)
			}
		}
		if len(may) == 0 {
			return
		}
		rank := func(x node) int {
			switch {
			case x.o.Side == calledSide && slices.ContainsFunc(of, func(c node) bool { return shares(c, x) }):
				return 0
			case x.o.Side == callerSide:
				return 1
			case x.o.Side == calledSide:
				return 2
			}
			return 3
		}
		// byID is in order of partition and log, and MinFunc returns the first of equals.
		call(slices.MinFunc(may, func(a, b node) int { return cmp.Compare(rank(a), rank(b)) }), n)
	}
	for _, n := range spans {
		self := id(n.o.TraceId, n.o.SpanId)
		parent := id(n.o.TraceId, n.o.ParentId)
		i := slices.IndexFunc(byID[self], func(x node) bool { return shares(x, n) })
		switch {
		case i >= 0:
			call(byID[self][i], n)
		case len(n.o.ParentId) > 0 && parent != self:
			below(n, byID[parent])
		}
		if n.o.Side != calledSide || n.o.Kind != recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES {
			continue
		}
		seen := map[string]bool{self: true, parent: true}
		for _, l := range n.o.Links {
			if to := id(l.TraceId, l.SpanId); !seen[to] {
				seen[to] = true
				below(n, byID[to])
			}
		}
	}
	return y
}

// tallied returns the tally of a view.
func tallied(t *testing.T, v *View) tally {
	t.Helper()
	y := tally{}
	served, err := v.ServerSums(t.Context(), Range{}, "")
	must(t, err)
	put := func(s *Sum, words ...any) {
		line := fmt.Sprintln(words...)
		if _, twice := y[line]; twice {
			t.Errorf("two rows of %s", line)
		}
		y[line] = [2]int64{int64(s.Count), int64(s.Errors)}
		var n int64
		for _, b := range s.durations {
			n += b.n
		}
		if n != int64(s.Count) {
			t.Errorf("%s: %d durations, count %d", line, n, s.Count)
		}
	}
	for _, s := range served {
		put(&s.Sum, "served", s.Service, s.Kind, s.Operation, s.Templated, s.System)
	}
	asked, err := v.ClientSums(t.Context(), Range{}, "")
	must(t, err)
	for _, a := range asked {
		put(&a.Sum, "asked", a.Service, a.Peer, a.Kind, a.Operation, a.Templated, a.System)
	}
	calls, err := v.Calls(t.Context(), Range{}, "")
	must(t, err)
	for _, c := range calls {
		put(&c.Sum, "call", c.Caller, c.Callee, c.Kind, c.Operation, c.Templated, c.System, c.AskedKind, c.AskedOperation, c.AskedSystem, c.Peer)
	}
	return y
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// feed applies the shards in batches of random lengths, in random order.
func feed(t testing.TB, r *Runtime, rng *rand.Rand, log []projtest.Shard) {
	t.Helper()
	for {
		var open []projtest.Shard
		for _, sh := range log {
			if r.Next(sh.TP) < sh.Next {
				open = append(open, sh)
			}
		}
		if len(open) == 0 {
			return
		}
		sh := open[rng.IntN(len(open))]
		from := r.Next(sh.TP)
		must(t, r.Apply(t.Context(), sh.Batch(from, min(sh.Next, from+1+rng.Int64N(60)))))
	}
}

// seeds returns n, or a third of it under the race detector: only one goroutine computes what these
// tests compare.
func seeds(n uint64) uint64 {
	if racing.On {
		n = (n + 2) / 3
	}
	return n
}

// TestAgainstTheWhole compares the folded state, in any order, with a computation over the whole
// log.
func TestAgainstTheWhole(t *testing.T) {
	for seed := range seeds(12) {
		log := generate(seed, 3, 150)
		r := open(t)
		feed(t, r, rand.New(rand.NewPCG(seed, 8)), log)
		v, err := r.View()
		must(t, err)
		got, want := tallied(t, v), tallyOf(log)
		v.Close()
		calls := 0
		for line, n := range want {
			if got[line] != n {
				t.Errorf("seed %d: got %d, want %d: %s", seed, got[line], n, line)
			}
			if strings.HasPrefix(line, "call") {
				calls++
			}
		}
		for line, n := range got {
			if _, ok := want[line]; !ok {
				t.Errorf("seed %d: got %d, want none: %s", seed, n, line)
			}
		}
		if calls < 50 {
			t.Errorf("seed %d: %d rows of calls: too few to tell", seed, calls)
		}
	}
}

// TestOneRoot checks that one log gives one root, whatever the interleaving and the batches.
func TestOneRoot(t *testing.T) {
	log := generate(3, 4, 60)
	var want string
	for seed := range seeds(25) {
		r := open(t)
		if seed%2 == 1 {
			forgetful(r)
		}
		feed(t, r, rand.New(rand.NewPCG(seed, 9)), log)
		root, err := projections.Root(t.Context(), r)
		must(t, err)
		if want == "" {
			want = root.String()
		}
		if root.String() != want {
			t.Fatalf("interleaving %d: root %s, want %s", seed, root, want)
		}
	}
}

// forgetful disables the caches.
func forgetful(r *Runtime) {
	m := r.memory
	m.traces, m.sites, m.sums = cache.New[[16]byte, *trace](-1), cache.New[uint64, *site](-1), cache.New[sumKey, *sum](-1)
	m.observers, m.ends = cache.New[uint64, *observer](-1), cache.New[[2]uint64, *[2]uint64](-1)
	m.summed, m.operations = cache.New[siteKey, *site](-1), cache.New[operationKey, *uint64](-1)
}

// TestOneAnswer checks that a set of spans gives one answer, whatever the order, the events and the
// partitions they arrive in, including duplicates. Only positions differ.
func TestOneAnswer(t *testing.T) {
	g := generator{rng: rand.New(rand.NewPCG(11, 7))}
	g.traces(1500)
	// Of spans reported again with other fields the first counts, and lines without ids each count,
	// so both are removed.
	again := map[string]bool{}
	g.all = slices.DeleteFunc(g.all, func(s told) bool {
		k := fmt.Sprintf("%s %x %x %d", s.by.Service, s.o.TraceId, s.o.SpanId, s.o.Side)
		gone := again[k] || len(s.o.SpanId) == 0
		again[k] = true
		return gone
	})
	var want string
	for seed := range seeds(20) {
		rng := rand.New(rand.NewPCG(seed, 10))
		// The partition of a service decides which span with a shared id is first, so it stays
		// fixed; how many services share a partition does not matter.
		all := slices.Concat(g.all, g.all[:rng.IntN(len(g.all))])
		if seed > 0 {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
		r := open(t)
		feed(t, r, rng, logOf(rng, services, all))
		v, err := r.View()
		must(t, err)
		got := answers(t, v)
		v.Close()
		if want == "" {
			want = got
		}
		if got != want {
			g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
			for i := range w {
				if i >= len(g) || g[i] != w[i] {
					t.Fatalf("shuffle %d: line %d: got\n%s\nwant\n%s", seed, i, g[min(i, len(g)-1)], w[i])
				}
			}
			t.Fatalf("shuffle %d: %d lines, want %d", seed, len(g), len(w))
		}
	}
}

// answers returns everything that a view can answer, without positions.
func answers(t *testing.T, v *View) string {
	t.Helper()
	var b strings.Builder
	sum := func(s *Sum) string {
		for i := range s.Examples {
			s.Examples[i].Position.Offset = 0
		}
		return fmt.Sprintf("%d %d %d %d %v %v", s.Count, s.Errors, s.First, s.Last, s.Examples, s.durations)
	}
	for _, in := range []Range{{}, {1_790_000_000_000_000_000, 1_790_000_000_000_000_000 + 86_400_000_000_000}} {
		served, err := v.ServerSums(t.Context(), in, "")
		must(t, err)
		for i := range served {
			fmt.Fprintln(&b, served[i].Service, served[i].Kind, served[i].Operation, served[i].Templated, sum(&served[i].Sum))
		}
		asked, err := v.ClientSums(t.Context(), in, "s1")
		must(t, err)
		for i := range asked {
			fmt.Fprintln(&b, asked[i].Service, asked[i].Peer, asked[i].Kind, asked[i].Operation, asked[i].Templated, sum(&asked[i].Sum))
		}
		calls, err := v.Calls(t.Context(), in, "")
		must(t, err)
		for i := range calls {
			fmt.Fprintln(&b, calls[i].Caller, calls[i].Callee, calls[i].Kind, calls[i].Operation, calls[i].AskedOperation, sum(&calls[i].Sum))
		}
	}
	all, err := v.Services(t.Context())
	must(t, err)
	for _, s := range all {
		// Which of two observers counts for a span depends on the order, so they are omitted.
		fmt.Fprintln(&b, s.Name, s.First, s.Last, s.Spans)
	}
	first, last := v.Bounds()
	fmt.Fprintln(&b, first, last)
	return b.String()
}
