package node

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/otlpwire"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// recentAppends is the number of appended ids that are remembered. They bridge the time
// between an append and its projection, so it need not be large.
const recentAppends = 1 << 15

// appender puts events into the log once.
//
// Appending an id again returns the position of the first append: find knows the projected ids,
// tail those that a crash left at the log's end, underway and recent those still on their way. An
// id that all of them miss (because another process appends, or a tail is too long) is in the log
// twice and applied once, which the projections ensure.
type appender struct {
	// log is pipeline.Log.Append.
	log    func(ctx context.Context, topic string, events ...schemas.Event) ([]schemas.Position, error)
	redact *redact.Redactor
	// find returns the position of a projected event of the topic, by schemas.SeenAs.
	find func(topic string, id schemas.EventID) (schemas.Position, bool)
	// tail returns the position of an event at the log's end that is not projected (tail.go).
	tail func(ctx context.Context, topic string, id schemas.EventID) (schemas.Position, bool, error)
	// retired reports whether retention removed an event of the topic, by schemas.SeenAs, and
	// returns the position of an event that was removed with it.
	retired func(ctx context.Context, topic string, id schemas.EventID) (schemas.Position, bool, error)
	// read is pipeline.Log.Read; it reads an event of the log to compare it with a new one.
	read func(ctx context.Context, at schemas.Position) (schemas.LogRecord, error)
	now  func() time.Time

	mu       sync.Mutex
	underway map[schemas.EventID]*pending
	recent   *lru.Cache[schemas.EventID, appended]
	topics   []string // the topics in recent, by number
}

// pending is the append of an id in progress; pos and err may be read once done is closed.
type pending struct {
	done chan struct{}
	// content is the hash of the event's content; the same id with other content is refused.
	content schemas.Hash
	pos     schemas.Position
	err     error
	// retired reports that retention removed the event; pos is that of one removed with it.
	retired bool
}

// appended is the position of an id. There are tens of thousands in memory, so it has no pointers,
// which spares the garbage collector.
type appended struct {
	content schemas.Hash
	offset  int64
	topic   int32 // its index in topics
	part    int32
}

// prepared is an event in the form in which it will be appended.
type prepared struct {
	schemas.Event
	// as identifies the event for deduplication: its id, or EventObjectID for agents' events,
	// because tenants may use the same ids.
	as schemas.EventID
	// content is a hash of an agent's event's content; zero for other events.
	content schemas.Hash
	topic   string
}

func newAppender(log *pipeline.Log, r *redact.Redactor, find func(topic string, id schemas.EventID) (schemas.Position, bool)) *appender {
	recent, err := lru.New[schemas.EventID, appended](recentAppends)
	if err != nil {
		panic(err) // only a number below 1 is refused
	}
	return &appender{log: log.Append, redact: r, find: find, tail: noTail, retired: noTail, read: log.Read, now: time.Now, underway: map[schemas.EventID]*pending{}, recent: recent}
}

