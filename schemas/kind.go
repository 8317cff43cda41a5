package schemas

import (
	"bytes"
	"encoding/json"
	"strings"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Kind is one type of event. To add one, add a message to events.proto, a line to kinds, and a
// frozen example to testdata.
type Kind struct {
	// Type is the CloudEvents type.
	Type string
	// Topic is the topic of its events without the prefix, such as "commands".
	Topic string
	// New returns an empty payload.
	New func() proto.Message
	// Unconstrained says that the schema states no constraints for the payload. Validation is then skipped;
	// looking for constraints costs a third of the decoding time.
	Unconstrained bool
	// JSON, if not nil, decodes a payload whose JSON is not the protobuf mapping.
	JSON func(data []byte, m proto.Message) error
	// FastDecode, if not nil, is a fast path: it decodes and validates the most common form of JSON with
	// the same result as the general decoder. ok is false if the payload has another form; the
	// general decoder then handles it.
	FastDecode func(data []byte) (m proto.Message, ok bool)
}

// These are the types of events, the values of ce_type.
const (
	TypeCommandExecuted = "command.executed"
	TypeOutcomeObserved = "outcome.observed"
	TypeSourceRevised   = "source.revised"
	TypeCommitRecorded  = "commit.recorded"
	TypeRefMoved        = "ref.moved"
	TypeRetired         = "snapshots.retired"
	TypeSpansExported   = "spans.exported"
	TypeAccessLogged    = "access.logged"
	TypeRejected        = "rejected"
	TypeErased          = "events.erased"
	TypeKeysPlaced      = "keys.placed"
	TypeRecordsRetired  = "records.retired"
	TypeSpansSummarised = "spans.summarised"
	TypeIDsRetired      = "ids.retired"
	TypeFeedbackGiven   = "feedback.given"
	TypeContextReturned = "context.returned"
	TypeReplayPlanned   = "replay.planned"
	TypeReplayStarted   = "replay.step.started"
	TypeReplayStepEnded = "replay.step.ended"
	TypeReplayEnded     = "replay.ended"
)

// These are the types of agents' events.
const (
	TypeUserMessage      = "user_message"
	TypeAssistantMessage = "assistant_message"
	TypeToolCall         = "tool_call_issued"
	TypeToolResult       = "tool_result_returned"
	TypePlanUpdated      = "plan_updated"
	TypeCritique         = "critique_generated"
	TypeStateChanged     = "state_changed"
	TypeArtifact         = "artifact_produced"
	TypeTaskStarted      = "task_started"
	TypeTaskFinished     = "task_finished"
	TypeHandoff          = "handoff_occurred"
	TypeMemoryStated     = "memory_stated"
	TypeRecallUsed       = "recall.used"
	TypeWorkAnnounced    = "work_announced"
	TypeWorkEnded        = "work_ended"
)

// These are the topics, without their prefix.
const (
	TopicCommands = "commands"
	TopicCommits  = "commits"
	TopicSpans    = "spans"
	TopicAgents   = "agents"
	TopicErasures = "erasures"
	TopicRejected = "rejected"
	TopicFacts    = "facts"
)

// kinds lists every kind; the first kind of a topic is the topic's default. The payload of
// spans.exported is an OTLP ExportTraceServiceRequest, whose protobuf and JSON forms equal those of
// TracesData.
var kinds = []Kind{
	{Type: TypeCommandExecuted, Topic: TopicCommands, New: func() proto.Message { return &recountv1.CommandExecuted{} }, FastDecode: plainCommand},
	{Type: TypeOutcomeObserved, Topic: TopicCommands, New: func() proto.Message { return &recountv1.OutcomeObserved{} }},
	{Type: TypeReplayPlanned, Topic: TopicCommands, New: func() proto.Message { return &recountv1.ReplayPlanned{} }},
	{Type: TypeReplayStarted, Topic: TopicCommands, New: func() proto.Message { return &recountv1.ReplayStepStarted{} }},
	{Type: TypeReplayStepEnded, Topic: TopicCommands, New: func() proto.Message { return &recountv1.ReplayStepEnded{} }},
	{Type: TypeReplayEnded, Topic: TopicCommands, New: func() proto.Message { return &recountv1.ReplayEnded{} }},
	{Type: TypeCommitRecorded, Topic: TopicCommits, New: func() proto.Message { return &recountv1.CommitRecorded{} }},
	{Type: TypeSourceRevised, Topic: TopicCommits, New: func() proto.Message { return &recountv1.SourceRevised{} }},
	{Type: TypeRefMoved, Topic: TopicCommits, New: func() proto.Message { return &recountv1.RefMoved{} }},
	{Type: TypeRetired, Topic: TopicCommits, New: func() proto.Message { return &recountv1.SnapshotsRetired{} }},
	{Type: TypeSpansExported, Topic: TopicSpans, New: func() proto.Message { return &tracepb.TracesData{} }, Unconstrained: true, JSON: UnmarshalOTLP},
	{Type: TypeAccessLogged, Topic: TopicSpans, New: func() proto.Message { return &recountv1.AccessLogged{} }},
	{Type: TypeUserMessage, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeAssistantMessage, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeToolCall, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeToolResult, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypePlanUpdated, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeCritique, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeStateChanged, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeArtifact, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeTaskStarted, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeTaskFinished, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeHandoff, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeMemoryStated, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeRecallUsed, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeWorkAnnounced, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeWorkEnded, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent},
	{Type: TypeErased, Topic: TopicErasures, New: func() proto.Message { return &recountv1.EventsErased{} }},
	{Type: TypeKeysPlaced, Topic: TopicErasures, New: func() proto.Message { return &recountv1.KeysPlaced{} }},
	{Type: TypeRecordsRetired, Topic: TopicErasures, New: func() proto.Message { return &recountv1.RecordsRetired{} }},
	{Type: TypeRejected, Topic: TopicRejected, New: func() proto.Message { return &recountv1.Rejected{} }},
	{Type: TypeSpansSummarised, Topic: TopicFacts, New: func() proto.Message { return &recountv1.SpansSummarised{} }, Unconstrained: true},
	{Type: TypeIDsRetired, Topic: TopicFacts, New: func() proto.Message { return &recountv1.IdsRetired{} }},
	{Type: TypeFeedbackGiven, Topic: TopicFacts, New: func() proto.Message { return &recountv1.FeedbackGiven{} }},
	{Type: TypeContextReturned, Topic: TopicFacts, New: func() proto.Message { return &recountv1.ContextReturned{} }},
}

func newAgentEvent() proto.Message { return &recountv1.AgentEvent{} }

// Kinds returns all kinds, in order of registration.
func Kinds() []Kind { return append([]Kind(nil), kinds...) }

// Kind returns the kind of the event's type. The topic agents accepts unknown types, with the same
// payload as the known ones.
func (e Event) Kind() (Kind, bool) {
	if k, ok := KindOf(e.Type); ok {
		return k, true
	}
	if e.Topic == TopicAgents && e.Type != "" {
		return Kind{Type: e.Type, Topic: TopicAgents, New: newAgentEvent, FastDecode: plainAgent}, true
	}
	return Kind{}, false
}

// KindOf finds the kind of a type.
func KindOf(typ string) (Kind, bool) {
	for _, k := range kinds {
		if k.Type == typ {
			return k, true
		}
	}
	return Kind{}, false
}

// Topics returns the topics' names without prefix, in order of registration.
func Topics() []string {
	var names []string
	seen := map[string]bool{}
	for _, k := range kinds {
		if !seen[k.Topic] {
			seen[k.Topic] = true
			names = append(names, k.Topic)
		}
	}
	return names
}

// DefaultType returns the type of an event that does not state one: the first kind of the topic, or
// "" if the topic has no kind. The prefix is ignored.
func DefaultType(topic string) string {
	name := topic[strings.LastIndexByte(topic, '.')+1:]
	for _, k := range kinds {
		if k.Topic == name {
			return k.Type
		}
	}
	return ""
}

// DecodePayload decodes and validates the payload. Unknown JSON fields are errors, so that a
// misspelt name is reported. Errors are of class ErrPoison.
func (e Event) DecodePayload() (proto.Message, error) {
	k, ok := e.Kind()
	if !ok {
		return nil, Poisonf("event type %q: unknown", e.Type)
	}
	inJSON := e.ContentType == ContentJSON || e.ContentType == ""
	if inJSON && k.FastDecode != nil {
		if m, ok := k.FastDecode(e.Payload); ok {
			return m, nil
		}
	}
	m := k.New()
	var err error
	switch {
	case inJSON:
		if k.JSON != nil {
			err = k.JSON(e.Payload, m)
			break
		}
		err = protojson.UnmarshalOptions{RecursionLimit: 100}.Unmarshal(e.Payload, m)
	case e.ContentType == ContentProto:
		err = proto.Unmarshal(e.Payload, m)
	default:
		return nil, Poisonf("content type %q: want %s or %s", e.ContentType, ContentJSON, ContentProto)
	}
	if err != nil {
		return nil, Poisonf("payload of %s: %s", e.Type, plain(err))
	}
	if k.Unconstrained {
		return m, nil
	}
	if err := Validate(m); err != nil {
		return nil, err
	}
	return m, nil
}

// EncodePayload returns the payload as JSON that DecodePayload reads: with the field names of
// events.proto, or as OTLP. The bytes are the same in every build, because ids are derived from
// them. (protojson alone inserts spaces depending on a hash of the binary.)
func EncodePayload(m proto.Message) ([]byte, error) {
	if spans, ok := m.(*tracepb.TracesData); ok {
		return MarshalOTLP(spans)
	}
	spaced, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var tight bytes.Buffer
	err = json.Compact(&tight, spaced)
	return tight.Bytes(), err
}

// plain removes the variations that protobuf adds to its messages at random (a space may be a
// no-break space), so that equal input gives equal text.
func plain(err error) string {
	s := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return strings.TrimPrefix(s, "proto: ")
}
