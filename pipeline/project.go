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

// Target is what records are applied to: a node's set of projections.
type Target interface {
	// Next is the next offset to read of a partition: everything below is
	// applied by every projection. NoConcern is that of a partition that none takes.
	Next(tp schemas.TopicPartition) int64
	// Apply folds a batch in, or changes nothing but projections that had it
	// already. An error of class ErrPoison that is a RecordError says which
	// record can never be applied.
	Apply(ctx context.Context, b schemas.Batch) error
	// Watermark is Next for every partition seen.
	Watermark() schemas.Watermark
}

// NoConcern is Next where no projection takes a partition: its events are read from the
// log's end on, and pass by.
const NoConcern = math.MaxInt64

// RecordError is an error that one record of a batch is to blame for.
type RecordError interface {
	error
	RecordPosition() schemas.Position
}

// RejectFunc makes rejected events durable; it returns when they are.
type RejectFunc func(ctx context.Context, rejected []*recountv1.Rejected) error

// Project applies a batch to the target, and takes out of it what can never be
// applied: records whose body is Rejected, and records that the target refuses.
// Those go to reject before the position moves over them, so that a crash
// anywhere between leaves either both or a repeat of the same rejected event;
// what lies below Next went there before. A rebuild passes a nil reject: the log
// has the rejected events already, and the state must come out the same.
//
// The error is ErrFatal or may be retried with the same batch.
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
	// Each round takes one more record out, so there is an end.
	for range len(b.Records) + 1 {
		err := t.Apply(ctx, b)
		if !errors.Is(err, schemas.ErrPoison) {
			return err
		}
		i, cause, err := culprit(ctx, t, b, err)
		if err != nil {
			return err
		}
		if i < 0 {
			continue // applied record by record; once more, for Next
		}
		refusal := &recountv1.Rejected{
			Position: b.Records[i].GetOrigin(),
			Reason:   reason(cause),
			By:       "projection",
		}
		// A copy of the list: the caller may try again with what it has.
		recs := append([]*recountv1.Record(nil), b.Records...)
		recs[i] = stripped(recs[i])
		b.Records = recs
		if err := doReject(ctx, reject, []*recountv1.Rejected{refusal}); err != nil {
			return err
		}
	}
	return schemas.Fatalf("project %s up to %d: refused with every record taken out", b.TP(), b.Next)
}

func doReject(ctx context.Context, reject RejectFunc, rejected []*recountv1.Rejected) error {
	if reject == nil || len(rejected) == 0 {
		return nil
	}
	return reject(ctx, rejected)
}

// reason is an error's text, bounded and never empty, as Rejected needs it.
func reason(err error) string {
	s := err.Error()
	if len(s) > 4<<10 {
		s = s[:4<<10]
	}
	if s == "" {
		s = "refused"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// culprit finds the record that the target refused: named by the error, or, if
// it names none, by applying the records one by one. -1 says that none was
// refused then.
func culprit(ctx context.Context, t Target, b schemas.Batch, cause error) (int, error, error) {
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
			return -1, nil, schemas.Fatalf("project %s: refused without a body: %w", schemas.PositionOf(rec.GetOrigin()), err)
		default:
			return -1, nil, err
		}
	}
	return -1, nil, nil
}

// stripped is the record with nothing for projections in it.
func stripped(rec *recountv1.Record) *recountv1.Record {
	return &recountv1.Record{
		Origin: rec.GetOrigin(), EventId: rec.GetEventId(),
		EventType: rec.GetEventType(), TimeUnixNano: rec.GetTimeUnixNano(),
	}
}

// RejectedEvent is the event that says an event was rejected. Its id is a
// function of where that one stands, so a repeat after a crash is recognised as
// the same; its time is zero for Append to fill in.
func RejectedEvent(r *recountv1.Rejected) (schemas.Event, error) {
	at := r.GetPosition()
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
	if err != nil {
		return schemas.Event{}, fmt.Errorf("rejected event of %s: %w", schemas.PositionOf(at), err)
	}
	key := r.GetKey()
	if key == nil {
		key = []byte{} // none of its own: Append is not to derive one
	}
	return schemas.Event{
		ID: schemas.NewCanon("recount/rejected/1").
			String(at.GetTopic()).Int(int64(at.GetPartition())).Int(at.GetOffset()).ID(),
		Type: schemas.TypeRejected, Source: "recount/" + r.GetBy(),
		Subject: schemas.PositionOf(at).String(), Key: key,
		ContentType: schemas.ContentProto, Payload: payload,
	}, nil
}

// Reject is the RejectFunc that appends to the log's topic for rejected events.
// What the projections refused carries no bytes yet: they are read from the log.
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
			// It cannot be that a rejected event is rejected: give up loudly.
			return schemas.Fatalf("append to %s: %v", l.Topic(schemas.TopicRejected), err)
		}
		return err
	}
	return nil
}

// What a rejected event holds of the refused one, so that it always fits: the
// key twice (as the key and in the payload), headers, reason, and of the value
// whatever room is left, up to maxRejectedValue. The whole stands at its position.
const (
	maxRejectedKey     = 16 << 10
	maxRejectedHeaders = 32 << 10
	maxRejectedValue   = 700 << 10
	rejectedRoom       = 2*maxRejectedKey + maxRejectedHeaders + 16<<10
)

// bounded is r, cut to what an event of this log may hold.
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

// withBytes adds the event as it was appended; where it cannot be read, the
// rejected event says so by having none.
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
