package query_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recountdb/recount/query"
)

// What is opened last is closed first, and once.
func TestSessionCloses(t *testing.T) {
	s, err := query.Begin[query.Step](t.Context(), nil, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var closed []string
	for _, name := range []string{"projection", "view", "codebase"} {
		s.OnClose(func() { closed = append(closed, name) })
	}
	s.Close()
	s.Close()
	if want := []string{"codebase", "view", "projection"}; !slices.Equal(closed, want) {
		t.Errorf("got %v, want %v", closed, want)
	}
}

// What ran while others did counts for its own operator, and once in the whole.
func TestSessionTiming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := query.Begin[query.Step](t.Context(), nil, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Microsecond)
		s.RecordTime("plan")
		time.Sleep(20 * time.Microsecond) // words and meaning at once
		s.SkipTime()
		s.AddTime(20 * time.Microsecond)
		s.RecordTime("words")
		s.AddTime(15 * time.Microsecond)
		time.Sleep(time.Microsecond)
		s.RecordTime("meaning")
		b := query.BasisOf(&s, true, "nothing", nil)
		want := []query.StepTiming{{Operator: "plan", US: 3}, {Operator: "words", US: 20}, {Operator: "meaning", US: 16}}
		if !slices.Equal(b.Timing.Steps, want) || b.Timing.TotalUS != 24 || b.Status != query.StatusEmpty {
			t.Errorf("got %+v", b)
		}
	})
}
