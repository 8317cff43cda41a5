package bm25

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/recountdb/recount/projections/store"
)

// Index searches the lists under keys of one kind.
type Index struct {
	kind     byte
	cache    *Cache[*list]
	searches sync.Pool // of *scratch
}

// NewIndex returns an index of the lists that writers of the same kind append. It keeps at most
// twice cacheBytes of lists in memory.
func NewIndex(kind byte, cacheBytes int) *Index {
	return &Index{kind: kind, cache: NewCache[*list](cacheBytes), searches: sync.Pool{New: func() any { return new(scratch) }}}
}

// Request is a search.
type Request struct {
	// Terms are the terms to search for: distinct and ascending.
	Terms []Term
	// Collections are what is searched, ordered by partition and number.
	Collections []Collection
	// View returns the state to read. It is called at most once, and only if something is not in
	// memory. The state must have all documents of the collections; others are ignored.
	View func() (*store.View, error)
	// Hits receives the documents that may be hits, of which it keeps K.
	Hits Hits
	K    int
}

// Term is a term of a query. A document that has an excluded term, or lacks a required one, is no
// hit. Excluded terms add nothing to a score.
type Term struct {
	Text               string
	Required, Excluded bool
	// Share is the part of its score that a term adds; 0 means all of it.
	Share float64
}

// Collection is documents of one partition, numbered from 0, with statistics of their own.
type Collection struct {
	// Shard is the partition in the form of store.AppendShard.
	Shard []byte
	// Number is the number of the collection in the partition.
	Number uint32
	// Docs is how many documents there are, and Length the sum of their lengths.
	Docs   uint32
	Length uint64
	// Below limits the search, but not the statistics, to the documents with lower numbers.
	Below uint32
	// Only, if not nil, lists the documents that may be hits, ascending. Only these are scored.
	Only []uint32
}

// noCollection is a number that no collection has.
const noCollection = math.MaxUint32

// complete returns how many of the blocks are full; these never change.
func (c *Collection) complete() uint32 { return c.Docs / BlockDocs }

// Document is a document that may be a hit.
type Document struct {
	Score      Points
	Number     uint32
	Collection uint32 // index in Request.Collections
}

// before orders documents: the better score first, then the later document.
func (d *Document) before(o *Document) bool {
	return d.Score > o.Score || d.Score == o.Score && d.Number > o.Number
}

// Hits collects the best hits.
type Hits interface {
	// Floor returns the score that a document must have to be a hit: at least 1, and never less
	// than before.
	Floor() Points
	// Add considers a document of at least this score. It is called with the best of those that wait.
	Add(d Document) error
	// Unfinished returns the number of the document up to which those from low on must wait, since
	// what they belong to may have documents below low, which are scored next: low if none must.
	Unfinished(collection int, low uint32) (end uint32, err error)
}

// Stats describes what an answer is based on.
type Stats struct {
	// Terms are the terms of the query, with the number of documents that have them.
	Terms []TermStats
	// Docs is the number of documents of all collections, Length the sum of their lengths.
	Docs, Length uint64
	// Scored is how many documents were scored; the others could not be hits.
	Scored int
}

// TermStats is the statistics of one term of a query.
type TermStats struct {
	Term               string
	Documents          uint64
	IDF                float64
	Required, Excluded bool
}

// scratch is memory that searches reuse. Its content has no meaning for the next one.
type scratch struct {
	low      uint32 // the window's first document
	window   sums   // nothing is marked between searches
	divisors divisors
	lists    []cursor    // collection i and term t are at i·terms + t
	active   []termBlock // in the current window
	scored   []scored    // in the current window
	allowed  docSet      // in the current window
	waiting  []Document
	room     blocks // of lists that are not kept
	key      []byte
}

// clear drops references to what the cache may have evicted since.
func (s *scratch) clear() {
	clear(s.lists)
	clear(s.active[:cap(s.active)])
	s.room.clear()
	if s.waiting = s.waiting[:0]; cap(s.room.postings) > maxWaiting {
		s.room = blocks{}
	}
}

// search is a search in progress.
type search struct {
	Request
	ctx     context.Context
	index   *Index
	view    *store.View
	iter    store.Iterator
	factors []float64 // by term
	// required is the number of required terms; strict is true if there are any, or excluded ones.
	required int
	strict   bool
	nothing  list
	stats    Stats
	*scratch
}

// Search finds the documents that may be hits and passes them to Hits.
func (x *Index) Search(ctx context.Context, r Request) (Stats, error) {
	s := &search{Request: r, ctx: ctx, index: x, scratch: x.searches.Get().(*scratch)}
	defer func() {
		if s.iter != nil {
			_ = s.iter.Close()
		}
	}()
	if err := s.run(); err != nil {
		return s.stats, err // the scratch is not reused, since its window may have marks
	}
	s.scratch.clear()
	x.searches.Put(s.scratch)
	return s.stats, nil
}

