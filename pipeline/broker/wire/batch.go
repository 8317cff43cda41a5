package wire

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kerr"
)

// BatchHeaderSize is the size of a batch's header in bytes.
//
// A record batch of Kafka's format 2 is stored as it was sent, except for two fields that its
// checksum does not cover: the base offset and the leader epoch.
//
//	 0 base offset        8      27 base timestamp   8
//	 8 length after this  4      35 max timestamp    8
//	12 leader epoch       4      43 producer id      8
//	16 magic (2)          1      51 producer epoch   2
//	17 CRC32C from 21 on  4      53 base sequence    4
//	21 attributes         2      57 record count     4
//	23 last offset delta  4      61 records
const BatchHeaderSize = 61

const (
	attrCodec         = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of p, which Kafka's batches and the log's own files use.
func Checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// Batch is the bytes of one record batch with a valid header.
type Batch []byte

// The fields of the header, as they stand in the bytes.

func (b Batch) BaseOffset() int64    { return int64(binary.BigEndian.Uint64(b)) }
func (b Batch) LeaderEpoch() int32   { return int32(binary.BigEndian.Uint32(b[12:])) }
func (b Batch) attributes() int16    { return int16(binary.BigEndian.Uint16(b[21:])) }
func (b Batch) codec() int16         { return b.attributes() & attrCodec }
func (b Batch) LastDelta() int32     { return int32(binary.BigEndian.Uint32(b[23:])) }
func (b Batch) LastOffset() int64    { return b.BaseOffset() + int64(b.LastDelta()) }
func (b Batch) baseTimestamp() int64 { return int64(binary.BigEndian.Uint64(b[27:])) }
func (b Batch) MaxTimestamp() int64  { return int64(binary.BigEndian.Uint64(b[35:])) }
func (b Batch) ProducerID() int64    { return int64(binary.BigEndian.Uint64(b[43:])) }
func (b Batch) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(b[51:])) }
func (b Batch) BaseSequence() int32  { return int32(binary.BigEndian.Uint32(b[53:])) }
func (b Batch) Count() int32         { return int32(binary.BigEndian.Uint32(b[57:])) }
func (b Batch) Records() []byte      { return b[BatchHeaderSize:] }

// LastSequence returns the sequence number of the last record, which wraps from the largest int32 to
// 0, as producers count.
func (b Batch) LastSequence() int32 { return AddSequence(b.BaseSequence(), b.LastDelta()) }

// AddSequence adds n to a sequence number, which wraps from the largest int32 to 0.
func AddSequence(seq, n int32) int32 { return int32((int64(seq) + int64(n)) & (1<<31 - 1)) }

// SetOffset sets the batch's base offset and leader epoch.
func (b Batch) SetOffset(base int64, epoch int32) {
	binary.BigEndian.PutUint64(b, uint64(base))
	binary.BigEndian.PutUint32(b[12:], uint32(epoch))
}

// ChecksumOK reports whether the batch is what its checksum says.
func (b Batch) ChecksumOK() bool {
	return binary.BigEndian.Uint32(b[17:]) == Checksum(b[21:])
}

// WellFormed reports whether bytes read from the store can be a batch.
func (b Batch) WellFormed() bool {
	return len(b) >= BatchHeaderSize && b[16] == 2 &&
		int(binary.BigEndian.Uint32(b[8:])) == len(b)-12 && b.LastDelta() >= 0
}

// CheckBatch checks what a producer sent for one partition: it must be exactly one complete batch
// of format 2, with records that match its header. The message explains an error to people.
func CheckBatch(from Sender, raw []byte, maxBytes int) (Batch, *kerr.Error, string) {
	if len(raw) < BatchHeaderSize {
		if len(raw) > 16 && raw[16] < 2 {
			return nil, kerr.UnsupportedForMessageFormat, "message format 0 and 1 are not supported"
		}
		return nil, kerr.CorruptMessage, "too short for a record batch"
	}
	if raw[16] != 2 {
		if raw[16] < 2 {
			return nil, kerr.UnsupportedForMessageFormat, "message format 0 and 1 are not supported"
		}
		return nil, kerr.CorruptMessage, "unknown magic byte"
	}
	if len(raw) > maxBytes {
		return nil, kerr.MessageTooLarge, "the batch is larger than max.message.bytes"
	}
	length := int64(int32(binary.BigEndian.Uint32(raw[8:]))) + 12
	if length != int64(len(raw)) {
		if length >= BatchHeaderSize && length < int64(len(raw)) {
			return nil, kerr.InvalidRecord, "more than one record batch for a partition"
		}
		return nil, kerr.CorruptMessage, "the batch's length is not its size"
	}
	b := Batch(raw)
	if !b.ChecksumOK() {
		return nil, kerr.CorruptMessage, "the batch's checksum is wrong"
	}
	switch a := b.attributes(); {
	case a&attrControl != 0:
		return nil, kerr.InvalidRecord, "clients may not write control batches"
	case a&attrTransactional != 0:
		return nil, kerr.InvalidTxnState, "transactions are not supported"
	case a&attrLogAppendTime != 0:
		return nil, kerr.InvalidTimestamp, "clients may not use the timestamp type LogAppendTime"
	case a&attrCodec > 4:
		return nil, kerr.UnsupportedCompressionType, "unknown compression"
	}
	if b.Count() <= 0 || b.LastDelta() != b.Count()-1 {
		return nil, kerr.InvalidRecord, "the batch's record count is wrong"
	}
	if b.ProducerID() >= 0 && (b.BaseSequence() < 0 || b.ProducerEpoch() < 0) {
		return nil, kerr.InvalidRecord, "a producer id without epoch or sequence"
	}
	if err := checkRecords(from, b); errors.Is(err, errUnpackPause) {
		return nil, kerr.KafkaStorageError, err.Error() // clients retry this
	} else if err != nil {
		return nil, kerr.InvalidRecord, err.Error()
	}
	return b, nil, ""
}
