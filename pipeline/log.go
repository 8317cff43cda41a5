package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/schemas"
)

// Log is a client of the log, embedded or external. Its methods may be called concurrently until
// Close.
type Log struct {
	cfg      Config
	endpoint endpoint
	embedded *broker.Broker // nil with external brokers
	producer *kgo.Client
	admin    *kadm.Client
	erased   erasures
	identity identity
	gaps     map[schemas.TopicPartition]map[int64]int64 // of an embedded log: for each gap, its first offset and the offset after its last

	// keySpread holds the number of partitions that keys are spread over, by full name of the topic.
	keySpread atomic.Pointer[map[string]int32]

	mu         sync.Mutex
	partitions map[string]int32 // known partition counts, by full name; they only grow
	readers    map[*partitionQueues]reader
}

// Open opens the log and makes sure that its topics exist. An error names the field of the
// configuration, or what could not be reached; it is ErrTransient if a retry may help.
func Open(ctx context.Context, cfg Config) (*Log, error) {
	l, err := open(cfg)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := l.ensureTopics(within, l.TopicNames()...); err != nil {
		err = fmt.Errorf("open log at %s: %w", strings.Join(l.endpoint.brokers, ","), err)
		return nil, errors.Join(err, l.Close())
	}
	if _, err := l.ReadErasures(within); err != nil {
		return nil, errors.Join(fmt.Errorf("open log: %w", err), l.Close())
	}
	// This comes before anything is appended, because the lineage is that of the opening.
	if err := l.identify(within); err != nil {
		return nil, errors.Join(fmt.Errorf("open log: %w", err), l.Close())
	}
	if err := l.readHomes(within); err != nil {
		return nil, errors.Join(fmt.Errorf("open log: %w", err), l.Close())
	}
	return l, nil
}

// openTimeout limits the wait for external brokers that do not answer.
const openTimeout = 15 * time.Second

