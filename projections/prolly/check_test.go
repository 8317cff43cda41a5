package prolly

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
)

func TestCheckFindsNothingWrong(t *testing.T) {
	racing.Alone(t)
	s := NewMemory()
	d := New(s, Options{})
	g := newCodeGraph(5000, true)
	root := build(t, d, g.entries)
	roots := []Hash{Empty, root}
	for range 50 {
		edits := g.commit()
		var err error
		root, _, err = d.Apply(root, edits)
		check(t, err)
		roots = append(roots, root)
	}
	got, err := d.Check(t.Context(), roots...)
	check(t, err)
	if chunks, _ := s.Size(); got.Chunks != chunks {
		t.Errorf("checked %d chunks, %d are stored", got.Chunks, chunks)
	}
	got, err = d.Check(t.Context(), root)
	check(t, err)
	if got.Entries != 5000 {
		t.Errorf("checked %d entries, want 5000", got.Entries)
	}
}

// TestMarks deletes what is not marked: the marked snapshots stay whole.
func TestMarks(t *testing.T) {
	s := NewMemory()
	d := New(s, Options{})
	g := newCodeGraph(5000, false)
	roots := []Hash{build(t, d, g.entries)}
	for range 30 {
		root, _, err := d.Apply(roots[len(roots)-1], g.commit())
		check(t, err)
		roots = append(roots, root)
	}
	marks := d.Marks()
	want := map[Ref]bool{}
	for _, root := range append(roots[25:], Empty) {
		check(t, marks.Add(t.Context(), root))
		if root != Empty {
			for _, r := range reachable(t, d, root) {
				want[r] = true
			}
		}
	}
	before, _ := s.Size()
	deleted := sweep(t, marks, s)
	after, _ := s.Size()
	if deleted != before-len(want) || after != len(want) || marks.Len() != len(want) {
		t.Errorf("of %d chunks %d were deleted, %d are left, %d marked; want %d left", before, deleted, after, marks.Len(), len(want))
	}
	_, err := New(s, Options{}).Check(t.Context(), roots[25:]...)
	check(t, err)
	if _, err := New(s, Options{}).Check(t.Context(), roots[0]); err == nil {
		t.Error("the first snapshot is still whole")
	}
}

// TestOneFaultForOneChunk damages each chunk of a map of four levels in turn. Only that chunk may
// be reported, since whoever handles the fault examines the reported chunks.
func TestOneFaultForOneChunk(t *testing.T) {
	racing.Alone(t)
	s := NewMemory()
	d := New(s, Options{CacheBytes: -1})
	root, err := d.Build(numbered(3000))
	check(t, err)
	for _, r := range reachable(t, d, root) {
		stored, err := s.Get(r)
		check(t, err)
		check(t, s.Put([]Chunk{{r, stored[:len(stored)/2]}}))
		faults, err := d.Checker().Check(t.Context(), root)
		check(t, err)
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), r.Hash.String()) {
			t.Errorf("chunk %s is damaged: got %q", r.Hash, faults)
		}
		check(t, s.Put([]Chunk{{r, stored}}))
	}
}
