package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errRecord = errors.New("the batch's records are malformed")

// recordHead is the part of a record that the broker reads.
type recordHead struct {
	timestampDelta int64
	offsetDelta    int32
}

// nextRecord reads the head of the first record in b and returns the rest.
func nextRecord(b []byte) (h recordHead, rest []byte, err error) {
	size, k := binary.Varint(b)
	if k <= 0 || size < 0 || size > int64(len(b)-k) {
		return h, nil, errRecord
	}
	body, rest := b[k:k+int(size)], b[k+int(size):]
	if len(body) < 1 {
		return h, nil, errRecord
	}
	body = body[1:] // attributes: none are defined
	if h.timestampDelta, k = binary.Varint(body); k <= 0 {
		return h, nil, errRecord
	}
	delta, n := binary.Varint(body[k:])
	if n <= 0 || delta < 0 || delta > 1<<31-1 {
		return h, nil, errRecord
	}
	h.offsetDelta = int32(delta)
	if !wholeRecord(body[k+n:]) {
		return h, nil, errRecord
	}
	return h, rest, nil
}

// wholeRecord reports whether b is a key, a value and headers, and nothing more.
func wholeRecord(b []byte) bool {
	ok := true
	varint := func() int64 {
		v, k := binary.Varint(b)
		if k <= 0 {
			ok, b = false, nil
			return 0
		}
		b = b[k:]
		return v
	}
	field := func(nullable bool) {
		n := varint()
		if n == -1 && nullable {
			return
		}
		if n < 0 || n > int64(len(b)) {
			ok, b = false, nil
			return
		}
		b = b[n:]
	}
	field(true) // the key
	field(true) // the value
	headers := varint()
	if headers < 0 || headers > int64(len(b)) {
		return false
	}
	for range headers {
		field(false)
		field(true)
		if !ok {
			return false
		}
	}
	return ok && len(b) == 0
}

// walkRecords calls fn with each record of an uncompressed block, and checks that there are count
// of them, numbered in order. fn may stop the walk by returning false.
func walkRecords(block []byte, count int32, fn func(recordHead) bool) error {
	for i := range count {
		h, rest, err := nextRecord(block)
		if err != nil {
			return err
		}
		if h.offsetDelta != i {
			return fmt.Errorf("record %d of the batch has the number %d", i, h.offsetDelta)
		}
		if fn != nil && !fn(h) {
			return nil
		}
		block = rest
	}
	if len(block) > 0 {
		return errors.New("the batch holds more than its records")
	}
	return nil
}

// checkRecords walks a batch's records, so that no consumer gets one that cannot be read.
func checkRecords(from Sender, b Batch) error {
	return withRecordsOf(from, b, func(block []byte) error {
		return walkRecords(block, b.Count(), nil)
	})
}

// FirstAt finds the first record of the batch, at or after offset from, with a timestamp of ts or
// later; -1, -1 if there is none.
func (b Batch) FirstAt(ts, from int64) (offset, at int64) {
	offset, at = -1, -1
	err := withRecords(b, func(block []byte) error {
		return walkRecords(block, b.Count(), func(h recordHead) bool {
			o, t := b.BaseOffset()+int64(h.offsetDelta), b.baseTimestamp()+h.timestampDelta
			if t < ts || o < from {
				return true
			}
			offset, at = o, t
			return false
		})
	})
	if err != nil {
		// The batch was checked when it was produced. If it cannot be read now, answer with its
		// beginning, which skips nothing.
		return max(b.BaseOffset(), from), b.MaxTimestamp()
	}
	return offset, at
}
