package wire

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
)

// seal sets the correct length and checksum of a batch.
func seal(b []byte) []byte {
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], castagnoli))
	return b
}

func TestCheckBatch(t *testing.T) {
	good := func() []byte { return EncodeBatch(nil, []Record{{Value: []byte("a")}, {Value: []byte("b")}}) }
	put16 := func(at int, v uint16) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint16(b[at:], v); return seal(b) }
	}
	put32 := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint32(b[at:], v); return seal(b) }
	}
	for _, tc := range []struct {
		name   string
		change func([]byte) []byte
		want   *kerr.Error
	}{
		{"as it should be", func(b []byte) []byte { return b }, nil},
		{"empty", func([]byte) []byte { return nil }, kerr.CorruptMessage},
		{"cut short", func(b []byte) []byte { return b[:len(b)-1] }, kerr.CorruptMessage},
		{"a byte too many", func(b []byte) []byte { return append(b, 0) }, kerr.InvalidRecord},
		{"two batches", func(b []byte) []byte { return append(b, b...) }, kerr.InvalidRecord},
		{"format 1", func(b []byte) []byte { b[16] = 1; return b }, kerr.UnsupportedForMessageFormat},
		{"format 3", func(b []byte) []byte { b[16] = 3; return b }, kerr.CorruptMessage},
		{"a flipped bit", func(b []byte) []byte { b[len(b)-2] ^= 1; return b }, kerr.CorruptMessage},
		{"a control batch", put16(21, attrControl), kerr.InvalidRecord},
		{"of a transaction", put16(21, attrTransactional), kerr.InvalidTxnState},
		{"said to be timed by the broker", put16(21, attrLogAppendTime), kerr.InvalidTimestamp},
		{"codec 5", put16(21, 5), kerr.UnsupportedCompressionType},
		{"said to be zstd", put16(21, codecZstd), kerr.InvalidRecord},
		{"said to be gzip", put16(21, codecGzip), kerr.InvalidRecord},
		{"said to be snappy", put16(21, codecSnappy), kerr.InvalidRecord},
		{"said to be lz4", put16(21, codecLZ4), kerr.InvalidRecord},
		{"no records", func(b []byte) []byte {
			return put32(57, 0)(put32(23, math.MaxUint32)(b[:BatchHeaderSize]))
		}, kerr.InvalidRecord},
		{"count above", put32(57, 3), kerr.InvalidRecord},
		{"count and delta above", func(b []byte) []byte { return put32(57, 3)(put32(23, 2)(b)) }, kerr.InvalidRecord},
		{"count and delta below", func(b []byte) []byte { return put32(57, 1)(put32(23, 0)(b)) }, kerr.InvalidRecord},
		{"a producer without sequence", func(b []byte) []byte {
			binary.BigEndian.PutUint64(b[43:], 5)
			return seal(b)
		}, kerr.InvalidRecord},
		{"a record longer than the batch", func(b []byte) []byte { b[BatchHeaderSize] = 0x7e; return seal(b) }, kerr.InvalidRecord},
	} {
		_, e, text := CheckBatch(Sender{}, tc.change(good()), 1000)
		if e != tc.want || (e != nil) != (text != "") {
			t.Errorf("%s: %v %q, want %v", tc.name, e, text, tc.want)
		}
	}
	if _, e, _ := CheckBatch(Sender{}, good(), 60); e != kerr.MessageTooLarge {
		t.Errorf("above the limit: %v", e)
	}
}
