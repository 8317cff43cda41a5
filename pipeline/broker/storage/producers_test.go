package storage

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

func sequencedBatch(epoch int16, first int32, n int) wire.Batch {
	b := wire.Batch(wire.EncodeBatch(nil, make([]wire.Record, n)))
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
