package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/recountdb/recount/projections/store"
)

// perBlock is the number of runs, or content hashes, of a block in the store.
const perBlock = 128

func blockKey(b []byte, kind byte, shard []byte, n uint32) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, kind), shard...), uint64(n))
}

// encodeRuns appends block n of the runs.
func (r *runs) encodeRuns(b []byte, n uint32) []byte {
	last := int64(0)
	for k := n*perBlock + 1; k <= r.n.Load() && k <= (n+1)*perBlock; k++ {
		x := r.at(k)
		b = binary.AppendUvarint(b, uint64(x.offset-last))
		for _, doc := range x.doc {
			b = binary.AppendUvarint(b, uint64(doc))
		}
		last = x.offset
	}
	return b
}

// decodeRuns adds the runs of a block.
func (r *runs) decodeRuns(b []byte) error {
	n := r.n.Load()
	if len(b) == 0 || n%perBlock != 0 {
		return fmt.Errorf("a block of runs behind run %d, %d bytes", n, len(b))
	}
	before := int64(-1)
	if n > 0 {
		before = r.at(n).offset
	}
	in := reader{b: b}
	for offset, i := uint64(0), 0; len(in.b) > 0; i++ {
		offset += in.uvarint()
		var doc [fields]uint32
		for f := range doc {
			d := in.uvarint()
			if d > uint64(r.docs[f].n) {
				return fmt.Errorf("run %d is document %d of %d", r.n.Load()+1, d, r.docs[f].n)
			}
			doc[f] = uint32(d)
		}
		if in.failed || i == perBlock || offset > math.MaxInt64 || int64(offset) <= before {
			return errors.New("a block of runs is nonsense")
		}
		before = int64(offset)
		r.add(before, doc)
	}
	return in.end("a block of runs")
}

// encodeContents appends block n of the content hashes.
func (r *runs) encodeContents(b []byte, n uint32) []byte {
	d := &r.docs[Words.index()]
	for doc := n * perBlock; doc < d.n && doc < (n+1)*perBlock; doc++ {
		b = binary.LittleEndian.AppendUint64(b, d.chunks.At(doc / chunkSize).content[doc%chunkSize])
	}
	return b
}

// decodeContents sets the hashes of a block, which follow the first n, and returns their new
// number.
func (r *runs) decodeContents(n uint64, b []byte) (uint64, error) {
	d := &r.docs[Words.index()]
	if len(b) == 0 || len(b)%8 != 0 || n%perBlock != 0 || len(b) > 8*perBlock || n+uint64(len(b)/8) > uint64(d.n) {
		return n, fmt.Errorf("content hashes: %d bytes behind %d of %d", len(b), n, d.n)
	}
	for ; len(b) > 0; b = b[8:] {
		d.chunks.At(uint32(n) / chunkSize).content[n%chunkSize] = binary.LittleEndian.Uint64(b)
		n++
	}
	return n, nil
}

// shardStats is the counts of a shard: of runs, and for BM25 of each field the documents and the
// sum of their lengths.
type shardStats struct {
	runs         uint64
	docs, length [fields]uint64
}

func (s shardStats) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, s.runs)
	for f := range fields {
		b = binary.AppendUvarint(b, s.docs[f])
		b = binary.AppendUvarint(b, s.length[f])
	}
	return b
}

func decodeStats(b []byte) (shardStats, error) {
	r := reader{b: b}
	s := shardStats{runs: r.uvarint()}
	for f := range fields {
		s.docs[f], s.length[f] = r.uvarint(), r.uvarint()
	}
	if max(s.docs[0], s.docs[1]) >= tooMany {
		return s, errors.New("statistics are nonsense")
	}
	return s, r.end("statistics")
}

// readStats returns the counts of a shard, all zero if it has no runs.
func readStats(v *store.View, shard []byte) (s shardStats, err error) {
	_, err = v.Get(append([]byte{kindStats}, shard...), func(value []byte) (err error) {
		if s, err = decodeStats(value); err != nil {
			return v.Damaged(err)
		}
		return nil
	})
	return s, err
}

// reader reads uvarints. After a failure all later reads fail.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.failed, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// end returns an error if a number could not be read or bytes are left over.
func (r *reader) end(what string) error {
	if r.failed || len(r.b) > 0 {
		return fmt.Errorf("%s: cut short, or %d bytes too many", what, len(r.b))
	}
	return nil
}
