package broker

import (
	"bytes"
	"testing"
)

// FuzzCheckBatch checks that any batch of a producer is refused, or can be walked by a reader.
func FuzzCheckBatch(f *testing.F) {
	f.Add(encodeBatch(nil, []Record{{Key: []byte("k"), Value: []byte("v")}, {Headers: []Header{{Key: "h", Value: []byte("x")}}}}))
	for codec := range byte(5) {
		b := encodeBatch(nil, []Record{{Value: []byte("v")}})
		b[22] = codec
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		// Set the correct length and checksum, so that the records are checked.
		if len(raw) >= batchHeaderSize {
			raw = bytes.Clone(raw)
			seal(raw)
		}
		b, e, _ := checkBatch(sender{}, raw, 1<<20)
		if e != nil {
			return
		}
		if b.count() <= 0 || !b.wellFormed() {
			t.Fatalf("accepted %x", raw)
		}
		n := int32(0)
		err := withRecords(b, func(block []byte) error {
			return walkRecords(block, b.count(), func(recordHead) bool { n++; return true })
		})
		if err != nil || n != b.count() {
			t.Fatalf("accepted %d records, found %d: %v", b.count(), n, err)
		}
		b.firstAt(0, 0)
	})
}
