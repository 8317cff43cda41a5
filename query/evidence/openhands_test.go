package evidence_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// toldCause is a cause reported by OpenHands: the times of an event and of its cause.
type toldCause struct{ effect, cause time.Time }

// openhandsCauses returns the causes that runs of OpenHands report for their events, if both ends
// are in the file.
func openhandsCauses(t *testing.T, runs []byte) (all []toldCause) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(runs))
	lines.Buffer(nil, len(runs)+1)
	for lines.Scan() {
		var run struct {
			History []struct {
				ID          int
				Timestamp   string
				Cause       *int
				Observation string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &run); err != nil {
			t.Fatal(err)
		}
		at := map[int]time.Time{}
		for _, s := range run.History {
			when, err := time.Parse("2006-01-02T15:04:05.999999", s.Timestamp)
			if err != nil {
				t.Fatal(err)
			}
			at[s.ID] = when
			if s.Cause == nil || s.Observation == "think" { // recording a thought is not an event
				continue
			}
			if cause, known := at[*s.Cause]; known {
				all = append(all, toldCause{when, cause})
			}
		}
	}
	return all
}

// TestCausesAgreeWithOpenHands checks that the edges in an answer include every cause that runs of
// OpenHands report, and no other call as the cause of a result.
func TestCausesAgreeWithOpenHands(t *testing.T) {
	runs, err := os.ReadFile("../../internal/agentlog/testdata/openhands.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var events []schemas.LogRecord
	byTime := map[time.Time][]schemas.EventID{}
	for e, err := range agentlog.Read(bytes.NewReader(runs), agentlog.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.DecodePayload()
		if err != nil {
			t.Fatal(err)
		}
		when := m.(*recountv1.AgentEvent).GetOccurredAt().AsTime()
		byTime[when] = append(byTime[when], e.ID)
		events = append(events, schemas.LogRecord{
			Position: schemas.Position{Topic: topic, Offset: int64(len(events))}, Timestamp: when, Headers: e.Headers(), Value: e.Payload,
		})
	}
	w := newWorld(t)
	records, err := processors.Records(t.Context(), events, processors.DefaultChain())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.set.Apply(t.Context(), schemas.Batch{Topic: topic, Records: records, Next: int64(len(events))}); err != nil {
		t.Fatal(err)
	}

	told := openhandsCauses(t, runs)
	if len(told) < 10 {
		t.Fatalf("%d causes: the sample tells too little", len(told))
	}
	for _, c := range told {
		if len(byTime[c.effect]) == 0 || len(byTime[c.cause]) == 0 {
			t.Errorf("%s, caused at %s: %d and %d events", c.effect, c.cause, len(byTime[c.effect]), len(byTime[c.cause]))
			continue
		}
		for _, effect := range byTime[c.effect] {
			r := w.ask(operator, evidence.Request{Text: effect.String(), Include: []string{evidence.IncludeProvenance}})
			event := map[string]string{} // by object
			for _, e := range r.Provenance {
				event[e.Object] = e.ID
			}
			var led []string
			for _, e := range r.Edges {
				switch {
				case e.Kind == "caused_by" && event[e.From] == effect.String():
					led = append(led, event[e.To])
				case e.Kind == "tool_produces" && event[e.To] == effect.String():
					led = append(led, event[e.From])
				}
			}
			slices.Sort(led)
			led = slices.Compact(led)
			if len(led) != 1 || !slices.ContainsFunc(byTime[c.cause], func(id schemas.EventID) bool { return id.String() == led[0] }) {
				t.Errorf("event %s at %s: led to by %q, OpenHands says by the one at %s, %v", effect, c.effect, led, c.cause, byTime[c.cause])
			}
		}
	}
}
