package lexical

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// SearchObjects returns the best hits, best first. Equal scores are ordered by partition, then by
// offset, the higher first, then by the order within the event.
func (x *Index) SearchObjects(ctx context.Context, q ObjectQuery) ([]ObjectHit, ObjectStats, error) {
	if q.K <= 0 {
		q.K = 10
	}
	if err := x.Failed(); err != nil {
		return nil, ObjectStats{}, err
	}
	s := &objectSearch{ctx: ctx, x: x, q: q, objectScratch: x.scratch.Get().(*objectScratch)}
	defer s.close()
	s.terms = q.terms(s.analyser)
	if err := s.prepare(); err != nil {
		return nil, s.stats, err
	}
	if err := s.search(); err != nil {
		return nil, s.stats, err
	}
	hits := s.hits()
	s.objectScratch.clear()
	x.scratch.Put(s.objectScratch) // after an error it is not reused, since its window may have marks
	return hits, s.stats, nil
}

// objectScratch is memory that searches for objects reuse. Its content has no meaning for the next
// one.
type objectScratch struct {
	analyser *analyser
	low      uint32 // the window's first document
	window   sums   // nothing is marked between searches
	divisors divisors
	lists    []partCursor // shard i and term t are at i·terms + t
	active   []termBlock  // in the current window
	scored   []partScore  // in the current window
	rest     mayAdd       // in the current window
	waiting  []candidate
	room     room
	top      top
	blocks   map[uint64]entries // by shard and number
	resolved map[uint64]bool    // objects of several parts, by shard and first document
	key      []byte
}

func newObjectScratch() any {
	return &objectScratch{
		analyser: newQueryAnalyser(), top: top{held: map[uint64]found{}}, blocks: map[uint64]entries{}, resolved: map[uint64]bool{},
	}
}

// clear also drops references to what the caches may have evicted since.
func (s *objectScratch) clear() {
	clear(s.lists)
	clear(s.active[:cap(s.active)])
	s.rest.clear()
	s.room.clear()
	s.top.clear()
	clear(s.blocks)
	clear(s.resolved)
}

// objectSearch is a search for objects in progress.
type objectSearch struct {
	ctx     context.Context
	x       *Index
	q       ObjectQuery
	opened  *store.View      // see view
	iter    *pebble.Iterator // see postings
	terms   []string
	stats   ObjectStats
	factors []float64 // by term
	shards  []objectShard
	made    uint32 // objectShard.id of the last
	nothing partList
	*objectScratch

	blockAt   uint64 // the key of blockLast
	blockLast entries
}

// objectShard is one audience in one partition, as of the query's watermark.
type objectShard struct {
	tp        schemas.TopicPartition
	partition int    // index among the partitions
	id        uint32 // a number within the search
	key       []byte // of the partition
	number    uint32
	docs      uint32
	length    uint64
	only      []uint32 // ascending; nil: any document
}

// complete returns how many of its blocks are full; these never change.
func (sh *objectShard) complete() uint32 { return sh.docs / partsPerBlock }

