package vector

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/schemas"
)

// mixed applies two partitions of runs over few contents, with two embedders, alternating between
// them, and returns every run.
func mixed(t testing.TB, p *Projection, n int) (all []run, vecs [][]float32) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range n / 4 {
		vecs = append(vecs, unit(rng))
	}
	logs := []*log{newLog(0), newLog(1)}
	for i := range n {
		l := logs[rng.IntN(2)]
		k := rng.IntN(len(vecs))
		content := uint64(k / 2) // two vectors for each content
		embedder := "test/1"
		if rng.IntN(8) == 0 {
			embedder = "test/2"
		}
		off := l.addOf(embedder, content, vecs[k])
		all = append(all, run{l.TP, off, content, embedder, vecs[k]})
		if i%17 == 0 {
			l.apply(t, p)
		}
	}
	for _, l := range logs {
		l.apply(t, p)
	}
	return all, vecs
}

type run struct {
	tp       schemas.TopicPartition
	offset   int64
	content  uint64
	embedder string
	vec      []float32
}

// wanted returns what a search must return, by comparing every run.
func wanted(all []run, q Query) []Hit {
	type rowOf struct {
		tp      schemas.TopicPartition
		content uint64
		vec     *float32
	}
	runs := map[rowOf]int{}
	var hits []Hit
	for _, r := range all {
		if r.embedder != q.Embedder || q.Below != nil && r.offset >= q.Below[r.tp] {
			continue
		}
		runs[rowOf{r.tp, r.content, &r.vec[0]}]++
	}
	for _, r := range all {
		n := runs[rowOf{r.tp, r.content, &r.vec[0]}]
		if r.embedder != q.Embedder || q.Below != nil && r.offset >= q.Below[r.tp] || q.Filter != nil && !q.Filter(r.tp, r.offset) {
			continue
		}
		hits = append(hits, Hit{r.tp, r.offset, float64(kernel.Generic().Dot(r.vec, q.Vector)), r.content, n})
	}
	slices.SortFunc(hits, Hit.compare)
	if !q.Distinct {
		return hits[:min(len(hits), q.K)]
	}
	type key struct {
		tp      schemas.TopicPartition
		content uint64
	}
	seen, contents := map[key]bool{}, map[uint64]bool{}
	var out []Hit
	for _, h := range hits {
		if seen[key{h.TP, h.ContentHash}] {
			continue
		}
		seen[key{h.TP, h.ContentHash}] = true
		if contents[h.ContentHash] = true; len(contents) > q.K {
			break
		}
		out = append(out, h)
	}
	return out
}

// TestSearch compares searches of every kind with a comparison of every run: in memory, sealed, and
// reopened.
func TestSearch(t *testing.T) {
	for name, seal := range map[string]int{"hot": 0, "sealed": 64} {
		t.Run(name, func(t *testing.T) {
			opts := Options{SealRows: seal}
			p := open(t, t.TempDir(), opts)
			all, vecs := mixed(t, p, 600)
			if seal > 0 {
				closeOf(t, p)
				p = open(t, p.dir, opts)
			}
			t.Cleanup(func() { closeOf(t, p) })
			rng := rand.New(rand.NewPCG(1, 2))
			odd := func(_ schemas.TopicPartition, off int64) bool { return off%2 == 1 }
			few := func(tp schemas.TopicPartition, off int64) bool { return tp.Partition == 1 && off%50 == 3 }
			for i := range 60 {
				q := Query{Vector: unit(rng), Embedder: "test/1", K: 1 + rng.IntN(30), Distinct: i%2 == 0}
				if i%3 == 0 {
					q.Vector = vecs[rng.IntN(len(vecs))]
				}
				switch i % 5 {
				case 1:
					q.Filter = odd
				case 2:
					q.Filter = few
				case 3:
					q.Below = schemas.Watermark{firstTP: rng.Int64N(300)}
				case 4:
					q.Embedder, q.Below, q.Filter = "test/2", p.Watermark(), odd
				}
				got, stats, err := p.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(got, wanted(all, q)); diff != "" {
					t.Fatalf("query %d (got - want +): %s", i, diff)
				}
				if len(stats) != 2 || stats[0].EF != 50 || !stats[0].Scanned || stats[0].Rows == 0 || stats[0].Runs < stats[0].Rows {
					t.Fatalf("query %d: stats %+v", i, stats)
				}
			}
		})
	}
}

