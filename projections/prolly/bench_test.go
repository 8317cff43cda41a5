package prolly

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			entries := make([]Entry, 0, n)
			for e := range numbered(n) {
				entries = append(entries, Entry{append([]byte(nil), e.Key...), append([]byte(nil), e.Value...)})
			}
			for b.Loop() {
				d, _ := newDB()
				_, err := d.Build(func(yield func(Entry, error) bool) {
					for _, e := range entries {
						if !yield(e, nil) {
							return
						}
					}
				})
				check(b, err)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// codeGraph is a synthetic code graph: files with declarations, and edges between those. Keys start
// either with the hash of a declaration, and so are scattered, or with its file, and so are
// adjacent.
type codeGraph struct {
	r       *rand.Rand
	byFile  bool
	next    int
	entries model
	files   [][]string // keys
}

func (g *codeGraph) key(file int) string {
	g.next++
	decl := sha256.Sum256(fmt.Appendf(nil, "decl %d of %d", g.next/5, file))
	edge := sha256.Sum256(fmt.Appendf(nil, "edge %d", g.next))
	if g.byFile {
		return fmt.Sprintf("internal/dir%03d/file%04d.go\x00%s%s", file/20, file, decl[:16], edge[:16])
	}
	return string(decl[:]) + string(edge[:16])
}

func (g *codeGraph) value() string {
	return fmt.Sprintf("calls:%d:%d:0.%d:static", g.r.IntN(1000), g.r.IntN(100), g.r.IntN(100))
}

func newCodeGraph(entries int, byFile bool) *codeGraph {
	g := &codeGraph{r: rand.New(rand.NewPCG(1, 1)), byFile: byFile, entries: model{}, files: make([][]string, entries/50)}
	for f := range g.files {
		for range 50 {
			k := g.key(f)
			g.files[f] = append(g.files[f], k)
			g.entries[k] = g.value()
		}
	}
	return g
}

// commit touches one file or more, 3 on average; in each, 4 entries change, 1 is deleted and 1 is
// new.
func (g *codeGraph) commit() []Edit {
	var edits []Edit
	for more := true; more; more = g.r.IntN(3) > 0 {
		f := g.r.IntN(len(g.files))
		keys := g.files[f]
		at := g.r.IntN(len(keys) - 4)
		for _, k := range keys[at : at+4] {
			edits = append(edits, Edit{Key: []byte(k), Value: []byte(g.value())})
		}
		gone := g.r.IntN(len(keys))
		edits = append(edits, Edit{Key: []byte(keys[gone]), Delete: true})
		keys[gone] = g.key(f)
		edits = append(edits, Edit{Key: []byte(keys[gone]), Value: []byte(g.value())})
	}
	return edits
}

// BenchmarkSnapshots compares the size of 1,000 snapshots, each one commit after the other, with
// the size of one.
func BenchmarkSnapshots(b *testing.B) {
	for _, byFile := range []bool{false, true} {
		b.Run(fmt.Sprintf("byfile=%t", byFile), func(b *testing.B) {
			for b.Loop() {
				s := NewMemory()
				d := New(s, Options{})
				g := newCodeGraph(100_000, byFile)
				root := build(b, d, g.entries)
				chunks, one := s.Size()
				edits := 0
				for range 1000 {
					es := g.commit()
					edits += len(es)
					var err error
					root, _, err = d.Apply(root, es)
					check(b, err)
				}
				_, all := s.Size()
				b.ReportMetric(float64(all)/float64(one), "stored/one")
				b.ReportMetric(float64(one)/100_000, "B/entry")
				b.ReportMetric(float64(all-one)/float64(edits), "B/edit")
				b.ReportMetric(100_000/float64(chunks), "entries/chunk")
			}
		})
	}
}

// built returns a DB with a map of n entries.
func built(b *testing.B, n int, o Options) (*DB, Hash) {
	b.Helper()
	d := New(NewMemory(), o)
	root, err := d.Build(numbered(n))
	check(b, err)
	return d, root
}

// keysOf returns k keys spread over a map.
func keysOf(b *testing.B, d *DB, root Hash, k int) [][]byte {
	b.Helper()
	m, err := d.Map(root)
	check(b, err)
	r := rand.New(rand.NewPCG(2, 2))
	keys := make([][]byte, k)
	for i := range keys {
		e, _, err := m.At(r.Uint64N(m.Len()))
		check(b, err)
		keys[i] = e.Key
	}
	return keys
}

// BenchmarkDiff compares two maps that differ in a number of values, read from the store each time
// or from the cache.
func BenchmarkDiff(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, changes := range []int{1, 50, 1000} {
			for _, cached := range []bool{false, true} {
				b.Run(fmt.Sprintf("entries=%d/changes=%d/cached=%t", n, changes, cached), func(b *testing.B) {
					o := Options{CacheBytes: -1}
					if cached {
						o.CacheBytes = 1 << 30
					}
					d, old := built(b, n, o)
					var edits []Edit
					for _, k := range keysOf(b, d, old, changes) {
						edits = append(edits, Edit{Key: k, Value: []byte("changed")})
					}
					root, stats, err := d.Apply(old, edits)
					check(b, err)
					for b.Loop() {
						found := 0
						for _, err := range d.Diff(old, root) {
							check(b, err)
							found++
						}
						if found != stats.Changed {
							b.Fatalf("%d changes, want %d", found, stats.Changed)
						}
					}
				})
			}
		}
	}
}

