package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Target is what records are applied to: the set of projections of a node.
type Target interface {
	// Next returns the next offset to read of a partition: every lower offset is applied by every
	// projection. It returns NoConcern for a partition that no projection subscribes to.
	Next(tp schemas.TopicPartition) int64
	// Apply applies a batch. If it fails, only projections that had applied the batch before may
	// have changed. An error of class ErrPoison that is a RecordError names the record that can
	// never be applied.
	Apply(ctx context.Context, b schemas.Batch) error
	// Watermark returns Next for every partition seen.
	Watermark() schemas.Watermark
}

// NoConcern is the result of Next for a partition that no projection subscribes to: it is read from
// the log's end on, and its events are ignored.
const NoConcern = math.MaxInt64

// RecordError is an error caused by one record of a batch.
type RecordError interface {
	error
	RecordPosition() schemas.Position
}

// RejectFunc stores rejected events and returns when they are durable.
type RejectFunc func(ctx context.Context, rejected []*recountv1.Rejected) error

// Project applies a batch to the target, without what can never be applied: records whose body is
// Rejected, and records that the target refuses. Those are passed to reject before the position
// moves over them, so that a crash at any point leaves either both, or a second copy of the same
// rejected event. Offsets below Next were handled before. A rebuild passes a nil reject: the log
// has the rejected events already, and the state must come out the same.
//
// An error is either ErrFatal, or the call may be repeated with the same batch.
func Project(ctx context.Context, t Target, b schemas.Batch, reject RejectFunc) error {
	next := t.Next(b.TP())
	var refused []*recountv1.Rejected
	for _, rec := range b.Records {
		if r := rec.GetRejected(); r != nil && rec.GetOrigin().GetOffset() >= next {
			refused = append(refused, r)
		}
	}
	if err := doReject(ctx, reject, refused); err != nil {
		return err
	}
	// Each round removes one more record, so the loop ends.
	for range len(b.Records) + 1 {
		err := t.Apply(ctx, b)
		if !errors.Is(err, schemas.ErrPoison) {
			return err
		}
		i, cause, err := refusedRecord(ctx, t, b, err)
		if err != nil {
			return err
		}
		if i < 0 {
			continue // every record was applied by itself; once more, for Next
		}
		refusal := &recountv1.Rejected{
			Position: b.Records[i].GetOrigin(),
			Reason:   Reason(cause),
			By:       "projection",
		}
		// A copy of the list is changed: the caller may repeat the call with its own.
		recs := append([]*recountv1.Record(nil), b.Records...)
		recs[i] = stripped(recs[i])
		b.Records = recs
		if err := doReject(ctx, reject, []*recountv1.Rejected{refusal}); err != nil {
			return err
		}
	}
	return schemas.Fatalf("project %s up to %d: refused although every record was removed", b.TP(), b.Next)
}

func doReject(ctx context.Context, reject RejectFunc, rejected []*recountv1.Rejected) error {
	if reject == nil || len(rejected) == 0 {
		return nil
	}
	return reject(ctx, rejected)
}

