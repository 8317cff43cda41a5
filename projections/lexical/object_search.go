package lexical

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/recountdb/recount/projections/lexical/bm25"
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
	s := &objectSearch{x: x, q: q, top: newTop(q.K, q.Distinct), resolved: map[uint64]bool{}}
	defer s.close()
	if err := s.prepare(); err != nil {
		return nil, s.stats, err
	}
	stats, err := x.objects.Search(ctx, bm25.Request{Terms: q.terms(), Collections: s.collections, View: s.view, Hits: s, K: q.K})
	if err != nil {
		return nil, s.stats, err
	}
	s.stats.Terms, s.stats.Parts, s.stats.Scored = stats.Terms, stats.Docs, stats.Scored
	return s.hits(), s.stats, nil
}

// objectSearch is a search for objects in progress. It receives parts and adds their objects to the
// hits.
type objectSearch struct {
	x           *Index
	q           ObjectQuery
	opened      *store.View // see view
	stats       ObjectStats
	shards      []objectShard
	collections []bm25.Collection // of each shard
	resolved    map[uint64]bool   // objects of several parts, by shard and first document
	key         []byte
	top
}

// objectShard is one audience in one partition, as of the query's watermark.
type objectShard struct {
	tp        schemas.TopicPartition
	partition int // index among the partitions
	audience  uint32
}

// view returns the state that the search reads. It is opened on first use, since most searches find
// everything in memory. It is no older than the watermark, and newer data in it is ignored.
func (s *objectSearch) view() (*store.View, error) {
	if s.opened == nil {
		v, err := s.x.View()
		if err != nil {
			return nil, err
		}
		s.opened = v
	}
	return s.opened, nil
}

// close closes what was opened.
func (s *objectSearch) close() {
	if s.opened != nil {
		s.opened.Close()
	}
}

