package storage

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"
)

// topics holds all topics in memory.
type topics struct {
	// admin serialises changes of topics; it is held until the change is durable and is locked
	// before mu.
	admin sync.Mutex

	mu         sync.RWMutex
	byName     map[string]*Topic
	byID       map[[16]byte]*Topic
	partitions int
}

// Topic is one life of a topic: a topic deleted and created again is another one. Its name and ids
// never change.
type Topic struct {
	Name string
	ID   [16]byte
	num  topicNum

	parts   atomic.Pointer[[]*Partition]
	configs atomic.Pointer[TopicConfigs]

	// Used by the committer only.
	deleted bool // later appends are refused
	bulk    bool // batches of the group being built go to a segment file
}

// TopicConfigs are a topic's settings as set, and those of their values that the log needs.
type TopicConfigs struct {
	Set             map[string]string
	MaxMessageBytes int // 0: the log's default
}

// Configs returns the topic's settings, which nobody may change.
func (t *Topic) Configs() *TopicConfigs { return t.configs.Load() }

// MaxBatchBytes returns the maximum size of a topic's batches.
func (l *Log) MaxBatchBytes(t *Topic) int {
	if n := t.configs.Load().MaxMessageBytes; n > 0 {
		return n
	}
	return l.opts.MaxBatchBytes
}

// storedTopic is the stored form of a topic: JSON, because it is small, rarely written, and
// readable in a dump.
type storedTopic struct {
	ID         [16]byte          `json:"id"`
	Num        topicNum          `json:"num"`
	Partitions int32             `json:"partitions"`
	Configs    map[string]string `json:"configs,omitempty"`
}

// Partition returns a partition; nil if there is none.
func (t *Topic) Partition(n int32) *Partition {
	parts := *t.parts.Load()
	if n < 0 || int(n) >= len(parts) {
		return nil
	}
	return parts[n]
}

// Partitions returns the topic's partitions, which nobody may change.
func (t *Topic) Partitions() []*Partition { return *t.parts.Load() }

// Count returns the number of partitions.
func (t *Topic) Count() int32 { return int32(len(*t.parts.Load())) }

func (ts *topics) named(name string) *Topic {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	return ts.byName[name]
}

func (ts *topics) withID(id [16]byte) *Topic {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	return ts.byID[id]
}

// find looks up a topic by id if the request has one, else by name.
func (ts *topics) find(name string, id [16]byte) (*Topic, *kerr.Error) {
	if id != ([16]byte{}) {
		if t := ts.withID(id); t != nil {
			return t, nil
		}
		return nil, kerr.UnknownTopicID
	}
	if t := ts.named(name); t != nil {
		return t, nil
	}
	return nil, kerr.UnknownTopicOrPartition
}

// all returns the topics sorted by name.
func (ts *topics) all() []*Topic {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	list := make([]*Topic, 0, len(ts.byName))
	for _, t := range ts.byName {
		list = append(list, t)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

func (ts *topics) insert(t *Topic) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.byName[t.Name] = t
	ts.byID[t.ID] = t
	ts.partitions += int(t.Count())
}

func (ts *topics) remove(t *Topic) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.byName, t.Name)
	delete(ts.byID, t.ID)
	ts.partitions -= int(t.Count())
}

// Topic returns a topic; nil if there is none.
func (l *Log) Topic(name string) *Topic { return l.topics.named(name) }

// FindTopic looks up a topic by id if there is one, else by name.
func (l *Log) FindTopic(name string, id [16]byte) (*Topic, *kerr.Error) {
	return l.topics.find(name, id)
}

// Topics returns the topics sorted by name.
func (l *Log) Topics() []*Topic { return l.topics.all() }

// loadTopics reads the topics and the state of their partitions: one key each, whatever they hold.
func (l *Log) loadTopics() error {
	ts := &l.topics
	ts.byName, ts.byID = map[string]*Topic{}, map[[16]byte]*Topic{}
	byNum := map[topicNum]*Topic{}
	err := l.store.scan([]byte{keyTopic, '/'}, []byte{keyTopic, '/' + 1}, func(k, v []byte) error {
		var st storedTopic
		if err := json.Unmarshal(v, &st); err != nil {
			return damaged("topic %q: %v", k[2:], err)
		}
		configs, err := l.opts.ParseConfigs(st.Configs)
		if err != nil {
			return damaged("topic %q: %v", k[2:], err)
		}
		t := &Topic{Name: string(k[2:]), ID: st.ID, num: st.Num}
		t.configs.Store(configs)
		t.setParts(st.Partitions)
		byNum[t.num] = t
		ts.insert(t)
		return nil
	})
	if err != nil {
		return err
	}
	loaded := 0
	err = l.store.scan([]byte{keyPartition}, []byte{keyPartition + 1}, func(k, v []byte) error {
		num, n, ok := decodePartitionKey(k)
		t := byNum[num]
		if !ok || t == nil || t.Partition(n) == nil {
			return damaged("a partition of no topic: %x", k)
		}
		p := t.Partition(n)
		tail, err := decodeState(v)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		p.tail, p.view, p.opened = tail, tail, tail.End
		loaded++
		return nil
	})
	if err == nil && loaded != ts.partitions {
		err = damaged("%d of %d partitions have no state", ts.partitions-loaded, ts.partitions)
	}
	return err
}