// Reason returns an error's text for Rejected, limited in length and never empty.
func Reason(err error) string {
	s := err.Error()
	if len(s) > 4<<10 {
		s = s[:4<<10]
	}
	if s == "" {
		s = "refused"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// refusedRecord returns the index of the record that the target refused: the one that the error names, or
// else the one found by applying the records one by one. It returns -1 if no record was refused
// then.
func refusedRecord(ctx context.Context, t Target, b schemas.Batch, cause error) (int, error, error) {
	var re RecordError
	if errors.As(cause, &re) {
		for i, rec := range b.Records {
			if schemas.PositionOf(rec.GetOrigin()) == re.RecordPosition() && rec.GetBody() != nil {
				return i, cause, nil
			}
		}
	}
	for i, rec := range b.Records {
		one := schemas.Batch{
			Topic: b.Topic, Partition: b.Partition,
			Next: rec.GetOrigin().GetOffset() + 1, Records: b.Records[i : i+1],
		}
		err := t.Apply(ctx, one)
		switch {
		case err == nil:
		case errors.Is(err, schemas.ErrPoison) && rec.GetBody() != nil:
			return i, err, nil
		case errors.Is(err, schemas.ErrPoison):
			return -1, nil, schemas.Fatalf("project %s: refused even without a body: %w", schemas.PositionOf(rec.GetOrigin()), err)
		default:
			return -1, nil, err
		}
	}
	return -1, nil, nil
}

// stripped returns the record without a body for projections.
func stripped(rec *recountv1.Record) *recountv1.Record {
	return &recountv1.Record{
		Origin: rec.GetOrigin(), EventId: rec.GetEventId(),
		EventType: rec.GetEventType(), TimeUnixNano: rec.GetTimeUnixNano(),
	}
}

// RejectedEvent returns the event that reports a rejected event. Its id is a function of the
// latter's position, so a repetition after a crash is recognised. Its time is zero; Append sets it.
func RejectedEvent(r *recountv1.Rejected) (schemas.Event, error) {
	at := r.GetPosition()
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
	if err != nil {
		return schemas.Event{}, fmt.Errorf("rejected event of %s: %w", schemas.PositionOf(at), err)
	}
	key := r.GetKey()
	if key == nil {
		key = []byte{} // empty, so that Append does not derive a key
	}
	return schemas.Event{
		ID: schemas.NewCanon("recount/rejected/1").
			String(at.GetTopic()).Int(int64(at.GetPartition())).Int(at.GetOffset()).ID(),
		Type: schemas.TypeRejected, Source: "recount/" + r.GetBy(),
		Subject: schemas.PositionOf(at).String(), Key: key,
		ContentType: schemas.ContentProto, Payload: payload,
	}, nil
}

// Reject is the RejectFunc that appends to the log's topic for rejected events. An event refused by
// the projections has no bytes yet; they are read from the log.
func (l *Log) Reject(ctx context.Context, rejected []*recountv1.Rejected) error {
	events := make([]schemas.Event, len(rejected))
	for i, r := range rejected {
		if r.GetValueBytes() == 0 && len(r.GetValue()) == 0 {
			r = l.withBytes(ctx, r)
		}
		e, err := RejectedEvent(l.bounded(r))
		if err != nil {
			return err
		}
		events[i] = e
	}
	if _, err := l.Append(ctx, schemas.TopicRejected, events...); err != nil {
		if errors.Is(err, schemas.ErrPoison) {
			// A rejected event must never be rejected itself, so this is fatal.
			return schemas.Fatalf("append to %s: %v", l.Topic(schemas.TopicRejected), err)
		}
		return err
	}
	return nil
}

// These limits make a rejected event always fit: the key (stored twice, as the key and in the
// payload), the headers, the reason, and as much of the value as there is space left, up to
// maxRejectedValue. The complete event is at its position in the log.
const (
	maxRejectedKey     = 16 << 10
	maxRejectedHeaders = 32 << 10
	maxRejectedValue   = 700 << 10
	rejectedRoom       = 2*maxRejectedKey + maxRejectedHeaders + 16<<10
)

// bounded returns r, shortened to what an event of this log may hold.
func (l *Log) bounded(r *recountv1.Rejected) *recountv1.Rejected {
	most := min(maxRejectedValue, l.cfg.MaxEventBytes-rejectedRoom)
	headers, fit := 0, 0
	for _, h := range r.GetHeaders() {
		if headers += len(h.GetKey()) + len(h.GetValue()) + 8; headers > maxRejectedHeaders {
			break
		}
		fit++
	}
	if len(r.GetValue()) <= most && len(r.GetKey()) <= maxRejectedKey && fit == len(r.GetHeaders()) {
		return r
	}
	c := &recountv1.Rejected{
		Position: r.GetPosition(), Reason: r.GetReason(), By: r.GetBy(),
		Key: r.GetKey(), Headers: r.GetHeaders()[:fit], Value: r.GetValue(),
		ValueTruncated: r.GetValueTruncated(), ValueBytes: r.GetValueBytes(),
	}
	if len(c.Key) > maxRejectedKey {
		c.Key = c.Key[:maxRejectedKey]
	}
	if len(c.Value) > most {
		c.Value, c.ValueTruncated = c.Value[:most], true
	}
	return c
}

// withBytes adds the bytes of the event as it was appended. If it cannot be read, the rejected
// event has none.
func (l *Log) withBytes(ctx context.Context, r *recountv1.Rejected) *recountv1.Rejected {
	lr, err := l.Read(ctx, schemas.PositionOf(r.GetPosition()))
	if err != nil {
		return r
	}
	r = proto.Clone(r).(*recountv1.Rejected)
	r.Key, r.Value, r.ValueBytes = lr.Key, lr.Value, int64(len(lr.Value))
	for _, h := range lr.Headers {
		r.Headers = append(r.Headers, &recountv1.Header{Key: strings.ToValidUTF8(h.Key, "\uFFFD"), Value: h.Value})
	}
	return r
}