// prepare finds the shards.
func (s *objectSearch) prepare() error {
	if s.stats.Watermark = s.x.Watermark(); s.q.Below != nil {
		s.stats.Watermark = s.stats.Watermark.Min(s.q.Below)
	}
	ids := slices.SortedFunc(slices.Values(s.q.Audiences), func(a, b schemas.AudienceID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	for i, tp := range s.stats.Watermark.Partitions() {
		if err := s.partition(i, tp, ids); err != nil {
			return err
		}
	}
	if s.q.Only != nil {
		return s.choose(s.q.Only)
	}
	return nil
}

// partition adds the shards of partition n, ordered by their number.
func (s *objectSearch) partition(n int, tp schemas.TopicPartition, ids []schemas.AudienceID) error {
	all, err := s.x.audiencesOf(tp)
	if err != nil {
		return err
	}
	var found []audience
	for _, id := range ids {
		if a, ok := all.get(id); ok {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b audience) int { return cmp.Compare(a.number, b.number) })
	key := store.AppendShard(nil, tp)
	for _, a := range found {
		s.shards = append(s.shards, objectShard{tp: tp, partition: n, audience: a.number})
		s.collections = append(s.collections, bm25.Collection{Shard: key, Number: collectionOf(a.number)})
		i := len(s.shards) - 1
		docs, length, err := s.below(i, a, s.stats.Watermark[tp])
		if err != nil {
			return err
		}
		if docs == 0 {
			s.shards, s.collections = s.shards[:i], s.collections[:i]
			continue
		}
		c := &s.collections[i]
		c.Docs, c.Below, c.Length = docs, docs, length
	}
	return nil
}

// below returns the number of a shard's documents below an offset, and the sum of their lengths.
func (s *objectSearch) below(shard int, a audience, offset int64) (docs uint32, length uint64, err error) {
	if a.last < offset {
		return a.docs, a.length, nil
	}
	reaches := func(b entries) bool {
		return b.len() == entriesPerBlock || b.len() > 0 && b.at(b.len()-1).offset >= offset
	}
	var failed error
	// Entries that the view lacks are newer than it, and so not below the offset.
	begun := sort.Search(int(a.docs+entriesPerBlock-1)/entriesPerBlock, func(n int) bool {
		b, err := s.block(shard, uint32(n), reaches)
		if err != nil {
			failed = err
		}
		return err != nil || b.len() == 0 || b.at(0).offset >= offset
	})
	if failed != nil || begun == 0 {
		return 0, 0, failed
	}
	b, err := s.block(shard, uint32(begun-1), reaches)
	if err != nil {
		return 0, 0, err
	}
	n := sort.Search(b.len(), func(i int) bool { return b.at(i).offset >= offset })
	return uint32((begun-1)*entriesPerBlock + n), b.at(n - 1).sum, nil
}

// choose sets which documents of the shards may be hits if refs limits them.
func (s *objectSearch) choose(refs []schemas.ObjectRef) error {
	type shardOf struct {
		tp       schemas.TopicPartition
		audience uint32
	}
	byAudience := map[shardOf]*bm25.Collection{}
	keys := map[schemas.TopicPartition][]byte{}
	for i, sh := range s.shards {
		c := &s.collections[i]
		c.Only = []uint32{}
		byAudience[shardOf{sh.tp, sh.audience}] = c
		keys[sh.tp] = c.Shard
	}
	var event schemas.Position
	var objects []placed
	for i, ref := range refs {
		key, ok := keys[ref.TP()]
		if !ok || ref.Offset < 0 {
			continue
		}
		if i == 0 || ref.Position != event {
			event, objects = ref.Position, nil
			s.key = appendPlacedKey(s.key[:0], key, ref.Offset)
			v, err := s.view()
			if err != nil {
				return err
			}
			_, err = v.Get(s.key, func(value []byte) (err error) {
				if objects, err = decodePlaced(value); err != nil {
					return v.Damaged(err)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		for _, p := range objects {
			c := byAudience[shardOf{ref.TP(), p.audience}]
			if p.index != ref.Index || c == nil {
				continue
			}
			for doc := uint64(p.first); doc < min(uint64(p.first)+uint64(p.parts), uint64(c.Docs)); doc++ {
				if n := len(c.Only); n == 0 || uint64(c.Only[n-1]) < doc {
					c.Only = append(c.Only, uint32(doc))
				}
			}
		}
	}
	return nil
}

// block returns a block of a shard's entries for which enough returns true, or all entries that the
// view has. A cached block may be incomplete.
func (s *objectSearch) block(shard int, n uint32, enough func(entries) bool) (entries, error) {
	s.key = appendEntriesKey(s.key[:0], s.collections[shard].Shard, s.shards[shard].audience, n)
	b := s.x.entries.Get(s.key)
	if enough(b) {
		return b, nil
	}
	v, err := s.view()
	if err != nil {
		return nil, err
	}
	b = nil
	_, err = v.Get(s.key, func(value []byte) error {
		b = bytes.Clone(value)
		if err := checkEntries(b, n*entriesPerBlock); err != nil {
			return v.Damaged(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.x.entries.Put(s.key, b)
	return b, nil
}

// entry returns the entry of an existing document.
func (s *objectSearch) entry(shard int, doc uint32) (partEntry, error) {
	i := int(doc % entriesPerBlock)
	b, err := s.block(shard, doc/entriesPerBlock, func(b entries) bool { return b.len() > i })
	if err != nil {
		return partEntry{}, err
	}
	if i >= b.len() {
		return partEntry{}, s.x.Damaged(fmt.Errorf("%s: part %d of %d of an audience is missing", s.shards[shard].tp, doc, s.collections[shard].Docs))
	}
	return b.at(i), nil
}

// Unfinished implements bm25.Hits: an object's parts wait for those of lower numbers, since a hit
// is an object by its best part.
func (s *objectSearch) Unfinished(shard int, low uint32) (end uint32, err error) {
	if low == 0 {
		return low, nil
	}
	e, err := s.entry(shard, low)
	if err != nil || e.part == 0 {
		return low, err
	}
	return low - e.part + e.parts, nil
}

// Add adds a part's object to the hits, by this part if it is the object's best.
func (s *objectSearch) Add(d bm25.Document) error {
	shard := int(d.Collection)
	e, err := s.entry(shard, d.Number)
	if err != nil {
		return err
	}
	if e.parts > 1 {
		object := uint64(shard)<<32 | uint64(d.Number-e.part)
		if s.resolved[object] {
			return nil
		}
		s.resolved[object] = true
	}
	h := found{partition: s.shards[shard].partition, collection: shard, offset: e.offset, index: e.index, part: e.part, score: d.Score, hash: e.hash}
	if s.takes(h) && s.betters(h) && (s.q.Filter == nil || s.q.Filter(s.ref(h))) {
		s.top.add(h)
	}
	return nil
}

func (s *objectSearch) ref(h found) schemas.ObjectRef {
	tp := s.shards[h.collection].tp
	return schemas.ObjectRef{Position: schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: h.offset}, Index: h.index}
}

// hits returns the hits that were kept.
func (s *objectSearch) hits() []ObjectHit {
	hits := make([]ObjectHit, len(s.best))
	for i, f := range s.best {
		hits[i] = ObjectHit{Ref: s.ref(f), Part: f.part, Score: f.score.Float(), ContentHash: f.hash}
	}
	return hits
}
