package lexical

import (
	"fmt"
	"math"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/recountdb/recount/projections/chunks"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// runs holds the runs of one shard and their documents in memory: a search needs the newest run of
// each candidate, and a writer the previous run of a document, in an order that a store could not
// read ahead. It takes 24 bytes a run, and 12 a document of either field.
//
// It is loaded from the store when first needed, and extended by the shard's one writer before that
// commits. So it is never behind a view and may be ahead of one; readers therefore use a past,
// which ends at the view's watermark. What a past shows never changes. Runs are numbered from 1; 0
// means none.
type runs struct {
	mu     sync.Mutex // held while loading
	loaded bool

	n      atomic.Uint32 // number of runs
	chunks chunks.List[runChunk]
	docs   [fields]docs
}

// run is one command: its offset, and for each field its document and the previous run of the same
// document.
type run struct {
	offset    int64
	doc, prev [fields]uint32
}

// docs is the documents of one field.
type docs struct {
	n      uint32 // used by the writer
	chunks chunks.List[docChunk]
}

const chunkSize = 1 << 10

type runChunk struct {
	docs [fields]uint32 // number of documents before it
	runs [chunkSize]run
}

// docChunk holds the newest run of each document and, for the field Words, its content hash.
type docChunk struct {
	last    [chunkSize]atomic.Uint32
	content [chunkSize]uint64
}

func (r *runs) at(k uint32) *run { return &r.chunks.At((k - 1) / chunkSize).runs[(k-1)%chunkSize] }

func (d *docs) last(doc uint32) *atomic.Uint32 {
	return &d.chunks.At(doc / chunkSize).last[doc%chunkSize]
}

// content returns the address of the content hash of a document of words.
func (r *runs) content(doc uint32) *uint64 {
	return &r.docs[Words.index()].chunks.At(doc / chunkSize).content[doc%chunkSize]
}

func (r *runs) contentOf(doc uint32) uint64 { return *r.content(doc) }

// add appends a run. A document number that equals the number of documents makes a new one.
func (r *runs) add(offset int64, doc [fields]uint32) *run {
	n := r.n.Load()
	if n%chunkSize == 0 {
		c := &runChunk{}
		for f := range c.docs {
			c.docs[f] = r.docs[f].n
		}
		r.chunks.Add(c)
	}
	x := r.at(n + 1)
	x.offset, x.doc = offset, doc
	for f, doc := range doc {
		d := &r.docs[f]
		if doc == d.n {
			if doc%chunkSize == 0 {
				d.chunks.Add(&docChunk{})
			}
			d.n++
		}
		x.prev[f] = d.last(doc).Load()
	}
	r.n.Store(n + 1)
	for f, doc := range doc {
		r.docs[f].last(doc).Store(n + 1)
	}
	return x
}

// load reads the runs from the store, once.
func (r *runs) load(db *store.DB, tp schemas.TopicPartition) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loaded {
		return nil
	}
	v, err := db.View()
	if err != nil {
		return err
	}
	defer v.Close()
	shard := store.AppendShard(nil, tp)
	r.n.Store(0) // after loading failed before
	r.chunks, r.docs = chunks.List[runChunk]{}, [fields]docs{}
	if err := eachBlock(v, kindRuns, shard, r.decodeRuns); err != nil {
		return err
	}
	contents := uint64(0)
	err = eachBlock(v, kindContent, shard, func(b []byte) error {
		n, err := r.decodeContents(contents, b)
		contents = n
		return err
	})
	if err != nil {
		return err
	}
	stats, err := readStats(v, shard)
	if err != nil {
		return err
	}
	if have := (shardStats{runs: uint64(r.n.Load()), docs: r.counts(), length: stats.length}); have != stats || contents != stats.docs[Words.index()] {
		return v.Damaged(fmt.Errorf("%s: %d runs of %d documents and %d content hashes, want %d of %d", tp, have.runs, have.docs, contents, stats.runs, stats.docs))
	}
	r.loaded = true
	return nil
}

