package storage

import (
	"encoding/binary"
)

// The first byte of a key is its kind. doc.go documents the whole layout; this file only encodes
// it.
const (
	keyMeta      = 'm'
	keyTopic     = 't'
	keyPartition = 'p'
	keyBatch     = 'b'
	keyTime      = 'i'
	keyWindow    = 'w'
	keyGroup     = 'g'
	keyGap       = 'x'
	keySegment   = 's'
	keyHeld      = 'h'
	keyScrub     = 'e'
	keyLineage   = 'o'
)

var (
	metaCluster      = []byte("m/cluster")
	metaCommit       = []byte("m/commit")
	metaNextProducer = []byte("m/next-producer")
	metaNextTopic    = []byte("m/next-topic")
	metaScrub        = []byte("m/scrub")
)

// topicNum identifies one life of a topic: a topic that is deleted and created again under the same
// name gets another number, so that nothing of the first can be taken for the second's. Numbers are
// never reused.
type topicNum uint32

func topicKey(name string) []byte { return append([]byte{keyTopic, '/'}, name...) }

func partitionPrefix(kind byte, t topicNum, p int32) []byte {
	k := make([]byte, 9, 17)
	k[0] = kind
	binary.BigEndian.PutUint32(k[1:], uint32(t))
	binary.BigEndian.PutUint32(k[5:], uint32(p))
	return k
}

func partitionKey(t topicNum, p int32) []byte { return partitionPrefix(keyPartition, t, p) }

// batchKey orders batches by their LAST offset: the first key at or after batchKey(offset) is the
// batch that holds offset, or the next one after a gap.
func batchKey(t topicNum, p int32, last int64) []byte {
	return binary.BigEndian.AppendUint64(partitionPrefix(keyBatch, t, p), uint64(last))
}

// timeKey flips the sign bit so that negative timestamps sort before positive ones.
func timeKey(t topicNum, p int32, ts int64) []byte {
	return binary.BigEndian.AppendUint64(partitionPrefix(keyTime, t, p), uint64(ts)^1<<63)
}

func gapKey(t topicNum, p int32, from int64) []byte {
	return binary.BigEndian.AppendUint64(partitionPrefix(keyGap, t, p), uint64(from))
}

func windowKey(t topicNum, p int32, producer int64) []byte {
	return binary.BigEndian.AppendUint64(partitionPrefix(keyWindow, t, p), uint64(producer))
}

func segmentKey(id segmentID) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32([]byte{keySegment}, uint32(id.topic)), id.num)
}

func heldKey(id segmentID, p int32) []byte {
	k := segmentKey(id)
	k[0] = keyHeld
	return binary.BigEndian.AppendUint32(k, uint32(p))
}

// decodeSegmentKey returns the segment of a key.
func decodeSegmentKey(k []byte) (segmentID, bool) {
	if len(k) < 13 {
		return segmentID{}, false
	}
	return segmentID{topicNum(binary.BigEndian.Uint32(k[1:])), binary.BigEndian.Uint64(k[5:])}, true
}

// topicSpan returns the bounds of all keys of one kind in a topic's life.
func topicSpan(kind byte, t topicNum) (lo, hi []byte) {
	lo = binary.BigEndian.AppendUint32([]byte{kind}, uint32(t))
	hi = binary.BigEndian.AppendUint32([]byte{kind}, uint32(t)+1)
	return lo, hi
}

// partitionSpan returns the bounds of all keys of one kind in a partition.
func partitionSpan(kind byte, t topicNum, p int32) (lo, hi []byte) {
	return partitionPrefix(kind, t, p), partitionPrefix(kind, t, p+1)
}

func decodePartitionKey(k []byte) (topicNum, int32, bool) {
	if len(k) != 9 {
		return 0, 0, false
	}
	return topicNum(binary.BigEndian.Uint32(k[1:])), int32(binary.BigEndian.Uint32(k[5:])), true
}

// lastOfBatchKey returns the offset at the end of a batch's key.
func lastOfBatchKey(k []byte) int64 { return int64(binary.BigEndian.Uint64(k[len(k)-8:])) }
