package broker

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// seal sets the correct length and checksum of a batch.
func seal(b []byte) []byte {
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], castagnoli))
	return b
}

func TestCheckBatch(t *testing.T) {
	good := func() []byte { return encodeBatch(nil, []Record{{Value: []byte("a")}, {Value: []byte("b")}}) }
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
			return put32(57, 0)(put32(23, math.MaxUint32)(b[:batchHeaderSize]))
		}, kerr.InvalidRecord},
		{"count above", put32(57, 3), kerr.InvalidRecord},
		{"count and delta above", func(b []byte) []byte { return put32(57, 3)(put32(23, 2)(b)) }, kerr.InvalidRecord},
		{"count and delta below", func(b []byte) []byte { return put32(57, 1)(put32(23, 0)(b)) }, kerr.InvalidRecord},
		{"a producer without sequence", func(b []byte) []byte {
			binary.BigEndian.PutUint64(b[43:], 5)
			return seal(b)
		}, kerr.InvalidRecord},
		{"a record longer than the batch", func(b []byte) []byte { b[batchHeaderSize] = 0x7e; return seal(b) }, kerr.InvalidRecord},
	} {
		_, e, text := checkBatch(sender{}, tc.change(good()), 1000)
		if e != tc.want || (e != nil) != (text != "") {
			t.Errorf("%s: %v %q, want %v", tc.name, e, text, tc.want)
		}
	}
	if _, e, _ := checkBatch(sender{}, good(), 60); e != kerr.MessageTooLarge {
		t.Errorf("above the limit: %v", e)
	}
}

func sequencedBatch(epoch int16, first int32, n int) batch {
	b := batch(encodeBatch(nil, make([]Record, n)))
	binary.BigEndian.PutUint64(b[43:], 1)
	binary.BigEndian.PutUint16(b[51:], uint16(epoch))
	binary.BigEndian.PutUint32(b[53:], uint32(first))
	return b
}

func TestProducerWindow(t *testing.T) {
	const last = math.MaxInt32
	for _, tc := range []struct {
		name    string
		before  [][2]int32 // first sequence and count of each batch before, epoch 1
		epoch   int16
		first   int32
		count   int
		dup     int64 // expected base offset of a duplicate; -1: not a duplicate
		refused *kerr.Error
	}{
		{name: "a new producer", epoch: 1, first: 0, count: 1, dup: -1},
		{name: "unknown, from the middle", epoch: 1, first: 77, count: 1, dup: -1},
		{name: "the next", before: [][2]int32{{0, 3}}, epoch: 1, first: 3, count: 2, dup: -1},
		{name: "the last again", before: [][2]int32{{0, 3}, {3, 2}}, epoch: 1, first: 3, count: 2, dup: 3},
		{name: "the first of five again", before: [][2]int32{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}, epoch: 1, first: 0, count: 1, dup: 0},
		{name: "the first of six again", before: [][2]int32{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}, epoch: 1, first: 0, count: 1, dup: -1, refused: kerr.DuplicateSequenceNumber},
		{name: "a gap", before: [][2]int32{{0, 1}}, epoch: 1, first: 2, count: 1, dup: -1, refused: kerr.OutOfOrderSequenceNumber},
		{name: "an overlap", before: [][2]int32{{0, 3}}, epoch: 1, first: 2, count: 3, dup: -1, refused: kerr.DuplicateSequenceNumber},
		{name: "an old epoch", before: [][2]int32{{0, 1}}, epoch: 0, first: 1, count: 1, dup: -1, refused: kerr.InvalidProducerEpoch},
		{name: "a new epoch from 0", before: [][2]int32{{0, 1}}, epoch: 2, first: 0, count: 1, dup: -1},
		{name: "a new epoch from 1", before: [][2]int32{{0, 1}}, epoch: 2, first: 1, count: 1, dup: -1, refused: kerr.OutOfOrderSequenceNumber},
		{name: "the wrap", before: [][2]int32{{last - 1, 2}}, epoch: 1, first: 0, count: 1, dup: -1},
		{name: "over the wrap", before: [][2]int32{{last - 1, 4}}, epoch: 1, first: 2, count: 1, dup: -1},
		{name: "over the wrap again", before: [][2]int32{{last - 1, 4}}, epoch: 1, first: last - 1, count: 4, dup: 0},
	} {
		w := &window{}
		base := int64(0)
		for _, s := range tc.before {
			b := sequencedBatch(1, s[0], int(s[1]))
			if _, dup, e := w.judge(b); dup || e != nil {
				t.Fatalf("%s: before: %v %v", tc.name, dup, e)
			}
			w.note(b, base, time.UnixMilli(5))
			base += int64(s[1])
		}
		// Encode and decode the window, as the store does.
		back, err := decodeWindow(w.appendTo(nil))
		if err != nil {
			t.Fatal(err)
		}
		at, dup, e := back.judge(sequencedBatch(tc.epoch, tc.first, tc.count))
		if e != tc.refused || dup != (tc.dup >= 0) || dup && at != tc.dup {
			t.Errorf("%s: offset %d, duplicate %v, %v; want %d, %v", tc.name, at, dup, e, tc.dup, tc.refused)
		}
	}
}
