package node

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

func commandEvent(name string) schemas.Event {
	return schemas.Event{ID: schemas.NewCanon("test").String(name).ID(), Payload: []byte(`{"command":"` + name + `"}`)}
}

// waitingAppender returns an appender without projected events, over the log function of a test.
func waitingAppender(t *testing.T, log func(context.Context, ...schemas.Event) ([]schemas.Position, error)) *appender {
	t.Helper()
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := newAppender(nil, r, func(string, schemas.EventID) (schemas.Position, bool) { return schemas.Position{}, false })
	a.log = func(ctx context.Context, _ string, events ...schemas.Event) ([]schemas.Position, error) {
		return log(ctx, events...)
	}
	return a
}

// TestWaitersLearnWhatBecameOfAnAppendWhoseCallerLeft is a regression test: if the caller of an
// append went away, others who waited for the same id failed, and the next append of it stored it
// again.
func TestWaitersLearnWhatBecameOfAnAppendWhoseCallerLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		appends := 0
		stored := make(chan struct{})
		at := schemas.Position{Topic: "recount.commands", Offset: 7}
		a := waitingAppender(t, func(ctx context.Context, _ ...schemas.Event) ([]schemas.Position, error) {
			appends++
			select {
			case <-stored:
				return []schemas.Position{at}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		ctx, leave := context.WithCancel(t.Context())
		go func() { _, _ = a.Append(ctx, []schemas.Event{commandEvent("make")}) }()
		synctest.Wait()
		second := make(chan error, 1)
		go func() {
			out, err := a.Append(t.Context(), []schemas.Event{commandEvent("make")})
			if err == nil && (out[0].Position != at || !out[0].Duplicate) {
				t.Errorf("the second got %+v", out[0])
			}
			second <- err
		}()
		synctest.Wait() // it waits for the first
		leave()
		synctest.Wait()
		close(stored)
		if err := <-second; err != nil {
			t.Errorf("the second: %v", err)
		}
		if appends != 1 {
			t.Errorf("appended %d times", appends)
		}
	})
}

// TestWaitersTryThemselvesWhereAnotherFailed is a regression test: an invalid event in a request
// also failed other callers who had sent one of its valid events at the same time.
func TestWaitersTryThemselvesWhereAnotherFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waited := make(chan struct{})
		refused := schemas.Poisonf("event of another size")
		at := schemas.Position{Topic: "recount.commands", Offset: 8}
		a := waitingAppender(t, func(_ context.Context, events ...schemas.Event) ([]schemas.Position, error) {
			if len(events) == 1 {
				return []schemas.Position{at}, nil
			}
			<-waited
			return nil, refused
		})
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := a.Append(t.Context(), []schemas.Event{commandEvent("make"), commandEvent("too large")})
			first <- err
		}()
		synctest.Wait()
		go func() {
			out, err := a.Append(t.Context(), []schemas.Event{commandEvent("make")})
			if err == nil && (out[0].Position != at || out[0].Duplicate) {
				t.Errorf("the second got %+v", out[0])
			}
			second <- err
		}()
		synctest.Wait() // it waits for the first
		close(waited)
		if err := <-first; !errors.Is(err, refused) {
			t.Errorf("the first: %v", err)
		}
		if err := <-second; err != nil {
			t.Errorf("the second: %v", err)
		}
	})
}

// TestReusedIDOfAgentsEvent checks that an agent's event with a known id counts as a duplicate only
// if its content is equal, whether the other one is in progress or projected, and that the same id
// of another tenant, workspace or agent is a different event.
func TestReusedIDOfAgentsEvent(t *testing.T) {
	event := func(payload string) schemas.Event {
		return schemas.Event{ID: schemas.EventID{1}, Type: schemas.TypeUserMessage, Payload: []byte(payload)}
	}
	const said = `{"agent":"a","text":"one"}`
	var stored []schemas.Event
	a := waitingAppender(t, func(_ context.Context, events ...schemas.Event) ([]schemas.Position, error) {
		var at []schemas.Position
		for _, e := range events {
			at = append(at, schemas.Position{Topic: "recount.agents", Offset: int64(len(stored))})
			stored = append(stored, e)
		}
		return at, nil
	})
	projected := map[schemas.EventID]int{}
	a.find = func(_ string, id schemas.EventID) (schemas.Position, bool) {
		at, ok := projected[id]
		return schemas.Position{Topic: "recount.agents", Offset: int64(at)}, ok
	}
	a.read = func(_ context.Context, at schemas.Position) (schemas.LogRecord, error) {
		e := stored[at.Offset]
		return schemas.LogRecord{Position: at, Headers: e.Headers(), Key: e.Key, Value: e.Payload, Timestamp: e.Time}, nil
	}
	check := func(name, payload string, duplicate, refused bool) {
		t.Helper()
		out, err := a.Append(t.Context(), []schemas.Event{{Payload: []byte(`{"command":"` + name + `"}`)}, event(payload)})
		switch {
		case refused != errors.Is(err, api.ErrReused):
			t.Errorf("%s: %v", name, err)
		case err == nil && out[1].Duplicate != duplicate:
			t.Errorf("%s: %+v", name, out[1])
		}
	}
	check("the first", said, false, false)
	check("the same", said, true, false)
	check("the same, written otherwise", `{ "text": "one", "agent": "a" }`, true, false)
	before := len(stored)
	check("another text", `{"agent":"a","text":"two"}`, false, true)
	if len(stored) != before {
		t.Errorf("%d events of a request that was refused are stored", len(stored)-before)
	}
	check("another text, again", `{"agent":"a","text":"two"}`, false, true) // and the events sent with it were released
	check("another agent", `{"agent":"b","text":"two"}`, false, false)
	check("another tenant", `{"tenant":"t","agent":"a","text":"two"}`, false, false)

	as := schemas.EventObjectID("", "", "a", schemas.EventID{1})
	projected[as] = 1 // behind the command that came with it
	forget := func() { a.recent.Purge() }
	forget()
	check("projected, the same", said, true, false)
	forget()
	check("projected, another text", `{"agent":"a","text":"two"}`, false, true)
}