// Append implements api.Backend.
func (a *appender) Append(ctx context.Context, events []schemas.Event) ([]api.Appended, error) {
	out := make([]api.Appended, len(events))
	waits := make([]*pending, len(events))
	topics := map[string][]int{} // indexes of the events that this call appends, by topic
	all := make([]prepared, len(events))
	for i, e := range events {
		var err error
		if all[i], out[i].Redacted, err = a.prepare(ctx, e); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, &api.EventError{Index: i, Of: len(events), Err: err}
		}
	}
	for i, e := range all {
		out[i].ID = e.ID
		p, ours := a.claim(e)
		waits[i] = p
		err := e.same(p.content)
		if ours {
			pos, ok := a.find(e.topic, e.as)
			var unread error
			if !ok {
				pos, p.retired, unread = a.retired(ctx, e.topic, e.as)
			}
			if unread == nil && !ok && !p.retired {
				pos, ok, unread = a.tail(ctx, e.topic, e.as)
			}
			if unread == nil && !ok && !p.retired {
				// The event may have been projected in the meantime, and then tail did not return
				// it.
				pos, ok = a.find(e.topic, e.as)
			}
			switch {
			case unread != nil:
				a.completeAppend(e.as, p, pos, unread)
				for _, ours := range topics {
					for _, i := range ours {
						a.completeAppend(all[i].as, waits[i], schemas.Position{}, unread)
					}
				}
				return nil, unread
			case p.retired:
				out[i].Duplicate = true
				a.completeAppend(e.as, p, pos, nil)
			case ok:
				out[i].Duplicate = true
				err = a.compare(ctx, e, pos)
				a.completeAppend(e.as, p, pos, err)
			default:
				topics[e.topic] = append(topics[e.topic], i)
			}
		} else {
			out[i].Duplicate = true
		}
		if err != nil {
			err = &api.EventError{Index: i, Of: len(events), Err: err}
			for _, ours := range topics {
				for _, i := range ours {
					a.completeAppend(all[i].as, waits[i], schemas.Position{}, err)
				}
			}
			return nil, err
		}
	}
	for _, topic := range schemas.Topics() {
		ours := topics[topic]
		if len(ours) == 0 {
			continue
		}
		batch := make([]schemas.Event, len(ours))
		for j, i := range ours {
			batch[j] = all[i].Event
		}
		// The append continues if the caller goes away, because others may wait for the same ids
		// and need the result. The log limits its duration.
		positions, err := a.log(context.WithoutCancel(ctx), topic, batch...)
		for j, i := range ours {
			// On an error some events may have been stored nevertheless.
			var failed error
			if positions == nil || positions[j] == pipeline.NotAppended {
				failed = err
			}
			pos := schemas.Position{}
			if failed == nil {
				pos = positions[j]
			}
			a.completeAppend(all[i].as, waits[i], pos, failed)
		}
	}
	for i, p := range waits {
		select {
		case <-p.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if p.err != nil && out[i].Duplicate {
			// The attempt of another caller failed, perhaps because of a different event in its
			// request.
			again, err := a.Append(ctx, events[i:i+1])
			if err != nil {
				return nil, err
			}
			out[i] = again[0]
			continue
		}
		if p.err != nil {
			return nil, p.err
		}
		out[i].Position, out[i].Retired = p.pos, p.retired
	}
	return out, nil
}

// same fails if content, that of the event with the same id, differs from e's.
func (e prepared) same(content schemas.Hash) error {
	if e.content == content {
		return nil
	}
	return fmt.Errorf("id %s: %w: another event with this id has different content: give this one an id of its own, or none", e.ID, api.ErrReused)
}

// compare fails if the event that the log has at a position has the same id but other content. An
// event that cannot be read counts as equal.
func (a *appender) compare(ctx context.Context, e prepared, at schemas.Position) error {
	if e.content == (schemas.Hash{}) {
		return nil
	}
	lr, err := a.read(ctx, at)
	if err != nil {
		return nil
	}
	have, err := lr.Event()
	if err != nil {
		return nil
	}
	m, err := have.DecodePayload()
	if err != nil {
		return nil
	}
	content, err := contentOf(have.Type, m)
	if err != nil {
		return nil
	}
	return e.same(content)
}

