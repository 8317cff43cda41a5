package runtime

import (
	"encoding/binary"
	"fmt"

	"github.com/recountdb/recount/schemas"
)

// These are the kinds of keys; the package comment describes their layout.
const (
	kindTrace     = 0x10
	kindSite      = 0x11
	kindServed    = 0x12
	kindAsked     = 0x13
	kindCalls     = 0x14
	kindObserver  = 0x15
	kindFailed    = 0x16
	kindTimes     = 0x17
	kindHours     = 0x18
	kindOperation = 0x19
)

// defaultTopic is the default name of the topic of spans; keys omit it.
const defaultTopic = "recount." + schemas.TopicSpans

// appendShard appends a partition: a byte for the length of the topic's name (0 for defaultTopic),
// the name, and the partition.
func appendShard(b []byte, tp schemas.TopicPartition) []byte {
	topic := tp.Topic
	if topic == defaultTopic {
		topic = ""
	}
	b = append(b, byte(len(topic)))
	b = append(b, topic...)
	return binary.BigEndian.AppendUint32(b, uint32(tp.Partition))
}

func (r *reader) shard() schemas.TopicPartition {
	tp := schemas.TopicPartition{Topic: defaultTopic}
	if n := r.byte(); n > 0 {
		tp.Topic = string(r.bytes(int(n)))
	}
	tp.Partition = int32(binary.BigEndian.Uint32(r.bytes(4)))
	return tp
}

// traceKey appends the key of a chunk of a partition's part of a trace.
func traceKey(b []byte, trace [16]byte, shard []byte, chunk int) []byte {
	b = append(append(append(b, kindTrace), trace[:]...), shard...)
	return binary.BigEndian.AppendUint16(b, uint16(chunk))
}

func cutTraceKey(key []byte) (tp schemas.TopicPartition, chunk int, err error) {
	r := reader{b: key}
	r.bytes(17)
	tp = r.shard()
	chunk = int(binary.BigEndian.Uint16(r.bytes(2)))
	if err := r.end(); err != nil {
		return tp, 0, fmt.Errorf("key %x: %w", key, err)
	}
	return tp, chunk, nil
}

func hashKey(b []byte, kind byte, hash uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, kind), hash)
}

func failedKey(b []byte, span uint64, trace [16]byte) []byte {
	return append(hashKey(b, kindFailed, span), trace[:]...)
}

// sumKey identifies a row of a table of sums.
type sumKey struct {
	kind   byte // the table
	level  uint8
	bucket int32
	// a is the hash of the site. For calls, a is the caller's and b the callee's.
	a, b uint64
}

func (k sumKey) append(b []byte) []byte {
	b = append(b, k.kind, k.level)
	b = binary.BigEndian.AppendUint32(b, uint32(k.bucket)^1<<31)
	b = binary.BigEndian.AppendUint64(b, k.a)
	if k.kind == kindCalls {
		b = binary.BigEndian.AppendUint64(b, k.b)
	}
	return b
}

// cutSumKey decodes what append encoded; ok is false if the length is wrong.
func cutSumKey(key []byte) (k sumKey, ok bool) {
	if len(key) != 14 && (len(key) != 22 || key[0] != kindCalls) {
		return k, false
	}
	k = sumKey{
		kind: key[0], level: key[1], bucket: int32(binary.BigEndian.Uint32(key[2:]) ^ 1<<31),
		a: binary.BigEndian.Uint64(key[6:]),
	}
	if len(key) == 22 {
		k.b = binary.BigEndian.Uint64(key[14:])
	}
	return k, (len(key) == 22) == (k.kind == kindCalls)
}