// prepare finds the shards, reads their lists, and adds up the statistics.
func (s *objectSearch) prepare() error {
	if s.stats.Watermark = s.x.Watermark(); s.q.Below != nil {
		s.stats.Watermark = s.stats.Watermark.Min(s.q.Below)
	}
	ids := slices.SortedFunc(slices.Values(s.q.Audiences), func(a, b schemas.AudienceID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	has := make([]bool, len(ids))
	for i, tp := range s.stats.Watermark.Partitions() {
		if err := s.partition(i, tp, ids, has); err != nil {
			return err
		}
	}
	for _, has := range has {
		if has {
			s.stats.Audiences++
		}
	}
	if s.q.Only != nil {
		if err := s.choose(s.q.Only); err != nil {
			return err
		}
	}
	if err := s.readLists(); err != nil {
		return err
	}
	var length uint64
	for i := range s.shards {
		s.stats.Parts += uint64(s.shards[i].docs)
		length += s.shards[i].length
	}
	if s.stats.Parts > 0 {
		s.stats.MeanLength = float64(length) / float64(s.stats.Parts)
	}
	s.divisors.set(newScorer(s.stats.Parts, length))
	s.factors, s.stats.Terms = make([]float64, len(s.terms)), make([]TermStats, len(s.terms))
	for t, term := range s.terms {
		df := uint64(0)
		for i := t; i < len(s.lists); i += len(s.terms) {
			df += uint64(s.lists[i].postings())
		}
		s.factors[t] = factor(s.stats.Parts, df)
		s.stats.Terms[t] = TermStats{Term: term, Documents: df, IDF: idf(s.stats.Parts, df)}
	}
	return nil
}

// partition adds the shards of partition n, ordered by their number; it sets has for the audiences
// that have any.
func (s *objectSearch) partition(n int, tp schemas.TopicPartition, ids []schemas.AudienceID, has []bool) error {
	all, err := s.x.audiencesOf(tp)
	if err != nil {
		return err
	}
	type asked struct {
		audience
		i int // index in ids
	}
	var found []asked
	for i, id := range ids {
		if a, ok := all.get(id); ok {
			found = append(found, asked{a, i})
		}
	}
	slices.SortFunc(found, func(a, b asked) int { return cmp.Compare(a.number, b.number) })
	key := store.AppendShard(nil, tp)
	for _, a := range found {
		s.made++
		sh := objectShard{tp: tp, partition: n, key: key, id: s.made, number: a.number}
		if err := s.past(&sh, a.audience, s.stats.Watermark[tp]); err != nil {
			return err
		}
		if sh.docs > 0 {
			has[a.i] = true
			s.shards = append(s.shards, sh)
		}
	}
	return nil
}

// takeIn adds the queued documents to the hits: the best part of each object. Within a shard, an
// object that may have more parts in the next window remains queued.
func (s *objectSearch) takeIn(inside *objectShard) error {
	var held []candidate
	q := s.waiting
	if inside != nil && s.low > 0 {
		e, err := s.entry(inside, s.low)
		if err != nil {
			return err
		}
		if end := uint64(s.low) - uint64(e.part) + uint64(e.parts); e.part > 0 {
			q = slices.DeleteFunc(q, func(c candidate) bool {
				wait := &s.shards[c.shard] == inside && uint64(c.doc) < end
				if wait {
					held = append(held, c)
				}
				return wait
			})
		}
	}
	for i := len(q)/2 - 1; i >= 0; i-- {
		sink(q, i)
	}
	clear(s.resolved)
	for len(q) > 0 && s.top.reaches(q[0].score) {
		if err := s.resolve(q[0]); err != nil {
			return err
		}
		last := len(q) - 1
		q[0] = q[last]
		q = q[:last]
		sink(q, 0)
	}
	s.waiting = append(s.waiting[:0], held...)
	return nil
}

// resolve adds an object to the hits by its best part.
func (s *objectSearch) resolve(c candidate) error {
	sh := &s.shards[c.shard]
	e, err := s.entry(sh, c.doc)
	if err != nil {
		return err
	}
	if e.parts > 1 {
		object := uint64(c.shard)<<32 | uint64(c.doc-e.part)
		if s.resolved[object] {
			return nil
		}
		s.resolved[object] = true
	}
	h := found{partition: sh.partition, at: c.shard, offset: e.offset, index: e.index, part: e.part, score: c.score, hash: e.hash}
	if s.top.takes(h) && s.top.betters(h) && (s.q.Filter == nil || s.q.Filter(s.ref(h))) {
		s.top.add(h)
	}
	return nil
}

func (s *objectSearch) ref(h found) schemas.ObjectRef {
	tp := s.shards[h.at].tp
	return schemas.ObjectRef{Position: schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: h.offset}, Index: h.index}
}

// hits returns the hits that were kept.
func (s *objectSearch) hits() []ObjectHit {
	hits := make([]ObjectHit, len(s.top.best))
	for i, f := range s.top.best {
		hits[i] = ObjectHit{Ref: s.ref(f), Part: f.part, Score: f.score.float(), ContentHash: f.hash}
	}
	return hits
}
