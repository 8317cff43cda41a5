package replays_test

import (
	"testing"
	"time"

	store "github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/schemas"
)

// TestOfCommand asks how a command fared, now and as of earlier moments.
func TestOfCommand(t *testing.T) {
	records := append(run("r1", "/src", 0), run("r2", "/src", time.Hour)...)
	records[0].GetReplayPlanned().Host, records[0].GetReplayPlanned().Directory = "ci1", "/home/bob"
	s := world(t, records)
	p, release, err := s.Set.Acquire(store.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	v, err := p.(*store.Replays).View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	at := schemas.TopicPartition{Topic: "recount.commands"}
	all := int64(len(records))
	for name, test := range map[string]struct {
		below int64
		asOf  time.Time
		want  []string // run and state, the latest first
	}{
		"now":                                  {all, time.Time{}, []string{"r2 failed", "r1 failed"}},
		"at a watermark between the runs":      {all / 2, time.Time{}, []string{"r1 failed"}},
		"at a watermark before the step ended": {6, time.Time{}, []string{"r1 unfinished"}},
		"at a time between the runs":           {all, start.Add(30 * time.Minute), []string{"r1 failed"}},
		"at a time before the step ended":      {all, start.Add(63 * time.Second), []string{"r1 unfinished"}},
		"before any of them":                   {all, start.Add(-time.Second), nil},
	} {
		visible := schemas.Watermark{at: test.below}
		got, err := replays.OfCommand(v, install, visible, test.asOf)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, r := range got {
			told = append(told, r.Run+" "+r.State)
		}
		if len(told) != len(test.want) || len(told) > 0 && told[0] != test.want[0] {
			t.Errorf("%s: got %q, want %q", name, told, test.want)
		}
		was, err := replays.Was(v, install, visible, test.asOf)
		if err != nil || was != (len(test.want) > 0) {
			t.Errorf("%s: was it replayed: %t, %v", name, was, err)
		}
	}
	got, err := replays.OfCommand(v, install, schemas.Watermark{at: all / 2}, time.Time{})
	if err != nil || len(got) != 1 || got[0].Host != "ci1" || got[0].Directory != "/home/bob" || got[0].Started == nil || !got[0].Started.Equal(start) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestWorked says which outcomes count as what.
func TestWorked(t *testing.T) {
	zero, two := int32(0), int32(2)
	for name, test := range map[string]struct {
		step                replays.Step
		ran, worked, failed bool
	}{
		"done":                     {replays.Step{State: replays.StateDone, ExitCode: &zero}, true, true, false},
		"done, failed as recorded": {replays.Step{State: replays.StateDone, ExitCode: &two}, true, false, true},
		"failed":                   {replays.Step{State: replays.StateFailed, ExitCode: &two}, true, false, true},
		"stopped":                  {replays.Step{State: replays.StateStopped}, true, false, false},
		"killed":                   {replays.Step{State: replays.StateUnfinished}, true, false, false},
		"was there":                {replays.Step{State: replays.StateSatisfied}, false, false, false},
		"skipped":                  {replays.Step{State: replays.StateSkipped}, false, false, false},
	} {
		r := replays.Replayed{Step: test.step}
		if r.Ran() != test.ran || r.Worked() != test.worked || r.Failed() != test.failed {
			t.Errorf("%s: ran %t, worked %t, failed %t", name, r.Ran(), r.Worked(), r.Failed())
		}
	}
}
