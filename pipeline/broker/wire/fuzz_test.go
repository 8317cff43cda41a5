package wire

import (
	"bytes"
	"testing"
)

// FuzzCheckBatch checks that any batch of a producer is refused, or can be walked by a reader.
func FuzzCheckBatch(f *testing.F) {
	f.Add(EncodeBatch(nil, []Record{{Key: []byte("k"), Value: []byte("v")}, {Headers: []Header{{Key: "h", Value: []byte("x")}}}}))
	for codec := range byte(5) {
		b := EncodeBatch(nil, []Record{{Value: []byte("v")}})
		b[22] = codec
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		// Set the correct length and checksum, so that the records are checked.
		if len(raw) >= BatchHeaderSize {
			raw = bytes.Clone(raw)
			seal(raw)
		}
		b, e, _ := CheckBatch(Sender{}, raw, 1<<20)
		if e != nil {
			return
		}
		if b.Count() <= 0 || !b.WellFormed() {
			t.Fatalf("accepted %x", raw)
		}
		n := int32(0)
		err := withRecords(b, func(block []byte) error {
			return walkRecords(block, b.Count(), func(recordHead) bool { n++; return true })
		})
		if err != nil || n != b.Count() {
			t.Fatalf("accepted %d records, found %d: %v", b.Count(), n, err)
		}
		b.FirstAt(0, 0)
	})
}
