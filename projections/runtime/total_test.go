package runtime

import (
	"math"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestTotal compares a total of rows, each decoded into the memory of the one before, with merged
// sums that share no memory.
func TestTotal(t *testing.T) {
	same := gocmp.Options{gocmp.AllowUnexported(sum{}, example{}, bin{}), cmpopts.EquateEmpty()}
	for seed := range seeds(200) {
		rng := rand.New(rand.NewPCG(seed, 12))
		all := shards{{Topic: defaultTopic, Partition: 0}, {Topic: "other", Partition: 7}, {Topic: defaultTopic, Partition: 3}}
		var in, wantIn shards
		got, want, row := newTotal(), newSum(), newSum()
		for range 1 + rng.IntN(40) {
			k := sumKey{kind: kindServed, level: uint8(rng.IntN(len(levels))), bucket: int32(rng.IntN(1000) - 500)}
			value := appendSum(nil, randomSum(rng, k, all), k, all)
			must(t, decodeSum(row, k, value, &in))
			got.merge(row)
			alone := newSum()
			must(t, decodeSum(alone, k, value, &wantIn))
			want.merge(alone)
		}
		if diff := gocmp.Diff(want, got.end(), same); diff != "" {
			t.Fatalf("seed %d: (-want +got)\n%s", seed, diff)
		}
		if diff := gocmp.Diff(wantIn, in); diff != "" {
			t.Fatalf("seed %d: partitions (-want +got)\n%s", seed, diff)
		}
	}
}

// randomSum returns a sum of some spans of a bucket, sometimes of none. Ids repeat, and some spans
// have none.
func randomSum(rng *rand.Rand, k sumKey, in shards) *sum {
	s := newSum()
	scale := math.Exp(rng.Float64() * 43)
	n := rng.IntN(30)
	if rng.IntN(10) == 0 {
		n = 2000
	}
	for range n {
		x := span{
			start: k.start() + rng.Int64N(levels[k.level]), duration: int64(min(scale*math.Exp(rng.NormFloat64()), math.MaxInt64/2)),
			offset: rng.Int64N(1e6), shard: uint16(rng.IntN(len(in))), failed: rng.IntN(4) == 0, id: rng.Uint64N(50),
		}
		if rng.IntN(20) == 0 {
			x.duration = rng.Int64N(2) * math.MaxInt64
		}
		var trace [16]byte
		if x.id != 0 {
			trace[rng.IntN(16)] = byte(rng.IntN(4))
		}
		e := in.example(trace, &x)
		s.see(x.start, x.failed, &e)
		s.add(1, x.failed, binOf(x.duration))
	}
	if n == 0 {
		// A row from which everything was subtracted still has its times.
		e := in.example([16]byte{1}, &span{id: rng.Uint64N(50)})
		s.see(k.start(), false, &e)
	}
	return s
}