// contentOf returns a hash of an agent's event's content, independent of its encoding; zero for
// other events.
func contentOf(typ string, m proto.Message) (schemas.Hash, error) {
	if _, ok := m.(*recountv1.AgentEvent); !ok {
		return schemas.Hash{}, nil
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	return schemas.NewCanon("recount/content/1").String(typ).Bytes(b).Sum(), err
}

// prepare redacts an event, fills in missing attributes and checks that the pipeline will be able
// to apply it. It also returns the number of redactions. Redaction may take long; it stops with the
// context's error when ctx ends.
func (a *appender) prepare(ctx context.Context, e schemas.Event) (prepared, int, error) {
	if e.Type == "" {
		e.Type = schemas.DefaultType(e.Topic)
	}
	if e.Type == "" {
		e.Type = schemas.TypeCommandExecuted
	}
	if e.Source == "" {
		e.Source = schemas.DefaultSource
	}
	if e.ContentType == "" {
		e.ContentType = schemas.ContentJSON
	}
	if err := ctx.Err(); err != nil {
		return prepared{}, 0, err
	}
	kind, known := e.Kind()
	if known && e.Topic != "" && e.Topic != kind.Topic {
		return prepared{}, 0, schemas.Poisonf("event type %q: belongs to topic %s, not %s", e.Type, kind.Topic, e.Topic)
	}
	p := prepared{topic: kind.Topic}
	source := e.Source
	hidden, err := a.attributes(ctx, &e, kind.Topic)
	if err != nil {
		return prepared{}, 0, err
	}
	var found int
	if e.Type == schemas.TypeSpansExported && e.ContentType == schemas.ContentProto && !e.Time.IsZero() && e.Key != nil {
		p.Event, found, err = a.prepareSpans(ctx, e)
		p.as = p.ID
		return p, found + hidden, err
	}
	m, err := e.DecodePayload()
	if err != nil {
		return p, 0, err
	}
	hiddenIn, err := a.redact.EventContext(ctx, m)
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
	if err := processors.Check(e, m); err != nil {
		return p, 0, err
	}
	if e.Type == schemas.TypeSpansExported && e.ContentType == schemas.ContentJSON {
		// JSON is for events written by hand; the log stores the smaller protobuf.
		e.ContentType = schemas.ContentProto
		e.Payload, err = proto.MarshalOptions{Deterministic: true}.Marshal(m)
	} else if found > 0 {
		if e.ContentType == schemas.ContentProto {
			e.Payload, err = proto.MarshalOptions{Deterministic: true}.Marshal(m)
		} else {
			e.Payload, err = schemas.EncodePayload(m)
		}
	}
	if err != nil {
		return p, 0, err
	}
	if e.Time.IsZero() {
		e.Time = payloadTime(m)
	}
	if e.Time.IsZero() {
		e.Time = a.now().UTC()
	}
	if e.Key == nil {
		e.Key = schemas.KeyOf(m)
	}
	if e.ID.IsZero() {
		e.ID = e.DeriveID()
	}
	if p.Event, p.as = e, e.ID; p.topic == schemas.TopicAgents {
		ae := m.(*recountv1.AgentEvent)
		p.as = schemas.EventObjectID(ae.Tenant, ae.Workspace, ae.Agent, e.ID)
		if p.content, err = contentOf(e.Type, m); err != nil {
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
func (a *appender) attributes(ctx context.Context, e *schemas.Event, topic string) (found int, err error) {
	text := func(s string) string {
		if err != nil {
			return s
		}
		var fs []redact.Finding
		s, fs, err = a.redact.TextContext(ctx, s)
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

// prepareSpans is prepare for spans that have a time and a key, as sent by the receivers and
// importers. Because of their volume they are checked and redacted in encoded form.
func (a *appender) prepareSpans(ctx context.Context, e schemas.Event) (schemas.Event, int, error) {
	out, found, err := a.redact.OTLPContext(ctx, otlpwire.Traces, e.Payload)
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

// claim reports whether the caller is to append an event (ours); if so, the caller must call
// settle. Otherwise p is the append of another caller.
func (a *appender) claim(e prepared) (p *pending, ours bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.underway[e.as]; p != nil {
		return p, false
	}
	p = &pending{done: make(chan struct{}), content: e.content}
	if r, ok := a.recent.Get(e.as); ok {
		p.content, p.pos = r.content, schemas.Position{Topic: a.topics[r.topic], Partition: r.part, Offset: r.offset}
		close(p.done)
		return p, false
	}
	a.underway[e.as] = p
	return p, true
}

func (a *appender) completeAppend(id schemas.EventID, p *pending, pos schemas.Position, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.pos, p.err = pos, err
	close(p.done)
	delete(a.underway, id)
	if err != nil || p.retired {
		return // the next caller tries again
	}
	topic := slices.Index(a.topics, pos.Topic)
	if topic < 0 {
		topic, a.topics = len(a.topics), append(a.topics, pos.Topic)
	}
	a.recent.Add(id, appended{p.content, pos.Offset, int32(topic), pos.Partition})
}

// noTail is the tail of a log whose events are all projected.
func noTail(context.Context, string, schemas.EventID) (at schemas.Position, found bool, err error) {
	return at, false, nil
}
