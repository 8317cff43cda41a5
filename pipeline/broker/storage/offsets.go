package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// CommittedOffset is the position of a group in a partition.
type CommittedOffset struct {
	Topic     string
	Partition int32
	Offset    int64
	Epoch     int32 // leader epoch that the client read at; -1 if unknown
	Metadata  string
	Committed int64 // milliseconds since 1970
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// Offsets keeps committed offsets in the log's store, in the layout of doc.go. The length
// before the group's name keeps the keys of one group together. The topic number identifies one
// life of a topic, so an offset of a topic that was deleted and created again is never found; the
// topic's name is in the value for listing, and for readers of a dump.
type Offsets struct {
	store *store
	// life returns the number of an existing topic and its number of partitions.
	life func(topic string) (num topicNum, partitions int32, ok bool)
}

const offsetVersion = 1

func groupPrefix(group string) []byte {
	k := make([]byte, 0, 3+len(group)+8)
	k = append(k, keyGroup)
	k = binary.BigEndian.AppendUint16(k, uint16(len(group)))
	return append(k, group...)
}

func offsetKey(group string, t topicNum, p int32) []byte {
	k := binary.BigEndian.AppendUint32(groupPrefix(group), uint32(t))
	return binary.BigEndian.AppendUint32(k, uint32(p))
}

// groupOfKey returns the group in an offset's key.
func groupOfKey(k []byte) (string, bool) {
	if len(k) < 3 {
		return "", false
	}
	n := int(binary.BigEndian.Uint16(k[1:]))
	if len(k) != 3+n+8 {
		return "", false
	}
	return string(k[3 : 3+n]), true
}

func (o CommittedOffset) encode() []byte {
	v := make([]byte, 0, 32+len(o.Topic)+len(o.Metadata))
	v = append(v, offsetVersion)
	v = binary.BigEndian.AppendUint64(v, uint64(o.Offset))
	v = binary.BigEndian.AppendUint32(v, uint32(o.Epoch))
	v = binary.BigEndian.AppendUint64(v, uint64(o.Committed))
	v = binary.AppendUvarint(v, uint64(len(o.Topic)))
	v = append(v, o.Topic...)
	return append(v, o.Metadata...)
}

func decodeOffset(v []byte) (o CommittedOffset, err error) {
	if len(v) < 22 || v[0] != offsetVersion {
		return o, damaged("a committed offset of %d bytes", len(v))
	}
	o.Offset = int64(binary.BigEndian.Uint64(v[1:]))
	o.Epoch = int32(binary.BigEndian.Uint32(v[9:]))
	o.Committed = int64(binary.BigEndian.Uint64(v[13:]))
	n, k := binary.Uvarint(v[21:])
	if k <= 0 || n > uint64(len(v)-21-k) {
		return o, damaged("a committed offset with a topic of %d bytes", n)
	}
	rest := v[21+k:]
	o.Topic, o.Metadata = string(rest[:n]), string(rest[n:])
	return o, nil
}

// Commit makes offsets durable if check, called right before the write, returns nil; else it returns
// check's error. It calls reject for each offset of a partition that does not exist, and skips it.
func (s *Offsets) Commit(ctx context.Context, group string, offsets []CommittedOffset, check func() error, reject func(int)) error {
	// Functions that the commit path calls may outlive a cancelled request, so this one writes to a
	// slice of its own.
	missing := make(chan []int, 1)
	err := s.store.update(ctx, func(w *pebble.Batch) error {
		if err := check(); err != nil {
			return err
		}
		var out []int
		for i, o := range offsets {
			num, partitions, ok := s.life(o.Topic)
			if !ok || o.Partition < 0 || o.Partition >= partitions {
				out = append(out, i)
				continue
			}
			if err := w.Set(offsetKey(group, num, o.Partition), o.encode(), nil); err != nil {
				return err
			}
		}
		missing <- out
		return nil
	}, nil)
	if err != nil {
		return err
	}
	for _, i := range <-missing {
		reject(i)
	}
	return nil
}

// Delete deletes the group's offsets of the given partitions, or all of them if only is nil, under the
// same condition.
func (s *Offsets) Delete(ctx context.Context, group string, only []TopicPartition, check func() error) error {
	return s.store.update(ctx, func(w *pebble.Batch) error {
		if err := check(); err != nil {
			return err
		}
		if only == nil {
			p := groupPrefix(group)
			return w.DeleteRange(p, prefixEnd(p), nil)
		}
		for _, tp := range only {
			num, _, ok := s.life(tp.Topic)
			if !ok {
				continue
			}
			if err := w.Delete(offsetKey(group, num, tp.Partition), nil); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// Get returns one offset, or false.
func (s *Offsets) Get(group, topic string, partition int32) (CommittedOffset, bool, error) {
	num, _, ok := s.life(topic)
	if !ok || partition < 0 {
		return CommittedOffset{}, false, nil
	}
	v, err := s.store.get(offsetKey(group, num, partition))
	if err != nil || v == nil {
		return CommittedOffset{}, false, err
	}
	o, err := decodeOffset(v)
	if err != nil {
		return o, false, fmt.Errorf("group %q, %s/%d: %w", group, topic, partition, err)
	}
	o.Partition = partition
	return o, true, nil
}

// All returns the group's offsets of topics that exist.
func (s *Offsets) All(group string) (list []CommittedOffset, err error) {
	p := groupPrefix(group)
	err = s.store.scan(p, prefixEnd(p), func(k, v []byte) error {
		if name, ok := groupOfKey(k); !ok || name != group {
			return damaged("group %q has a key %x", group, k)
		}
		o, err := decodeOffset(v)
		if err != nil {
			return fmt.Errorf("group %q: %w", group, err)
		}
		num := topicNum(binary.BigEndian.Uint32(k[len(p):]))
		o.Partition = int32(binary.BigEndian.Uint32(k[len(p)+4:]))
		if now, _, ok := s.life(o.Topic); ok && now == num {
			list = append(list, o)
		}
		return nil
	})
	return list, err
}

// Groups returns the names of the groups that have offsets. It skips from group to group, however many
// offsets each has.
func (s *Offsets) Groups() (names []string, err error) {
	it, err := s.store.db.NewIter(&pebble.IterOptions{LowerBound: []byte{keyGroup}, UpperBound: []byte{keyGroup + 1}})
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; {
		name, valid := groupOfKey(it.Key())
		if !valid {
			return nil, damaged("list groups: a key %x", it.Key())
		}
		names = append(names, name)
		ok = it.SeekGE(prefixEnd(groupPrefix(name)))
	}
	return names, it.Error()
}

// Has reports whether the group has any offsets. It also counts offsets of deleted topics: deleting the group removes them.
func (s *Offsets) Has(group string) (bool, error) {
	p := groupPrefix(group)
	found := errors.New("found")
	err := s.store.scan(p, prefixEnd(p), func(_, _ []byte) error { return found })
	if errors.Is(err, found) {
		return true, nil
	}
	return false, err
}

// ofTopic returns the keys of all offsets in one life of a topic, to delete them with it. An offset
// committed meanwhile is left over and never found.
func (s *Offsets) ofTopic(t topicNum) (keys [][]byte, err error) {
	groups, err := s.Groups()
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		lo := binary.BigEndian.AppendUint32(groupPrefix(g), uint32(t))
		err := s.store.scan(lo, prefixEnd(lo), func(k, _ []byte) error {
			keys = append(keys, slices.Clone(k))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// Offsets returns the store of committed offsets.
func (l *Log) Offsets() *Offsets { return &Offsets{store: l.store, life: l.topicLife} }

func (l *Log) topicLife(name string) (topicNum, int32, bool) {
	t := l.topics.named(name)
	if t == nil {
		return 0, 0, false
	}
	return t.num, t.Count(), true
}
