package evidence_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/processors/agent"
	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const topic = "recount." + schemas.TopicAgents

var epoch = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// world has projections fed by hand, as the pipeline would feed them.
type world struct {
	t    testing.TB
	set  *projections.Set
	next schemas.Watermark
	src  evidence.Sources
	// sees, if set, is the principal who must see an event; other events are stored empty.
	sees *schemas.Principal
}

func newWorld(t testing.TB) *world {
	t.Helper()
	set, err := projections.Open(t.TempDir(), projections.Options{}, objects.Kind, lexical.Kind, vector.Kind(vector.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, set: set, next: schemas.Watermark{}}
	w.src = evidence.Sources{Set: set, Embedder: embed.NewHash()}
	return w
}

// said is an event of an agent in short form. The defaults are agent "claude", workspace "shop",
// session "s1", and the minute after the previous event.
type said struct {
	id, typ string
	minute  int
	*recountv1.AgentEvent
}

// record returns the record that the pipeline makes of an event.
func record(t testing.TB, s said, at schemas.Position) *recountv1.Record {
	t.Helper()
	m := s.AgentEvent
	if m.OccurredAt == nil {
		m.OccurredAt = timestamppb.New(epoch.Add(time.Duration(s.minute) * time.Minute))
	}
	e := schemas.Event{ID: schemas.ProducerID("test", s.id), Type: s.typ, Source: "test", Topic: schemas.TopicAgents, Time: m.OccurredAt.AsTime()}
	r := &recountv1.Record{Origin: at.Proto(), EventId: e.ID[:], EventType: e.Type}
	if err := agent.Objects(e, m, r); err != nil {
		t.Fatalf("%s: %v", s.id, err)
	}
	agent.Embed(r.GetObjects(), embed.NewHash())
	return r
}

// add appends events to a partition.
func (w *world) add(partition int32, events ...said) {
	w.t.Helper()
	tp := schemas.TopicPartition{Topic: topic, Partition: partition}
	b := schemas.Batch{Topic: topic, Partition: partition}
	for _, s := range events {
		r := record(w.t, s, schemas.Position{Topic: topic, Partition: partition, Offset: w.next[tp]})
		if m := s.AgentEvent; w.sees != nil && !w.sees.Sees(schemas.AudienceOf(m.Tenant, m.Workspace, m.Session, m.Agent, m.Visibility)) {
			r.Body = nil
		}
		b.Records = append(b.Records, r)
		w.next[tp]++
	}
	b.Next = w.next[tp]
	if err := w.set.Apply(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
}

var operator = schemas.Principal{Operator: true}

func (w *world) ask(p schemas.Principal, r evidence.Request) evidence.Response {
	w.t.Helper()
	resp, err := evidence.Ask(context.Background(), w.src, p, r)
	if err != nil {
		w.t.Fatalf("ask %+v: %v", r, err)
	}
	return resp
}

// told returns an answer as bytes, without what differs from run to run.
func told(t testing.TB, r evidence.Response) string {
	t.Helper()
	r.Timing.Steps, r.Timing.TotalUS = nil, 0
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