func (r *runs) counts() (n [fields]uint64) {
	for f := range n {
		n[f] = uint64(r.docs[f].n)
	}
	return n
}

// eachBlock calls use with the blocks of one kind in the order of their numbers.
func eachBlock(v *store.View, kind byte, shard []byte, use func([]byte) error) error {
	prefix := append([]byte{kind}, shard...)
	it, err := v.Iter(prefix, store.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			_ = it.Close()
			return v.Explain(err)
		}
		if err := use(value); err != nil {
			_ = it.Close()
			return v.Damaged(err)
		}
	}
	return v.Explain(it.Close())
}

// past is the part of a shard's runs that a search may see, and the documents of one field that
// have such a run, which are the first ones.
type past struct {
	*runs
	field int
	n     uint32
	count uint32 // number of documents
}

// below returns the past of a field below an offset.
func (r *runs) below(offset int64, f Field) past {
	p := past{runs: r, field: f.index()}
	p.n = p.find(1, r.n.Load(), offset) - 1
	if p.n == 0 {
		return p
	}
	c := r.chunks.At((p.n - 1) / chunkSize)
	p.count = c.docs[p.field]
	for i := range (p.n-1)%chunkSize + 1 {
		p.count = max(p.count, c.runs[i].doc[p.field]+1)
	}
	return p
}

// find returns the first of the runs from lo to hi at or above an offset, or hi+1.
func (p past) find(lo, hi uint32, offset int64) uint32 {
	return lo + uint32(sort.Search(int(hi+1-lo), func(i int) bool { return p.at(lo+uint32(i)).offset >= offset }))
}

// walk iterates from the newest run of a document to older ones: along a list, or, if k is not
// zero, from run k backwards.
type walk struct {
	listed []*run
	past   past
	k      uint32
}

func (p past) walkFrom(doc uint32) walk {
	return walk{past: p, k: p.docs[p.field].last(doc).Load()}
}

// next returns the next run, nil after the last.
func (w *walk) next() *run {
	if len(w.listed) > 0 {
		x := w.listed[0]
		w.listed = w.listed[1:]
		return x
	}
	for w.k > 0 {
		x, k := w.past.at(w.k), w.k
		w.k = x.prev[w.past.field]
		if k <= w.past.n {
			return x
		}
	}
	return nil
}

// choice is the runs that may be hits if the query limits them: those of docs[i] are
// runs[from[i]:from[i+1]].
type choice struct {
	docs []uint32 // ascending, not nil
	from []int
	runs []*run // of each document the newest first
}

// choose looks up the runs at offsets, which must ascend.
func (p past) choose(offsets []int64) choice {
	all := make([]*run, 0, len(offsets))
	next, last := uint32(1), int64(-1)
	for _, offset := range offsets {
		if next > p.n {
			break
		}
		if offset <= last {
			continue
		}
		// Offsets ascend, so there are at most as many runs between two offsets as their
		// difference.
		hi := uint32(min(uint64(p.n), uint64(next)+uint64(offset-last)))
		next, last = p.find(next, hi, offset), offset
		if next <= p.n && p.at(next).offset == offset {
			all = append(all, p.at(next))
			next++
		}
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if a.doc[p.field] != b.doc[p.field] {
			return a.doc[p.field] < b.doc[p.field]
		}
		return a.offset > b.offset
	})
	c := choice{docs: []uint32{}, runs: all}
	for i, x := range all {
		if doc := x.doc[p.field]; len(c.docs) == 0 || c.docs[len(c.docs)-1] != doc {
			c.docs, c.from = append(c.docs, doc), append(c.from, i)
		}
	}
	c.from = append(c.from, len(all))
	return c
}

// tooMany is a number of runs, and so of documents, that a shard cannot have.
const tooMany = math.MaxUint32
