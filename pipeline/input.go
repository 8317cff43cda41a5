package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/recountdb/recount/schemas"
)

// fromProjections and the constants below are the values of start_from: where the input recount_log
// starts reading a partition.
const (
	fromProjections = "projections"
	fromCheckpoint  = "checkpoint"
	fromCommitted   = "committed"
	fromEarliest    = "earliest"
	fromLatest      = "latest"
)

func inputSpec() *service.ConfigSpec {
	return service.NewConfigSpec().Stable().Categories("Recount").
		Summary("Reads the log: each partition in order, one batch at a time.").
		Description(`A partition's next batch is read only when the one before was written to the output, and a batch that the output refused is read again; so the order within a partition holds whatever `+"`threads` and `max_in_flight`"+` are, and partitions go on beside each other.

Every message carries the metadata kafka_topic, kafka_partition, kafka_offset, kafka_key, kafka_timestamp_ms and the record's headers.`).
		Fields(connectionFields()...).
		Fields(
			service.NewStringListField("topics").Description("Full names of the topics to read.").Example([]string{"recount.commands"}),
			service.NewStringField("consumer_group").Default("").
				Description("Share the partitions with other members of this group. None: read all partitions."),
			service.NewStringField("start_from").Default(fromEarliest).
				LintRule("root = if !this.re_match(\""+strings.ReplaceAll(startForm, `\`, `\\`)+"\") { \""+startWant+"\" }").
				Example(fromLatest).Example("2026-11-20T10:00:00Z").Example("recount.commands/0:1042,recount.commands/1:977").
				Description("Where to start. `projections`: where this process' projections stand; `checkpoint`: where they stood when they were last flushed, for topics derived from the log; `committed`: what the consumer group committed, or the start; `earliest`; `latest`; a time (without a zone in UTC): with the first record that was appended then or later; offsets, as TOPIC/PARTITION:OFFSET or topic:partition:offset, several separated by commas: there, and partitions that are not named at their beginning. What a consumer group has committed goes before earliest, latest, a time and offsets."),
			service.NewObjectField("batching",
				service.NewIntField("count").Default(512).Description("The most messages of a batch. A batch never waits to be filled."),
				service.NewIntField("byte_size").Default(4<<20).Description("The most bytes of a batch; its first message may be larger."),
			).Description("How large a batch may be."),
			service.NewDurationField("session_timeout").Default("10s").Advanced().
				Description("After how long without a sign of life the group gives a member's partitions to others."),
			service.NewStringField("instance_id").Default("").Advanced().
				Description("A name that lets this member come back within the session timeout without a rebalance."),
			service.NewDurationField("checkpoint_interval").Default("10s").Advanced().
				Description("How often projections are flushed and the checkpoint written, with start_from: checkpoint."),
		)
}

// logInput is the input recount_log. Connect starts a session, which reads until Close; the session
// waits for outages to end.
type logInput struct {
	shared *shared
	cfg    Config
	own    bool // read from the process's own log
	log    *slog.Logger

	topics             []string
	group              groupConfig
	start              starting
	timestamps         bool // add metadata about time and null values, for kafka_franz
	maxCount, maxBytes int
	checkpointEvery    time.Duration
	checkpointName     string

	mu      sync.Mutex
	session *inputSession
}

func (s *shared) newInput(conf *service.ParsedConfig, res *service.Resources) (service.BatchInput, error) {
	in := &logInput{shared: s, log: s.Logger}
	var err error
	if in.cfg, in.own, err = connection(conf); err != nil {
		return nil, err
	}
	var errs [8]error
	in.topics, errs[0] = conf.FieldStringList("topics")
	in.group.name, errs[1] = conf.FieldString("consumer_group")
	start, e := conf.FieldString("start_from")
	errs[2] = e
	in.maxCount, errs[3] = conf.FieldInt("batching", "count")
	in.maxBytes, errs[4] = conf.FieldInt("batching", "byte_size")
	in.group.session, errs[5] = conf.FieldDuration("session_timeout")
	in.group.instance, errs[6] = conf.FieldString("instance_id")
	in.checkpointEvery, errs[7] = conf.FieldDuration("checkpoint_interval")
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	in.topics = splitList(in.topics)
	if in.start, err = parseStart(start); err != nil {
		return nil, err
	}
	in.checkpointName = strings.Join(in.topics, "+")
	return in, in.check()
}

// check rejects field values that cannot work.
func (in *logInput) check() error {
	for tp := range in.start.offsets {
		if !slices.Contains(in.topics, tp.Topic) {
			return fmt.Errorf("start_from: %s: not one of the topics (%s)", tp, strings.Join(in.topics, ", "))
		}
	}
	switch {
	case len(in.topics) == 0:
		return errors.New("topics: none given")
	case in.start.word == fromCommitted && in.group.name == "":
		return errors.New("start_from: committed: needs a consumer_group")
	case in.start.word == fromCheckpoint && in.shared.CheckpointDir == "":
		return errors.New("start_from: checkpoint: this process has no data directory to keep it in")
	case in.maxCount < 1 || in.maxBytes < 1:
		return fmt.Errorf("batching: count %d, byte_size %d: want more than 0", in.maxCount, in.maxBytes)
	case in.checkpointEvery <= 0:
		return fmt.Errorf("checkpoint_interval: %s: want more than 0", in.checkpointEvery)
	}
	return nil
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

// inputSession is the state between Connect and Close.
type inputSession struct {
	log      *Log
	ownedLog bool // the session opened the log and closes it
	queues   *partitionQueues
	cancel   context.CancelFunc
	running  sync.WaitGroup
	group    *groupReader // nil without a consumer group
	saver    *checkpoint  // nil unless start_from is checkpoint
	left     func()       // called at the end of reading; not nil without a consumer group
}

// Connect starts reading. It is called again only after an error.
func (in *logInput) Connect(ctx context.Context) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.session != nil {
		return nil
	}
	s := &inputSession{queues: newPartitionQueues(in.maxCount, in.maxBytes)}
	var err error
	if in.own {
		s.log, err = in.shared.ownLog(ctx)
	} else {
		in.cfg.Logger = in.shared.Logger
		s.log, err = openReading(ctx, in.cfg)
		s.ownedLog = true
	}
	if err != nil {
		return in.shared.fatal(err)
	}
	if err := in.begin(ctx, s); err != nil {
		if s.ownedLog {
			err = errors.Join(err, s.log.Close())
		}
		return in.shared.fatal(err)
	}
	in.session = s
	return nil
}

func (in *logInput) begin(ctx context.Context, s *inputSession) error {
	tps, err := in.awaitTopics(ctx, s.log)
	if err != nil {
		return err
	}
	from, err := in.startFunc(ctx, s)
	if err != nil {
		return err
	}
	// The session outlives this call and ends with Close.
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	context.AfterFunc(in.shared.stopping, func() { s.queues.fail(errClosed) })
	if in.group.name != "" {
		s.group = &groupReader{log: s.log, queues: s.queues, topics: in.topics, conf: in.group, start: in.start.word, from: from}
		s.running.Go(func() { s.group.run(run) })
	} else {
		for _, tp := range tps {
			s.queues.add(tp, from(tp), -1)
		}
		s.running.Go(func() { s.log.feed(run, s.queues) })
		s.running.Go(func() { s.log.watch(run, in.topics, s.queues, from, nil) })
		s.left = s.log.reading(s.queues, in.topics)
	}
	if s.saver != nil {
		s.running.Go(func() { s.saver.run(run, in.checkpointEvery) })
	}
	return nil
}

// awaitTopics waits until the topics exist and returns their partitions: in split roles the derived
// topic is created by whichever process writes its first record.
func (in *logInput) awaitTopics(ctx context.Context, l *Log) ([]schemas.TopicPartition, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(in.shared.stopping, cancel)()
	told := false
	for attempt := 0; ; attempt++ {
		tps, err := l.TopicPartitions(ctx, in.topics...)
		if !errors.Is(err, errNoTopic) {
			return tps, err
		}
		if !told {
			told = true
			in.log.Info("a topic does not exist yet: waiting for it", slog.Any("topics", in.topics))
		}
		if serr := (backoff{most: time.Second}).sleep(ctx, attempt); serr != nil {
			return nil, err
		}
	}
}

// startFunc returns the function that decides where each partition starts.
func (in *logInput) startFunc(ctx context.Context, s *inputSession) (func(schemas.TopicPartition) int64, error) {
	switch in.start.word {
	case fromProjections:
		t, err := in.shared.projections(ctx)
		if err != nil {
			return nil, err
		}
		ends, err := s.log.Ends(ctx, in.topics...)
		return func(tp schemas.TopicPartition) int64 {
			next := t.Next(tp)
			if next == NoConcern {
				return ends[tp]
			}
			return next
		}, err
	case fromCheckpoint:
		t, err := in.shared.projections(ctx)
		if err != nil {
			return nil, err
		}
		s.saver, err = openCheckpoint(ctx, s.log, in.shared.CheckpointDir, in.checkpointName, t, in.log)
		if err != nil {
			return nil, err
		}
		return s.saver.next, nil
	case fromLatest:
		ends, err := s.log.Ends(ctx, in.topics...)
		return func(tp schemas.TopicPartition) int64 { return ends[tp] }, err
	}
	starts, err := s.log.Starts(ctx, in.topics...)
	switch {
	case err != nil:
		return nil, err
	case in.start.word == fromOffsets:
		ends, err := s.log.Ends(ctx, in.topics...)
		if err != nil {
			return nil, err
		}
		for tp, want := range in.start.offsets {
			if end, ok := ends[tp]; !ok || want > end {
				return nil, schemas.Fatalf("start_from: %s:%d: the log ends there at %d", tp, want, end)
			}
		}
		return func(tp schemas.TopicPartition) int64 { return max(starts[tp], in.start.offsets[tp]) }, nil
	case in.start.word == fromTime:
		after, err := s.log.After(ctx, in.start.at, in.topics...)
		return func(tp schemas.TopicPartition) int64 { return max(starts[tp], after[tp]) }, err
	}
	return func(tp schemas.TopicPartition) int64 { return starts[tp] }, nil
}

// ReadBatch waits for the next batch of a partition that has none in flight.
func (in *logInput) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	in.mu.Lock()
	s := in.session
	in.mu.Unlock()
	if s == nil {
		return nil, nil, service.ErrNotConnected
	}
	for {
		d, err := s.queues.take(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.Is(err, errClosed):
			return nil, nil, service.ErrEndOfInput
		case err != nil:
			// Reading cannot continue: log the reason and let the stream drain.
			in.log.Error("reading the log: giving up", slog.Any("err", err))
			if !errors.Is(err, schemas.ErrFatal) {
				err = schemas.Fatalf("%w", err)
			}
			in.shared.Fatal(err)
			return nil, nil, service.ErrEndOfInput
		}
		if len(d.recs) == 0 {
			s.finish(d) // only a gap
			continue
		}
		batch := s.log.messages(d)
		if in.timestamps {
			for i, r := range d.recs {
				batch[i].MetaSetMut("kafka_timestamp_unix", r.Timestamp.Unix())
				batch[i].MetaSetMut("kafka_tombstone_message", r.Value == nil)
			}
		}
		return batch, in.ackFunc(s, d), nil
	}
}

// ackFunc returns the function that moves the position if the batch was written, and otherwise
// delivers the batch again after a delay.
func (in *logInput) ackFunc(s *inputSession, d *delivery) service.AckFunc {
	return func(_ context.Context, err error) error {
		if err == nil {
			s.finish(d)
			return nil
		}
		wait := backoff{}.wait(d.attempt)
		in.log.Warn("batch not taken: trying again", slog.String("partition", d.tp.String()),
			slog.Int64("next", d.next), slog.Int("attempt", d.attempt+1), slog.Duration("in", wait), slog.Any("err", err))
		time.AfterFunc(wait, d.nack)
		return nil
	}
}

func (s *inputSession) finish(d *delivery) {
	if !d.ack() {
		return // the partition belongs to another reader now
	}
	if s.group != nil {
		s.group.mark(d)
	}
	if s.saver != nil {
		s.saver.advance(d.tp, d.next)
	}
}

// errClosed is returned by take after the input is closed.
var errClosed = errors.New("closed")

// Close stops reading. It does not wait for batches in flight: Benthos closes the input after the
// output has answered or was abandoned, in which case the batch is read again next time.
func (in *logInput) Close(ctx context.Context) error {
	in.mu.Lock()
	s := in.session
	in.session = nil
	in.mu.Unlock()
	if s == nil {
		return nil
	}
	if s.left != nil {
		s.left()
	}
	s.queues.fail(errClosed)
	s.cancel()
	s.running.Wait()
	var errs []error
	if s.saver != nil {
		errs = append(errs, s.saver.save(ctx))
	}
	if s.ownedLog {
		errs = append(errs, s.log.Close())
	}
	return errors.Join(errs...)
}

type deliveryKey struct{}

// deliveryOf returns the delivery that a message belongs to, or nil.
func deliveryOf(msg *service.Message) *delivery {
	d, _ := msg.Context().Value(deliveryKey{}).(*delivery)
	return d
}

// messages returns a delivery as a batch of messages.
func (l *Log) messages(d *delivery) service.MessageBatch {
	ctx := context.WithValue(context.Background(), deliveryKey{}, d)
	batch := make(service.MessageBatch, len(d.recs))
	lrs := make([]schemas.LogRecord, len(d.recs))
	for i, r := range d.recs {
		lrs[i] = l.record(r)
		msg := service.NewMessage(lrs[i].Value).WithContext(schemas.WithLogRecord(ctx, &lrs[i]))
		for _, h := range lrs[i].Headers {
			msg.MetaSetMut(h.Key, string(h.Value))
		}
		msg.MetaSetMut("kafka_topic", r.Topic)
		msg.MetaSetMut("kafka_partition", int(r.Partition))
		msg.MetaSetMut("kafka_offset", int(r.Offset))
		msg.MetaSetMut("kafka_timestamp_ms", r.Timestamp.UnixMilli())
		if lrs[i].Key != nil {
			msg.MetaSetMut("kafka_key", string(lrs[i].Key))
		}
		batch[i] = msg
	}
	return batch
}
