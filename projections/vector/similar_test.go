package vector

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/schemas"
)

func pos(l *log, offset int64) schemas.Position {
	return schemas.Position{Topic: l.TP.Topic, Partition: l.TP.Partition, Offset: offset}
}

// TestSimilar checks that Similar returns the earlier contents, by score, each by its newest run
// before the position, and not the same content with another vector.
func TestSimilar(t *testing.T) {
	p := fresh(t, Options{SealRows: 3})
	l := newLog(0)
	a := l.add(1, at(0))
	b := l.add(2, at(0.1))
	a2 := l.add(1, at(0))
	c := l.add(3, at(0.3))
	b2 := l.add(2, at(0.1))
	c2 := l.add(3, at(0.3))
	other := l.add(3, at(0.29)) // content 3 embedded with another intent
	d := l.add(4, at(-1))
	alone := l.addOf("test/2", 9, at(0))
	l.apply(t, p)

	for _, tc := range []struct {
		of   int64
		want []int64
		runs []int
	}{
		{a, nil, nil},
		{b, []int64{a}, []int{1}},
		{a2, nil, nil},
		{c, []int64{b, a2}, []int{1, 2}},
		{b2, []int64{a2}, []int{2}},
		{c2, []int64{b2, a2}, []int{2, 2}},
		{other, []int64{b2, a2}, []int{2, 2}},
		{d, []int64{a2, b2, other, c2}, []int{2, 2, 1, 2}},
		{alone, nil, nil},
	} {
		hits, err := p.Similar(t.Context(), pos(l, tc.of))
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		var runs []int
		for _, h := range hits {
			got, runs = append(got, h.Offset), append(runs, h.Runs)
		}
		if !slices.Equal(got, tc.want) || !slices.Equal(runs, tc.runs) {
			t.Errorf("similar to %d: got %v of %v runs, want %v of %v", tc.of, got, runs, tc.want, tc.runs)
		}
	}
	for _, tc := range []struct {
		of   int64
		k    int
		want []int64
	}{
		{a, 9, []int64{b}}, // what comes after the second run of its content names that one
		{a2, 9, []int64{b2, other, c, d}},
		{b, 9, []int64{c}},
		{b2, 9, []int64{other, c2, d}},
		{b2, 1, []int64{other}},
		{b2, 0, nil},
		{b2, -1, nil},
		{d, 9, nil},
	} {
		hits, err := p.SimilarTo(t.Context(), pos(l, tc.of), tc.k, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, h := range hits {
			got = append(got, h.Offset)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("later and similar to %d: got %v, want %v", tc.of, got, tc.want)
		}
	}
	for _, nowhere := range []schemas.Position{pos(l, 99), pos(l, -1), pos(newLog(7), 0)} {
		if hits, err := p.Similar(t.Context(), nowhere); err != nil || hits != nil {
			t.Errorf("similar to %s: got %v, %v", nowhere, hits, err)
		}
		if hits, err := p.SimilarTo(t.Context(), nowhere, 3, nil); err != nil || hits != nil {
			t.Errorf("later and similar to %s: got %v, %v", nowhere, hits, err)
		}
	}
}

// TestSimilarIsExact checks, in a space small enough to be scanned, that the stored rows are the
// best of all earlier ones, with exact scores, and that SimilarTo is the inverse of Similar.
func TestSimilarIsExact(t *testing.T) {
	p := fresh(t, Options{SealRows: 100})
	rng := rand.New(rand.NewPCG(5, 5))
	l := newLog(0)
	var vecs [][]float32
	for i := range 300 {
		vecs = append(vecs, unit(rng))
		l.add(uint64(i), vecs[i])
	}
	l.apply(t, p)
	exact, named := 0, 0
	for i := range vecs {
		hits, err := p.Similar(t.Context(), pos(l, int64(i)))
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) != min(i, SimilarK) {
			t.Fatalf("similar to %d: %d hits", i, len(hits))
		}
		var best []float64
		for j := range i {
			best = append(best, float64(kernel.Generic().Dot(vecs[j], vecs[i])))
		}
		slices.Sort(best)
		slices.Reverse(best)
		for k, h := range hits {
			if want := float64(kernel.Generic().Dot(vecs[h.Offset], vecs[i])); h.Score != want {
				t.Errorf("similar to %d: %d scored %v, want %v", i, h.Offset, h.Score, want)
			}
			if h.Score == best[k] {
				exact++
			}
			later, err := p.SimilarTo(t.Context(), h.Position(), 1000, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(later, func(x Hit) bool { return x.Offset == int64(i) && x.Score == h.Score }) {
				t.Errorf("%d names %d, which is not named by it", i, h.Offset)
			}
			named++
		}
	}
	if exact < named*95/100 {
		t.Errorf("%d of %d are the best there were", exact, named)
	}
}

// TestSimilarToBelow checks that an answer below a watermark is what it was then: nearer rows that
// came later take none of its places.
func TestSimilarToBelow(t *testing.T) {
	p := fresh(t, Options{SealRows: 3})
	l := newLog(0)
	a := l.add(1, at(0))
	l.add(2, at(0.3))
	l.add(3, at(-0.4))
	a2 := l.add(1, at(0))
	then := l.add(2, at(0.3)) + 1
	l.apply(t, p)
	before, err := p.SimilarTo(t.Context(), pos(l, a2), 1, nil)
	if err != nil || len(before) != 1 {
		t.Fatalf("got %v, %v", before, err)
	}
	l.add(4, at(0.01))
	l.add(3, at(-0.4))
	for i := range uint64(8) {
		l.add(10+i, at(0.001*float64(i+1)))
	}
	l.apply(t, p)
	below := schemas.Watermark{l.TP: then}
	if after, err := p.SimilarTo(t.Context(), pos(l, a2), 1, below); err != nil || !slices.Equal(after, before) {
		t.Errorf("below %d: got %v, %v, want %v", then, after, err, before)
	}
	if none, err := p.SimilarTo(t.Context(), pos(l, a2), 9, below); err != nil || !slices.Equal(none, before) {
		t.Errorf("all below %d: got %v, %v, want %v", then, none, err, before)
	}
	if none, err := p.SimilarTo(t.Context(), pos(l, a), 1, schemas.Watermark{}); err != nil || len(none) != 0 {
		t.Errorf("of a partition that is left out: got %v, %v", none, err)
	}
}
