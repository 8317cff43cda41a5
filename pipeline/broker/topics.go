package broker

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"sort"
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
	byName     map[string]*topic
	byID       map[[16]byte]*topic
	partitions int
}

// topic is one life of a topic: a topic deleted and created again is another one. Its name and ids
// never change.
type topic struct {
	name string
	id   [16]byte
	num  topicNum

	parts   atomic.Pointer[[]*partition]
	configs atomic.Pointer[topicConfigs]

	// Used by the committer only.
	deleted bool // later appends are refused
	bulk    bool // batches of the group being built go to a segment file
}

// topicConfigs are a topic's settings as set, and those of their values that the log needs.
type topicConfigs struct {
	set             map[string]string
	maxMessageBytes int // 0: the log's default
}

// settings returns the topic's settings, which nobody may change.
func (t *topic) settings() *topicConfigs { return t.configs.Load() }

// maxBatch returns the maximum size of a topic's batches.
func (l *Log) maxBatch(t *topic) int {
	if n := t.configs.Load().maxMessageBytes; n > 0 {
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

// partition returns a partition; nil if there is none.
func (t *topic) partition(n int32) *partition {
	parts := *t.parts.Load()
	if n < 0 || int(n) >= len(parts) {
		return nil
	}
	return parts[n]
}

// partitions returns the topic's partitions, which nobody may change.
func (t *topic) partitions() []*partition { return *t.parts.Load() }

// count returns the number of partitions.
func (t *topic) count() int32 { return int32(len(*t.parts.Load())) }

func (ts *topics) named(name string) *topic {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	return ts.byName[name]
}

func (ts *topics) withID(id [16]byte) *topic {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	return ts.byID[id]
}

// find looks up a topic by id if the request has one, else by name.
func (ts *topics) find(name string, id [16]byte) (*topic, *kerr.Error) {
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
func (ts *topics) all() []*topic {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	list := make([]*topic, 0, len(ts.byName))
	for _, t := range ts.byName {
		list = append(list, t)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
	return list
}

func (ts *topics) insert(t *topic) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.byName[t.name] = t
	ts.byID[t.id] = t
	ts.partitions += int(t.count())
}

func (ts *topics) remove(t *topic) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.byName, t.name)
	delete(ts.byID, t.id)
	ts.partitions -= int(t.count())
}

// topic returns a topic; nil if there is none.
func (l *Log) topic(name string) *topic { return l.topics.named(name) }

// find looks up a topic by id if there is one, else by name.
func (l *Log) find(name string, id [16]byte) (*topic, *kerr.Error) { return l.topics.find(name, id) }

// allTopics returns the topics sorted by name.
func (l *Log) allTopics() []*topic { return l.topics.all() }

// loadTopics reads the topics and the state of their partitions: one key each, whatever they hold.
func (l *Log) loadTopics() error {
	ts := &l.topics
	ts.byName, ts.byID = map[string]*topic{}, map[[16]byte]*topic{}
	byNum := map[topicNum]*topic{}
	err := l.store.scan([]byte{keyTopic, '/'}, []byte{keyTopic, '/' + 1}, func(k, v []byte) error {
		var st storedTopic
		if err := json.Unmarshal(v, &st); err != nil {
			return damaged("topic %q: %v", k[2:], err)
		}
		configs, err := l.opts.ParseConfigs(st.Configs)
		if err != nil {
			return damaged("topic %q: %v", k[2:], err)
		}
		t := &topic{name: string(k[2:]), id: st.ID, num: st.Num}
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
		if !ok || t == nil || t.partition(n) == nil {
			return damaged("a partition of no topic: %x", k)
		}
		p := t.partition(n)
		tail, err := decodeTail(v)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		p.tail, p.view, p.opened = tail, tail, tail.end
		loaded++
		return nil
	})
	if err == nil && loaded != ts.partitions {
		err = damaged("%d of %d partitions have no state", ts.partitions-loaded, ts.partitions)
	}
	return err
}

// setParts sets the n partitions of a new topic.
func (t *topic) setParts(n int32) []*partition {
	added := t.newParts(0, n)
	t.parts.Store(&added)
	return added
}

// newParts returns new empty partitions numbered from from to to-1.
func (t *topic) newParts(from, to int32) []*partition {
	parts := make([]*partition, 0, to-from)
	for i := from; i < to; i++ {
		parts = append(parts, &partition{topic: t, num: i, tail: newTail(), view: newTail(), measured: measured{start: -1}})
	}
	return parts
}

var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// refusal is a Kafka error with a message for people.
type refusal struct {
	code *kerr.Error
	text string
}

// refuseWith returns a refusal with a formatted message.
func refuseWith(code *kerr.Error, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return r.text }

// storeRefusal returns the refusal of a write that the store cannot take, an error that clients
// retry.
func storeRefusal(err error) *refusal { return &refusal{kerr.KafkaStorageError, err.Error()} }

// createTopic creates a topic and returns when it is durable. With dry it only checks.
func (l *Log) createTopic(ctx context.Context, name string, partitions int32, configs map[string]string, dry bool) (*topic, *refusal) {
	if !topicName.MatchString(name) || name == "." || name == ".." {
		return nil, refuseWith(kerr.InvalidTopicException, "%q is no topic name: 1 to 249 of a-z A-Z 0-9 . _ -", name)
	}
	if partitions == -1 {
		partitions = int32(l.opts.DefaultPartitions)
	}
	if partitions < 1 {
		return nil, refuseWith(kerr.InvalidPartitions, "%d partitions", partitions)
	}
	parsed, err := l.opts.ParseConfigs(configs)
	if err != nil {
		return nil, refuseWith(kerr.InvalidConfig, "%v", err)
	}
	ts := &l.topics
	ts.admin.Lock()
	defer ts.admin.Unlock()
	if ts.named(name) != nil {
		return nil, refuseWith(kerr.TopicAlreadyExists, "topic %q exists", name)
	}
	if r := l.roomForPartitions(partitions); r != nil {
		return nil, r
	}
	if dry {
		t := &topic{name: name}
		t.configs.Store(parsed)
		t.setParts(partitions)
		return t, nil
	}
	n, err := l.store.getUint64(metaNextTopic)
	if err != nil {
		return nil, storeRefusal(err)
	}
	t := &topic{name: name, num: topicNum(n + 1)}
	_, _ = rand.Read(t.id[:]) // never fails
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

func (l *Log) roomForPartitions(more int32) *refusal {
	l.topics.mu.RLock()
	defer l.topics.mu.RUnlock()
	if int64(l.topics.partitions)+int64(more) > int64(l.opts.MaxPartitions) {
		return refuseWith(kerr.PolicyViolation, "%d more partitions would be more than %d", more, l.opts.MaxPartitions)
	}
	return nil
}

// growTopic adds partitions to a topic, up to count.
func (l *Log) growTopic(ctx context.Context, name string, count int32, assigned int, dry bool) *refusal {
	ts := &l.topics
	ts.admin.Lock()
	defer ts.admin.Unlock()
	t := ts.named(name)
	if t == nil {
		return refuseWith(kerr.UnknownTopicOrPartition, "there is no topic %q", name)
	}
	had := t.count()
	if count <= had {
		return refuseWith(kerr.InvalidPartitions, "topic %q has %d partitions already", name, had)
	}
	if assigned > 0 && assigned != int(count-had) {
		return refuseWith(kerr.InvalidReplicaAssignment, "%d assignments for %d new partitions", assigned, count-had)
	}
	if r := l.roomForPartitions(count - had); r != nil || dry {
		return r
	}
	added := t.newParts(had, count)
	parts := append(append([]*partition(nil), *t.parts.Load()...), added...)
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

// configureTopic replaces a topic's settings by those that change returns.
func (l *Log) configureTopic(ctx context.Context, name string, change func(set map[string]string) *refusal, dry bool) *refusal {
	ts := &l.topics
	ts.admin.Lock()
	defer ts.admin.Unlock()
	t := ts.named(name)
	if t == nil {
		return refuseWith(kerr.UnknownTopicOrPartition, "there is no topic %q", name)
	}
	set := maps.Clone(t.configs.Load().set)
	if r := change(set); r != nil {
		return r
	}
	configs, err := l.opts.ParseConfigs(set)
	if err != nil {
		return refuseWith(kerr.InvalidConfig, "%v", err)
	}
	if dry {
		return nil
	}
	err = l.store.update(context.WithoutCancel(ctx), func(w *pebble.Batch) error {
		return writeTopic(w, t, t.count(), configs, nil)
	}, func() { t.configs.Store(configs) })
	if err != nil {
		return storeRefusal(err)
	}
	return nil
}

// writeTopic adds a topic and its new partitions to a commit.
func writeTopic(w *pebble.Batch, t *topic, partitions int32, configs *topicConfigs, added []*partition) error {
	v, err := json.Marshal(storedTopic{ID: t.id, Num: t.num, Partitions: partitions, Configs: configs.set})
	if err != nil {
		return err
	}
	if err := w.Set(topicKey(t.name), v, nil); err != nil {
		return err
	}
	for _, p := range added {
		if err := p.writeTail(w); err != nil {
			return err
		}
	}
	return nil
}

// deleteTopic deletes a topic with all its data.
func (l *Log) deleteTopic(ctx context.Context, t *topic) *refusal {
	ts := &l.topics
	ts.admin.Lock()
	defer ts.admin.Unlock()
	if ts.named(t.name) != t {
		return refuseWith(kerr.UnknownTopicOrPartition, "topic %q is deleted already", t.name)
	}
	offsets, err := l.offsets().ofTopic(t.num)
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
		return w.Delete(topicKey(t.name), nil)
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
		if l.opts.ClusterID != "" && l.opts.ClusterID != l.clusterID {
			return fmt.Errorf("the log belongs to cluster %q, not %q", l.clusterID, l.opts.ClusterID)
		}
		return nil
	}
	l.clusterID = l.opts.ClusterID
	if l.clusterID == "" {
		l.clusterID = "recount-" + rand.Text()
	}
	return l.store.update(l.ctx, func(w *pebble.Batch) error {
		return w.Set(metaCluster, []byte(l.clusterID), nil)
	}, nil)
}
