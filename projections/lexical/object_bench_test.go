package lexical

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/internal/cputime"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// prose makes messages of about 200 bytes, with word frequencies as in a natural language.
type prose struct {
	rng  *rand.Rand
	zipf *rand.Zipf
}

func newProse(seed uint64) *prose {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &prose{rng, rand.NewZipf(rng, 1.1, 8, 200_000)}
}

// word returns a random word; the most frequent ones are stop words, as in English.
func (p *prose) word() string {
	n := p.zipf.Uint64()
	if n < 16 {
		return strings.Fields("the a of to and in is it for on that this with as are be")[n]
	}
	const syllables = "kamotelirusanobevidokuparesimatofu"
	var w []byte
	for n += 3; n > 0; n /= 17 {
		w = append(w, syllables[n%17*2:n%17*2+2]...)
	}
	return string(w)
}

func (p *prose) text(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(p.word())
		b.WriteByte(' ')
	}
	return b.String()
}

// messages returns n events of one part each, distributed over sessions.
func messages(p *prose, from, n, sessions int) schemas.Batch {
	b := schemas.Batch{Topic: "recount.agents", Next: int64(from + n)}
	for i := from; i < from+n; i++ {
		id := schemas.NewCanon("b").Int(int64(i)).ID()
		text := p.text(200)
		b.Records = append(b.Records, &recountv1.Record{
			Origin: &recountv1.Position{Topic: b.Topic, Offset: int64(i)}, EventId: id[:],
			Body: &recountv1.Record_Objects{Objects: &recountv1.ObjectBatch{Objects: []*recountv1.Object{{
				Workspace: "w", Session: fmt.Sprint("s", p.rng.IntN(sessions)), Visibility: recountv1.Visibility_VISIBILITY_SESSION,
				Text: text, Parts: []*recountv1.ObjectPart{{End: uint32(len(text)), ContentHash: xxh3.HashString(text)}},
			}}}},
		})
	}
	return b
}

func sessions(n int) []schemas.AudienceID {
	var ids []schemas.AudienceID
	for i := range n {
		ids = append(ids, schemas.AudienceOf("", "w", fmt.Sprint("s", i), "", recountv1.Visibility_VISIBILITY_SESSION).ID())
	}
	return ids
}

func BenchmarkApplyObjects(b *testing.B) {
	for _, c := range []struct{ sessions, batch int }{{1, 512}, {1, 16}, {1000, 512}} {
		b.Run(fmt.Sprintf("sessions=%d/batch=%d", c.sessions, c.batch), func(b *testing.B) {
			p, x := newProse(1), open(b)
			var cpu time.Duration
			for done := 0; done < b.N; done += c.batch {
				bt := messages(p, done, min(c.batch, b.N-done), c.sessions)
				before := cputime.Used()
				check(b, x.Apply(b.Context(), bt))
				cpu += cputime.Used() - before
			}
			b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

func BenchmarkSearchObjects(b *testing.B) {
	sizes := []int{10_000, 100_000}
	if projtest.Soak() {
		sizes = []int{10_000, 1_000_000}
	}
	for _, size := range sizes {
		for _, n := range []int{1, size / 100} {
			x, err := Open(b.TempDir(), store.Options{CacheBytes: storeCacheBytes, MemTableBytes: memTableBytes})
			check(b, err)
			p := newProse(1)
			for at := 0; at < size; at += 500 {
				check(b, x.Apply(b.Context(), messages(p, at, 500, n)))
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			ids := sessions(min(n, 1000))
			for _, words := range []int{2, 4, 6} {
				b.Run(fmt.Sprintf("parts=%d/audiences=%d/words=%d", size, len(ids), words), func(b *testing.B) {
					q := newProse(9)
					scored, before := 0, cputime.Used()
					for b.Loop() {
						var text string
						for i := 0; i < words; {
							if w := q.word(); !stopWords[w] {
								text += w + " "
								i++
							}
						}
						_, stats, err := x.SearchObjects(b.Context(), ObjectQuery{Text: text, Audiences: ids, K: 50})
						check(b, err)
						scored += stats.Scored
					}
					b.ReportMetric(float64((cputime.Used()-before).Microseconds())/float64(b.N), "cpu-µs/op")
					b.ReportMetric(float64(scored)/float64(b.N), "scored/op")
					b.ReportMetric(float64(m.HeapInuse)/(1<<20), "MiB-heap")
				})
			}
			check(b, x.Close())
		}
	}
}
