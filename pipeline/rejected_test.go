package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestStreamBadInput puts everything into one partition that a user of kcat could: each bad record
// is rejected with its position, a reason and its bytes, and the good records between them are
// applied.
func TestStreamBadInput(t *testing.T) {
	t.Parallel()
	header := func(k, v string) []schemas.Header { return []schemas.Header{{Key: k, Value: []byte(v)}} }
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name   string
		rec    schemas.LogRecord
		reason string // "" for a good record
	}{
		{"fine", schemas.LogRecord{Value: []byte(`{"command":"first"}`)}, ""},
		{"not JSON", schemas.LogRecord{Value: []byte(`make test`)}, "payload of command.executed"},
		{"empty", schemas.LogRecord{}, "payload of command.executed"},
		{"unknown field", schemas.LogRecord{Value: []byte(`{"command":"ls","comand":"x"}`)}, `unknown field "comand"`},
		{"a required field missing", schemas.LogRecord{Value: []byte(`{"cwd":"/src"}`)}, "command: "},
		{"invalid UTF-8", schemas.LogRecord{Value: []byte("{\"command\":\"l\xffs\"}")}, "invalid UTF-8"},
		{"NUL bytes", schemas.LogRecord{Value: []byte("{\"command\":\"l\x00s\"}")}, "payload of command.executed"},
		{"a command of 2 MiB", schemas.LogRecord{Value: fmt.Appendf(nil, `{"command":%q}`, strings.Repeat("x", 2<<20))}, "command: "},
		{"unknown type", schemas.LogRecord{Value: []byte(`{}`), Headers: header("ce_type", "nonesuch")}, `event type "nonesuch": unknown`},
		{"unknown content type", schemas.LogRecord{Value: []byte(`{}`), Headers: header("content-type", "text/html")}, `content type "text/html"`},
		{"a header that is not UTF-8", schemas.LogRecord{Value: []byte(`{"command":"ls"}`), Headers: header("ce_id", "\xff")}, "header ce_id: not UTF-8"},
		{"a time that is none", schemas.LogRecord{Value: []byte(`{"command":"ls"}`), Headers: header("ce_time", "yesterday")}, "header ce_time"},
		{"before all time", schemas.LogRecord{Value: []byte(`{"command":"ls"}`), Headers: header("ce_time", "1815-06-18T11:35:00Z")}, "outside 1900 to 2250"},
		{"1970", schemas.LogRecord{Value: []byte(`{"command":"in 1970"}`), Timestamp: time.UnixMilli(1)}, ""},
		{"2200", schemas.LogRecord{Value: []byte(`{"command":"in 2200"}`), Headers: header("ce_time", "2200-01-01T00:00:00Z")}, ""},
		{"a header of no concern that is not UTF-8", schemas.LogRecord{Value: []byte(`{"command":"h"}`), Headers: header("h\xff", "\xff")}, ""},
		{"last", schemas.LogRecord{Value: []byte(`{"command":"last"}`)}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ctx, l, m := testContext(t), embedded(t), newMemory()
			tc.rec.Position = schemas.Position{Topic: schemas.TopicCommands, Partition: 1}
			if tc.rec.Timestamp.IsZero() {
				tc.rec.Timestamp = at
			}
			after := schemas.LogRecord{Position: tc.rec.Position, Value: []byte(`{"command":"the next one"}`), Timestamp: at}
			positions, err := l.Produce(ctx, tc.rec, after)
			if err != nil {
				t.Fatal(err)
			}
			s := runStream(t, streams.Options{Log: l, Target: m})
			m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
			s.end()
			got := rejectedEvents(ctx, t, l)
			applied := m.commands[positions[0].TP()]
			if len(applied) == 0 || applied[len(applied)-1] != "the next one" {
				t.Errorf("applied %q: the event behind is missing", applied)
			}
			if tc.reason == "" {
				if len(got) != 0 || len(applied) != 2 {
					t.Errorf("applied %q, rejected %v", applied, got)
				}
				return
			}
			rej := got[positions[0].String()]
			if rej == nil || len(got) != 1 {
				t.Fatalf("rejected: %v", got)
			}
			if !strings.Contains(rej.GetReason(), tc.reason) {
				t.Errorf("reason %q, want %q", rej.GetReason(), tc.reason)
			}
			if !bytes.HasPrefix(tc.rec.Value, rej.GetValue()) || rej.GetValueBytes() != int64(len(tc.rec.Value)) ||
				rej.GetValueTruncated() != (len(rej.GetValue()) < len(tc.rec.Value)) {
				t.Errorf("value: %d bytes of %d, truncated %t", len(rej.GetValue()), rej.GetValueBytes(), rej.GetValueTruncated())
			}
		})
	}
}

func TestAppend50MB(t *testing.T) {
	t.Parallel()
	ctx, l := testContext(t), embedded(t)
	_, err := l.Append(ctx, schemas.TopicCommands, schemas.Event{Payload: make([]byte, 50_000_000)})
	if !errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), "exceeds the limit of 4194304") || !strings.Contains(err.Error(), "50000") {
		t.Errorf("got %v", err)
	}
}

// recordError is the RecordError that projections return.
type recordError struct{ at schemas.Position }

func (e recordError) Error() string                    { return "no embedding of that length" }
func (e recordError) Unwrap() error                    { return schemas.ErrPoison }
func (e recordError) RecordPosition() schemas.Position { return e.at }

