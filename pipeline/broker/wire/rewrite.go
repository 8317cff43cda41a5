package wire

import "encoding/binary"

// ReplaceRecords returns the batch with some records replaced, and how many of them it holds.
func (b Batch) ReplaceRecords(records map[int64]Record) (replaced Batch, found int, err error) {
	err = withRecords(b, func(block []byte) error {
		var out []byte
		for range b.Count() {
			h, rest, err := nextRecord(block)
			if err != nil {
				return err
			}
			if r, ok := records[b.BaseOffset()+int64(h.offsetDelta)]; ok {
				out = appendRecord(out, &r, h.timestampDelta, int(h.offsetDelta))
				found++
			} else {
				out = append(out, block[:len(block)-len(rest)]...)
			}
			block = rest
		}
		if found == 0 {
			replaced = b
			return nil
		}
		packed, err := compress(b.codec(), out)
		if err != nil {
			return err
		}
		replaced = append(append(make(Batch, 0, BatchHeaderSize+len(packed)), b[:BatchHeaderSize]...), packed...)
		binary.BigEndian.PutUint32(replaced[8:], uint32(len(replaced)-12))
		replaced.Seal()
		return nil
	})
	return replaced, found, err
}
