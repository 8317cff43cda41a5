//go:build unix

package vector

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// benchRows returns how many rows the benchmarks of objects use; RECOUNT_BENCH_ROWS sets it, to a
// million for example.
func benchRows() int {
	if n, err := strconv.Atoi(os.Getenv("RECOUNT_BENCH_ROWS")); err == nil {
		return n
	}
	return 50_000
}

// around returns one of the vectors with some noise: near to it and to those of its cluster, and
// equal to no row.
func around(rng *rand.Rand, vecs [][]float32) []float32 {
	v := slices.Clone(vecs[rng.IntN(len(vecs))])
	for j := range v {
		v[j] += 0.03 * float32(rng.NormFloat64())
	}
	return normal(v)
}

// feedObjects applies one object of one passage for each vector, in batches of 512, to the audience
// that of returns, and returns the processor time of Apply.
func feedObjects(b *testing.B, p *Projection, a *agents, vecs [][]float32, of func(i int) schemas.Audience) (spent time.Duration) {
	for len(vecs) > 0 {
		n := min(512, len(vecs))
		a.Records = nil
		for _, v := range vecs[:n] {
			a.add("test/1", object(of(a.made), v))
		}
		batch := a.Batch(a.Next-int64(n), a.Next)
		start := busy(b)
		if err := p.Apply(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		spent += busy(b) - start
		vecs = vecs[n:]
	}
	return spent
}

// resident returns how many bytes of files and of its own memory the process has in memory.
func resident(b *testing.B) (file, own int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0 // not Linux
	}
	for line := range strings.Lines(string(status)) {
		f := strings.Fields(line)
		if len(f) > 1 {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			switch f[0] {
			case "RssFile:":
				file = kb << 10
			case "RssAnon:":
				own = kb << 10
			}
		}
	}
	return file, own
}