// openReading is Open for a client that only reads existing topics. A log without a topic for
// erasures has no erasures.
func openReading(ctx context.Context, cfg Config) (*Log, error) {
	l, err := open(cfg)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if _, err := l.ReadErasures(within); err != nil && !errors.Is(err, schemas.ErrPoison) {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// open opens the log without looking at its topics.
func open(cfg Config) (*Log, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	l := &Log{cfg: cfg, endpoint: endpoint{brokers: cfg.Brokers, cfg: cfg}, partitions: map[string]int32{}, readers: map[*partitionQueues]reader{}}
	if len(cfg.Brokers) == 0 {
		b, err := openEmbedded(cfg)
		if err != nil {
			return nil, fmt.Errorf("embedded broker: %w", err)
		}
		l.embedded = b
		// The name is never resolved: the dialer ignores it.
		l.endpoint.brokers, l.endpoint.dial = []string{"embedded:9092"}, b.Dial
	}
	producer, err := l.endpoint.client(l.producerOptions()...)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.producer, l.admin = producer, kadm.NewClient(producer)
	if err := l.readGaps(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.admin.SetTimeoutMillis(15_000)
	return l, nil
}

// Close closes the clients, then the embedded broker.
func (l *Log) Close() error {
	if l.producer != nil {
		l.producer.Close()
	}
	if l.embedded != nil {
		return l.embedded.Close()
	}
	return nil
}

// Addr returns the TCP address at which other Kafka clients reach the embedded broker, "" if the
// broker is external or does not listen.
func (l *Log) Addr() string {
	if l.embedded == nil {
		return ""
	}
	return l.embedded.Addr()
}

// Embedded reports whether the log is in this process.
func (l *Log) Embedded() bool { return l.embedded != nil }

// Config returns the effective configuration, with defaults.
func (l *Log) Config() Config { return l.cfg }

// Topic returns the full name of a topic. A name in schemas.Topics gets the prefix, so "commands"
// gives "recount.commands"; any other name is already a full one.
func (l *Log) Topic(name string) string {
	if slices.Contains(schemas.Topics(), name) {
		return l.cfg.Prefix + name
	}
	return name
}

// TopicNames returns the full names of schemas.Topics, in that order.
func (l *Log) TopicNames() []string {
	var names []string
	for _, t := range schemas.Topics() {
		names = append(names, l.Topic(t))
	}
	return names
}

// CreateTopic makes sure that a topic exists. A new topic gets the configured number of partitions;
// an existing one is not changed.
func (l *Log) CreateTopic(ctx context.Context, topic string) error {
	return l.ensureTopics(ctx, l.Topic(topic))
}

func (l *Log) ensureTopics(ctx context.Context, topics ...string) error {
	return l.ensure(ctx, l.cfg.Partitions, topics...)
}

// ensure creates the missing topics. Two processes may do so at the same time; both succeed.
func (l *Log) ensure(ctx context.Context, partitions int, topics ...string) error {
	missing, err := l.refresh(ctx, topics)
	if err != nil || len(missing) == 0 {
		return err
	}
	replicas := int16(-1)
	if l.cfg.ReplicationFactor > 0 {
		replicas = int16(l.cfg.ReplicationFactor)
	}
	if l.embedded != nil {
		replicas = 1
	}
	unlimited, policy := "-1", "delete"
	// The batch around the largest event is slightly larger than the event.
	size := strconv.Itoa(l.cfg.MaxEventBytes + batchOverhead)
	configs := map[string]*string{
		"cleanup.policy": &policy, "retention.ms": &unlimited, "retention.bytes": &unlimited,
		"max.message.bytes": &size,
	}
	created, err := l.admin.CreateTopics(ctx, int32(partitions), replicas, configs, missing...)
	if err != nil {
		return classify(fmt.Errorf("create topics: %w", err))
	}
	for _, topic := range missing {
		if err := created[topic].Err; err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return classify(fmt.Errorf("create topic %s: %w: %s", topic, err, created[topic].ErrMessage))
		}
	}
	// An external Kafka answers before every broker knows the topic.
	return retry(ctx, backoff{limit: 8}, func() error {
		missing, err := l.refresh(ctx, topics)
		if err == nil && len(missing) > 0 {
			err = schemas.Transientf("topic %s: created but not yet visible", missing[0])
		}
		return err
	})
}

// refresh updates the partition counts of the topics and returns the topics that do not exist.
func (l *Log) refresh(ctx context.Context, topics []string) (missing []string, err error) {
	details, err := l.admin.ListTopics(ctx, topics...)
	if err != nil {
		return nil, classify(fmt.Errorf("list topics: %w", err))
	}
	counts := map[string]int32{}
	for _, topic := range topics {
		d, ok := details[topic]
		switch {
		case !ok || errors.Is(d.Err, kerr.UnknownTopicOrPartition):
			missing = append(missing, topic)
		case d.Err != nil:
			return nil, classify(fmt.Errorf("topic %s: %w", topic, d.Err))
		case len(d.Partitions) == 0:
			missing = append(missing, topic)
		default:
			counts[topic] = int32(len(d.Partitions))
		}
	}
	l.learn(counts)
	return missing, nil
}

// learn stores partition counts. A count never decreases, because the answer of another broker may
// be older than what is known.
func (l *Log) learn(counts map[string]int32) {
	l.mu.Lock()
	grown := false
	for topic, n := range counts {
		had := l.partitions[topic]
		l.partitions[topic] = max(had, n)
		grown = grown || had > 0 && n > had
	}
	l.mu.Unlock()
	if grown {
		l.producer.ForceMetadataRefresh()
	}
}

// partitionCount returns the number of a topic's partitions. If the topic does not exist the error
// is ErrPoison: no event can be appended to it or read from it.
func (l *Log) partitionCount(ctx context.Context, topic string) (int32, error) {
	l.mu.Lock()
	n, ok := l.partitions[topic]
	l.mu.Unlock()
	if ok {
		return n, nil
	}
	missing, err := l.refresh(ctx, []string{topic})
	if err != nil {
		return 0, err
	}
	if len(missing) > 0 {
		return 0, l.missing(ctx, topic)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partitions[topic], nil
}

// missing returns the error for a topic that the client does not find. It asks the broker, since the
// client may remember an answer from before the topic was made: the error is ErrTransient if the broker
// has the topic, and ErrPoison if not.
func (l *Log) missing(ctx context.Context, topic string) error {
	req, one := kmsg.NewPtrMetadataRequest(), kmsg.NewMetadataRequestTopic()
	one.Topic = &topic
	req.Topics = append(req.Topics, one)
	resp, err := req.RequestWith(ctx, l.producer)
	if err != nil {
		return classify(fmt.Errorf("ask for topic %s: %w", topic, err))
	}
	for _, t := range resp.Topics {
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			return l.noTopic(topic)
		case err != nil:
			return classify(fmt.Errorf("ask for topic %s: %w", topic, err))
		}
	}
	return schemas.Transientf("topic %s: %w", topic, errNewTopic)
}

func (l *Log) noTopic(topic string) error {
	return schemas.Poisonf("topic %q: %w; have %s", topic, errNoTopic, strings.Join(l.TopicNames(), ", "))
}

// errNoTopic is wrapped by errors about a topic that does not exist (yet).
var errNoTopic = errors.New("no such topic")

// errNewTopic is wrapped by errors about a topic that exists but that the client does not know yet.
var errNewTopic = errors.New("it was made a moment ago")

// TopicInfo describes one topic for `recount log topics`.
type TopicInfo struct {
	Name       string          `json:"name"`
	Partitions []PartitionInfo `json:"partitions"`
}

// PartitionInfo describes one partition, whose records have Start ≤ offset < End.
type PartitionInfo struct {
	Partition int32 `json:"partition"`
	Start     int64 `json:"start"`
	End       int64 `json:"end"`
}

// Topics returns the topics with the prefix, sorted by name.
func (l *Log) Topics(ctx context.Context) ([]TopicInfo, error) {
	details, err := l.admin.ListTopics(ctx)
	if err != nil {
		return nil, classify(fmt.Errorf("list topics: %w", err))
	}
	var names []string
	for _, d := range details.Sorted() {
		if strings.HasPrefix(d.Topic, l.cfg.Prefix) && d.Err == nil {
			names = append(names, d.Topic)
		}
	}
	starts, err := l.Starts(ctx, names...)
	if err != nil {
		return nil, err
	}
	ends, err := l.Ends(ctx, names...)
	if err != nil {
		return nil, err
	}
	var infos []TopicInfo
	for _, tp := range ends.Partitions() {
		if len(infos) == 0 || infos[len(infos)-1].Name != tp.Topic {
			infos = append(infos, TopicInfo{Name: tp.Topic})
		}
		t := &infos[len(infos)-1]
		t.Partitions = append(t.Partitions, PartitionInfo{tp.Partition, starts[tp], ends[tp]})
	}
	return infos, nil
}

// Ends returns the end of each partition of the topics: the offset that the next event gets, and so
// the watermark of a reader that has read everything. Without topics it covers all of TopicNames.
func (l *Log) Ends(ctx context.Context, topics ...string) (schemas.Watermark, error) {
	return l.offsets(ctx, "end", l.admin.ListCommittedOffsets, topics)
}

// Starts returns the first offset of each partition of the topics. Without topics it covers all of
// TopicNames.
func (l *Log) Starts(ctx context.Context, topics ...string) (schemas.Watermark, error) {
	return l.offsets(ctx, "start", l.admin.ListStartOffsets, topics)
}

type listOffsets func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)

func (l *Log) offsets(ctx context.Context, which string, list listOffsets, topics []string) (schemas.Watermark, error) {
	names := l.TopicNames()
	if len(topics) > 0 {
		names = nil
		for _, t := range topics {
			names = append(names, l.Topic(t))
		}
	}
	for _, topic := range names {
		if _, err := l.partitionCount(ctx, topic); err != nil {
			return nil, err // the error names the missing topic
		}
	}
	listed, err := list(ctx, names...)
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		for _, topic := range names {
			if err := l.missing(ctx, topic); !errors.Is(err, schemas.ErrTransient) {
				return nil, err
			}
		}
		return nil, schemas.Transientf("list %s offsets: %w", which, err)
	}
	if err != nil {
		return nil, classify(fmt.Errorf("list %s offsets: %w", which, err))
	}
	w := schemas.Watermark{}
	counts := map[string]int32{}
	for topic, parts := range listed {
		for p, o := range parts {
			switch {
			case errors.Is(o.Err, kerr.UnknownTopicOrPartition):
				if p < 0 {
					return nil, l.missing(ctx, topic)
				}
				// The partition is in the metadata, so it was added a moment ago or its topic is
				// being deleted.
				return nil, schemas.Transientf("list %s offset of %s/%d: %w", which, topic, p, o.Err)
			case o.Err != nil:
				return nil, classify(fmt.Errorf("list %s offset of %s/%d: %w", which, topic, p, o.Err))
			}
			w[schemas.TopicPartition{Topic: topic, Partition: p}] = o.Offset
			counts[topic] = max(counts[topic], p+1)
		}
	}
	l.learn(counts)
	return w, nil
}

