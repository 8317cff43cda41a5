// Package agent turns the events of topic `agents` into objects: what an agent said, did, planned
// and learned becomes a memory, a state, an artifact, a tool call, a task or a handoff, with typed
// edges to what caused it and to what it mentions.
//
// One event makes one object, whose type follows from the event's type (shapes.go):
//
//	user_message, assistant_message   memory, episodic
//	tool_call_issued                  tool call
//	tool_result_returned              memory, factual
//	plan_updated                      memory, procedural; a version of the plan
//	critique_generated                memory, reflective
//	memory_stated                     memory of the kind it says, else factual
//	state_changed                     a version of the state
//	artifact_produced                 a version of the artifact
//	task_started, task_finished       versions of the task
//	handoff_occurred                  handoff
//	recall.used                       recall: what was of use, by its edges
//	work_announced, work_ended        versions of the announcement
//	any other type                    event: kept with what it has
//
// The object of an event has the id EventObjectID. A version of a named thing has the id
// NamedObjectID: a plan by its session and id, a state by its agent and key, an artifact by its
// URI, a task by its id, an announcement by its agent, session and subject. The event's own id
// still leads to the version, since every stored version names the event that made it.
//
// Objects is a pure function of the event. Every event that decodes and passes Check becomes an
// object, even if most fields are empty. Time and memory are bounded by the event's size. Edges
// name their other ends as the event does; nothing is looked up or joined.
package agent

import (
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Name is the processor's name and version. The version increases with every change of the output.
const Name = "agent/3"

// Objects makes the object of an agent's event and its edges, without embeddings. Errors are of
// class ErrPoison.
func Objects(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	return Remembering(nil)(e, payload, rec)
}

// Remembering returns Objects with a cache of how command lines were understood, which affects only
// speed. A nil cache stores nothing.
func Remembering(commands *command.Memory) func(schemas.Event, proto.Message, *recountv1.Record) error {
	return func(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
		if err := Check(payload); err != nil {
			return err
		}
		b := &maker{e: e, m: payload.(*recountv1.AgentEvent), commands: commands, o: &recountv1.Object{}}
		b.make()
		rec.Body = &recountv1.Record_Objects{Objects: &recountv1.ObjectBatch{
			Objects: []*recountv1.Object{b.o}, Edges: b.edges,
		}}
		return nil
	}
}

// maxMemoryKind is the largest number of a kind of memory, known or not, that the projection
// objects can store.
const maxMemoryKind = 0x1f

// Check returns an error for an agent's event that the schema's constraints accept but Objects does
// not: names with a NUL byte, times outside the valid range, a state without a key, a relation
// without a target. Endpoints call it before they append. Errors are of class ErrPoison and name
// the field.
func Check(payload proto.Message) error {
	m, ok := payload.(*recountv1.AgentEvent)
	if !ok {
		return schemas.Poisonf("payload is %T, want AgentEvent", payload)
	}
	// Names are parts of keys, in which a NUL ends them.
	for _, f := range []struct{ name, value string }{
		{"tenant", m.Tenant},
		{"workspace", m.Workspace},
		{"agent", m.Agent},
		{"session", m.Session},
		{"parent_event_id", m.ParentEventId},
		{"tool.name", m.GetTool().GetName()},
		{"tool.call_id", m.GetTool().GetCallId()},
		{"plan.id", m.GetPlan().GetId()},
		{"state.key", m.GetState().GetKey()},
		{"artifact.uri", m.GetArtifact().GetUri()},
		{"task.id", m.GetTask().GetId()},
		{"handoff.to_agent", m.GetHandoff().GetToAgent()},
		{"handoff.to_session", m.GetHandoff().GetToSession()},
		{"memory.subject", m.GetMemory().GetSubject()},
		{"memory.predicate", m.GetMemory().GetPredicate()},
		{"memory.form", m.GetMemory().GetForm()},
		{"announcement.subject", m.GetAnnouncement().GetSubject()},
	} {
		if strings.IndexByte(f.value, 0) >= 0 {
			return schemas.Poisonf("%s: holds a NUL byte", f.name)
		}
	}
	for i, id := range m.CausedBy {
		if strings.IndexByte(id, 0) >= 0 {
			return schemas.Poisonf("caused_by[%d]: holds a NUL byte", i)
		}
	}
	for i, r := range m.Relations {
		switch {
		case strings.IndexByte(r.GetEventId()+r.GetRef()+r.GetKind(), 0) >= 0:
			return schemas.Poisonf("relations[%d]: holds a NUL byte", i)
		case strings.TrimSpace(r.GetEventId()+r.GetRef()) == "":
			return schemas.Poisonf("relations[%d]: has no target: set event_id, or ref such as \"commit:9fceb02\"", i)
		}
	}
	if m.State != nil && strings.TrimSpace(m.State.Key) == "" {
		return schemas.Poisonf("state.key: empty: name what has this value, such as \"build.status\"")
	}
	if k := m.GetMemory().GetKind(); k < 0 || k > maxMemoryKind {
		return schemas.Poisonf("memory.kind: %d: want 0 to %d", k, maxMemoryKind)
	}
	for _, f := range []struct {
		name string
		at   *timestamppb.Timestamp
	}{{"occurred_at", m.OccurredAt}, {"valid_from", m.ValidFrom}, {"valid_until", m.ValidUntil}} {
		if err := schemas.CheckTime(f.name, f.at); err != nil {
			return err
		}
	}
	if err := checkAnnouncement(m); err != nil {
		return err
	}
	if m.ValidFrom != nil && m.ValidUntil != nil && m.ValidUntil.AsTime().Before(m.ValidFrom.AsTime()) {
		return schemas.Poisonf("valid_until: %s is before valid_from, %s",
			m.ValidUntil.AsTime().Format(time.RFC3339), m.ValidFrom.AsTime().Format(time.RFC3339))
	}
	return nil
}

// nanos returns a time in nanoseconds since 1970, or absent if it is nil.
func nanos(at *timestamppb.Timestamp, absent int64) int64 {
	if at == nil {
		return absent
	}
	return at.AsTime().UnixNano()
}
