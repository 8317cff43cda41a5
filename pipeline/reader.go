package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recountdb/recount/schemas"
)

// ReaderOptions are the options of NewReader.
type ReaderOptions struct {
	// Own returns the log to read. Nil means to open a log with Config and to close it in Close.
	Own    func(context.Context) (*Log, error)
	Config Config
	// Topics are the full names of the topics to read.
	Topics []string
	// Group is the consumer group to read as a member of. An empty name means to read all
	// partitions.
	Group GroupMember
	// Start is where to start: one of the constants Start…, a time or offsets.
	Start string
	// MaxRecords and MaxBytes limit a batch. A single record may exceed the latter.
	MaxRecords, MaxBytes int
	// Target returns the projections that StartProjections and StartCheckpoint ask for their
	// position.
	Target func(context.Context) (Target, error)
	// CheckpointDir is where StartCheckpoint keeps positions, and CheckpointEvery how often it
	// flushes the projections and writes them.
	CheckpointDir   string
	CheckpointEvery time.Duration
	// Stopping ends reading when it ends; batches in flight can still be acknowledged.
	Stopping context.Context
	Logger   *slog.Logger
}

// GroupMember holds the settings of a member of a consumer group.
type GroupMember struct {
	Name     string
	Session  time.Duration
	Instance string
}

// Reader reads topics batch by batch: in order within a partition, of which one batch at a time is
// in flight. It is the input of streams; Log.Follow is simpler where a function handles each batch.
type Reader struct {
	o              ReaderOptions
	start          starting
	checkpointName string

	mu      sync.Mutex
	session *session
}

// Delivery is a batch in flight. Either Ack or Nack must be called, once.
type Delivery struct {
	TP schemas.TopicPartition
	// Records is never empty.
	Records []schemas.LogRecord
	// From is the position after the batch before that had records: a consumer that applied all of
	// them is at this offset, or in a gap behind it.
	From int64
	// Last is the offset of the last record, and Next the position of the partition after the
	// batch.
	Last, Next int64

	session *session
	d       *delivery
	log     *slog.Logger
}

// ErrNotOpen is returned by Reader.Next before Open and after Close.
var ErrNotOpen = errors.New("reader: not open")

// errClosed is returned by take after the reader is closed.
var errClosed = errors.New("closed")

// NewReader checks the options. Open starts reading.
func NewReader(o ReaderOptions) (*Reader, error) {
	start, err := parseStart(o.Start)
	if err != nil {
		return nil, err
	}
	for tp := range start.offsets {
		if !slices.Contains(o.Topics, tp.Topic) {
			return nil, fmt.Errorf("start_from: %s: not one of the topics (%s)", tp, strings.Join(o.Topics, ", "))
		}
	}
	switch {
	case len(o.Topics) == 0:
		return nil, errors.New("topics: missing")
	case start.word == StartCommitted && o.Group.Name == "":
		return nil, errors.New("start_from: committed: needs a consumer_group")
	case start.word == StartCheckpoint && o.CheckpointDir == "":
		return nil, errors.New("start_from: checkpoint: this process has no data directory to store it in")
	case o.MaxRecords < 1 || o.MaxBytes < 1:
		return nil, fmt.Errorf("batching: count %d, byte_size %d: want more than 0", o.MaxRecords, o.MaxBytes)
	case o.CheckpointEvery <= 0:
		return nil, fmt.Errorf("checkpoint_interval: %s: want more than 0", o.CheckpointEvery)
	}
	if o.Stopping == nil {
		o.Stopping = context.Background()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Reader{o: o, start: start, checkpointName: strings.Join(o.Topics, "+")}, nil
}

// session is the state between Open and Close.
type session struct {
	log      *Log
	ownedLog bool // the session opened the log and closes it
	queues   *partitionQueues
	cancel   context.CancelFunc
	running  sync.WaitGroup
	group    *groupReader // nil without a consumer group
	target   Target       // the projections that gaps are applied to; nil unless Start is StartProjections
	saver    *checkpoint  // nil unless Start is StartCheckpoint
	left     func()       // called at the end of reading; nil with a consumer group
}

// Open starts to read; reading lasts until Close and waits for outages to end. Open may be called
// again after an error. If it is open already, nothing happens.
func (r *Reader) Open(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session != nil {
		return nil
	}
	s := &session{queues: newPartitionQueues(r.o.MaxRecords, r.o.MaxBytes)}
	var err error
	if r.o.Own != nil {
		s.log, err = r.o.Own(ctx)
	} else {
		cfg := r.o.Config
		cfg.Logger = r.o.Logger
		s.log, err = openReading(ctx, cfg)
		s.ownedLog = true
	}
	if err != nil {
		return err
	}
	if err := r.begin(ctx, s); err != nil {
		if s.ownedLog {
			err = errors.Join(err, s.log.Close())
		}
		return err
	}
	r.session = s
	return nil
}

func (r *Reader) begin(ctx context.Context, s *session) error {
	tps, err := r.awaitTopics(ctx, s.log)
	if err != nil {
		return err
	}
	from, err := r.startFunc(ctx, s)
	if err != nil {
		return err
	}
	// The session outlives this call and ends with Close.
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	context.AfterFunc(r.o.Stopping, func() { s.queues.fail(errClosed) })
	if r.o.Group.Name != "" {
		s.group = &groupReader{log: s.log, queues: s.queues, topics: r.o.Topics, conf: r.o.Group, start: r.start.word, from: from}
		s.running.Go(func() { s.group.run(run) })
	} else {
		for _, tp := range tps {
			s.queues.add(tp, from(tp), -1)
		}
		s.running.Go(func() { s.log.feed(run, s.queues) })
		s.running.Go(func() { s.log.watch(run, r.o.Topics, s.queues, from, nil) })
		s.left = s.log.reading(s.queues, r.o.Topics)
	}
	if s.saver != nil {
		s.running.Go(func() { s.saver.run(run, r.o.CheckpointEvery) })
	}
	return nil
}

// awaitTopics waits until the topics exist and returns their partitions: in split roles the derived
// topic is created by whichever process writes its first record.
func (r *Reader) awaitTopics(ctx context.Context, l *Log) ([]schemas.TopicPartition, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.o.Stopping, cancel)()
	told := false
	for attempt := 0; ; attempt++ {
		tps, err := l.TopicPartitions(ctx, r.o.Topics...)
		if !errors.Is(err, errNoTopic) && !errors.Is(err, errNewTopic) {
			return tps, err
		}
		if !told && errors.Is(err, errNoTopic) {
			told = true
			r.o.Logger.Info("a topic does not exist yet: waiting for it", slog.Any("topics", r.o.Topics))
		}
		if serr := (backoff{longest: time.Second}).sleep(ctx, attempt); serr != nil {
			return nil, err
		}
	}
}

