package wire

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
)

// TestMergeBatches checks that a merged batch has the same bytes as one batch of all the records,
// however they are spread over calls, and is not larger than computed.
func TestMergeBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	some := func(n int) []byte {
		if n == 0 {
			return nil
		}
		return bytes.Repeat([]byte{byte(n)}, rng.IntN(n))
	}
	for range 200 {
		var all []Record
		var m Merge
		size := 0
		calls := 2 + rng.IntN(5)
		for n := range calls {
			var call []Record
			for range 1 + rng.IntN(1<<rng.IntN(9)) {
				r := Record{Key: some(rng.IntN(3)), Value: some(rng.IntN(200)), Timestamp: time.UnixMilli(rng.Int64N(1 << rng.IntN(62)))}
				for range rng.IntN(3) {
					r.Headers = append(r.Headers, Header{Key: string(some(5)), Value: some(rng.IntN(9))})
				}
				call = append(call, r)
			}
			all = append(all, call...)
			b := EncodeUnsealed(nil, call)
			size += b.MergedSize()
			if n == 0 {
				m = StartMerge(nil, b)
			} else {
				m.Add(b)
			}
		}
		got := m.Finish()
		if want := EncodeUnsealed(nil, all); !bytes.Equal(got, want) {
			t.Fatalf("%d calls of %d records: the batch differs from that of one call", calls, len(all))
		}
		if len(got) > size {
			t.Fatalf("%d calls of %d records: %d bytes, reckoned with %d", calls, len(all), len(got), size)
		}
	}
}
