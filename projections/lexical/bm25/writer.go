package bm25

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/store"
)

// Writer appends documents to the lists of a partition. It reads nothing.
type Writer struct {
	kind byte
	// terms has the number of each term of the batch, names the terms and count their postings.
	terms   map[string]uint32
	names   []string
	count   []uint32
	waiting []waiting
	// Buffers that are reused.
	byTerm []uint32
	ends   []uint32
	placed []waiting
	key    []byte
	value  []byte
}

// waiting is a posting with its place: the number of its term, its collection and its block.
type waiting struct {
	term, collection, n uint32
	posting
}

// maxWaiting is the maximum number of postings whose memory is kept between batches.
const maxWaiting = 1 << 18

// NewWriter returns a writer of lists under keys of a kind.
func NewWriter(kind byte) *Writer { return &Writer{kind: kind, terms: map[string]uint32{}} }

// Add adds a term of a document. Documents of a collection must ascend, and a document must have a
// term only once. length is the document's length.
func (w *Writer) Add(collection, doc uint32, term string, weight, length uint32) {
	number, ok := w.terms[term]
	if !ok {
		number = uint32(len(w.names))
		w.terms[term] = number
		w.names, w.count = append(w.names, term), append(w.count, 0)
	}
	w.count[number]++
	w.waiting = append(w.waiting, waiting{number, collection, doc / BlockDocs, newPosting(doc, weight, length)})
}

// Flush appends everything that was added, in the order of keys, since Pebble finds the place of a
// key from that of the one before.
func (w *Writer) Flush(t *store.Txn) error {
	// First all postings by their terms, in the order in which they were added.
	w.byTerm, w.ends = w.byTerm[:0], append(w.ends[:0], w.count...)
	for number := range w.names {
		w.byTerm = append(w.byTerm, uint32(number))
	}
	slices.SortFunc(w.byTerm, func(a, b uint32) int { return strings.Compare(w.names[a], w.names[b]) })
	end := uint32(0)
	for _, number := range w.byTerm {
		w.ends[number] = end // it advances with each posting placed
		end += w.count[number]
	}
	w.placed = slices.Grow(w.placed[:0], len(w.waiting))[:len(w.waiting)]
	for _, p := range w.waiting {
		w.placed[w.ends[p.term]] = p
		w.ends[p.term]++
	}
	for _, number := range w.byTerm {
		end := w.ends[number]
		all := w.placed[end-w.count[number] : end]
		slices.SortStableFunc(all, func(a, b waiting) int {
			return cmp.Or(cmp.Compare(a.collection, b.collection), cmp.Compare(a.n, b.n))
		})
		w.key = appendTerm(w.key[:0], w.kind, t.Shard(), w.names[number])
		prefix := len(w.key)
		for len(all) > 0 {
			at := all[0]
			w.value = w.value[:0]
			for len(all) > 0 && all[0].collection == at.collection && all[0].n == at.n {
				w.value = binary.LittleEndian.AppendUint32(w.value, uint32(all[0].posting))
				all = all[1:]
			}
			w.key = appendBlock(w.key[:prefix], at.collection, at.n)
			if err := t.Append(w.key, w.value); err != nil {
				return fmt.Errorf("append postings: %w", err)
			}
		}
	}
	clear(w.terms)
	clear(w.names)
	w.names, w.count, w.waiting = w.names[:0], w.count[:0], w.waiting[:0]
	if cap(w.waiting) > maxWaiting {
		w.waiting, w.placed = nil, nil
	}
	return nil
}

// appendTerm appends the common prefix of the keys of a term's blocks.
func appendTerm(b []byte, kind byte, shard []byte, term string) []byte {
	b = append(append(b, kind), shard...)
	return append(append(b, term...), 0)
}

func appendBlock(b []byte, collection, n uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, collection), n)
}
