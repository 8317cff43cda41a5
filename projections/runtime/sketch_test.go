package runtime

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/store"
	"github.com/google/go-cmp/cmp"
)

// TestBins checks that the bins are those of sketches-go's mapping, except at the very edges of
// bins, where its logarithm may be inexact.
func TestBins(t *testing.T) {
	if n := len(bounds); durations.Index(math.MaxInt64) != n {
		t.Errorf("%d bounds, want %d", n, durations.Index(math.MaxInt64))
	}
	try := func(d int64) {
		if d < 1 {
			return
		}
		got, want := int(binOf(d))-1, durations.Index(float64(d))
		if got == want {
			return
		}
		edge := durations.LowerBound(max(got, want))
		if math.Abs(float64(d)-edge) > edge*1e-12 {
			t.Errorf("%d: got bin %d, want %d", d, got, want)
		}
	}
	for _, b := range bounds {
		for by := int64(-2); by <= 2; by++ {
			try(b + by)
		}
	}
	for d := range int64(5000) {
		try(d)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200_000 {
		try(int64(math.Exp(rng.Float64() * 43.6)))
	}
	if binOf(0) != 0 || binOf(-5) != 0 || binOf(1) != 1 {
		t.Errorf("bins of 0, -5, 1: got %d, %d, %d", binOf(0), binOf(-5), binOf(1))
	}
}

// TestQuantiles checks that sketches-go gives the same quantiles for the same durations.
func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	theirs := ddsketch.NewDDSketch(durations, store.NewSparseStore(), store.NewSparseStore())
	var ours, part sketch
	for i := range 20_000 {
		d := int64(math.Exp(rng.NormFloat64()*3 + 13))
		if rng.IntN(50) == 0 {
			d = 0
		}
		if err := theirs.Add(float64(d)); err != nil {
			t.Fatal(err)
		}
		// Some wrong ones are added and subtracted again.
		if i%7 == 0 {
			part.add(binOf(d*3), 1)
			ours.add(binOf(d*3), -1)
		}
		part.add(binOf(d), 1)
		if i%100 == 0 {
			ours.merge(part)
			part = part[:0]
		}
	}
	ours.merge(part)
	for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1} {
		want, err := theirs.GetValueAtQuantile(q)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := ours.quantile(q); !ok || math.Abs(got-want) > want*1e-9 {
			t.Errorf("%g: got %g, %v, want %g", q, got, ok, want)
		}
	}
	r := reader{b: appendSketch(nil, ours)}
	back := decodeSketch(nil, &r)
	if err := r.end(); err != nil || !cmp.Equal(back, ours, cmp.AllowUnexported(bin{})) {
		t.Errorf("does not come back as it was: %v", err)
	}
}

// TestCover checks that each minute of a range is in exactly one run, and no other minute is.
func TestCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	minute := levels[0]
	for range 300 {
		from := rng.Int64N(4000*minute) - 2000*minute
		to := from + rng.Int64N(4000*minute)
		if rng.IntN(5) == 0 {
			from, to = bucket(from, 3), bucket(to, 3)
		}
		covered := map[int64]int{}
		runs := cover(Range{from, to})
		for _, r := range runs {
			if r.from > r.to {
				t.Fatalf("%d to %d: empty run %+v", from, to, r)
			}
			length := levels[r.level] / minute
			for m := int64(r.from) * length; m < (int64(r.to)+1)*length; m++ {
				covered[m]++
			}
		}
		for m := floorDiv(from, minute) - 2000; m < floorDiv(to, minute)+2000; m++ {
			want := 0
			if from < to && m >= floorDiv(from, minute) && m <= floorDiv(to-1, minute) {
				want = 1
			}
			if covered[m] != want {
				t.Fatalf("%d to %d: minute %d is in %d runs of %+v, want %d", from, to, m, covered[m], runs, want)
			}
		}
		if len(runs) > 2*len(levels)-1 {
			t.Errorf("%d to %d: %d runs", from, to, len(runs))
		}
	}
}

func bucket(at int64, level int) int64 { return floorDiv(at, levels[level]) * levels[level] }
