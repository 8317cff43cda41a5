package processors

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/records"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func logRecord(offset int64, value string) schemas.LogRecord {
	return schemas.LogRecord{
		Position:  schemas.Position{Topic: "recount.commands", Partition: 1, Offset: offset},
		Timestamp: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Key:       []byte("/src/app"),
		Value:     []byte(value),
	}
}

func TestBadEventIsRejected(t *testing.T) {
	withHeader := func(key, value string) schemas.LogRecord {
		lr := logRecord(7, `{"command":"ls"}`)
		lr.Headers = []schemas.Header{{Key: key, Value: []byte(value)}}
		return lr
	}
	proto := func(value string) schemas.LogRecord {
		lr := withHeader("content-type", schemas.ContentProto)
		lr.Value = []byte(value)
		return lr
	}
	for _, c := range []struct {
		name   string
		in     schemas.LogRecord
		reason string
	}{
		{"not JSON", logRecord(7, `make test`), "payload of command.executed"},
		{"unknown field", logRecord(7, `{"command":"ls","comand":"ls"}`), `unknown field "comand"`},
		{"no command", logRecord(7, `{"cwd":"/"}`), "command: must be at least 1"},
		{"blank command", logRecord(7, `{"command":" \n"}`), "command: only white space"},
		{"invalid UTF-8 in JSON", logRecord(7, "{\"command\":\"\xff\"}"), "invalid UTF-8"},
		{"invalid UTF-8 in protobuf", proto("\x0a\x01\xff"), "invalid UTF-8"},
		{"NUL in the command", logRecord(7, `{"command":"ls \u0000"}`), "command: holds a NUL byte"},
		{"command over the bound", logRecord(7, `{"command":"`+strings.Repeat("a", 2<<20)+`"}`), "command: must be at most 1048576 bytes"},
		{"deep nesting", logRecord(7, strings.Repeat(`{"a":`, 100000)), "payload of command.executed"},
		{"start in 9999", logRecord(7, `{"command":"ls","started_at":"9999-01-01T00:00:00Z"}`), "started_at: 9999-01-01T00:00:00Z is outside 1900 to 2250"},
		{"negative duration", logRecord(7, `{"command":"ls","duration":"-3s"}`), "duration:"},
		{"unknown type", withHeader("ce_type", "x.y"), `event type "x.y": unknown`},
		{"unknown content type", withHeader("content-type", "text/plain"), `content type "text/plain"`},
		{"time without meaning", withHeader("ce_time", "yesterday"), "header ce_time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := recordsOf(t, []schemas.LogRecord{c.in}, DefaultChain())[0]
			rej := got.GetRejected()
			if rej == nil {
				t.Fatalf("not rejected: %v", got)
			}
			if !strings.Contains(rej.Reason, c.reason) {
				t.Errorf("reason %q, want it to hold %q", rej.Reason, c.reason)
			}
			if rej.By == "" || schemas.PositionOf(rej.Position) != c.in.Position {
				t.Errorf("by %q at %v", rej.By, rej.Position)
			}
			if want := c.in.Value[:min(len(c.in.Value), records.MaxRejectedValue)]; !bytes.Equal(rej.Value, want) {
				t.Errorf("value has %d bytes, want the first %d", len(rej.Value), len(want))
			}
			if rej.ValueTruncated != (len(c.in.Value) > records.MaxRejectedValue) || rej.ValueBytes != int64(len(c.in.Value)) {
				t.Errorf("truncated %v of %d", rej.ValueTruncated, rej.ValueBytes)
			}
			if _, err := schemas.EncodePayload(rej); err != nil {
				t.Errorf("cannot be appended: %v", err)
			}
			if err := schemas.Validate(rej); err != nil {
				t.Errorf("not a valid payload: %v", err)
			}
		})
	}
}

// TestTopicAgentsTakesEveryType checks that an event of topic agents, of any known or unknown type,
// becomes an object with an embedding. On other topics an unknown type is rejected.
func TestTopicAgentsTakesEveryType(t *testing.T) {
	types := []string{"dream_had"}
	for _, k := range schemas.Kinds() {
		if k.Topic == schemas.TopicAgents {
			types = append(types, k.Type)
		}
	}
	for _, typ := range types {
		lr := logRecord(1, `{"agent":"claude","text":"the build fails","task":{"title":"the build fails"}}`)
		lr.Position.Topic = "recount.agents"
		lr.Headers = []schemas.Header{{Key: "ce_type", Value: []byte(typ)}}
		rec := recordsOf(t, []schemas.LogRecord{lr}, DefaultChain())[0]
		plain := recordsOf(t, []schemas.LogRecord{lr}, Chain{})[0].GetObjects()
		all, without := rec.GetObjects().GetObjects(), plain.GetObjects()
		if len(all) != 1 || len(without) != 1 {
			t.Fatalf("%s: got %v, without an embedder %v", typ, rec, plain)
		}
		if typ == schemas.TypeRecallUsed { // it is not searched
			if len(all[0].Parts) != 0 || len(without[0].Parts) != 0 {
				t.Errorf("%s: got %v, without an embedder %v", typ, rec, plain)
			}
			continue
		}
		if len(all[0].Parts) != 1 || len(all[0].Parts[0].Embedding) != 384 || rec.GetObjects().GetEmbedder() != "hash/1" {
			t.Errorf("%s: got %v", typ, rec)
		}
		if plain.GetEmbedder() != "" || len(without[0].Parts) != 1 || len(without[0].Parts[0].Embedding) != 0 {
			t.Errorf("%s without an embedder: got %v", typ, plain)
		}
	}
}

