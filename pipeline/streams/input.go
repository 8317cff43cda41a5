package streams

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
)

func inputSpec() *service.ConfigSpec {
	return service.NewConfigSpec().Stable().Categories("Recount").
		Summary("Reads the log: each partition in order, one batch at a time.").
		Description(`A partition's next batch is read only after the previous one was written to the output, and a batch that the output refused is read again. So the order within a partition is kept for any values of `+"`threads` and `max_in_flight`"+`, and partitions are read concurrently.

Every message carries the metadata kafka_topic, kafka_partition, kafka_offset, kafka_key, kafka_timestamp_ms and the record's headers.`).
		Fields(connectionFields()...).
		Fields(
			service.NewStringListField("topics").Description("Full names of the topics to read.").Example([]string{"recount.commands"}),
			service.NewStringField("consumer_group").Default("").
				Description("Share the partitions with the other members of this group. Empty: read all partitions."),
			service.NewStringField("start_from").Default(pipeline.StartEarliest).
				LintRule("root = if !this.re_match(\""+strings.ReplaceAll(pipeline.StartPattern, `\`, `\\`)+"\") { \""+pipeline.StartWanted+"\" }").
				Example(pipeline.StartLatest).Example("2026-11-20T10:00:00Z").Example("recount.commands/0:1042,recount.commands/1:977").
				Description("Where to start. `projections`: at the positions of this process' projections; `checkpoint`: at their positions when they were last flushed, for topics derived from the log; `committed`: at the consumer group's committed offsets, or the start; `earliest`; `latest`; a time (in UTC unless it has a zone): at the first record appended then or later; offsets, as TOPIC/PARTITION:OFFSET or topic:partition:offset, separated by commas: partitions that are not named start at their beginning. Committed offsets of a consumer group take precedence over earliest, latest, a time and offsets."),
			service.NewObjectField("batching",
				service.NewIntField("count").Default(512).Description("Maximum number of messages in a batch. A batch never waits to be filled."),
				service.NewIntField("byte_size").Default(4<<20).Description("Maximum size of a batch in bytes; its first message may be larger."),
			).Description("Limits of a batch."),
			service.NewDurationField("session_timeout").Default("10s").Advanced().
				Description("The time without heartbeats after which the group assigns a member's partitions to others."),
			service.NewStringField("instance_id").Default("").Advanced().
				Description("A name that lets this member come back within the session timeout without a rebalance."),
			service.NewDurationField("checkpoint_interval").Default("10s").Advanced().
				Description("The interval at which projections are flushed and the checkpoint is written, with start_from: checkpoint."),
		)
}

// logInput is the input recount_log: a Reader of the log.
type logInput struct {
	shared     *shared
	log        *slog.Logger
	reader     *pipeline.Reader
	timestamps bool // add metadata about time and null values, for kafka_franz
}

func (s *shared) newInput(conf *service.ParsedConfig, _ *service.Resources) (service.BatchInput, error) {
	var o pipeline.ReaderOptions
	var own bool
	var err error
	if o.Config, own, err = connection(conf); err != nil {
		return nil, err
	}
	if own {
		o.Own = s.ownLog
	}
	var errs [8]error
	o.Topics, errs[0] = conf.FieldStringList("topics")
	o.Group.Name, errs[1] = conf.FieldString("consumer_group")
	o.Start, errs[2] = conf.FieldString("start_from")
	o.MaxRecords, errs[3] = conf.FieldInt("batching", "count")
	o.MaxBytes, errs[4] = conf.FieldInt("batching", "byte_size")
	o.Group.Session, errs[5] = conf.FieldDuration("session_timeout")
	o.Group.Instance, errs[6] = conf.FieldString("instance_id")
	o.CheckpointEvery, errs[7] = conf.FieldDuration("checkpoint_interval")
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	o.Topics = splitList(o.Topics)
	return s.input(o)
}

// input returns an input that reads with these options.
func (s *shared) input(o pipeline.ReaderOptions) (*logInput, error) {
	o.Target, o.CheckpointDir, o.Stopping, o.Logger = s.projections, s.CheckpointDir, s.stopping, s.Logger
	r, err := pipeline.NewReader(o)
	if err != nil {
		return nil, err
	}
	return &logInput{shared: s, log: s.Logger, reader: r}, nil
}

// splitList splits elements at commas, which connect's lists may contain.
func splitList(in []string) []string {
	var out []string
	for _, s := range in {
		for part := range strings.SplitSeq(s, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// Connect starts reading. It is called again only after an error.
func (in *logInput) Connect(ctx context.Context) error {
	return in.shared.fatal(in.reader.Open(ctx))
}

// ReadBatch waits for the next batch of a partition that has none in flight.
func (in *logInput) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	d, err := in.reader.Next(ctx)
	switch {
	case errors.Is(err, pipeline.ErrNotOpen):
		return nil, nil, service.ErrNotConnected
	case err != nil && ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, io.EOF):
		return nil, nil, service.ErrEndOfInput
	case err != nil:
		// Reading cannot continue: log the reason and let the stream drain.
		in.log.Error("reading the log failed: giving up", slog.Any("err", err))
		if !errors.Is(err, schemas.ErrFatal) {
			err = schemas.Fatalf("%w", err)
		}
		in.shared.Fatal(err)
		return nil, nil, service.ErrEndOfInput
	}
	batch := messages(d)
	if in.timestamps {
		for i, r := range d.Records {
			batch[i].MetaSetMut("kafka_timestamp_unix", r.Timestamp.Unix())
			batch[i].MetaSetMut("kafka_tombstone_message", r.Value == nil)
		}
	}
	return batch, func(_ context.Context, err error) error {
		if err != nil {
			d.Nack(err)
		} else {
			d.Ack()
		}
		return nil
	}, nil
}

// Close stops reading. Benthos closes the input after the output has answered or was abandoned, in
// which case the batch is read again next time.
func (in *logInput) Close(ctx context.Context) error { return in.reader.Close(ctx) }

type deliveryKey struct{}

// deliveryOf returns the delivery that a message belongs to, or nil.
func deliveryOf(msg *service.Message) *pipeline.Delivery {
	d, _ := msg.Context().Value(deliveryKey{}).(*pipeline.Delivery)
	return d
}

// messages returns a delivery as a batch of messages.
func messages(d *pipeline.Delivery) service.MessageBatch {
	ctx := context.WithValue(context.Background(), deliveryKey{}, d)
	batch := make(service.MessageBatch, len(d.Records))
	for i := range d.Records {
		r := &d.Records[i]
		msg := service.NewMessage(r.Value).WithContext(schemas.WithLogRecord(ctx, r))
		for _, h := range r.Headers {
			msg.MetaSetMut(h.Key, string(h.Value))
		}
		msg.MetaSetMut("kafka_topic", r.Position.Topic)
		msg.MetaSetMut("kafka_partition", int(r.Position.Partition))
		msg.MetaSetMut("kafka_offset", int(r.Position.Offset))
		msg.MetaSetMut("kafka_timestamp_ms", r.Timestamp.UnixMilli())
		if r.Key != nil {
			msg.MetaSetMut("kafka_key", string(r.Key))
		}
		batch[i] = msg
	}
	return batch
}