// Count returns the statistics of a search, without searching.
func (x *Index) Count(ctx context.Context, r Request) (Stats, error) {
	s := &search{Request: r, ctx: ctx, index: x, scratch: x.searches.Get().(*scratch)}
	defer func() {
		if s.iter != nil {
			_ = s.iter.Close()
		}
	}()
	if err := s.read(); err != nil {
		return s.stats, err
	}
	s.count()
	s.scratch.clear()
	x.searches.Put(s.scratch)
	return s.stats, nil
}

func (s *search) run() error {
	if err := s.read(); err != nil {
		return err
	}
	s.count()
	for i := range s.Collections {
		if err := s.collection(i); err != nil {
			return err
		}
	}
	return s.takeIn(-1)
}

// count adds up the statistics.
func (s *search) count() {
	for i := range s.Collections {
		s.stats.Docs += uint64(s.Collections[i].Docs)
		s.stats.Length += s.Collections[i].Length
	}
	s.divisors.use(NewScorer(s.stats.Docs, s.stats.Length))
	s.factors, s.stats.Terms = make([]float64, len(s.Terms)), make([]TermStats, len(s.Terms))
	for t, term := range s.Terms {
		df := uint64(0)
		for i := t; i < len(s.lists); i += len(s.Terms) {
			df += s.lists[i].postings()
		}
		s.factors[t] = Factor(s.stats.Docs, df)
		if term.Share > 0 {
			s.factors[t] = float64(s.factors[t] * term.Share)
		}
		s.stats.Terms[t] = TermStats{term.Text, df, IDF(s.stats.Docs, df), term.Required, term.Excluded}
		if term.Required {
			s.required++
		}
		s.strict = s.strict || term.Required || term.Excluded
	}
}

// sums holds the scores of a window, added up over several blocks.
type sums struct {
	score  [BlockDocs]Points
	marked docSet // the documents that have a score
}

// termBlock is a term's block in a window, and the maximum that it can add to a score.
type termBlock struct {
	term   int
	factor float64
	most   Points
	block
}

// scored is a document of the window that may be a hit, and its score so far.
type scored struct {
	score Points
	doc   uint32 // its number in the window
}

// fewWaiting is how many documents wait, at least, before they are considered for the hits: so many
// that the best of them are good, and so few that the next windows soon profit from them.
const fewWaiting = 64