// setParts sets the n partitions of a new topic.
func (t *Topic) setParts(n int32) []*Partition {
	added := t.newParts(0, n)
	t.parts.Store(&added)
	return added
}

// newParts returns new empty partitions numbered from from to to-1.
func (t *Topic) newParts(from, to int32) []*Partition {
	parts := make([]*Partition, 0, to-from)
	for i := from; i < to; i++ {
		parts = append(parts, &Partition{topic: t, Num: i, tail: newState(), view: newState(), measured: measured{start: -1}})
	}
	return parts
}

// ValidTopicName reports whether a topic's name has the right length and characters.
func ValidTopicName(name string) bool {
	return name != "" && len(name) <= 249 && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}

// Refusal is a Kafka error with a message for people.
type Refusal struct {
	Code *kerr.Error
	Text string
}

// Refuse returns a refusal with a formatted message.
func Refuse(code *kerr.Error, format string, args ...any) *Refusal {
	return &Refusal{code, fmt.Sprintf(format, args...)}
}

func (r *Refusal) Error() string { return r.Text }

// storeRefusal returns the refusal of a write that the store cannot take, an error that clients
// retry.
func storeRefusal(err error) *Refusal { return &Refusal{kerr.KafkaStorageError, err.Error()} }

// CreateTopic creates a topic and returns when it is durable. With dry it only checks.
func (l *Log) CreateTopic(ctx context.Context, name string, partitions int32, configs map[string]string, dry bool) (*Topic, *Refusal) {
	if !ValidTopicName(name) || name == "." || name == ".." {
		return nil, Refuse(kerr.InvalidTopicException, "%q is not a topic name: want 1 to 249 of a-z A-Z 0-9 . _ -", name)
	}
	if partitions == -1 {
		partitions = int32(l.opts.DefaultPartitions)
	}
	if partitions < 1 {
		return nil, Refuse(kerr.InvalidPartitions, "%d partitions", partitions)
	}
	parsed, err := l.opts.ParseConfigs(configs)
	if err != nil {
		return nil, Refuse(kerr.InvalidConfig, "%v", err)
	}
	ts := &l.topics
	ts.admin.Lock()
	defer ts.admin.Unlock()
	if ts.named(name) != nil {
		return nil, Refuse(kerr.TopicAlreadyExists, "topic %q exists", name)
	}
	if r := l.roomForPartitions(partitions); r != nil {
		return nil, r
	}
	if dry {
		t := &Topic{Name: name}
		t.configs.Store(parsed)
		t.setParts(partitions)
		return t, nil
	}
	n, err := l.store.getUint64(metaNextTopic)
	if err != nil {
		return nil, storeRefusal(err)
	}
	t := &Topic{Name: name, num: topicNum(n + 1)}
	_, _ = rand.Read(t.ID[:]) // never fails
	t.configs.Store(parsed)
	added := t.setParts(partitions)
	err = l.store.update(context.WithoutCancel(ctx), func(w *pebble.Batch) error {
		if err := w.Set(metaNextTopic, encodeUint64(uint64(t.num)), nil); err != nil {
			return err
		}
		return writeTopic(w, t, partitions, t.configs.Load(), added)
	}, func() { ts.insert(t) })
	if err != nil {
		return nil, storeRefusal(err)
	}
	return t, nil
}

func (l *Log) roomForPartitions(more int32) *Refusal {
	l.topics.mu.RLock()
	defer l.topics.mu.RUnlock()
	if int64(l.topics.partitions)+int64(more) > int64(l.opts.MaxPartitions) {
		return Refuse(kerr.PolicyViolation, "%d more partitions would be more than %d", more, l.opts.MaxPartitions)
	}
	return nil
}

