package segment

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// TestFrozenCheckpoint adds rows to a projection that was opened with a checkpoint, one at a time, and
// compares it after each with one that has applied the whole log. A few rows leave the checkpoint
// where it is; then its rows move into the hot buffer.
func TestFrozenCheckpoint(t *testing.T) {
	sh := projtest.Generate(3, 1, 120)[0]
	vary(&sh)
	dir := t.TempDir()
	p := open(t, dir, Options{})
	if err := p.Apply(t.Context(), sh.Batch(0, 60)); err != nil {
		t.Fatal(err)
	}
	closeOf(t, p)
	checkpoint := fmt.Sprint(filepath.Join(dir, sealed.ShardDir(sh.TP), tailName), hashOf(t, dir, sh.TP))

	whole := open(t, t.TempDir(), Options{})
	defer closeOf(t, whole)
	if err := whole.Apply(t.Context(), sh.Batch(0, 60)); err != nil {
		t.Fatal(err)
	}
	p = open(t, dir, Options{})
	s := p.shards[sh.TP]
	before := s.snapshot()
	frozen := 0
	for next := int64(61); next <= sh.Next; next++ {
		for _, each := range []*Projection{p, whole} {
			if err := each.Apply(t.Context(), sh.Batch(next-1, next)); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(content(t, whole), content(t, p)); diff != "" {
			t.Fatalf("up to %d, frozen %v (-whole +opened):\n%s", next, s.frozen, diff)
		}
		if s.frozen {
			frozen++
			if rows, _ := s.unsealed(); rows != s.tail.cols.n+len(s.recent) {
				t.Fatalf("%d rows, want %d and %d", rows, s.tail.cols.n, len(s.recent))
			}
		}
		if next == 70 { // few rows are not saved
			closeOf(t, p)
			if now := fmt.Sprint(filepath.Join(dir, sealed.ShardDir(sh.TP), tailName), hashOf(t, dir, sh.TP)); now != checkpoint {
				t.Error("the checkpoint was written again")
			}
			p = open(t, dir, Options{})
			if err := p.Apply(t.Context(), sh.Batch(p.Next(sh.TP), next)); err != nil {
				t.Fatal(err)
			}
			s = p.shards[sh.TP]
			before = s.snapshot()
		}
	}
	if frozen < fewRows/2 || s.frozen {
		t.Errorf("it was frozen %d times, in the end %v", frozen, s.frozen)
	}
	// A view from before reads what it did.
	if n := len(before.files) - before.sealed; n != 1 || before.hot.n+before.files[before.sealed].cols.n >= s.hot.n {
		t.Errorf("an early view has %d checkpoints and %d hot rows of %d", n, before.hot.n, s.hot.n)
	}
	closeOf(t, p)
	p = open(t, dir, Options{})
	defer closeOf(t, p)
	if diff := cmp.Diff(content(t, whole), content(t, p)); diff != "" {
		t.Errorf("opened again (-whole +opened):\n%s", diff)
	}
}

func hashOf(t *testing.T, dir string, tp schemas.TopicPartition) schemas.Hash {
	t.Helper()
	f, err := openFile(filepath.Join(dir, sealed.ShardDir(tp), tailName), tp)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	return f.hash()
}

// content returns everything that readers see of a projection.
func content(t *testing.T, p *Projection) (all []string) {
	t.Helper()
	note := func(what string, x any) { all = append(all, fmt.Sprintf("%s %v", what, x)) }
	if err := p.Dump(t.Context(), func(k, v []byte) error { note(string(k), schemas.NewCanon("content").Bytes(v).Sum()); return nil }); err != nil {
		t.Fatal(err)
	}
	for _, order := range []Order{OldestFirst, NewestFirst} {
		if err := p.Scan(t.Context(), Filter{}, order, func(v *View) bool {
			e, err := v.Embedding()
			if err != nil {
				t.Fatal(err)
			}
			note("scan", fmt.Sprint(v.Position(), v.Command(), len(e)))
			row, found, err := p.Lookup(t.Context(), v.ID())
			note("id", fmt.Sprint(row.Command, found, err))
			row, found, err = p.At(t.Context(), v.Position())
			note("at", fmt.Sprint(row.ID, found, err))
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Each(t.Context(), Filter{}, func(v *View) bool { note("each", v.Position()); return true }); err != nil {
		t.Fatal(err)
	}
	selected, err := p.Select(t.Context(), Filter{Exit: failed}, nil)
	if err != nil {
		t.Fatal(err)
	}
	note("selected", selected.Offsets())
	for _, st := range p.Stats() {
		note("stats", st)
	}
	return all
}
