package store

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/recountdb/recount/schemas"
)

// TestDecodeNext checks that a stored next offset decodes to what was encoded, and that other bytes
// are an error.
func TestDecodeNext(t *testing.T) {
	tp := schemas.TopicPartition{Topic: "recount.commands", Partition: 3}
	key := AppendShard([]byte{kindNext}, tp)
	for _, next := range []uint64{0, 1, 300, math.MaxInt64} {
		if got, n, err := decodeNext(key, binary.AppendUvarint(nil, next)); err != nil || got != tp || n != int64(next) {
			t.Errorf("%d: got %v, %d, %v", next, got, n, err)
		}
	}
	for name, kv := range map[string][2][]byte{
		"beyond what an offset can be": {key, binary.AppendUvarint(nil, math.MaxInt64+1)},
		"nothing":                      {key, nil},
		"cut short":                    {key, {0x80}},
		"too long a number":            {key, bytes.Repeat([]byte{0x80}, 11)},
		"bytes behind the number":      {key, {1, 0}},
		"bytes behind the partition":   {append(bytes.Clone(key), 'x'), {1}},
		"no partition":                 {key[:4], {1}},
	} {
		if tp, n, err := decodeNext(kv[0], kv[1]); err == nil {
			t.Errorf("%s: taken for %d of %v", name, n, tp)
		}
	}
}