// TestProjectionRefuses makes the projections refuse some commands, with or without naming them.
// Those are rejected with the bytes from the log, and all others are applied.
func TestProjectionRefuses(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		t.Run(fmt.Sprintf("named=%t", named), func(t *testing.T) {
			t.Parallel()
			ctx, l, m := testContext(t), embedded(t), newMemory()
			m.refuse = func(b schemas.Batch) error {
				for _, r := range b.Records {
					if !strings.HasSuffix(r.GetIntent().GetCommand(), "7") {
						continue
					}
					if named {
						return recordError{schemas.PositionOf(r.GetOrigin())}
					}
					return schemas.Poisonf("something in here is bad")
				}
				return nil
			}
			appendCommands(ctx, t, l, 0, 100)
			s := runStream(t, streams.Options{Log: l, Target: m})
			m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
			s.end()
			total := 0
			for _, cs := range m.commands {
				total += len(cs)
			}
			if total != 90 {
				t.Errorf("%d applied, want 90", total)
			}
			got := rejectedEvents(ctx, t, l)
			if len(got) != 10 {
				t.Errorf("%d rejected, want 10", len(got))
			}
			for at, r := range got {
				if r.GetReason() == "" || !bytes.Contains(r.GetValue(), []byte(`7","workspace"`)) || r.GetValueBytes() == 0 || len(r.GetHeaders()) == 0 {
					t.Errorf("%s: %v", at, r)
				}
			}
		})
	}
}

// TestRejectedBeforeTheMove stops between the rejected event and the move of the position: after
// the restart the event is appended again, with the same id.
func TestRejectedBeforeTheMove(t *testing.T) {
	t.Parallel()
	ctx, l, m := testContext(t), embedded(t), newMemory()
	at, err := l.Produce(ctx, schemas.LogRecord{Position: schemas.Position{Topic: schemas.TopicCommands, Partition: 0}, Value: []byte("no JSON")})
	if err != nil {
		t.Fatal(err)
	}
	rec := &recountv1.Record{
		Origin: at[0].Proto(),
		Body:   &recountv1.Record_Rejected{Rejected: &recountv1.Rejected{Position: at[0].Proto(), Reason: "no JSON", Value: []byte("no JSON"), ValueBytes: 7}},
	}
	b := schemas.Batch{Topic: at[0].Topic, Partition: 0, Next: 1, Records: []*recountv1.Record{rec}}
	crashed := errors.New("crash")
	m.refuse = func(schemas.Batch) error { return crashed }
	if err := pipeline.Project(ctx, m, b, l.Reject); !errors.Is(err, crashed) {
		t.Fatal(err)
	}
	if got := rejectedEvents(ctx, t, l); len(got) != 1 {
		t.Errorf("before the move: %v", got)
	}
	m.refuse = nil
	for range 3 { // the first call moves the position; the others find it moved
		if err := pipeline.Project(ctx, m, b, l.Reject); err != nil {
			t.Fatal(err)
		}
	}
	if got := rejectedEvents(ctx, t, l); len(got) != 1 { // this checks the ids, too
		t.Errorf("after: %v", got)
	}
	n := 0
	if err := l.Tail(ctx, pipeline.TailOptions{Topics: []string{schemas.TopicRejected}, Last: -1}, func(schemas.LogRecord) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	if n != 2 {
		t.Errorf("%d rejected events in the log, want 2: one before the crash, one after, none for what is applied", n)
	}
}

// TestRefusedIsRejectedBeforeTheMove stops after a projection has refused a record and before the
// batch without it is applied: its rejected event must be in the log by then, since it would not be
// appended later.
func TestRefusedIsRejectedBeforeTheMove(t *testing.T) {
	t.Parallel()
	ctx, l, m := testContext(t), embedded(t), newMemory()
	at, err := l.Produce(ctx, schemas.LogRecord{Position: schemas.Position{Topic: schemas.TopicCommands, Partition: 0}, Value: []byte(`{"command":"bad"}`)})
	if err != nil {
		t.Fatal(err)
	}
	crashed := errors.New("crash")
	m.refuse = func(b schemas.Batch) error {
		if b.Records[0].GetIntent() != nil {
			return recordError{at[0]}
		}
		return crashed
	}
	b := schemas.Batch{Topic: at[0].Topic, Partition: 0, Next: 1, Records: []*recountv1.Record{{
		Origin: at[0].Proto(), Body: &recountv1.Record_Intent{Intent: &recountv1.Intent{Command: "bad"}},
	}}}
	if err := pipeline.Project(ctx, m, b, l.Reject); !errors.Is(err, crashed) {
		t.Fatal(err)
	}
	if got := rejectedEvents(ctx, t, l)[at[0].String()]; string(got.GetValue()) != `{"command":"bad"}` {
		t.Errorf("before the move: %v", got)
	}
}

// TestRebuildRejectsNothing checks that a rebuild gives the same state without appending.
func TestRebuildRejectsNothing(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.refuse = func(b schemas.Batch) error {
		for _, r := range b.Records {
			if r.GetIntent().GetCommand() == "bad" {
				return recordError{schemas.PositionOf(r.GetOrigin())}
			}
		}
		return nil
	}
	b := schemas.Batch{Topic: "recount.commands", Next: 3}
	for i, c := range []string{"good", "bad", "better"} {
		b.Records = append(b.Records, &recountv1.Record{
			Origin:  schemas.Position{Topic: b.Topic, Offset: int64(i)}.Proto(),
			EventId: []byte{byte(i)}, Body: &recountv1.Record_Intent{Intent: &recountv1.Intent{Command: c}},
		})
	}
	if err := pipeline.Project(context.Background(), m, b, nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.commands[b.TP()], " "); got != "good better" || m.Next(b.TP()) != 3 {
		t.Errorf("applied %q up to %d", got, m.Next(b.TP()))
	}
	if b.Records[1].GetIntent() == nil {
		t.Error("the caller's batch was changed")
	}
}