func BenchmarkApply(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, changes := range []int{1, 50, 1000} {
			b.Run(fmt.Sprintf("entries=%d/changes=%d", n, changes), func(b *testing.B) {
				d, root := built(b, n, Options{CacheBytes: 1 << 30})
				keys := keysOf(b, d, root, changes)
				edits := make([]Edit, len(keys))
				var stats Stats
				round := 0
				for b.Loop() {
					round++
					for i, k := range keys {
						edits[i] = Edit{Key: k, Value: fmt.Append(nil, round)}
					}
					var err error
					root, stats, err = d.Apply(root, edits)
					check(b, err)
				}
				b.ReportMetric(float64(stats.ChunksRead), "read/op")
				b.ReportMetric(float64(stats.ChunksWritten), "written/op")
			})
		}
	}
}

func BenchmarkGet(b *testing.B) {
	for _, cached := range []bool{false, true} {
		b.Run(fmt.Sprintf("entries=1000000/cached=%t", cached), func(b *testing.B) {
			o := Options{CacheBytes: -1}
			if cached {
				o.CacheBytes = 1 << 30
			}
			d, root := built(b, 1_000_000, o)
			keys := keysOf(b, d, root, 1000)
			m, err := d.Map(root)
			check(b, err)
			for i := 0; b.Loop(); i++ {
				if ok, err := m.Has(keys[i%len(keys)]); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// BenchmarkProof makes and verifies proofs of presence and of absence in a map of a million
// entries, and reports the length of the longest.
func BenchmarkProof(b *testing.B) {
	d, root := built(b, 1_000_000, Options{CacheBytes: -1})
	keys := keysOf(b, d, root, 1000)
	for i := range keys {
		if i%2 == 1 {
			keys[i] = append(append([]byte(nil), keys[i]...), 0)
		}
	}
	b.Run("prove", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_, _, err := d.Prove(root, keys[i%len(keys)])
			check(b, err)
		}
	})
	b.Run("verify", func(b *testing.B) {
		var claims []Claim
		var proofs [][]byte
		longest, sum := 0, 0
		for _, k := range keys {
			c, p, err := d.Prove(root, k)
			check(b, err)
			data, err := p.MarshalBinary()
			check(b, err)
			claims, proofs = append(claims, c), append(proofs, data)
			longest, sum = max(longest, len(data)), sum+len(data)
		}
		for i := 0; b.Loop(); i++ {
			var p Proof
			check(b, p.UnmarshalBinary(proofs[i%len(proofs)]))
			check(b, Verify(root, claims[i%len(claims)], &p))
		}
		b.ReportMetric(float64(longest), "B/longest")
		b.ReportMetric(float64(sum/len(keys)), "B/mean")
	})
}

func BenchmarkCheck(b *testing.B) {
	d, root := built(b, 100_000, Options{CacheBytes: -1})
	for b.Loop() {
		_, err := d.Check(b.Context(), root)
		check(b, err)
	}
}

// BenchmarkMarks marks 1,000 consecutive snapshots.
func BenchmarkMarks(b *testing.B) {
	s := NewMemory()
	d := New(s, Options{CacheBytes: -1})
	g := newCodeGraph(100_000, true)
	roots := []Hash{build(b, d, g.entries)}
	for len(roots) < 1000 {
		root, _, err := d.Apply(roots[len(roots)-1], g.commit())
		check(b, err)
		roots = append(roots, root)
	}
	for b.Loop() {
		marks := d.Marks()
		for _, root := range roots {
			check(b, marks.Add(b.Context(), root))
		}
		if chunks, _ := s.Size(); marks.Len() != chunks {
			b.Fatalf("%d chunks marked, %d stored", marks.Len(), chunks)
		}
	}
}

func BenchmarkAll(b *testing.B) {
	d, root := built(b, 100_000, Options{CacheBytes: -1})
	m, err := d.Map(root)
	check(b, err)
	for b.Loop() {
		n := 0
		for _, err := range m.All() {
			check(b, err)
			n++
		}
		if n != 100_000 {
			b.Fatal(n)
		}
	}
}