// startFunc returns the function that decides where each partition starts.
func (r *Reader) startFunc(ctx context.Context, s *session) (func(schemas.TopicPartition) int64, error) {
	topics := r.o.Topics
	switch r.start.word {
	case StartProjections:
		t, err := r.o.Target(ctx)
		if err != nil {
			return nil, err
		}
		if r.o.Group.Name == "" {
			s.target = t
		}
		ends, err := s.log.Ends(ctx, topics...)
		return func(tp schemas.TopicPartition) int64 {
			next := t.Next(tp)
			if next == NoConcern {
				return ends[tp]
			}
			return next
		}, err
	case StartCheckpoint:
		t, err := r.o.Target(ctx)
		if err != nil {
			return nil, err
		}
		s.saver, err = openCheckpoint(ctx, s.log, r.o.CheckpointDir, r.checkpointName, t, r.o.Logger)
		if err != nil {
			return nil, err
		}
		return s.saver.next, nil
	case StartLatest:
		ends, err := s.log.Ends(ctx, topics...)
		return func(tp schemas.TopicPartition) int64 { return ends[tp] }, err
	}
	starts, err := s.log.Starts(ctx, topics...)
	switch {
	case err != nil:
		return nil, err
	case r.start.word == startOffsets:
		ends, err := s.log.Ends(ctx, topics...)
		if err != nil {
			return nil, err
		}
		for tp, want := range r.start.offsets {
			if end, ok := ends[tp]; !ok || want > end {
				return nil, schemas.Fatalf("start_from: %s:%d: the log ends there at %d", tp, want, end)
			}
		}
		return func(tp schemas.TopicPartition) int64 { return max(starts[tp], r.start.offsets[tp]) }, nil
	case r.start.word == startTime:
		after, err := s.log.After(ctx, r.start.at, topics...)
		return func(tp schemas.TopicPartition) int64 { return max(starts[tp], after[tp]) }, err
	}
	return func(tp schemas.TopicPartition) int64 { return starts[tp] }, nil
}

// Next waits for the next batch of a partition that has none in flight. It returns io.EOF after
// Stopping or Close, and ErrNotOpen without a session. Reading cannot continue after another error,
// unless it is the context's.
func (r *Reader) Next(ctx context.Context) (*Delivery, error) {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil {
		return nil, ErrNotOpen
	}
	for {
		d, err := s.queues.take(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errClosed):
			return nil, io.EOF
		case err != nil:
			return nil, err
		}
		if len(d.recs) == 0 {
			s.passGap(ctx, d, r.o.Logger)
			continue
		}
		recs := make([]schemas.LogRecord, len(d.recs))
		for i, rec := range d.recs {
			recs[i] = s.log.record(rec)
		}
		return &Delivery{
			TP: d.tp, Records: recs, From: d.from, Last: d.last, Next: d.next,
			session: s, d: d, log: r.o.Logger,
		}, nil
	}
}

// Ack moves the position of the partition behind the batch.
func (b *Delivery) Ack() { b.session.finish(b.d) }

// Nack delivers the batch again after a delay that grows with the number of attempts. The next
// delivery may hold more records.
func (b *Delivery) Nack(err error) {
	wait := backoff{}.wait(b.d.attempt)
	b.log.Warn("batch was not accepted: trying again", slog.String("partition", b.TP.String()),
		slog.Int64("next", b.Next), slog.Int("attempt", b.d.attempt+1), slog.Duration("in", wait), slog.Any("err", err))
	time.AfterFunc(wait, b.d.nack)
}

// passGap moves over offsets without records, such as those that retention removed before they were
// read. No message goes through the stream for them, so the projections are moved here: the batches
// before the gap are acknowledged, that is applied. Otherwise whoever waits for the projections to
// reach the end of the gap would wait until the partition's next record.
func (s *session) passGap(ctx context.Context, d *delivery, log *slog.Logger) {
	if s.target != nil {
		err := s.target.Apply(ctx, schemas.Batch{Topic: d.tp.Topic, Partition: d.tp.Partition, Next: d.next})
		if err != nil {
			(&Delivery{TP: d.tp, Next: d.next, session: s, d: d, log: log}).Nack(err)
			return
		}
	}
	s.finish(d)
}

func (s *session) finish(d *delivery) {
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

// Close stops reading. It does not wait for batches in flight, which are read again next time
// unless they were acknowledged before.
func (r *Reader) Close(ctx context.Context) error {
	r.mu.Lock()
	s := r.session
	r.session = nil
	r.mu.Unlock()
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
