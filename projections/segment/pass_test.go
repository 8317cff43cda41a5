package segment

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/schemas"
)

// TestEach compares a pass with a scan, under each kind of filter, over sealed and hot rows: the same
// rows, and numbers that stand for their texts.
func TestEach(t *testing.T) {
	p, want := populated(t)
	first := want[0].GetIntent()
	for name, f := range map[string]Filter{
		"all": {}, "workspace": {Workspace: first.Workspace}, "session": {Session: first.Session},
		"outcome": {Exit: failed}, "none": {Session: "no such session"},
		"below": {Below: schemas.Watermark{schemas.PositionOf(want[0].Origin).TP(): 100}},
	} {
		var scanned, passed []string
		if err := p.Scan(t.Context(), f, OldestFirst, func(v *View) bool {
			scanned = append(scanned, v.Position().String()+" "+v.Template()+" "+v.Session())
			return true
		}); err != nil {
			t.Fatal(err)
		}
		templates, sessions, programs := NewNumbering(ColumnTemplate, 1<<20), NewNumbering(ColumnSession, 1<<20), NewNumbering(ColumnPrograms, 1<<20)
		if err := p.Each(t.Context(), f, func(v *View) bool {
			passed = append(passed, v.Position().String()+" "+templates.Texts[templates.Of(v)]+" "+sessions.Texts[sessions.Of(v)])
			var got, of []string
			for _, n := range programs.Items(v, nil) {
				got = append(got, programs.Texts[n])
			}
			for s := range v.Programs() {
				if !slices.Contains(of, s) {
					of = append(of, s)
				}
			}
			if d := cmp.Diff(got, of); d != "" {
				t.Errorf("%s: programs of %s: %s", name, v.Position(), d)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(scanned)
		slices.Sort(passed)
		if d := cmp.Diff(passed, scanned); d != "" {
			t.Errorf("%s: passed - scanned +\n%s", name, d)
		}
	}
}

// TestEachEnds ends a pass early, by itself and by its context, and checks the maximum of numbers.
func TestEachEnds(t *testing.T) {
	p, _ := populated(t)
	n := 0
	if err := p.Each(t.Context(), Filter{}, func(*View) bool { n++; return n < 7 }); err != nil || n != 7 {
		t.Errorf("%d rows, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Each(ctx, Filter{}, func(*View) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	few, refused := NewNumbering(ColumnTemplate, 2), 0
	if err := p.Each(t.Context(), Filter{}, func(v *View) bool {
		if few.Of(v) == NoNumber {
			refused++
		}
		return true
	}); err != nil || len(few.Texts) != 2 || !few.Capped || refused == 0 {
		t.Errorf("%q, %d without a number, %v", few.Texts, refused, err)
	}
}