// TestSearchBounds checks which queries are errors and which find nothing.
func TestSearchBounds(t *testing.T) {
	p := fresh(t, Options{})
	l := newLog(0)
	for range 3 {
		l.add(1, at(0))
	}
	l.apply(t, p)
	for name, q := range map[string]Query{
		"no k":             {Vector: at(0), Embedder: "test/1"},
		"negative k":       {Vector: at(0), Embedder: "test/1", K: -4},
		"unknown embedder": {Vector: at(0), Embedder: "test/9", K: 3},
		"nothing below":    {Vector: at(0), Embedder: "test/1", K: 3, Below: schemas.Watermark{}},
	} {
		if hits, _, err := p.Search(t.Context(), q); err != nil || len(hits) != 0 {
			t.Errorf("%s: got %v, %v", name, hits, err)
		}
	}
	hits, _, err := p.Search(t.Context(), Query{Vector: at(0), Embedder: "test/1", K: math.MaxInt, EF: math.MaxInt})
	if err != nil || len(hits) != 3 {
		t.Errorf("huge k: got %v, %v", hits, err)
	}
	for name, vec := range badVectors() {
		if _, _, err := p.Search(t.Context(), Query{Vector: vec, Embedder: "test/1", K: 1}); !errors.Is(err, index.ErrVector) {
			t.Errorf("%s: got %v, want %v", name, err, index.ErrVector)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Search(ctx, Query{Vector: at(0), Embedder: "test/1", K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// TestManyEqual checks that a session that repeats one command is one row.
func TestManyEqual(t *testing.T) {
	p := fresh(t, Options{SealRows: 1000})
	l := newLog(0)
	for range 5000 {
		l.add(1, at(0))
	}
	l.add(2, at(1))
	l.apply(t, p)
	if st := p.Stats(); len(st) != 1 || st[0].Rows != 2 || st[0].Runs != 5001 {
		t.Errorf("stats: %+v", st)
	}
	q := Query{Vector: at(0), Embedder: "test/1", K: 3}
	hits, _, err := p.Search(t.Context(), q)
	if err != nil || len(hits) != 3 || hits[0].Offset != 4999 || hits[1].Offset != 4998 || hits[0].Runs != 5000 {
		t.Errorf("runs: %v %v", hits, err)
	}
	q.Distinct = true
	hits, _, err = p.Search(t.Context(), q)
	if err != nil || len(hits) != 2 || hits[0].Offset != 4999 || hits[1].ContentHash != 2 {
		t.Errorf("distinct: %v %v", hits, err)
	}
	q.Below = schemas.Watermark{l.TP: 17}
	hits, _, err = p.Search(t.Context(), q)
	if err != nil || len(hits) != 1 || hits[0].Offset != 16 || hits[0].Runs != 17 {
		t.Errorf("as of 17: %v %v", hits, err)
	}
}

// TestDuplicateIDs checks that an event at a second offset changes nothing but Next, even with
// another content, and whether the first is sealed or not.
func TestDuplicateIDs(t *testing.T) {
	for _, sealRows := range []int{0, 2} {
		p := fresh(t, Options{SealRows: sealRows})
		l := newLog(0)
		id := schemas.NewCanon("vector/twice").ID()
		l.addID(id, "test/1", 1, at(0))
		l.add(2, at(1))
		l.apply(t, p)
		l.addID(id, "test/1", 3, at(2))
		l.addID(id, "other/1", 1, at(0))
		l.apply(t, p)
		if st := p.Stats(); st[0].Rows != 2 || st[0].Runs != 2 {
			t.Errorf("sealed after %d: %+v", sealRows, st)
		}
		if p.Next(l.TP) != 4 {
			t.Errorf("next is %d", p.Next(l.TP))
		}
	}
}

// TestSearchWhileApplying checks that every answer is one of a state between two batches if no step is
// sealed within one. Each batch adds one run of every content, so that all hits of an answer have the
// same number of runs, except those filtered by position.
func TestSearchWhileApplying(t *testing.T) {
	p := fresh(t, Options{SealRows: 45})
	rng := rand.New(rand.NewPCG(3, 3))
	const contents, batches = 8, 120
	var vecs [][]float32
	for range contents {
		vecs = append(vecs, unit(rng))
	}
	l := newLog(0)
	for b := range batches {
		for c := range contents {
			l.add(uint64(c), vecs[c])
		}
		l.add(uint64(1000+b), unit(rng)) // and a new one
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for r := range 3 {
		wg.Go(func() {
			for {
				hits, _, err := p.Search(t.Context(), Query{Vector: vecs[r], Embedder: "test/1", K: MaxK, Distinct: true})
				if err != nil {
					t.Error(err)
					return
				}
				slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(a.ContentHash, b.ContentHash) })
				if len(hits) > 0 && len(hits) != contents+hits[0].Runs {
					t.Errorf("%d hits, the first of %d runs", len(hits), hits[0].Runs)
				}
				for i, h := range hits {
					if i < contents && h.Runs != hits[0].Runs || i >= contents && h.Runs != 1 {
						t.Errorf("hit %d has %d runs, the first %d", i, h.Runs, hits[0].Runs)
					}
				}
				readEverything(t, p)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for at := int64(0); at < l.Next; at += contents + 1 {
		if err := p.Apply(t.Context(), l.Batch(at, at+contents+1)); err != nil {
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
}
