//go:build unix

package vector

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/schemas"
)

// clustered returns unit vectors around a few hundred centres, as embeddings of commands are.
func clustered(rng *rand.Rand, n int) [][]float32 {
	centres := make([][]float32, 1+n/200)
	for i := range centres {
		centres[i] = unit(rng)
	}
	vecs := make([][]float32, n)
	for i := range vecs {
		c := centres[rng.IntN(len(centres))]
		v := make([]float32, dim)
		for j := range v {
			v[j] = c[j] + 0.05*float32(rng.NormFloat64())
		}
		vecs[i] = normal(v)
	}
	return vecs
}

// filled returns a projection of n distinct vectors in one partition.
func filled(b *testing.B, n int) (*Projection, *log, [][]float32) {
	vecs := clustered(rand.New(rand.NewPCG(1, 1)), n)
	l := newLog(0)
	for i, v := range vecs {
		l.add(uint64(i), v)
	}
	p := open(b, b.TempDir(), Options{})
	l.apply(b, p)
	return p, l, vecs
}

// busy returns the processor time that this process has used. On a shared machine it is more
// precise than the clock.
func busy(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRepeat measures Apply of runs of known contents, in batches of 512: the time and the
// memory of a run.
func BenchmarkRepeat(b *testing.B) {
	p, l, vecs := filled(b, 4000)
	defer closeOf(b, p)
	rng := rand.New(rand.NewPCG(2, 2))
	const batch = 512
	b.ReportAllocs()
	n, spent := 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		for range batch {
			k := rng.IntN(len(vecs))
			l.add(uint64(k), vecs[k])
		}
		next := l.Batch(l.Next-batch, l.Next)
		l.Records = nil
		n += batch
		b.StartTimer()
		start := busy(b)
		if err := p.Apply(b.Context(), next); err != nil {
			b.Fatal(err)
		}
		spent += busy(b) - start
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(n), "cpu-ns/run")
}

// BenchmarkDistinct measures Apply of new contents, up to a size, and the time of each of the last
// thousand.
func BenchmarkDistinct(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			vecs := clustered(rand.New(rand.NewPCG(1, 1)), n)
			for b.Loop() {
				l := newLog(0)
				p := open(b, b.TempDir(), Options{})
				for i, v := range vecs[:n-1000] {
					l.add(uint64(i), v)
				}
				start := busy(b)
				l.apply(b, p)
				b.ReportMetric(float64((busy(b)-start).Microseconds())/float64(n-1000), "cpu-µs/row")
				for i, v := range vecs[n-1000:] {
					l.add(uint64(n-1000+i), v)
				}
				start = busy(b)
				l.apply(b, p)
				b.ReportMetric(float64((busy(b)-start).Microseconds())/1000, "cpu-µs/lastrow")
				closeOf(b, p)
			}
		})
	}
}

// BenchmarkOpen opens a state of 100,000 distinct rows and reports its memory.
func BenchmarkOpen(b *testing.B) {
	const n = 100_000
	p, _, _ := filled(b, n)
	closeOf(b, p)
	var bytes int64
	for _, f := range filesOf(b, p.dir) {
		bytes += int64(len(f))
	}
	var before, after runtime.MemStats
	for b.Loop() {
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&before)
		b.StartTimer()
		start := busy(b)
		q := open(b, p.dir, Options{})
		b.StopTimer()
		b.ReportMetric(float64((busy(b) - start).Milliseconds()), "cpu-ms/op")
		b.ReportMetric(float64(bytes)/n, "filebytes/row")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "heapbytes/row")
		closeOf(b, q)
		b.StartTimer()
	}
}

// BenchmarkSearch measures a search among 100,000 distinct rows.
func BenchmarkSearch(b *testing.B) {
	const n = 100_000
	p, _, vecs := filled(b, n)
	defer closeOf(b, p)
	rng := rand.New(rand.NewPCG(3, 3))
	queries := make([][]float32, 512)
	for i := range queries {
		v := slices.Clone(vecs[rng.IntN(n)])
		for j := range v {
			v[j] += 0.03 * float32(rng.NormFloat64())
		}
		queries[i] = normal(v)
	}
	one := func(every int64) func(schemas.TopicPartition, int64) bool {
		return func(_ schemas.TopicPartition, off int64) bool { return off%every == 0 }
	}
	for _, tc := range []struct {
		name string
		q    Query
	}{
		{"plain", Query{K: 10}},
		{"distinct", Query{K: 10, Distinct: true}},
		{"k=100", Query{K: 100, Distinct: true}},
		{"below", Query{K: 10, Below: schemas.Watermark{firstTP: n / 2}}},
		{"half", Query{K: 10, Filter: one(2)}},
		{"hundredth", Query{K: 10, Filter: one(100)}},
		{"ten-thousandth", Query{K: 10, Filter: one(10_000)}},
		{"none", Query{K: 10, Filter: func(schemas.TopicPartition, int64) bool { return false }}},
	} {
		b.Run(tc.name, func(b *testing.B) {
			i := 0
			start := busy(b)
			for b.Loop() {
				q := tc.q
				q.Vector, q.Embedder = queries[i%len(queries)], "test/1"
				i++
				if _, _, err := p.Search(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((busy(b)-start).Microseconds())/float64(i), "cpu-µs/op")
		})
	}
}

// BenchmarkSeal measures how long the run that fills a step waits, with 100,000 rows before it.
func BenchmarkSeal(b *testing.B) {
	p, l, vecs := filled(b, 100_000)
	defer closeOf(b, p)
	s := p.shard(l.TP)
	for b.Loop() {
		b.StopTimer()
		for len(s.tail.id) < s.opts.SealRows-1 {
			l.Records = nil
			l.add(1, vecs[1])
			if err := p.Apply(b.Context(), l.Batch(l.Next-1, l.Next)); err != nil {
				b.Fatal(err)
			}
		}
		l.add(1, vecs[1])
		last := l.Batch(l.Next-1, l.Next)
		b.StartTimer()
		if err := p.Apply(b.Context(), last); err != nil {
			b.Fatal(err)
		}
	}
}
