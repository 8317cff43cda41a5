package adapter

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redpanda-data/benthos/v4/public/service"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func process(t *testing.T, yaml string, batch service.MessageBatch) service.MessageBatch {
	t.Helper()
	env := service.NewEmptyEnvironment()
	if err := Register(env); err != nil {
		t.Fatal(err)
	}
	var p service.BatchProcessor
	switch {
	case strings.HasPrefix(yaml, "recount_records"):
		conf, err := recordsSpec().ParseYAML(strings.TrimPrefix(yaml, "recount_records: "), env)
		if err != nil {
			t.Fatal(err)
		}
		if p, err = newRecords(conf, nil); err != nil {
			t.Fatal(err)
		}
	default:
		conf, err := embedSpec().ParseYAML("{}", env)
		if err != nil {
			t.Fatal(err)
		}
		if p, err = newEmbed(conf, nil); err != nil {
			t.Fatal(err)
		}
	}
	out, err := p.ProcessBatch(context.Background(), batch)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func logRecordOf(offset int64, value string, headers ...schemas.Header) schemas.LogRecord {
	return schemas.LogRecord{
		Position:  schemas.Position{Topic: "recount.commands", Partition: 1, Offset: offset},
		Timestamp: time.UnixMilli(1763640000000), Headers: headers,
		Key: []byte("/src/app"), Value: []byte(value),
	}
}

// message returns what recount_log makes of a log record. noted selects whether the record is
// stored in the context, or only payload and metadata are set.
func message(r schemas.LogRecord, noted bool) *service.Message {
	msg := service.NewMessage(r.Value)
	if noted {
		msg = msg.WithContext(schemas.WithLogRecord(context.Background(), &r))
	}
	for _, h := range r.Headers {
		msg.MetaSetMut(h.Key, string(h.Value))
	}
	msg.MetaSetMut("kafka_topic", r.Position.Topic)
	msg.MetaSetMut("kafka_partition", int(r.Position.Partition))
	msg.MetaSetMut("kafka_offset", int(r.Position.Offset))
	msg.MetaSetMut("kafka_timestamp_ms", r.Timestamp.UnixMilli())
	msg.MetaSetMut("kafka_key", string(r.Key))
	return msg
}

func record(t *testing.T, msg *service.Message) *recountv1.Record {
	t.Helper()
	v, err := msg.AsStructured()
	if err != nil {
		t.Fatal(err)
	}
	c, ok := v.(schemas.Carried)
	if !ok {
		t.Fatalf("got %T", v)
	}
	return c.Record
}

// TestCommandEqualsRecords checks that the result through Benthos equals that of the plain
// function, whether the log record comes from the context or from metadata, and whether the
// embedding is made in the same stage or in a separate one.
func TestCommandEqualsRecords(t *testing.T) {
	in := []schemas.LogRecord{
		logRecordOf(7, `{"command":"make test","workspace":"/src/app","exit_code":2}`),
		logRecordOf(8, `no JSON`, schemas.Header{Key: "ce_source", Value: []byte("s")}),
		logRecordOf(9, `{"command_event_id":"018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55","exit_code":0}`,
			schemas.Header{Key: "ce_type", Value: []byte(schemas.TypeOutcomeObserved)}),
	}
	want, err := processors.Records(t.Context(), in, processors.DefaultChain())
	if err != nil {
		t.Fatal(err)
	}
	for name, noted := range map[string]bool{"noted": true, "from metadata": false} {
		for _, apart := range []bool{false, true} {
			var batch service.MessageBatch
			for _, r := range in {
				batch = append(batch, message(r, noted))
			}
			var got service.MessageBatch
			if apart {
				got = process(t, "recount_records: { embedder: none }", batch)
				if record(t, got[0]).GetIntent().GetEmbedder() != "" {
					t.Error("embedder: none made an embedding")
				}
				got = process(t, "recount_embed", got)
			} else {
				got = process(t, "recount_records: {}", batch)
			}
			for i := range want {
				if diff := cmp.Diff(want[i], record(t, got[i]), protocmp.Transform()); diff != "" {
					t.Errorf("%s, embedding apart %t, record %d (-want +got):\n%s", name, apart, i, diff)
				}
			}
		}
	}
}

// TestPayloadReplaced checks that a payload replaced by an earlier stage takes precedence over the
// log record in the context.
func TestPayloadReplaced(t *testing.T) {
	msg := message(logRecordOf(1, `{"cmd":"ls"}`), true)
	msg.SetBytes([]byte(`{"command":"ls"}`))
	got := record(t, process(t, "recount_records: {}", service.MessageBatch{msg})[0])
	if got.GetIntent().GetCommand() != "ls" || got.GetOrigin().GetOffset() != 1 {
		t.Errorf("got %v", got)
	}
}

// TestCarriedAsJSON checks that the bytes of a record are JSON that reads back as the same record.
func TestCarriedAsJSON(t *testing.T) {
	out := process(t, "recount_records: {}", service.MessageBatch{message(logRecordOf(3, `{"command":"git status"}`), true)})
	b, err := out[0].AsBytes()
	if err != nil || !json.Valid(b) {
		t.Fatalf("%s, %v", b, err)
	}
	back, err := schemas.ParseCarried(b)
	if err != nil || !proto.Equal(back.Record, record(t, out[0])) {
		t.Errorf("read back: %v, %v", back.Record, err)
	}
}

func TestMissingMetadata(t *testing.T) {
	p := &records{}
	_, err := p.ProcessBatch(t.Context(), service.MessageBatch{service.NewMessage([]byte(`{}`))})
	if err == nil || !strings.Contains(err.Error(), "kafka_topic: missing") {
		t.Errorf("got %v", err)
	}
}

// TestFormerNames checks that configs with the names before recount_records are accepted, and that
// the names are not listed.
func TestFormerNames(t *testing.T) {
	env := service.NewEmptyEnvironment()
	if err := Register(env); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"recount_command", "recount_source", "recount_span", "recount_agent"} {
		if err := env.NewStreamBuilder().AddProcessorYAML(name + ": {}"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := env.NewStreamBuilder().AddProcessorYAML("recount_records: { embedder: none }"); err != nil {
		t.Error(err)
	}
	env.WalkProcessors(func(name string, conf *service.ConfigView) {
		if current := name == "recount_records" || name == "recount_embed"; conf.IsDeprecated() == current {
			t.Errorf("%s: deprecated: %t", name, conf.IsDeprecated())
		}
	})
}
