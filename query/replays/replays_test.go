package replays_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/projections"
	store "github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var (
	start   = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	build   = schemas.NewCanon("test").String("build").ID()
	install = schemas.NewCanon("test").String("install").ID()
)

// run returns the records of a run that was killed in its second step and went on later.
func run(name, workspace string, after time.Duration) []*recountv1.Record {
	at := func(s int) *timestamppb.Timestamp {
		return timestamppb.New(start.Add(after + time.Duration(s)*time.Second))
	}
	zero := int32(0)
	started := func(s int, m *recountv1.ReplayStepStarted) *recountv1.Record {
		m.Run, m.Workspace, m.OccurredAt = name, workspace, at(s)
		return &recountv1.Record{Body: &recountv1.Record_ReplayStepStarted{ReplayStepStarted: m}}
	}
	ended := func(s int, m *recountv1.ReplayStepEnded) *recountv1.Record {
		m.Run, m.Workspace, m.OccurredAt = name, workspace, at(s)
		return &recountv1.Record{Body: &recountv1.Record_ReplayStepEnded{ReplayStepEnded: m}}
	}
	return []*recountv1.Record{
		{Body: &recountv1.Record_ReplayPlanned{ReplayPlanned: &recountv1.ReplayPlanned{Run: name, Workspace: workspace, OccurredAt: at(0), PlanId: "ab", Goal: "make install", Steps: 3}}},
		ended(1, &recountv1.ReplayStepEnded{Step: 0, CommandEventId: build.String(), State: recountv1.ReplayState_REPLAY_STATE_SATISFIED, Reason: "the directory is there"}),
		started(2, &recountv1.ReplayStepStarted{Step: 1, Attempt: 1, CommandEventId: build.String(), Command: "make"}),
		started(60, &recountv1.ReplayStepStarted{Step: 1, Attempt: 2, CommandEventId: build.String(), Command: "make"}),
		ended(62, &recountv1.ReplayStepEnded{Step: 1, Attempt: 2, CommandEventId: build.String(), State: recountv1.ReplayState_REPLAY_STATE_DONE, ExitCode: &zero, Duration: durationpb.New(2 * time.Second), Files: []*recountv1.WrittenFile{{Path: "/src/shop", Sha256: []byte{1, 2}, Size: 9}}}),
		started(63, &recountv1.ReplayStepStarted{Step: 2, Attempt: 1, CommandEventId: install.String(), Command: "make install"}),
		ended(64, &recountv1.ReplayStepEnded{Step: 2, Attempt: 1, CommandEventId: install.String(), State: recountv1.ReplayState_REPLAY_STATE_FAILED, OutputTail: "denied"}),
		{Body: &recountv1.Record_ReplayEnded{ReplayEnded: &recountv1.ReplayEnded{Run: name, Workspace: workspace, OccurredAt: at(65), State: recountv1.ReplayState_REPLAY_STATE_FAILED, Reason: "step 2 failed", Added: 1}}},
	}
}

