package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// The home of a key is its partition: the hash of the key, modulo the number of partitions that the
// topic had when this number was first noted in the log. It does not change when partitions are
// added. Related events (a workspace's commands and their outcomes, the commits of a repository, an
// agent's session) so stay in one order, and a second copy of an event arrives in the same
// partition, where it is recognised.
//
// The note is a keys.placed event in partition 0 of topic erasures, which every process reads when
// it opens the log; the first note of a topic counts. External brokers allow others to add
// partitions at any time, so a node appends the notes at its start (PlaceKeys). The embedded broker
// does not, so Grow appends them.

// home returns the number of partitions, at most n, over which the keys of a topic are spread.
func (l *Log) home(topic string, n int) int {
	homes := l.keySpread.Load()
	if homes == nil {
		return n
	}
	if h, ok := (*homes)[topic]; ok {
		return min(n, int(h))
	}
	return n
}

// addPlacements adds the content of keys.placed events.
func (l *Log) addPlacements(notes []*recountv1.KeysPlaced) {
	homes := map[string]int32{}
	if old := l.keySpread.Load(); old != nil {
		maps.Copy(homes, *old)
	}
	for _, n := range notes {
		if _, ok := homes[n.GetTopic()]; !ok {
			homes[n.GetTopic()] = n.GetPartitions()
		}
	}
	l.keySpread.Store(&homes)
}

// notesPartition is the partition of topic erasures that holds all notes, because their order
// matters.
const notesPartition = 0

// OpenWriting is Open for a client that only writes to existing topics, Recount's or others.
func OpenWriting(ctx context.Context, cfg Config) (*Log, error) {
	l, err := open(cfg)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := l.readHomes(within); err != nil && !errors.Is(err, schemas.ErrPoison) {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// readHomes reads all notes again.
func (l *Log) readHomes(ctx context.Context) error {
	ends, err := l.Ends(ctx, schemas.TopicErasures)
	if err != nil {
		return err
	}
	tp := schemas.TopicPartition{Topic: l.Topic(schemas.TopicErasures), Partition: notesPartition}
	if ends[tp] == 0 {
		return nil
	}
	var notes []*recountv1.KeysPlaced
	err = l.readEach(ctx, nil, schemas.Watermark{tp: ends[tp]}, func(r schemas.LogRecord) {
		e, err := r.Event()
		if err != nil || e.Type != schemas.TypeKeysPlaced {
			return
		}
		if m, err := e.DecodePayload(); err == nil {
			notes = append(notes, m.(*recountv1.KeysPlaced))
		}
	})
	if err != nil {
		return fmt.Errorf("read the placement of keys: %w", err)
	}
	l.addPlacements(notes)
	return nil
}

// PlaceKeys notes the homes of keys on external brokers, unless they are noted already. A caller
// without permission to write may continue; the error is for its log.
func (l *Log) PlaceKeys(ctx context.Context) error {
	if l.embedded != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := l.fixHomes(ctx); err != nil {
		return fmt.Errorf("record the placement of keys: %w", err)
	}
	return nil
}

// fixHomes notes the homes of the keys of those schemas.Topics that have no note. Concurrent
// callers agree: the counts are read before the notes, and the first note counts.
func (l *Log) fixHomes(ctx context.Context) error {
	if _, err := l.TopicPartitions(ctx, l.TopicNames()...); err != nil {
		return err
	}
	counts := map[string]int32{}
	for _, topic := range l.TopicNames() {
		n, err := l.partitionCount(ctx, topic)
		if err != nil {
			return err
		}
		counts[topic] = n
	}
	if err := l.readHomes(ctx); err != nil {
		return err
	}
	var recs []schemas.LogRecord
	homes := l.keySpread.Load()
	for _, topic := range l.TopicNames() {
		if homes != nil && (*homes)[topic] > 0 {
			continue
		}
		r, err := placedRecord(l.Topic(schemas.TopicErasures), topic, counts[topic])
		if err != nil {
			return err
		}
		recs = append(recs, r)
	}
	if len(recs) == 0 {
		return nil
	}
	if _, err := l.Produce(ctx, recs...); err != nil {
		return err
	}
	return l.readHomes(ctx)
}

// placedRecord returns the note of one topic as a record to append.
func placedRecord(to, topic string, partitions int32) (schemas.LogRecord, error) {
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(&recountv1.KeysPlaced{Topic: topic, Partitions: partitions})
	e := schemas.Event{
		ID:   schemas.NewCanon("recount/keys-placed/1").String(topic).ID(),
		Type: schemas.TypeKeysPlaced, Source: schemas.DefaultSource, Time: time.Now(),
		Key: []byte(topic), ContentType: schemas.ContentProto, Payload: payload,
	}
	return schemas.LogRecord{
		Position: schemas.Position{Topic: to, Partition: notesPartition},
		Headers:  e.Headers(), Key: e.Key, Value: payload,
	}, err
}