// TopicPartitions returns all present partitions of the topics, in order.
func (l *Log) TopicPartitions(ctx context.Context, topics ...string) ([]schemas.TopicPartition, error) {
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = l.Topic(t)
	}
	missing, err := l.refresh(ctx, names)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, l.missing(ctx, missing[0])
	}
	var tps []schemas.TopicPartition
	for _, t := range names {
		n, err := l.partitionCount(ctx, t)
		if err != nil {
			return nil, err
		}
		for p := range n {
			tps = append(tps, schemas.TopicPartition{Topic: t, Partition: p})
		}
	}
	slices.SortFunc(tps, schemas.TopicPartition.Compare)
	return slices.Compact(tps), nil
}

// readTimeout limits Read: the record is known to exist, so only an outage causes a wait.
const readTimeout = 10 * time.Second

// Read returns the record at a position. If there is none (below the start, beyond the end, in a
// gap) the error is ErrPoison.
func (l *Log) Read(ctx context.Context, at schemas.Position) (schemas.LogRecord, error) {
	rec, err := l.read(ctx, at)
	if err != nil {
		return rec, fmt.Errorf("read %s: %w", at, err)
	}
	return rec, nil
}

func (l *Log) read(ctx context.Context, at schemas.Position) (schemas.LogRecord, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	starts, err := l.Starts(ctx, at.Topic)
	if err != nil {
		return schemas.LogRecord{}, err
	}
	if _, ok := starts[at.TP()]; !ok {
		return schemas.LogRecord{}, schemas.Poisonf("no such partition: %s has %d", at.Topic, len(starts))
	}
	ends, err := l.Ends(ctx, at.Topic)
	if err != nil {
		return schemas.LogRecord{}, err
	}
	if start, end := starts[at.TP()], ends[at.TP()]; start == end {
		return schemas.LogRecord{}, schemas.Poisonf("no such offset: the partition is empty")
	} else if at.Offset < start || at.Offset >= end {
		return schemas.LogRecord{}, schemas.Poisonf("no such offset: the partition holds %d to %d", start, end-1)
	}
	if l.skipGaps(at.TP(), at.Offset) != at.Offset {
		return schemas.LogRecord{}, schemas.Poisonf("no record: it was lost, and the loss was accepted (accept_loss)")
	}
	cl, err := l.endpoint.client(
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{at.Topic: {at.Partition: kgo.NewOffset().At(at.Offset)}}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		// One batch is enough: a broker always sends the first one in full.
		kgo.FetchMaxPartitionBytes(1), kgo.FetchMaxBytes(1),
	)
	if err != nil {
		return schemas.LogRecord{}, err
	}
	defer cl.Close()
	for {
		fetches := cl.PollRecords(ctx, 1)
		if errs := fetches.Errors(); len(errs) > 0 {
			e := errs[0]
			return schemas.LogRecord{}, l.fetchError(schemas.TopicPartition{Topic: e.Topic, Partition: e.Partition}, at.Offset, e.Err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			r := it.Next()
			switch {
			case r.Offset < at.Offset:
			case r.Offset > at.Offset, r.Attrs.IsControl():
				return schemas.LogRecord{}, schemas.Poisonf("no record: the offset is a gap")
			default:
				return l.record(r), nil
			}
		}
		if err := ctx.Err(); err != nil {
			return schemas.LogRecord{}, classify(err)
		}
	}
}
