package objects

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/cut"
	"github.com/recountdb/recount/schemas"
)

// These are the kinds of keys; the package comment describes their layout.
const (
	kindEvent     = 0x10
	kindPiece     = 0x11
	kindByEvent   = 0x12
	kindVersion   = 0x13
	kindTo        = 0x14
	kindList      = 0x15
	kindBlock     = 0x16
	kindAudience  = 0x17
	kindName      = 0x18
	kindStatistic = 0x19
	kindUse       = 0x1A
	kindLinks     = 0x1B
)

// These are the kinds of lists of an audience.
const (
	listEntity = 0x01 // objects that name an entity other than their own session and agent
	listSame   = 0x02 // objects with the same content hash
	listClaim  = 0x03 // objects with claims of the same subject and predicate
)

const (
	idList     = 1 + 16         // length of a key prefix with an id
	nameList   = 1 + 16 + 1 + 8 // length of the key prefix of an audience's list
	whenBytes  = 8 + 8 + 2      // length of the rest of a list's key, without the shard
	maxObjects = math.MaxUint16 // maximum per event
)

// defaultTopic is the default name of the agents' topic; keys omit it.
const defaultTopic = "recount." + schemas.TopicAgents

// appendShard appends a partition: a byte for the length of the topic's name (0 for defaultTopic),
// the name, and the partition.
func appendShard(b []byte, tp schemas.TopicPartition) []byte {
	topic := tp.Topic
	if topic == defaultTopic {
		topic = ""
	}
	b = append(append(b, byte(len(topic))), topic...)
	return binary.BigEndian.AppendUint32(b, uint32(tp.Partition))
}

// compareShards orders partitions as their keys are ordered.
func compareShards(a, b schemas.TopicPartition) int {
	if a.Topic != b.Topic {
		switch defaultTopic {
		case a.Topic:
			return -1
		case b.Topic:
			return 1
		}
	}
	return cmp.Or(cmp.Compare(len(a.Topic), len(b.Topic)), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// cutShard decodes what appendShard appended from the front of a key and returns the rest.
func cutShard(b []byte) (tp schemas.TopicPartition, rest []byte, ok bool) {
	tp.Topic = defaultTopic
	if len(b) == 0 || len(b) < 1+int(b[0])+4 {
		return tp, nil, false
	}
	if n := int(b[0]); n > 0 {
		tp.Topic = string(b[1 : 1+n])
	}
	b = b[1+int(b[0]):]
	tp.Partition = int32(binary.BigEndian.Uint32(b))
	return tp, b[4:], true
}

func eventKey(b, shard []byte, offset int64) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, kindEvent), shard...), uint64(offset))
}

// pieceKey appends the key of a piece of an object's text.
func pieceKey(b, shard []byte, offset int64, index uint32, piece int) []byte {
	b = binary.BigEndian.AppendUint64(append(append(b, kindPiece), shard...), uint64(offset))
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, uint16(index)), uint32(piece))
}

// idPrefix appends the common prefix of the keys listed under an id.
func idPrefix(b []byte, kind byte, id schemas.EventID) []byte {
	return append(append(b, kind), id[:]...)
}

// listPrefix appends the common prefix of the keys of an audience's list.
func listPrefix(b []byte, a schemas.AudienceID, list byte, name uint64) []byte {
	b = append(append(append(b, kindList), a[:]...), list)
	return binary.BigEndian.AppendUint64(b, name)
}

// list identifies a list by the first n bytes of key, the prefix of its rows' keys.
type list struct {
	key listKey
	n   int
}

// listTo returns the list under an id.
func listTo(kind byte, id schemas.EventID) (l list) {
	l.n = len(idPrefix(l.key[:0], kind, id))
	return l
}

// listOf returns a list of an audience.
func listOf(a schemas.AudienceID, kind byte, name uint64) (l list) {
	l.n = len(listPrefix(l.key[:0], a, kind, name))
	return l
}

// prefix returns a copy of the prefix of the keys of the list's rows.
func (l *list) prefix() []byte { return append([]byte(nil), l.key[:l.n]...) }

func entityHash(name string) uint64 { return xxh3.HashString(name) }

func claimHash(subject, predicate string) uint64 {
	var room [256]byte
	b := append(binary.AppendUvarint(room[:0], uint64(len(subject))), subject...)
	return xxh3.Hash(append(b, predicate...))
}

// appendWhen appends the end of a list row's key, so that keys ascend from the newest to the
// oldest: by time, then by partition, then by offset, the later first.
func appendWhen(b []byte, time int64, shard []byte, offset int64, index uint32) []byte {
	b = appendTime(b, time)
	b = binary.BigEndian.AppendUint64(append(b, shard...), ^uint64(offset))
	return binary.BigEndian.AppendUint16(b, uint16(index))
}

// appendTime appends a time so that keys ascend from later to earlier times.
func appendTime(b []byte, time int64) []byte {
	return binary.BigEndian.AppendUint64(b, ^(uint64(time) ^ 1<<63))
}

// when is the decoded form of what appendWhen appends.
type when struct {
	time int64
	ref  schemas.ObjectRef
}

func cutWhen(b []byte) (w when, err error) {
	if len(b) < whenBytes {
		return w, cut.ErrShort
	}
	w.time = int64(^binary.BigEndian.Uint64(b) ^ 1<<63)
	tp, rest, ok := cutShard(b[8:])
	if !ok || len(rest) != 8+2 {
		return w, fmt.Errorf("a place of %d bytes", len(b))
	}
	offset := ^binary.BigEndian.Uint64(rest)
	if offset > math.MaxInt64 || tp.Partition < 0 {
		return w, errors.New("a place that cannot be")
	}
	w.ref = schemas.ObjectRef{
		Position: schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: int64(offset)},
		Index:    uint32(binary.BigEndian.Uint16(rest[8:])),
	}
	return w, nil
}

// prefix returns the length of the part of a key that the Bloom filters of tables cover.
func prefix(key []byte) int {
	n := len(key)
	if n == 0 {
		return 0
	}
	switch key[0] {
	case kindByEvent, kindVersion, kindTo, kindUse:
		return min(n, idList)
	case kindList:
		return min(n, nameList)
	}
	return n
}

// blockKey appends the key of block n of a shard's attributes, or of entry n of one of its
// dictionaries.
func blockKey(b []byte, kind byte, shard []byte, n uint32) []byte {
	return binary.BigEndian.AppendUint32(append(append(b, kind), shard...), n)
}
