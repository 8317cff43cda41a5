package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/schemas"
)

// batchOverhead is an upper bound on what a batch adds around a single record.
const batchOverhead = 1 << 10

func (l *Log) producerOptions() []kgo.Opt {
	return []kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		// No linger: the next batch gathers while a request is in flight, so under load records are
		// batched, and an idle log answers at once.
		kgo.ProducerLinger(0),
		kgo.ProducerBatchMaxBytes(int32(l.cfg.MaxEventBytes + batchOverhead)),
		kgo.ProducerBatchCompression(kgo.ZstdCompression(), kgo.NoCompression()),
		kgo.RecordPartitioner(partitioner{kgo.StickyKeyPartitioner(nil), l.home}),
		kgo.MetadataMaxAge(metadataAge),
		kgo.UnknownTopicRetries(3),
	}
}

// NotAppended is the position of an event that was not appended, or whose fate is unknown.
var NotAppended = schemas.Position{Partition: -1, Offset: -1}

// Append appends events to a topic and returns when all of them are durable, with their positions
// in the order of the events. Events with the same key stay in the given order. Fields that an
// event leaves empty are filled in: the type from the topic, the source, the time (now), the key
// (schemas.Event.DeriveKey), and then the id, which is a function of all others.
//
// On an error, positions still has one entry per event: NotAppended for those that were refused
// (ErrPoison: too large, no such topic; nothing was sent) or whose fate is unknown (ErrTransient:
// an outage). It is safe to append the latter again if they have an id or a time of their own: a
// copy is recognised by its id.
func (l *Log) Append(ctx context.Context, topic string, events ...schemas.Event) ([]schemas.Position, error) {
	recs := make([]schemas.LogRecord, len(events))
	now := time.Now()
	for i, e := range events {
		if e.Type == "" {
			e.Type = schemas.DefaultType(topic)
		}
		if e.Source == "" {
			e.Source = schemas.DefaultSource
		}
		if e.ContentType == "" {
			e.ContentType = schemas.ContentJSON
		}
		if e.Time.IsZero() {
			e.Time = now
		}
		if e.Key == nil {
			e.Key = e.DeriveKey()
		}
		if e.ID.IsZero() {
			e.ID = e.DeriveID()
		}
		recs[i] = schemas.LogRecord{
			Position: schemas.Position{Topic: topic, Partition: -1},
			Headers:  e.Headers(), Key: e.Key, Value: e.Payload,
		}
	}
	return l.Produce(ctx, recs...)
}

// Produce appends records without changes, as any Kafka client could. The topic and the partition
// are those of the record's Position; for partition -1 the key decides, as it does by default in
// every Kafka client. A zero timestamp becomes the current time. The results are like those of
// Append.
func (l *Log) Produce(ctx context.Context, recs ...schemas.LogRecord) ([]schemas.Position, error) {
	positions := make([]schemas.Position, len(recs))
	out := make([]*kgo.Record, len(recs))
	for i, r := range recs {
		positions[i] = NotAppended
		kr := &kgo.Record{
			Topic: l.Topic(r.Position.Topic), Partition: r.Position.Partition,
			Key: r.Key, Value: r.Value, Timestamp: r.Timestamp, Headers: kgoHeaders(r.Headers),
		}
		if err := l.checkRecord(ctx, kr); err != nil {
			return notAppended(positions, i), fmt.Errorf("append event %d of %d to %s: %w", i+1, len(recs), kr.Topic, err)
		}
		out[i] = kr
	}
	// The client would retry until the timeout and not report the reason.
	if full := l.Full(); full != nil && len(recs) > 0 {
		return notAppended(positions, 0), fmt.Errorf("append to %s: refused, nothing appended: %w", l.Topic(recs[0].Position.Topic), full)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.cfg.AppendTimeout,
		schemas.Transientf("no acknowledgement within %s", l.cfg.AppendTimeout))
	defer cancel()

	if err := l.awaitProducer(ctx, out); err != nil {
		return notAppended(positions, 0), err
	}
	type ack struct {
		i   int
		r   *kgo.Record
		err error
	}
	// The channel has room for all answers, so that an answer that arrives after this call has
	// given up blocks nobody: a record that was sent is still finished by the client.
	acks := make(chan ack, len(out))
	for i, kr := range out {
		l.producer.Produce(ctx, kr, func(r *kgo.Record, err error) { acks <- ack{i, r, err} })
	}
	var errs []error
	for range out {
		select {
		case a := <-acks:
			if a.err != nil {
				if ctx.Err() != nil && errors.Is(a.err, ctx.Err()) {
					a.err = context.Cause(ctx)
				}
				errs = append(errs, fmt.Errorf("append event %d of %d to %s: %w", a.i+1, len(out), a.r.Topic, classify(a.err)))
				continue
			}
			positions[a.i] = schemas.Position{Topic: a.r.Topic, Partition: a.r.Partition, Offset: a.r.Offset}
		case <-ctx.Done():
			return positions, errors.Join(fmt.Errorf("append to %s: it is unknown whether it was appended: %w",
				out[0].Topic, classify(context.Cause(ctx))), l.Full())
		}
	}
	return positions, errors.Join(errs...)
}

