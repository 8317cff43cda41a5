package replayjournal

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// log keeps events, or fails.
type log struct {
	events []schemas.Event
	fails  error
}

func (l *log) Append(_ context.Context, events []schemas.Event) ([]api.Appended, error) {
	if l.fails != nil {
		return nil, l.fails
	}
	l.events = append(l.events, events...)
	return []api.Appended{{Position: schemas.Position{Topic: "recount.commands", Offset: int64(len(l.events) - 1)}}}, nil
}

func journal(l *log) *Journal {
	now := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	return &Journal{Log: l, Redact: redact.Default(), Run: "r-1", Workspace: "/src/shop", Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}}
}

func TestJournal(t *testing.T) {
	l := &log{}
	j := journal(l)
	id := schemas.NewCanon("test").ID().String()
	for _, err := range []error{
		j.Planned(t.Context(), &recountv1.ReplayPlanned{PlanId: "ab", Plan: `{"steps":[{"command":"mysql --password hunter2","env":{"DB_PASSWORD":"hunter3"}}]}`}),
		j.Started(t.Context(), &recountv1.ReplayStepStarted{Step: 1, Attempt: 1, CommandEventId: id, Command: "mysql --password hunter2"}),
		j.Ended(t.Context(), &recountv1.ReplayStepEnded{Step: 1, Attempt: 1, CommandEventId: id, State: recountv1.ReplayState_REPLAY_STATE_DONE, OutputTail: "PGPASSWORD=hunter2"}),
		j.Done(t.Context(), &recountv1.ReplayEnded{State: recountv1.ReplayState_REPLAY_STATE_DONE}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var types []string
	for _, e := range l.events {
		types = append(types, e.Type)
		m, err := e.DecodePayload()
		if err != nil {
			t.Fatalf("%s: %v", e.Type, err)
		}
		if string(e.Key) != "/src/shop" || m.(interface{ GetRun() string }).GetRun() != "r-1" {
			t.Errorf("%s has key %q and payload %v", e.Type, e.Key, m)
		}
		if strings.Contains(string(e.Payload), "hunter") {
			t.Errorf("%s tells a secret: %s", e.Type, e.Payload)
		}
	}
	if diff := cmp.Diff([]string{schemas.TypeReplayPlanned, schemas.TypeReplayStarted, schemas.TypeReplayStepEnded, schemas.TypeReplayEnded}, types); diff != "" {
		t.Error(diff)
	}
	if got := j.Written().String(); got != "recount.commands/0:4" {
		t.Errorf("written up to %s", got)
	}
	// The same attempt has the same id, another one another.
	if err := errors.Join(
		j.Started(t.Context(), &recountv1.ReplayStepStarted{Step: 1, Attempt: 1}),
		j.Started(t.Context(), &recountv1.ReplayStepStarted{Step: 1, Attempt: 2}),
	); err != nil {
		t.Fatal(err)
	}
	if l.events[4].ID != l.events[1].ID || l.events[5].ID == l.events[1].ID {
		t.Errorf("ids %s, %s, %s", l.events[1].ID, l.events[4].ID, l.events[5].ID)
	}
}

func TestJournalFails(t *testing.T) {
	full := errors.New("no space left")
	j := journal(&log{fails: full})
	if err := j.Done(t.Context(), &recountv1.ReplayEnded{State: recountv1.ReplayState_REPLAY_STATE_DONE}); !errors.Is(err, full) || !strings.Contains(err.Error(), schemas.TypeReplayEnded) {
		t.Errorf("got %v", err)
	}
	j = journal(&log{})
	if err := j.Planned(t.Context(), &recountv1.ReplayPlanned{Plan: strings.Repeat("x", maxPlan+1)}); err == nil || !strings.Contains(err.Error(), "smaller range") {
		t.Errorf("a plan that is too large: %v", err)
	}
}

func TestNewRun(t *testing.T) {
	if a, b := NewRun(), NewRun(); a == b || !strings.HasPrefix(a, "r-") || len(a) != 10 {
		t.Errorf("%q and %q", a, b)
	}
}