// collection searches one collection from its newest document to its oldest, a window of documents
// at a time. A window is one block of each list. Documents that can at best equal the worst hit are
// considered too, since Hits may prefer them.
//
// In every window:
//
//  1. Blocks that may produce a hit score their documents. The others alone cannot raise a document
//     to the score of the worst hit (MaxScore).
//  2. The others add to the documents that may still be hits.
//  3. Documents with a sufficient score wait; when there are enough, they are considered, the best
//     first.
//
// If the query limits the documents that may be hits, only these are scored.
func (s *search) collection(i int) error {
	c, lists := &s.Collections[i], s.lists[i*len(s.Terms):(i+1)*len(s.Terms)]
	for s.next(c, lists) {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.scored = s.scored[:0]
		rest := s.active
		switch limited := s.limit(c); {
		case c.Only != nil || s.required > 0:
			s.each()
		default:
			rest = s.score()
			if limited {
				s.scored = slices.DeleteFunc(s.scored, func(p scored) bool { return s.allowed.one(p.doc) == 0 })
			}
		}
		s.stats.Scored += len(s.scored)
		s.add(rest)
		floor := s.Hits.Floor()
		for _, p := range s.scored {
			if p.score >= floor {
				s.waiting = append(s.waiting, Document{p.score, s.low + p.doc, uint32(i)})
			}
		}
		if len(s.waiting) >= max(s.K, fewWaiting) {
			if err := s.takeIn(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// next moves the window down to the next blocks of a collection's lists and reports whether there
// are any. The blocks that can add least come first.
func (s *search) next(c *Collection, lists []cursor) bool {
	n := int64(-1)
	for i := range lists {
		l := &lists[i]
		for l.left > 0 && l.number()*BlockDocs >= int64(c.Below) {
			l.left--
		}
		n = max(n, l.number())
	}
	if n < 0 {
		return false
	}
	s.low = uint32(n) * BlockDocs
	s.active = s.active[:0]
	for t := range lists {
		l := &lists[t]
		if l.number() != n {
			continue
		}
		b := termBlock{term: t, factor: s.factors[t], block: l.next()}
		if !s.Terms[t].Excluded {
			b.most = s.divisors.max(b.factor, &b.block)
		}
		at := len(s.active)
		for at > 0 && s.active[at-1].most > b.most {
			at--
		}
		s.active = slices.Insert(s.active, at, b)
	}
	return true
}

// limit sets which documents of the window may be hits, and removes the blocks of excluded terms.
// It returns false if all may.
func (s *search) limit(c *Collection) bool {
	if c.Only == nil && !s.strict {
		return false
	}
	s.allowed = docSet{}
	if c.Only == nil {
		for i := range s.allowed {
			s.allowed[i] = ^uint64(0)
		}
	} else {
		from, _ := slices.BinarySearch(c.Only, s.low)
		for _, doc := range c.Only[from:] {
			if doc-s.low >= BlockDocs {
				break
			}
			s.allowed.add(doc - s.low)
		}
	}
	required := 0
	var has docSet
	s.active = slices.DeleteFunc(s.active, func(b termBlock) bool {
		term := s.Terms[b.term]
		if !term.Required && !term.Excluded {
			return false
		}
		has.docs(&b.block)
		for i, has := range has {
			if term.Required {
				s.allowed[i] &= has
			}
			if term.Excluded {
				s.allowed[i] &^= has
			}
		}
		if term.Required {
			required++
		}
		return term.Excluded
	})
	if required < s.required {
		s.allowed = docSet{}
	}
	return true
}

// each scores every document that may be a hit.
func (s *search) each() {
	for k, allowed := range s.allowed {
		for ; allowed != 0; allowed &= allowed - 1 {
			s.scored = append(s.scored, scored{doc: uint32(k*64 + bits.TrailingZeros64(allowed))})
		}
	}
}

// score scores the documents of the window that may be hits by the blocks that can produce one, and
// returns the other blocks, which can only add to them.
func (s *search) score() (rest []termBlock) {
	floor, sum, n := s.Hits.Floor(), Points(0), 0
	for n < len(s.active) && sum+s.active[n].most < floor {
		sum += s.active[n].most
		n++
	}
	least := floor - min(floor, sum)
	rest, marking := s.active[:n], s.active[n:]
	if len(marking) == 0 {
		return rest
	}
	if len(marking) == 1 {
		b := &marking[0]
		for _, p := range b.postings {
			if score := share(b.factor, s.divisors.ofPosting(p)); score >= least {
				s.scored = append(s.scored, scored{score, p.doc()})
			}
		}
		return rest
	}
	w := &s.window
	for i := range marking {
		b := &marking[i]
		if b.dense != nil {
			for k, has := range b.dense.has {
				w.marked[k] |= has
			}
		}
		for _, p := range b.postings {
			doc := p.doc()
			if b.dense == nil {
				w.marked[doc/64] |= 1 << (doc % 64)
			}
			w.score[doc] += share(b.factor, s.divisors.ofPosting(p))
		}
	}
	for k, marked := range w.marked {
		for ; marked != 0; marked &= marked - 1 {
			doc := uint32(k*64 + bits.TrailingZeros64(marked))
			if score := w.score[doc]; score >= least {
				s.scored = append(s.scored, scored{score, doc})
			}
			w.score[doc] = 0
		}
		w.marked[k] = 0
	}
	return rest
}

// add adds what the blocks contribute to the scored documents, starting with the block that can add
// most, and drops documents that can no longer be hits.
func (s *search) add(rest []termBlock) {
	floor, left := s.Hits.Floor(), Points(0) // left is what the blocks can still add
	for i := range rest {
		left += rest[i].most
	}
	for i := len(rest) - 1; i >= 0 && len(s.scored) > 0; i-- {
		b := &rest[i]
		left -= b.most
		least := floor - min(floor, left)
		kept, from := 0, 0
		for _, p := range s.scored {
			at, has := 0, false
			if b.dense != nil {
				at, has = b.dense.find(p.doc)
			} else {
				from = b.seek(from, p.doc)
				at, has = from, from < len(b.postings) && b.postings[from].doc() == p.doc
			}
			if has {
				p.score += share(b.factor, s.divisors.ofPosting(b.postings[at]))
			}
			// There is no branch on data that is still being loaded, so the next load can start
			// meanwhile.
			s.scored[kept] = p
			if p.score >= least {
				kept++
			}
		}
		s.scored = s.scored[:kept]
	}
}

// takeIn considers the waiting documents for the hits, the best first. Those of the collection that
// is being searched wait on if they are unfinished; it is negative at the end.
func (s *search) takeIn(collection int) error {
	var unfinished []Document
	q := s.waiting
	if collection >= 0 {
		end, err := s.Hits.Unfinished(collection, s.low)
		if err != nil {
			return err
		}
		q = slices.DeleteFunc(q, func(d Document) bool {
			wait := int(d.Collection) == collection && d.Number < end
			if wait {
				unfinished = append(unfinished, d)
			}
			return wait
		})
	}
	floor := s.Hits.Floor()
	for i := len(q)/2 - 1; i >= 0; i-- {
		sink(q, i)
	}
	for len(q) > 0 && q[0].Score >= floor {
		if err := s.Hits.Add(q[0]); err != nil {
			return err
		}
		floor = s.Hits.Floor()
		last := len(q) - 1
		q[0] = q[last]
		q = q[:last]
		sink(q, 0)
	}
	s.waiting = append(s.waiting[:0], unfinished...)
	return nil
}

// sink moves an element of a heap, with the best at its root, down to its place.
func sink(q []Document, i int) {
	for {
		child := 2*i + 1
		if child >= len(q) {
			return
		}
		if child+1 < len(q) && q[child+1].before(&q[child]) {
			child++
		}
		if !q[child].before(&q[i]) {
			return
		}
		q[i], q[child] = q[child], q[i]
		i = child
	}
}
