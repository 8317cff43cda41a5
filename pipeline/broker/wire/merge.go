package wire

import "encoding/binary"

// Merge merges uncompressed batches without a producer into one: the same bytes that EncodeUnsealed
// would have produced from all their records.
type Merge struct {
	batch        Batch
	count        int
	base, latest int64 // timestamps
}

// mergedGrowth is the maximum growth of a record when others come before it: its length, time and
// offset in the batch have variable size.
const mergedGrowth = 1 + 9 + 4

// MergedSize returns the maximum size that the batch takes of a merged one.
func (b Batch) MergedSize() int { return len(b) + mergedGrowth*int(b.Count()) }

// StartMerge starts a merge in buf with its first batch.
func StartMerge(buf []byte, first Batch) Merge {
	return Merge{append(buf, first...), int(first.Count()), first.baseTimestamp(), first.MaxTimestamp()}
}

// Add adds the records of a batch behind those that are there.
func (m *Merge) Add(b Batch) {
	m.latest = max(m.latest, b.MaxTimestamp())
	later := b.baseTimestamp() - m.base
	for rest := b.Records(); len(rest) > 0; m.count++ {
		size, k := binary.Varint(rest)
		r := rest[k : k+int(size)]
		rest = rest[k+int(size):]
		delta, k := binary.Varint(r[1:]) // after the attributes
		at := 1 + k
		_, k = binary.Varint(r[at:]) // its offset in its own batch
		r = r[at+k:]
		delta += later
		m.batch = binary.AppendVarint(m.batch, int64(1+varintLen(delta)+varintLen(int64(m.count))+len(r)))
		m.batch = append(m.batch, 0)
		m.batch = binary.AppendVarint(m.batch, delta)
		m.batch = binary.AppendVarint(m.batch, int64(m.count))
		m.batch = append(m.batch, r...)
	}
}

// Finish returns the merged batch, without its checksum.
func (m *Merge) Finish() Batch {
	m.batch.fill(m.count, m.base, m.latest)
	return m.batch
}