// world applies records to one partition and returns what the question reads.
func world(t *testing.T, records []*recountv1.Record) replays.Sources {
	t.Helper()
	set, err := projections.Open(t.TempDir(), projections.Options{}, store.Kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	b := schemas.Batch{Topic: "recount.commands"}
	for _, r := range records {
		r = proto.CloneOf(r)
		id := schemas.NewCanon("test/event").Int(b.Next).ID()
		r.EventId, r.Origin = id[:], schemas.Position{Topic: b.Topic, Offset: b.Next}.Proto()
		b.Records, b.Next = append(b.Records, r), b.Next+1
	}
	if err := set.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return replays.Sources{Set: set, Event: func(_ context.Context, at schemas.Position) (schemas.LogRecord, error) {
		return schemas.LogRecord{Position: at, Timestamp: start, Headers: []schemas.Header{{Key: "ce_type", Value: []byte(schemas.TypeReplayPlanned)}}, Value: []byte(`{"run":"r1","plan":"{\"steps\":[]}"}`)}, nil
	}}
}

func ask(t *testing.T, s replays.Sources, r replays.Request) replays.Response {
	t.Helper()
	resp, err := replays.Ask(t.Context(), s, r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestRun(t *testing.T) {
	s := world(t, run("r1", "/src", 0))
	got := ask(t, s, replays.Request{Run: "r1", Plan: true}).Runs[0]
	if got.State != replays.StateFailed || got.Reason != "step 2 failed" || got.Goal != "make install" || string(got.Plan) != `{"steps":[]}` || !got.Ended.Equal(start.Add(65*time.Second)) {
		t.Errorf("got %+v", got)
	}
	want := replays.Counts{Steps: 3, Done: 1, Failed: 1, Satisfied: 1, Added: 1}
	if diff := cmp.Diff(want, got.Counts); diff != "" {
		t.Error(diff)
	}
	if len(got.Steps) != 3 || got.Steps[1].Attempt != 2 || got.Steps[1].State != replays.StateDone || got.Steps[1].Files[0].SHA256 != "0102" || got.Steps[0].Command != "" || got.Steps[2].Output != "denied" {
		t.Errorf("steps %+v", got.Steps)
	}
}

// TestOrderOfEventsDoesNotMatter applies the events in random orders: the answer is the same but for
// positions.
func TestOrderOfEventsDoesNotMatter(t *testing.T) {
	tell := func(records []*recountv1.Record) replays.Run {
		r := ask(t, world(t, records), replays.Request{Run: "r1"}).Runs[0]
		r.Position, r.End = schemas.Position{}, schemas.Position{}
		for i := range r.Steps {
			r.Steps[i].Began, r.Steps[i].End = schemas.Position{}, schemas.Position{}
		}
		return r
	}
	records := run("r1", "/src", 0)
	want := tell(records)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		rnd.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		if diff := cmp.Diff(want, tell(records)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestKilledRunIsUnfinished(t *testing.T) {
	got := ask(t, world(t, run("r1", "/src", 0)[:3]), replays.Request{Run: "r1"}).Runs[0]
	if got.State != replays.StateUnfinished || got.Counts.Underway != 1 || got.Steps[1].State != replays.StateUnfinished || got.Steps[1].Command != "make" {
		t.Errorf("got %+v", got)
	}
}

func TestList(t *testing.T) {
	s := world(t, append(append(run("r1", "/src", 0), run("r2", "/other", time.Hour)...), run("r3", "/src", 2*time.Hour)...))
	names := func(r replays.Request) (names []string) {
		for _, run := range ask(t, s, r).Runs {
			names = append(names, run.Run)
			if run.Steps != nil || run.Plan != nil {
				t.Errorf("%s is listed with its steps", run.Run)
			}
		}
		return names
	}
	for _, test := range []struct {
		r    replays.Request
		want []string
	}{
		{replays.Request{}, []string{"r3", "r2", "r1"}},
		{replays.Request{Limit: 1}, []string{"r3"}},
		{replays.Request{Workspace: "/src"}, []string{"r3", "r1"}},
		{replays.Request{Command: install.String()}, []string{"r3", "r2", "r1"}},
		{replays.Request{Command: install.String(), Limit: 2, Workspace: "/src"}, []string{"r3", "r1"}},
		{replays.Request{Command: schemas.NewCanon("none").ID().String()}, nil},
	} {
		if diff := cmp.Diff(test.want, names(test.r)); diff != "" {
			t.Errorf("%+v: %s", test.r, diff)
		}
	}
}

func TestRefuses(t *testing.T) {
	s := world(t, run("r1", "/src", 0))
	for _, r := range []replays.Request{{Run: "r1", Workspace: "/src"}, {Plan: true}, {Command: "x"}, {Limit: -1}} {
		_, err := replays.Ask(t.Context(), s, r)
		var refused *query.RequestError
		if !errors.As(err, &refused) {
			t.Errorf("%+v: %v, want a RequestError", r, err)
		}
	}
	_, err := replays.Ask(t.Context(), s, replays.Request{Run: "nope"})
	var missing *query.NotFoundError
	if !errors.As(err, &missing) {
		t.Errorf("a run that is not there: %v", err)
	}
}