func TestOddTimesAreAccepted(t *testing.T) {
	for _, year := range []string{"1970", "2200"} {
		in := logRecord(0, `{"command":"ls","started_at":"`+year+`-01-01T00:00:00Z"}`)
		rec := recordsOf(t, []schemas.LogRecord{in}, DefaultChain())[0]
		if got := time.Unix(0, rec.GetIntent().GetTimeUnixNano()).UTC().Format("2006"); got != year {
			t.Errorf("year %s became %s: %v", year, got, rec)
		}
	}
}

// TestPanicIsRejected replaces the table temporarily, because no input is known that makes a real
// processor panic.
func TestPanicIsRejected(t *testing.T) {
	saved := table
	defer func() { table = saved }()
	table = records.Table{{Type: schemas.TypeCommandExecuted, Name: "bad/1", Func: func(schemas.Event, proto.Message, *recountv1.Record) error {
		panic("index out of hand")
	}}}
	rec := recordsOf(t, []schemas.LogRecord{logRecord(0, `{"command":"ls"}`)}, DefaultChain())[0]
	if got := rec.GetRejected(); got.GetReason() != "processor panicked: index out of hand" || got.GetBy() != "bad/1" {
		t.Errorf("got %v", rec)
	}
}

func TestUnclassifiedErrorStopsTheBatch(t *testing.T) {
	saved := table
	defer func() { table = saved }()
	table = records.Table{{Type: schemas.TypeCommandExecuted, Name: "bad/1", Func: func(schemas.Event, proto.Message, *recountv1.Record) error {
		return schemas.Fatalf("tables broken")
	}}}
	recs, err := Records(context.Background(), []schemas.LogRecord{logRecord(3, `{"command":"ls"}`)}, DefaultChain())
	if err == nil || recs != nil || err.Error() != "process recount.commands/1/3: tables broken" {
		t.Errorf("got %v, %v", recs, err)
	}
}

// TestOrderAndWorkers checks that any number of goroutines gives the same bytes in the order of the
// input.
func TestOrderAndWorkers(t *testing.T) {
	var in []schemas.LogRecord
	for i := range 1000 {
		value := fmt.Sprintf(`{"command":"git log -n %d > /tmp/%d.txt","cwd":"/src/app","env":{"B":"%d","A":"x"}}`, i, i%7, i)
		if i%13 == 0 {
			value = "bad"
		}
		in = append(in, logRecord(int64(i), value))
	}
	want := encode(t, recordsOf(t, in, Chain{Embedder: DefaultChain().Embedder, Workers: 1}))
	for _, workers := range []int{0, 2, 5, 100} {
		got := encode(t, recordsOf(t, in, Chain{Embedder: DefaultChain().Embedder, Workers: workers}))
		if !bytes.Equal(got, want) {
			t.Errorf("%d workers: other bytes than one worker", workers)
		}
	}
	for i, r := range recordsOf(t, in, DefaultChain()) {
		if r.Origin.Offset != int64(i) {
			t.Fatalf("record %d is of offset %d", i, r.Origin.Offset)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if recs, err := Records(ctx, []schemas.LogRecord{logRecord(0, `{"command":"ls"}`)}, Chain{}); err != context.Canceled || recs != nil {
		t.Errorf("got %v, %v", recs, err)
	}
}

func recordsOf(t testing.TB, in []schemas.LogRecord, c Chain) []*recountv1.Record {
	t.Helper()
	recs, err := Records(context.Background(), in, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(recs) != len(in) {
		t.Fatalf("%d records of %d log records", len(recs), len(in))
	}
	return recs
}

func encode(t testing.TB, recs []*recountv1.Record) []byte {
	t.Helper()
	var b []byte
	var err error
	for _, r := range recs {
		if b, err = (proto.MarshalOptions{Deterministic: true}).MarshalAppend(b, r); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func BenchmarkRecords(b *testing.B) {
	var in []schemas.LogRecord
	for i := range 512 {
		in = append(in, logRecord(int64(i), fmt.Sprintf(`{"command":"git commit -m 'change %d' && git push origin main","cwd":"/home/ann/src/app","session":"s1","shell":"bash","user":"ann","host":"box","exit_code":0,"duration":"1.5s"}`, i)))
	}
	for _, workers := range []int{1, 0} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			c := Chain{Embedder: DefaultChain().Embedder, Workers: workers}
			b.ReportAllocs()
			for b.Loop() {
				recordsOf(b, in, c)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(in)), "ns/command")
		})
	}
}
