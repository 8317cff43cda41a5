package vector

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
)

// linking returns options under which a few thousand rows are linked, coarsely and only when a test
// does it.
func linking() Options {
	return Options{SealRows: 500, M: 4, EfConstruction: 10, linkRows: rows.PerChunk, unlinked: true, Logger: quiet}
}

// large returns a log with an audience of n rows and a few others.
func large(n int) *agents {
	a := newAgents(0, 6)
	for i := range n {
		vec := unit(a.rng)
		a.past = append(a.past, vec)
		a.add("test/1", object(audience(1), vec))
		if i%10 == 0 {
			a.add("test/1", object(audience(2), vec), object(audience(1), vec, unit(a.rng)))
		}
	}
	return a
}

// linkAll links everything that is due.
func linkAll(p *Projection) {
	p.links.mu.Lock()
	p.links.stopped = false
	p.links.mu.Unlock()
	p.links.work()
}

// graphs returns the links of each space that has some.
func graphs(p *Projection) map[uint32][]byte {
	all := map[uint32][]byte{}
	for _, s := range p.shards {
		for _, sp := range s.spaces {
			if g := sp.graph.Load(); g != nil {
				all[sp.number] = g.AppendLinks(nil)
			}
		}
	}
	return all
}

// linkable returns how many rows the steps have of spaces that are large enough to be linked. It is
// not a multiple of what is stored at a time.
func linkable(p *Projection) int {
	n := uint32(0)
	for _, s := range p.shards {
		for _, sp := range s.spaces {
			if sp.n >= uint32(s.opts.linkRows) {
				n += sp.n
			}
		}
	}
	return int(n)
}

// TestThrottle checks that linking pauses during bulk input, however long that takes.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p throttle
		for i, tc := range []struct {
			batches []int
			after   time.Duration
			rests   bool
		}{
			{nil, 0, false},
			{[]int{512, 100}, throttleWindow / 2, false}, // the window is not over
			{nil, throttleWindow / 2, true},
			{nil, throttleWindow / 2, true},
			{[]int{1, 20, 3, bulk}, throttleWindow / 2, false},
			{[]int{bulk + 1, 0}, time.Minute, true},
			{nil, throttleWindow, false},
		} {
			for _, n := range tc.batches {
				p.took(n)
			}
			time.Sleep(tc.after)
			if got := p.pauses(); got != tc.rests {
				t.Fatalf("%d: %+v: rests %v", i, tc, got)
			}
		}
	})
}

// recallOf returns the fraction of the results of a full comparison that the searches find.
func recallOf(t *testing.T, p *Projection, all []told, queries []ObjectQuery) float64 {
	t.Helper()
	found, wanted := 0, 0
	for _, q := range queries {
		got, _ := searchObjects(t, p, q)
		for _, want := range wantedObjects(all, q) {
			wanted++
			if slices.Contains(got, want) {
				found++
			}
		}
	}
	return float64(found) / float64(wanted)
}

// TestLinkedObjects checks that walks find linked rows together with rows that are not linked,
// under filters, and below watermarks, and that the state is the same, linked or not.
func TestLinkedObjects(t *testing.T) {
	questions := 40
	if racing.On {
		questions = 12
	}
	a := large(4000)
	opts := linking()
	opts.M, opts.EfConstruction = 32, 80 // enough to find nearly all rows
	p, scanned := fresh(t, opts), fresh(t, opts)
	a.apply(t, p)
	a.apply(t, scanned)
	linkAll(p)
	st := p.ObjectStats()
	if st[0].Linked != linkable(p) {
		t.Fatalf("linked: %+v", st)
	}
	sameState(t, p, scanned)
	of := []schemas.AudienceID{audience(1).ID()}
	rng := rand.New(rand.NewPCG(5, 5))
	all := passagesOf(a)
	for name, tc := range map[string]struct {
		walked bool
		recall float64
		q      ObjectQuery
	}{
		"plain":           {true, 0.9, ObjectQuery{}},
		"two audiences":   {true, 0.9, ObjectQuery{Audiences: append(of, audience(2).ID())}},
		"half":            {true, 0.9, ObjectQuery{Filter: func(r schemas.ObjectRef) bool { return r.Offset%2 == 0 }}},
		"one in 100":      {false, 1, ObjectQuery{Filter: func(r schemas.ObjectRef) bool { return r.Offset%100 == 7 }}},
		"later half left": {true, 0.9, ObjectQuery{Below: schemas.Watermark{a.TP: a.Next / 2}}},
		"the first":       {false, 1, ObjectQuery{Below: schemas.Watermark{a.TP: 200}}},
		"many":            {false, 1, ObjectQuery{K: 300}},
	} {
		var queries []ObjectQuery
		for range questions {
			q := tc.q
			q.Vector, q.Embedder, q.EF = unit(rng), "test/1", 200
			if q.Audiences == nil {
				q.Audiences = of
			}
			if q.K == 0 {
				q.K = 10
			}
			queries = append(queries, q)
			got, stats := searchObjects(t, p, q)
			if walked := stats[0].Walked > 0; walked != tc.walked {
				t.Fatalf("%s: %+v, walked should be %v", name, stats, tc.walked)
			}
			if want := wantedObjects(all, q); len(got) != len(want) {
				t.Fatalf("%s: %d hits, want %d", name, len(got), len(want))
			}
			for _, h := range got { // every hit has the right score
				q.Only = append(q.Only, h.Ref)
			}
			if diff := gocmp.Diff(got, wantedObjects(all, q)); diff != "" {
				t.Fatalf("%s (got - want +): %s", name, diff)
			}
		}
		if r := recallOf(t, p, all, queries); r < tc.recall {
			t.Errorf("%s: recall %.3f, want %.2f", name, r, tc.recall)
		}
	}
}

