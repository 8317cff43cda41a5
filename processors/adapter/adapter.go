// Package adapter registers the functions of packages processors and embed as Benthos batch
// processors:
//
//   - recount_records: log records in, one record (recountv1.Record) out for each, of events of all
//     topics. The log record of a message is its payload, the metadata that the input recount_log
//     sets (kafka_topic, kafka_partition, kafka_offset, kafka_key, kafka_timestamp_ms) and its
//     other metadata, which are the headers. Its former names, one for each topic, work until the
//     next release.
//   - recount_embed: records in, the same records with embeddings out.
//
// Between stages of one process a record is passed decoded (schemas.Carried); its bytes are JSON.
// No message is dropped: an event that can never be applied becomes a record whose body is
// Rejected, and an error (the context's, or a bug of ours) marks the whole batch, so that the
// output refuses it.
package adapter

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/processors/agent"
	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Register registers the processors in an environment.
func Register(env *service.Environment) error {
	for _, name := range append([]string{"recount_records"}, formerNames...) {
		spec := recordsSpec()
		if name != "recount_records" {
			spec = spec.Deprecated()
		}
		if err := env.RegisterBatchProcessor(name, spec, newRecords); err != nil {
			return fmt.Errorf("register %s: %w", name, err)
		}
	}
	if err := env.RegisterBatchProcessor("recount_embed", embedSpec(), newEmbed); err != nil {
		return fmt.Errorf("register recount_embed: %w", err)
	}
	return nil
}

// formerNames are names of recount_records in configs that were written before it had one name.
var formerNames = []string{"recount_command", "recount_source", "recount_span", "recount_agent"}

// embedders maps the names that a config can use to embedders.
var embedders = map[string]func() embed.Embedder{
	"hash": func() embed.Embedder { return embed.Remember(embed.NewHash()) },
}

func recordsSpec() *service.ConfigSpec {
	return service.NewConfigSpec().Stable().Categories("Recount").
		Summary("Turns the events of Recount's topics into records.").
		Description("One record for each message, in order. The event's type selects the processor: a command becomes an intent, a file of a commit the facts that it states, a span or a line of an access log an observation, an agent's event an object with edges and with its text in parts. An event that can never be applied becomes a record that says so. The same events give the same records, always.").
		Fields(service.NewStringEnumField("embedder", "hash", "none").Default("hash").
			Description("What makes the embeddings of commands and of agents' objects; `none` leaves them to a later `recount_embed`."))
}

type records struct{ chain processors.Chain }

func newRecords(conf *service.ParsedConfig, _ *service.Resources) (service.BatchProcessor, error) {
	name, err := conf.FieldString("embedder")
	if err != nil {
		return nil, err
	}
	p := &records{processors.Chain{Commands: command.Remember()}}
	if name != "none" {
		p.chain.Embedder = embedders[name]()
	}
	return p, nil
}

func (p *records) Close(context.Context) error { return nil }

func (p *records) ProcessBatch(ctx context.Context, batch service.MessageBatch) ([]service.MessageBatch, error) {
	in := make([]schemas.LogRecord, len(batch))
	for i, msg := range batch {
		r, err := logRecord(msg)
		if err != nil {
			return nil, err
		}
		in[i] = r
	}
	recs, err := processors.Records(ctx, in, p.chain)
	if err != nil {
		return nil, err
	}
	out := make(service.MessageBatch, len(batch))
	for i, msg := range batch {
		out[i] = msg.Copy()
		out[i].SetStructured(schemas.Carried{Record: recs[i]})
	}
	return []service.MessageBatch{out}, nil
}

// reserved lists the metadata that describe the log record and are not headers.
var reserved = []string{"kafka_topic", "kafka_partition", "kafka_offset", "kafka_key", "kafka_timestamp_ms"}

// logRecord returns the log record that a message represents: the one stored in its context if the
// payload was not replaced since, otherwise one made from the metadata.
func logRecord(msg *service.Message) (schemas.LogRecord, error) {
	value, err := msg.AsBytes()
	if err != nil {
		return schemas.LogRecord{}, fmt.Errorf("payload: %w", err)
	}
	if r := schemas.LogRecordOf(msg.Context()); r != nil && same(r.Value, value) {
		return *r, nil
	}
	r := schemas.LogRecord{Value: value}
	var ok bool
	if r.Position.Topic, ok = msg.MetaGet("kafka_topic"); !ok {
		return r, fmt.Errorf("metadata kafka_topic: missing: what comes here must come from recount_log")
	}
	partition, err := metaInt(msg, "kafka_partition", 32)
	if err != nil {
		return r, err
	}
	if r.Position.Offset, err = metaInt(msg, "kafka_offset", 64); err != nil {
		return r, err
	}
	millis, err := metaInt(msg, "kafka_timestamp_ms", 64)
	if err != nil {
		return r, err
	}
	r.Position.Partition, r.Timestamp = int32(partition), time.UnixMilli(millis)
	if key, ok := msg.MetaGet("kafka_key"); ok {
		r.Key = []byte(key)
	}
	// MetaWalk iterates in map order, but headers need a fixed order.
	err = msg.MetaWalk(func(k, v string) error {
		if !slices.Contains(reserved, k) {
			r.Headers = append(r.Headers, schemas.Header{Key: k, Value: []byte(v)})
		}
		return nil
	})
	slices.SortFunc(r.Headers, func(a, b schemas.Header) int { return strings.Compare(a.Key, b.Key) })
	return r, err
}

// same reports whether a and b are the same memory, without reading it.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func metaInt(msg *service.Message, key string, bits int) (int64, error) {
	s, ok := msg.MetaGet(key)
	if !ok {
		return 0, fmt.Errorf("metadata %s: missing: messages must come from recount_log", key)
	}
	n, err := strconv.ParseInt(s, 10, bits)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("metadata %s: %q is not a number from 0", key, s)
	}
	return n, nil
}

func embedSpec() *service.ConfigSpec {
	return service.NewConfigSpec().Stable().Categories("Recount").
		Summary("Gives records of commands and of agents' objects their embeddings.").
		Fields(service.NewStringEnumField("embedder", "hash").Default("hash").
			Description("What makes the embeddings."))
}

type embedding struct{ embedder embed.Embedder }

func newEmbed(conf *service.ParsedConfig, _ *service.Resources) (service.BatchProcessor, error) {
	name, err := conf.FieldString("embedder")
	if err != nil {
		return nil, err
	}
	return &embedding{embedders[name]()}, nil
}

func (p *embedding) Close(context.Context) error { return nil }

func (p *embedding) ProcessBatch(_ context.Context, batch service.MessageBatch) ([]service.MessageBatch, error) {
	out := make(service.MessageBatch, len(batch))
	for i, msg := range batch {
		v, err := msg.AsStructured()
		if err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
		carried, ok := v.(schemas.Carried)
		if !ok {
			return nil, fmt.Errorf("record: got %T: recount_embed must follow recount_records", v)
		}
		out[i] = msg.Copy()
		if carried.Record.GetIntent() == nil && carried.Record.GetObjects() == nil {
			continue
		}
		// The carried record may be shared with other branches, so a copy is changed.
		rec := proto.Clone(carried.Record).(*recountv1.Record)
		if intent := rec.GetIntent(); intent != nil {
			embed.Intent(intent, p.embedder)
		}
		agent.Embed(rec.GetObjects(), p.embedder)
		out[i].SetStructured(schemas.Carried{Record: rec})
	}
	return []service.MessageBatch{out}, nil
}