// awaitProducer waits until the producer's metadata includes the partitions that records name. It
// may not include one that was added a moment ago.
func (l *Log) awaitProducer(ctx context.Context, recs []*kgo.Record) error {
	for _, r := range recs {
		if r.Partition <= 0 {
			continue
		}
		err := retry(ctx, backoff{longest: 100 * time.Millisecond}, func() error {
			first, _, _ := l.producer.PartitionLeader(r.Topic, 0)
			named, _, _ := l.producer.PartitionLeader(r.Topic, r.Partition)
			if first < 0 || named >= 0 {
				return nil // the client itself looks up unknown topics
			}
			l.producer.ForceMetadataRefresh()
			return schemas.Transientf("append to %s/%d: the partition exists, but the client does not know it yet", r.Topic, r.Partition)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Full returns why the embedded broker refuses records for lack of space, or nil.
func (l *Log) Full() error {
	if l.embedded == nil {
		return nil
	}
	if err := l.embedded.Full(); err != nil {
		return schemas.Transientf("%w", err)
	}
	return nil
}

// notAppended sets the positions from index i on to NotAppended.
func notAppended(positions []schemas.Position, i int) []schemas.Position {
	for ; i < len(positions); i++ {
		positions[i] = NotAppended
	}
	return positions
}

// checkRecord refuses what the broker would refuse, before anything is sent, so that one bad event
// is reported before any other of the same call is appended.
func (l *Log) checkRecord(ctx context.Context, r *kgo.Record) error {
	size := len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		size += len(h.Key) + len(h.Value)
	}
	if size > l.cfg.MaxEventBytes {
		return schemas.Poisonf("event of %d bytes exceeds the limit of %d (max_event_bytes)", size, l.cfg.MaxEventBytes)
	}
	n, err := l.partitionCount(ctx, r.Topic)
	if err != nil {
		return err
	}
	if r.Partition >= n {
		// The partition may have been added. The producer refreshes its metadata, too.
		if _, err := l.refresh(ctx, []string{r.Topic}); err != nil {
			return err
		}
		if n, err = l.partitionCount(ctx, r.Topic); err != nil {
			return err
		}
	}
	if r.Partition >= n || r.Partition < -1 {
		return schemas.Poisonf("partition %d: no such partition: %s has %d", r.Partition, r.Topic, n)
	}
	return nil
}

// partitioner uses the partition that a record names. Otherwise the key decides, by Kafka's own
// hash over the first home partitions (homes.go), and a record without a key goes to the partition
// with an open batch.
type partitioner struct {
	byKey kgo.Partitioner
	home  func(topic string, n int) int
}

func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	return &topicPartitioner{topic: topic, byKey: p.byKey.ForTopic(topic), home: p.home}
}

type topicPartitioner struct {
	topic string
	byKey kgo.TopicPartitioner
	home  func(topic string, n int) int
}

func (p *topicPartitioner) RequiresConsistency(r *kgo.Record) bool {
	return r.Partition >= 0 || p.byKey.RequiresConsistency(r)
}

func (p *topicPartitioner) Partition(r *kgo.Record, n int) int {
	if r.Partition >= 0 {
		return int(r.Partition)
	}
	if r.Key != nil {
		n = p.home(p.topic, n)
	}
	return p.byKey.Partition(r, n)
}

// OnNewBatch lets the sticky partitioner choose another partition.
func (p *topicPartitioner) OnNewBatch() {
	if b, ok := p.byKey.(kgo.TopicPartitionerOnNewBatch); ok {
		b.OnNewBatch()
	}
}

func kgoHeaders(hs []schemas.Header) []kgo.RecordHeader {
	out := make([]kgo.RecordHeader, len(hs))
	for i, h := range hs {
		out[i] = kgo.RecordHeader{Key: h.Key, Value: h.Value}
	}
	return out
}

// logRecord converts a client's record; the two share memory.
func logRecord(r *kgo.Record) schemas.LogRecord {
	hs := make([]schemas.Header, len(r.Headers))
	for i, h := range r.Headers {
		hs[i] = schemas.Header{Key: h.Key, Value: h.Value}
	}
	return schemas.LogRecord{
		Position:  schemas.Position{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset},
		Timestamp: r.Timestamp, Headers: hs, Key: r.Key, Value: r.Value,
	}
}