// GrowTopic adds partitions to a topic, up to count.
func (l *Log) GrowTopic(ctx context.Context, name string, count int32, assigned int, dry bool) *Refusal {
	ts := &l.topics
	ts.admin.Lock()
	defer ts.admin.Unlock()
	t := ts.named(name)
	if t == nil {
		return Refuse(kerr.UnknownTopicOrPartition, "there is no topic %q", name)
	}
	had := t.Count()
	if count <= had {
		return Refuse(kerr.InvalidPartitions, "topic %q has %d partitions already", name, had)
	}
	if assigned > 0 && assigned != int(count-had) {
		return Refuse(kerr.InvalidReplicaAssignment, "%d assignments for %d new partitions", assigned, count-had)
	}
	if r := l.roomForPartitions(count - had); r != nil || dry {
		return r
	}
	added := t.newParts(had, count)
	parts := append(append([]*Partition(nil), *t.parts.Load()...), added...)
	err := l.store.update(context.WithoutCancel(ctx), func(w *pebble.Batch) error {
		return writeTopic(w, t, count, t.configs.Load(), added)
	}, func() {
		t.parts.Store(&parts)
		ts.mu.Lock()
		ts.partitions += len(added)
		ts.mu.Unlock()
	})
	if err != nil {
		return storeRefusal(err)
	}
	return nil
}

// ConfigureTopic replaces a topic's settings by those that change returns.
func (l *Log) ConfigureTopic(ctx context.Context, name string, change func(set map[string]string) *Refusal, dry bool) *Refusal {
	ts := &l.topics
	ts.admin.Lock()
	defer ts.admin.Unlock()
	t := ts.named(name)
	if t == nil {
		return Refuse(kerr.UnknownTopicOrPartition, "there is no topic %q", name)
	}
	set := maps.Clone(t.configs.Load().Set)
	if r := change(set); r != nil {
		return r
	}
	configs, err := l.opts.ParseConfigs(set)
	if err != nil {
		return Refuse(kerr.InvalidConfig, "%v", err)
	}
	if dry {
		return nil
	}
	err = l.store.update(context.WithoutCancel(ctx), func(w *pebble.Batch) error {
		return writeTopic(w, t, t.Count(), configs, nil)
	}, func() { t.configs.Store(configs) })
	if err != nil {
		return storeRefusal(err)
	}
	return nil
}

// writeTopic adds a topic and its new partitions to a commit.
func writeTopic(w *pebble.Batch, t *Topic, partitions int32, configs *TopicConfigs, added []*Partition) error {
	v, err := json.Marshal(storedTopic{ID: t.ID, Num: t.num, Partitions: partitions, Configs: configs.Set})
	if err != nil {
		return err
	}
	if err := w.Set(topicKey(t.Name), v, nil); err != nil {
		return err
	}
	for _, p := range added {
		if err := p.writeState(w); err != nil {
			return err
		}
	}
	return nil
}

// DeleteTopic deletes a topic with all its data.
func (l *Log) DeleteTopic(ctx context.Context, t *Topic) *Refusal {
	ts := &l.topics
	ts.admin.Lock()
	defer ts.admin.Unlock()
	if ts.named(t.Name) != t {
		return Refuse(kerr.UnknownTopicOrPartition, "topic %q is deleted already", t.Name)
	}
	offsets, err := l.Offsets().ofTopic(t.num)
	if err != nil {
		return storeRefusal(err)
	}
	var files []segmentID
	err = l.store.update(context.WithoutCancel(ctx), func(w *pebble.Batch) (err error) {
		t.deleted = true
		if files, err = l.store.segments.dropTopic(w, t.num); err != nil {
			return err
		}
		for _, k := range offsets {
			if err := w.Delete(k, nil); err != nil {
				return err
			}
		}
		l.store.commit.gone = append(l.store.commit.gone, t.num)
		for _, kind := range []byte{keyPartition, keyBatch, keyTime, keyWindow, keyGap, keyLineage} {
			lo, hi := topicSpan(kind, t.num)
			if err := w.DeleteRange(lo, hi, nil); err != nil {
				return err
			}
		}
		return w.Delete(topicKey(t.Name), nil)
	}, func() {
		ts.remove(t)
		l.store.segments.reading.markForRemoval(files)
		for _, p := range *t.parts.Load() {
			if err := p.retire(); err != nil {
				l.log.Warn("close reader", "partition", p.String(), "err", err)
			}
		}
	})
	if err != nil {
		return storeRefusal(err)
	}
	return nil
}

// initCluster reads the cluster's id, or generates it.
func (l *Log) initCluster() error {
	v, err := l.store.get(metaCluster)
	if err != nil {
		return err
	}
	if v != nil {
		l.clusterID = string(v)
		return nil
	}
	l.clusterID = "recount-" + rand.Text()
	return l.store.update(l.ctx, func(w *pebble.Batch) error {
		return w.Set(metaCluster, []byte(l.clusterID), nil)
	}, nil)
}
