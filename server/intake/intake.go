// Package intake prepares events for the log: it redacts them, completes their attributes, and refuses
// those that could never be applied. Every event that this program appends passes it, whoever sent
// it.
package intake

import (
	"cmp"
	"context"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/otlpwire"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Intake prepares events.
type Intake struct {
	Redact *redact.Redactor
	// Check refuses a payload that the processor of its type would reject (records.Table.Check).
	Check func(e schemas.Event, payload proto.Message) error
	Now   func() time.Time
}

// Prepared is an event in the form in which it will be appended.
type Prepared struct {
	schemas.Event
	// As identifies the event for deduplication: its id, or EventObjectID for agents' events,
	// because tenants may use the same ids.
	As schemas.EventID
	// Content is a hash of an agent's event's content; zero for other events.
	Content schemas.Hash
	Topic   string
}

// ContentOf returns a hash of an agent's event's content, independent of its encoding; zero for
// other events.
func ContentOf(typ string, m proto.Message) (schemas.Hash, error) {
	if _, ok := m.(*recountv1.AgentEvent); !ok {
		return schemas.Hash{}, nil
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	return schemas.NewCanon("recount/content/1").String(typ).Bytes(b).Sum(), err
}

// Prepare redacts an event, fills in missing attributes and checks that the pipeline will be able
// to apply it. It also returns the number of redactions. Redaction may take long; it stops with the
// context's error when ctx ends.
func (a *Intake) Prepare(ctx context.Context, e schemas.Event) (Prepared, int, error) {
	e.Type = cmp.Or(e.Type, schemas.DefaultType(e.Topic), schemas.TypeCommandExecuted)
	e.Source = cmp.Or(e.Source, schemas.DefaultSource)
	e.ContentType = cmp.Or(e.ContentType, schemas.ContentJSON)
	if err := ctx.Err(); err != nil {
		return Prepared{}, 0, err
	}
	kind, known := e.Kind()
	if known && e.Topic != "" && e.Topic != kind.Topic {
		return Prepared{}, 0, schemas.Poisonf("event type %q: belongs to topic %s, not %s", e.Type, kind.Topic, e.Topic)
	}
	p := Prepared{Topic: kind.Topic}
	source := e.Source
	hidden, err := a.attributes(ctx, &e, kind.Topic)
	if err != nil {
		return Prepared{}, 0, err
	}
	var found int
	if e.Type == schemas.TypeSpansExported && e.ContentType == schemas.ContentProto && !e.Time.IsZero() && e.Key != nil {
		p.Event, found, err = a.prepareSpans(ctx, e)
		p.As = p.ID
		return p, found + hidden, err
	}
	m, err := e.DecodePayload()
	if err != nil {
		return p, 0, err
	}
	hiddenIn, err := a.Redact.EventContext(ctx, m)
	if err != nil {
		return p, 0, err
	}
	if found = len(hiddenIn); e.Source != source {
		rejoin(m, source)
		found++
	}
	if found > 0 && !kind.Unconstrained {
		// A placeholder may be longer than what it replaces, so check the limits again.
		if err := schemas.Validate(m); err != nil {
			return p, 0, err
		}
	}
	if err := a.Check(e, m); err != nil {
		return p, 0, err
	}
	byHand := e.Type == schemas.TypeSpansExported && e.ContentType == schemas.ContentJSON
	if byHand { // the log stores the smaller protobuf
		e.ContentType = schemas.ContentProto
	}
	if (byHand || found > 0) && e.ContentType == schemas.ContentProto {
		e.Payload, err = proto.MarshalOptions{Deterministic: true}.Marshal(m)
	} else if found > 0 {
		e.Payload, err = schemas.EncodePayload(m)
	}
	if err != nil {
		return p, 0, err
	}
	if e.Time.IsZero() {
		e.Time = payloadTime(m)
	}
	if e.Time.IsZero() {
		e.Time = a.Now().UTC()
	}
	if e.Key == nil {
		e.Key = schemas.KeyOf(m)
	}
	if e.ID.IsZero() {
		e.ID = e.DeriveID()
	}
	if p.Event, p.As = e, e.ID; p.Topic == schemas.TopicAgents {
		ae := m.(*recountv1.AgentEvent)
		p.As = schemas.EventObjectID(ae.Tenant, ae.Workspace, ae.Agent, e.ID)
		if p.Content, err = ContentOf(e.Type, m); err != nil {
			return p, 0, err
		}
	}
	found += hidden
	// Run the checks of the reader, such as those of the time.
	_, err = schemas.DecodeEvent("", e.Headers(), e.Key, e.Payload, e.Time)
	return p, found, err
}

// attributes redacts an event's attributes beside the payload, and returns the number of
// redactions. Equal texts stay equal, so events of one key stay in one partition. The key of
// commits is not redacted: it is their repository's name, which their payload has too.
func (a *Intake) attributes(ctx context.Context, e *schemas.Event, topic string) (found int, err error) {
	text := func(s string) string {
		if err != nil {
			return s
		}
		var fs []redact.Finding
		s, fs, err = a.Redact.TextContext(ctx, s)
		found += len(fs)
		return s
	}
	e.Source, e.Subject = text(e.Source), text(e.Subject)
	if topic != schemas.TopicCommits && e.Key != nil {
		e.Key = []byte(text(string(e.Key)))
	}
	return found, err
}

// rejoin replaces the ids by which an event refers to others of its producer with ids that do not
// depend on the source, because the log stores the source redacted.
func rejoin(m proto.Message, source string) {
	var ids []*string
	switch m := m.(type) {
	case *recountv1.CommandExecuted:
		ids = append(ids, &m.ParentEventId)
	case *recountv1.OutcomeObserved:
		ids = append(ids, &m.CommandEventId)
	case *recountv1.ReplayStepStarted:
		ids = append(ids, &m.CommandEventId)
	case *recountv1.ReplayStepEnded:
		ids = append(ids, &m.CommandEventId)
	case *recountv1.AgentEvent:
		ids = append(ids, &m.ParentEventId)
		for _, r := range m.Relations {
			ids = append(ids, &r.EventId)
		}
	}
	for _, id := range ids {
		if *id != "" {
			*id = schemas.ProducerID(source, *id).String()
		}
	}
}

// prepareSpans is Prepare for spans that have a time and a key, as sent by the receivers and
// importers. Because of their volume they are checked and redacted in encoded form.
func (a *Intake) prepareSpans(ctx context.Context, e schemas.Event) (schemas.Event, int, error) {
	out, found, err := a.Redact.OTLP(ctx, otlpwire.Traces, e.Payload)
	if ctx.Err() != nil {
		return e, 0, ctx.Err()
	}
	if err != nil {
		return e, 0, schemas.Poisonf("payload of %s: %w", e.Type, err)
	}
	if e.Payload = out; e.ID.IsZero() {
		e.ID = e.DeriveID()
	}
	_, err = schemas.DecodeEvent("", e.Headers(), e.Key, nil, e.Time)
	return e, len(found), err
}

// payloadTime returns the time in a payload, so that the same payload sent twice without an id is
// one event.
func payloadTime(m proto.Message) time.Time {
	var ts *timestamppb.Timestamp
	switch m := m.(type) {
	case interface{ GetStartedAt() *timestamppb.Timestamp }:
		ts = m.GetStartedAt()
	case interface{ GetObservedAt() *timestamppb.Timestamp }:
		ts = m.GetObservedAt()
	case interface{ GetOccurredAt() *timestamppb.Timestamp }:
		ts = m.GetOccurredAt()
	case *tracepb.TracesData:
		return schemas.SpanTime(schemas.LastEnd(m))
	case *recountv1.AccessLogged:
		for _, e := range m.GetEntries() {
			if t := e.GetTime(); ts == nil || t.AsTime().After(ts.AsTime()) {
				ts = t
			}
		}
	}
	if ts == nil {
		return time.Time{}
	}
	return ts.AsTime()
}

// Spooled converts an entry of a spool to its event.
func Spooled(e spool.Entry) (schemas.Event, error) {
	id, err := schemas.ParseEventID(e.ID)
	if err != nil {
		return schemas.Event{}, schemas.Poisonf("%s", err)
	}
	ev := schemas.Event{ID: id, Type: e.Type, Source: e.Source, Time: e.Time, ContentType: schemas.ContentJSON, Payload: e.Data}
	if e.Key != "" {
		ev.Key = []byte(e.Key)
	}
	return ev, nil
}
