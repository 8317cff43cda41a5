package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/processors/agent"
	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const topic = "recount." + schemas.TopicAgents

var epoch = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// world has the projections that recall reads, fed by hand. Its events are a minute apart.
type world struct {
	t       *testing.T
	asked   Asked
	next    int64
	minute  int
	tenant  string
	session string
	last    schemas.EventID
}

func newWorld(t *testing.T) *world {
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
	w := &world{t: t, session: "s1"}
	w.asked.Set, w.asked.Principal = set, schemas.Principal{Operator: true}
	return w
}

// add appends an event of the agent claude in the workspace shop.
func (w *world) add(typ string, m *recountv1.AgentEvent) {
	w.t.Helper()
	w.minute++
	m.Agent, m.Workspace, m.Session, m.Tenant = "claude", "shop", w.session, w.tenant
	m.OccurredAt = timestamppb.New(epoch.Add(time.Duration(w.minute) * time.Minute))
	at := schemas.Position{Topic: topic, Offset: w.next}
	e := schemas.Event{ID: schemas.ProducerID("test", fmt.Sprint(w.next)), Type: typ, Source: "test", Topic: schemas.TopicAgents, Time: m.OccurredAt.AsTime()}
	r := &recountv1.Record{Origin: at.Proto(), EventId: e.ID[:], EventType: e.Type}
	if err := agent.Objects(e, m, r); err != nil {
		w.t.Fatal(err)
	}
	agent.Embed(r.GetObjects(), embed.NewHash())
	w.next++
	if err := w.asked.Set.Apply(w.t.Context(), schemas.Batch{Topic: topic, Records: []*recountv1.Record{r}, Next: w.next}); err != nil {
		w.t.Fatal(err)
	}
	w.last = e.ID
}

func (w *world) said(text string) {
	w.t.Helper()
	w.add(schemas.TypeAssistantMessage, &recountv1.AgentEvent{Text: text})
}

func (w *world) prompted(text string) {
	w.t.Helper()
	w.add(schemas.TypeUserMessage, &recountv1.AgentEvent{Text: text})
}

// ran adds a command with its result.
func (w *world) ran(command string, exit int32, output string) {
	w.t.Helper()
	w.used(&recountv1.Tool{Name: "Bash", Command: command, Arguments: `{"command":"x"}`}, &recountv1.Tool{Name: "Bash", Result: output, ExitCode: &exit, Failed: exit != 0, Duration: durationpb.New(90 * time.Second)})
}

func (w *world) edited(file, was, is string) {
	w.t.Helper()
	args, err := json.Marshal(map[string]string{"file_path": file, "old_string": was + "\n", "new_string": is + "\n"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.used(&recountv1.Tool{Name: "Edit", Arguments: string(args)}, &recountv1.Tool{Name: "Edit", Result: "ok"})
}

func (w *world) used(call, result *recountv1.Tool) {
	w.t.Helper()
	w.add(schemas.TypeToolCall, &recountv1.AgentEvent{Tool: call})
	w.add(schemas.TypeToolResult, &recountv1.AgentEvent{Tool: result, ParentEventId: w.last.String()})
}

func (w *world) recall(r Request) Response {
	w.t.Helper()
	if r.Workspace == "" {
		r.Workspace = "shop"
	}
	resp, err := Recall(context.Background(), w.asked, r)
	if err != nil {
		w.t.Fatalf("%+v: %v", r, err)
	}
	return resp
}

func (w *world) brief(r BriefRequest) Response {
	w.t.Helper()
	if r.Workspace == "" {
		r.Workspace = "shop"
	}
	resp, err := Brief(context.Background(), w.asked, r)
	if err != nil {
		w.t.Fatalf("%+v: %v", r, err)
	}
	return resp
}