func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkObjects measures an audience with many objects: apply, search by scanning, link, search
// by walking, reopen.
func BenchmarkObjects(b *testing.B) {
	n := benchRows()
	rng := rand.New(rand.NewPCG(1, 1))
	of := audience(3)
	opts := Options{unlinked: true}
	dir := b.TempDir()
	vecs := clustered(rng, n)
	p := open(b, dir, opts)
	a := newAgents(0, 1)
	spent := feedObjects(b, p, a, vecs, func(int) schemas.Audience { return of })
	queries := make([][]float32, 200)
	for i := range queries {
		queries[i] = around(rng, vecs)
	}
	search := func(b *testing.B, p *Projection, q ObjectQuery) {
		i, start := 0, busy(b)
		for b.Loop() {
			q.Vector = queries[i%len(queries)]
			i++
			searchObjects(b, p, q)
		}
		b.ReportMetric(float64((busy(b)-start).Microseconds())/float64(i), "cpu-µs/op")
	}
	base := ObjectQuery{Embedder: "test/1", K: 10, Audiences: []schemas.AudienceID{of.ID()}}
	b.Run("scan", func(b *testing.B) {
		search(b, p, base)
		b.ReportMetric(float64(spent.Microseconds())/float64(n), "apply-cpu-µs/event")
	})
	wanted := make([][]ObjectHit, len(queries))
	for i, v := range queries {
		q := base
		q.Vector, q.K = v, 200 // more candidates are compared exactly
		hits, _ := searchObjects(b, p, q)
		wanted[i] = hits[:base.K]
	}
	start := busy(b)
	p.links.work()
	linking := busy(b) - start
	linked := p.ObjectStats()[0].Linked
	recall := func(b *testing.B, ef int) {
		found := 0
		for i, v := range queries {
			q := base
			q.Vector, q.EF = v, ef
			hits, _ := searchObjects(b, p, q)
			for _, w := range wanted[i] {
				if slices.Contains(hits, w) {
					found++
				}
			}
		}
		b.ReportMetric(float64(found)/float64(len(queries)*base.K), "recall@10")
	}
	for _, ef := range []int{50, 100, 200} {
		b.Run(fmt.Sprintf("walk/ef=%d", ef), func(b *testing.B) {
			q := base
			q.EF = ef
			search(b, p, q)
			recall(b, ef)
			b.ReportMetric(float64(linking.Microseconds())/float64(max(1, linked)), "link-cpu-µs/row")
		})
	}
	for name, q := range map[string]ObjectQuery{
		"half":         {Filter: func(r schemas.ObjectRef) bool { return r.Offset%2 == 0 }},
		"hundredth":    {Filter: func(r schemas.ObjectRef) bool { return r.Offset%100 == 0 }},
		"below-half":   {Below: schemas.Watermark{a.TP: a.Next / 2}},
		"below-almost": {Below: schemas.Watermark{a.TP: a.Next - 100}},
		"only-1000":    {Only: []schemas.ObjectRef{}},
	} {
		b.Run("walk/"+name, func(b *testing.B) {
			if q.Only != nil {
				for i := range int64(1000) {
					q.Only = append(q.Only, schemas.ObjectRef{Position: schemas.Position{Topic: a.TP.Topic, Offset: i * a.Next / 1000}})
				}
			}
			q.Embedder, q.K, q.Audiences = base.Embedder, base.K, base.Audiences
			search(b, p, q)
		})
	}
	closeOf(b, p)
	vecs = nil
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			before := heap()
			b.StartTimer()
			start := busy(b)
			p := open(b, dir, opts)
			b.StopTimer()
			b.ReportMetric(float64((busy(b) - start).Milliseconds()), "cpu-ms/op")
			b.ReportMetric((heap()-before)/float64(n), "heapbytes/row")
			start = busy(b)
			p.links.work()
			b.ReportMetric(float64((busy(b) - start).Milliseconds()), "links-cpu-ms")
			b.ReportMetric((heap()-before)/float64(n), "linkedheapbytes/row")
			for _, v := range queries {
				searchObjects(b, p, ObjectQuery{Vector: v, Embedder: base.Embedder, K: base.K, Audiences: base.Audiences})
			}
			file, own := resident(b)
			b.ReportMetric(float64(file)/float64(n), "mappedbytes/row")
			b.ReportMetric(float64(own)/float64(n), "ownbytes/row")
			closeOf(b, p)
			b.StartTimer()
		}
	})
}

// BenchmarkSmallAudiences searches thousands of audiences of ten objects each.
func BenchmarkSmallAudiences(b *testing.B) {
	const each = 10
	n := benchRows() / each
	rng := rand.New(rand.NewPCG(1, 1))
	ofs := make([]schemas.Audience, n)
	ids := make([]schemas.AudienceID, n)
	for i := range ofs {
		ofs[i] = schemas.AudienceOf("", "w", fmt.Sprint("session ", i), "a", recountv1.Visibility_VISIBILITY_SESSION)
		ids[i] = ofs[i].ID()
	}
	vecs := clustered(rng, n*each)
	before := heap()
	p := open(b, b.TempDir(), Options{})
	defer closeOf(b, p)
	// Some fifty sessions are active at a time.
	feedObjects(b, p, newAgents(0, 1), vecs, func(i int) schemas.Audience {
		return ofs[min(i/(50*each)*50+i%50, n-1)]
	})
	b.Logf("%.0f bytes of heap an audience with %d rows, up to 8,192 rows with their vectors among it", (heap()-before)/float64(n), each)
	for _, asked := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(asked), func(b *testing.B) {
			i, start := 0, busy(b)
			for b.Loop() {
				from := i * 37 % (n - asked + 1)
				searchObjects(b, p, ObjectQuery{Vector: vecs[i%len(vecs)], Embedder: "test/1", K: 10, Audiences: ids[from : from+asked]})
				i++
			}
			b.ReportMetric(float64((busy(b)-start).Microseconds())/float64(i), "cpu-µs/op")
		})
	}
}