// TestFewElements checks searches for a vector with few non-zero elements: rows of steps are
// compared one by one, by column, whether they are linked or not, and the results equal those of a
// tail, which is compared row by row.
func TestFewElements(t *testing.T) {
	a := large(3000)
	opts := linking()
	opts.SealRows = 2500 // more than two blocks of columns, of two audiences
	sealed, tail := fresh(t, opts), fresh(t, Options{unlinked: true})
	a.apply(t, sealed)
	a.apply(t, tail)
	linkAll(sealed)
	if linked, loose := sealed.ObjectStats()[0].Linked, tail.ObjectStats()[0].Files; linked < 2*rows.PerChunk || loose != 0 {
		t.Fatalf("%d linked, %d steps of what is to be a tail", linked, loose)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	for i := range 60 {
		vec := make([]float32, dim)
		for _, at := range rng.Perm(dim)[:1+i%50] {
			vec[at] = float32(rng.NormFloat64())
		}
		q := ObjectQuery{Vector: normal(vec), Embedder: "test/1", K: 40, Audiences: []schemas.AudienceID{audience(1).ID(), audience(2).ID()}[i%2:]}
		switch i % 3 {
		case 1:
			q.Below = schemas.Watermark{a.TP: rng.Int64N(a.Next)}
		case 2:
			q.Filter = func(r schemas.ObjectRef) bool { return r.Offset%5 == int64(i)%5 }
		}
		got, stats := searchObjects(t, sealed, q)
		want, _ := searchObjects(t, tail, q)
		if diff := gocmp.Diff(got, want); diff != "" || len(stats) > 0 && stats[0].Walked > 0 {
			t.Fatalf("question %d, %+v (sealed - tail +): %s", i, stats, diff)
		}
	}
}

func sameState(t *testing.T, p, q *Projection) {
	t.Helper()
	dump := func(p *Projection) (out []byte) {
		if err := p.Dump(t.Context(), func(k, v []byte) error {
			out = append(append(append(out, k...), 0), v...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if !bytes.Equal(dump(p), dump(q)) {
		t.Error("the states differ")
	}
}

// TestLinksAreOfTheRows checks that the links are the same however the log was batched, whenever
// rows were linked and whatever was stored in between.
func TestLinksAreOfTheRows(t *testing.T) {
	a := large(3500)
	once := fresh(t, linking())
	a.apply(t, once)
	linkAll(once)
	opts := linking()
	p := open(t, t.TempDir(), opts)
	for _, to := range []int64{1700, 2500, a.Next} {
		a.applyTo(t, p, to)
		linkAll(p)
		closeOf(t, p)
		p = open(t, p.dir, opts)
	}
	defer closeOf(t, p)
	if len(graphs(p)) != 0 {
		t.Fatal("Open has loaded links: that is for the background")
	}
	linkAll(p)
	if got, want := graphs(p), graphs(once); len(want) != 1 || !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("links of %d and of %d spaces differ", len(got), len(want))
	}
	if st := p.ObjectStats(); st[0].Linked != linkable(p) {
		t.Errorf("%+v", st)
	}
}

// TestLostLinks checks that links that are missing, truncated, damaged or of other rows are
// rebuilt, and nothing else is.
func TestLostLinks(t *testing.T) {
	a := large(2500)
	opts := linking()
	p := open(t, t.TempDir(), opts)
	a.apply(t, p)
	linkAll(p)
	want, stats := graphs(p), p.ObjectStats()
	closeOf(t, p)
	shard := filepath.Join(p.dir, sealed.ShardDir(a.TP))
	files := filesOf(t, p.dir)
	var derived []string
	for name := range files {
		if strings.HasPrefix(name, linksPrefix) || strings.HasPrefix(name, codesPrefix) {
			derived = append(derived, name)
		}
	}
	if len(derived) != 3 {
		t.Fatalf("%d files of links and codes: %v", len(derived), derived)
	}
	slices.Sort(derived)
	damages := map[string]func(path string, b []byte) error{
		"gone":    func(path string, _ []byte) error { return os.Remove(path) },
		"cut":     func(path string, b []byte) error { return os.Truncate(path, int64(len(b)/2)) },
		"empty":   func(path string, _ []byte) error { return os.Truncate(path, 0) },
		"flipped": func(path string, b []byte) error { return os.WriteFile(path, flip(b, len(b)/2), 0o644) },
		"another": func(path string, _ []byte) error {
			other := derived[0]
			if filepath.Base(path) == other {
				other = derived[1]
			}
			return os.WriteFile(path, files[other], 0o644)
		},
	}
	for i, name := range derived {
		for j, damage := range slices.Sorted(maps.Keys(damages)) {
			if racing.On && i != j%len(derived) {
				continue // each kind of damage once
			}
			change := damages[damage]
			if err := change(filepath.Join(shard, name), files[name]); err != nil {
				t.Fatal(err)
			}
			p := open(t, p.dir, opts)
			linkAll(p)
			if got := graphs(p); !maps.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("%s %s: the links differ", name, damage)
			}
			if err := verify(t, p); err != nil {
				t.Errorf("%s %s: %v", name, damage, err)
			}
			if diff := gocmp.Diff(p.ObjectStats(), stats); diff != "" {
				t.Errorf("%s %s: (got - want +) %s", name, damage, diff)
			}
			closeOf(t, p)
			if !maps.EqualFunc(filesOf(t, p.dir), files, bytes.Equal) {
				t.Errorf("%s %s: other files than before", name, damage)
			}
		}
	}
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 4
	return b
}

// TestLinksOfAnotherState checks that codes of other rows are not used, even if their files are
// undamaged.
func TestLinksOfAnotherState(t *testing.T) {
	opts := linking()
	a, b := large(1500), newAgents(0, 77)
	for range 3000 {
		b.add("test/1", object(audience(1), unit(b.rng)))
	}
	p, q := open(t, t.TempDir(), opts), open(t, t.TempDir(), opts)
	for l, p := range map[*agents]*Projection{a: p, b: q} {
		l.apply(t, p)
		linkAll(p)
	}
	want := graphs(q)
	closeOf(t, p)
	closeOf(t, q)
	for name, bytes := range filesOf(t, p.dir) {
		if strings.HasPrefix(name, linksPrefix) || strings.HasPrefix(name, codesPrefix) {
			if err := os.WriteFile(filepath.Join(q.dir, sealed.ShardDir(b.TP), name), bytes, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	q = open(t, q.dir, opts)
	linkAll(q)
	if got := graphs(q); !maps.EqualFunc(got, want, bytes.Equal) {
		t.Error("the links are not those of the rows")
	}
	closeOf(t, q)
}

// TestSearchWhileLinking checks that concurrent searches, batches and linking give only right hits.
func TestSearchWhileLinking(t *testing.T) {
	a := large(2500)
	p := fresh(t, linking())
	told := map[schemas.ObjectRef]bool{}
	for _, x := range passagesOf(a) {
		told[x.ref] = true
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	until := func(f func()) {
		wg.Go(func() {
			for {
				f()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for r := range uint64(2) {
		rng := rand.New(rand.NewPCG(r, 9))
		until(func() {
			below := p.Watermark()
			hits, _, err := p.SearchObjects(t.Context(), ObjectQuery{
				Vector: a.past[rng.IntN(len(a.past))], Embedder: "test/1", K: 10,
				Audiences: []schemas.AudienceID{audience(1).ID()}, Below: below,
			})
			if err != nil {
				t.Error(err)
			}
			for i, h := range hits {
				if h.Ref.Offset >= below[a.TP] || !told[h.Ref] || i > 0 && hits[i-1].compare(h) >= 0 {
					t.Errorf("hit %d below %s: %+v", i, below, h)
				}
			}
		})
	}
	until(func() { linkAll(p) })
	for at := int64(0); at < a.Next; at += 100 {
		a.applyTo(t, p, min(at+100, a.Next))
	}
	close(done)
	wg.Wait()
	linkAll(p)
	if st := p.ObjectStats(); st[0].Linked != linkable(p) {
		t.Errorf("%+v", st)
	}
}

// TestCloseWhileLinking checks that Close waits only for the row that is being linked, and that the
// next Open continues from the links stored last.
func TestCloseWhileLinking(t *testing.T) {
	a := large(2500)
	opts := linking()
	opts.unlinked = false
	p := open(t, t.TempDir(), opts)
	a.apply(t, p)
	closeOf(t, p)
	opts.unlinked = true
	p = open(t, p.dir, opts)
	defer closeOf(t, p)
	linkAll(p)
	if st := p.ObjectStats(); st[0].Linked != linkable(p) {
		t.Errorf("%+v", st)
	}
}