// TestAgentsEventsAreChecked checks that an event that the processor would reject is refused on
// append.
func TestAgentsEventsAreChecked(t *testing.T) {
	a := waitingAppender(t, func(_ context.Context, events ...schemas.Event) ([]schemas.Position, error) {
		return make([]schemas.Position, len(events)), nil
	})
	for _, c := range []struct {
		e      schemas.Event
		reason string // "" if it is valid
	}{
		{schemas.Event{Type: schemas.TypeStateChanged, Payload: []byte(`{"state":{"value":"x"}}`)}, "state.key"},
		{schemas.Event{Type: "dream_had", Payload: []byte(`{"text":"x"}`)}, `event type "dream_had": unknown`},
		{schemas.Event{Type: "dream_had", Topic: schemas.TopicAgents, Payload: []byte(`{"text":"x"}`)}, ""},
		{schemas.Event{Topic: schemas.TopicAgents, Payload: []byte(`{"text":"x"}`)}, ""},
		{schemas.Event{Type: schemas.TypeCommandExecuted, Topic: schemas.TopicAgents, Payload: []byte(`{"command":"x"}`)}, "belongs to topic commands"},
	} {
		_, err := a.Append(t.Context(), []schemas.Event{c.e})
		if c.reason == "" && err != nil || c.reason != "" && (!errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), c.reason)) {
			t.Errorf("%s %s: got %v, want %q", c.e.Type, c.e.Payload, err, c.reason)
		}
	}
	p, _, err := a.intake.Prepare(t.Context(), schemas.Event{Type: schemas.TypeUserMessage, Payload: []byte(`{"agent":"a","occurred_at":"2026-11-20T10:00:00Z"}`)})
	if err != nil || p.Time.Format("2006-01-02") != "2026-11-20" {
		t.Errorf("time %v, %v: want that of occurred_at, so that it is one event when sent twice", p.Time, err)
	}
}

// TestAttributesAreRedacted checks that attributes beside the payload are redacted and that equal
// ones stay equal.
func TestAttributesAreRedacted(t *testing.T) {
	const source, gone = "https://me:hunter2@ci.example.com", "https://me:[redacted:url-password]@ci.example.com"
	var got []schemas.Event
	a := waitingAppender(t, func(_ context.Context, events ...schemas.Event) ([]schemas.Position, error) {
		got = append(got, events...)
		return make([]schemas.Position, len(events)), nil
	})
	id := schemas.ProducerID(source, "build 7")
	out, err := a.Append(t.Context(), []schemas.Event{
		{ID: id, Source: source, Subject: "a token=abc1", Key: []byte(source), Payload: []byte(`{"command":"make","cwd":"/src"}`)},
		{Source: source, Type: schemas.TypeOutcomeObserved, Key: []byte(source), Payload: []byte(`{"command_event_id":"build 7","exit_code":1}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range got {
		if e.Source != gone || string(e.Key) != gone || out[i].Redacted < 2 {
			t.Errorf("source %q, key %q, %d redacted", e.Source, e.Key, out[i].Redacted)
		}
	}
	if got[0].Subject != "a token=[redacted:secret]" {
		t.Errorf("subject %q", got[0].Subject)
	}
	m, err := got[1].DecodePayload()
	if err != nil {
		t.Fatal(err)
	}
	if joined := schemas.ProducerID(got[1].Source, m.(*recountv1.OutcomeObserved).CommandEventId); joined != got[0].ID {
		t.Errorf("the outcome is of %s, the command is %s", joined, got[0].ID)
	}
}
