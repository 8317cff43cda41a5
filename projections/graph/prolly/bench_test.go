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

// codeGraph is a made-up code graph: files with declarations, and edges between
// those. Keys start with the hash of a declaration, and so are scattered, or with
// its file, and so lie together.
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

// commit touches one file or more, 3 on average; in each, 4 entries change, 1 is
// deleted and 1 is new.
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

// BenchmarkSnapshots reports what 1,000 snapshots, each a commit after the one
// before, take of a store, against one of them.
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
