package wire

import (
	"encoding/binary"
	"slices"
	"time"
)

// Record is one record to append.
type Record struct {
	Key, Value []byte // nil is Kafka's null
	Headers    []Header
	Timestamp  time.Time // zero is the current time
}

// Header is one header of a record.
type Header struct {
	Key   string
	Value []byte
}

// EncodeBatch encodes a record batch, uncompressed and without a producer, into buf if that is
// large enough.
func EncodeBatch(buf []byte, records []Record) []byte {
	b := EncodeUnsealed(buf, records)
	b.Seal()
	return b
}

// EncodeUnsealed is EncodeBatch without the checksum.
func EncodeUnsealed(buf []byte, records []Record) Batch {
	size := BatchHeaderSize
	for i := range records {
		r := &records[i]
		size += 32 + len(r.Key) + len(r.Value)
		for _, h := range r.Headers {
			size += 10 + len(h.Key) + len(h.Value)
		}
	}
	b := Batch(append(slices.Grow(buf[:0], size), make([]byte, BatchHeaderSize)...))
	now := time.Now()
	base, latest := int64(0), int64(0)
	for i := range records {
		r := &records[i]
		at := r.Timestamp
		if at.IsZero() {
			at = now
		}
		ms := at.UnixMilli()
		if i == 0 {
			base, latest = ms, ms
		}
		latest = max(latest, ms)
		b = appendRecord(b, r, ms-base, i)
	}
	b.fill(len(records), base, latest)
	return b
}

// fill sets the header of a batch of n records, except its checksum.
func (b Batch) fill(n int, base, latest int64) {
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	b[16] = 2
	binary.BigEndian.PutUint32(b[23:], uint32(n-1))
	binary.BigEndian.PutUint64(b[27:], uint64(base))
	binary.BigEndian.PutUint64(b[35:], uint64(latest))
	for i := 43; i < 57; i++ {
		b[i] = 0xff // no producer id, epoch or sequence: -1 each
	}
	binary.BigEndian.PutUint32(b[57:], uint32(n))
}

// Seal sets the batch's checksum.
func (b Batch) Seal() { binary.BigEndian.PutUint32(b[17:], Checksum(b[21:])) }

// EmptyBatch returns a batch without records for the offsets first to last.
func EmptyBatch(first, last int64, epoch int32) Batch {
	b := Batch(EncodeBatch(nil, nil))
	b.SetOffset(first, epoch)
	binary.BigEndian.PutUint32(b[23:], uint32(last-first))
	for i := 27; i < 43; i++ {
		b[i] = 0xff // no timestamps
	}
	b.Seal()
	return b
}

func appendRecord(dst []byte, r *Record, delta int64, n int) []byte {
	size := 1 + varintLen(delta) + varintLen(int64(n)) + bytesLen(r.Key) + bytesLen(r.Value) + varintLen(int64(len(r.Headers)))
	for _, h := range r.Headers {
		size += varintLen(int64(len(h.Key))) + len(h.Key) + bytesLen(h.Value)
	}
	dst = binary.AppendVarint(dst, int64(size))
	dst = append(dst, 0)
	dst = binary.AppendVarint(dst, delta)
	dst = binary.AppendVarint(dst, int64(n))
	dst = appendNullable(dst, r.Key)
	dst = appendNullable(dst, r.Value)
	dst = binary.AppendVarint(dst, int64(len(r.Headers)))
	for _, h := range r.Headers {
		dst = binary.AppendVarint(dst, int64(len(h.Key)))
		dst = append(dst, h.Key...)
		dst = appendNullable(dst, h.Value)
	}
	return dst
}

func appendNullable(dst, v []byte) []byte {
	if v == nil {
		return binary.AppendVarint(dst, -1)
	}
	return append(binary.AppendVarint(dst, int64(len(v))), v...)
}

func bytesLen(v []byte) int {
	if v == nil {
		return 1
	}
	return varintLen(int64(len(v))) + len(v)
}

func varintLen(v int64) int {
	n := 1
	for u := uint64(v)<<1 ^ uint64(v>>63); u >= 0x80; u >>= 7 {
		n++
	}
	return n
}
