package lexical

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/lexical/bm25"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// Search returns the best hits, best first.
func (x *Index) Search(ctx context.Context, q Query) ([]Hit, Stats, error) {
	if q.Field == 0 {
		q.Field = Words
	}
	if q.K <= 0 {
		q.K = 10
	}
	v, err := x.View()
	if err != nil {
		return nil, Stats{}, err
	}
	defer v.Close()
	s := &search{ctx: ctx, q: q, top: newTop(q.K, q.Distinct)}
	if err := s.prepare(x, v); err != nil {
		return nil, s.stats, err
	}
	terms := q.Again
	if terms == nil {
		terms = q.terms()
	}
	r := bm25.Request{Terms: terms, Collections: s.collections, View: func() (*store.View, error) { return v, nil }, Hits: s, K: q.K}
	if q.Variants && q.Field == Words && q.Again == nil {
		if s.stats.Variants, err = x.vary(ctx, &r, s.stats.Watermark.Partitions()); err != nil {
			return nil, s.stats, err
		}
	}
	stats, err := x.fields[q.Field.index()].Search(ctx, r)
	if err != nil {
		return nil, s.stats, err
	}
	s.stats.Searched = r.Terms
	s.stats.Terms, s.stats.Documents, s.stats.Scored = stats.Terms, stats.Docs, stats.Scored
	return s.hits(), s.stats, nil
}

// search is a search in progress. It receives documents and adds their runs to the hits.
type search struct {
	ctx         context.Context
	q           Query
	stats       Stats
	shards      []shard
	collections []bm25.Collection // of each shard
	top
}

// shard is the runs of one shard that may be hits.
type shard struct {
	tp   schemas.TopicPartition
	past past
	only *choice // nil: any run
}

// prepare reads what every shard has.
func (s *search) prepare(x *Index, v *store.View) error {
	var err error
	if s.stats.Watermark, err = v.Watermark(); err != nil {
		return err
	}
	maps.DeleteFunc(s.stats.Watermark, func(tp schemas.TopicPartition, _ int64) bool {
		return tp.Topic[strings.LastIndexByte(tp.Topic, '.')+1:] == schemas.TopicAgents // without commands
	})
	field := s.q.Field.index()
	for _, tp := range s.stats.Watermark.Partitions() {
		sh, c := shard{tp: tp}, bm25.Collection{Shard: store.AppendShard(nil, tp), Number: uint32(field)}
		stats, err := readStats(v, c.Shard)
		if err != nil {
			return err
		}
		c.Docs, c.Length = uint32(stats.docs[field]), stats.length[field]
		if s.q.Only == nil || len(s.q.Only[tp]) > 0 {
			r, err := x.runsOf(tp)
			if err != nil {
				return err
			}
			below := s.stats.Watermark[tp]
			if s.q.Below != nil {
				below = min(below, s.q.Below[tp])
			}
			sh.past = r.below(below, s.q.Field)
			c.Below = sh.past.count
			if s.q.Only != nil && c.Below > 0 {
				chosen := sh.past.choose(s.q.Only[tp])
				sh.only, c.Only = &chosen, chosen.docs
			}
		}
		s.shards, s.collections = append(s.shards, sh), append(s.collections, c)
	}
	return nil
}

// Unfinished implements bm25.Hits: a document's runs do not depend on other documents.
func (s *search) Unfinished(_ int, low uint32) (uint32, error) { return low, nil }

// Add adds the runs of a document that are hits.
func (s *search) Add(d bm25.Document) error {
	sh := &s.shards[d.Collection]
	h := found{collection: int(d.Collection), score: d.Score}
	if s.q.Distinct && s.q.Field == Words {
		h.hash = sh.past.contentOf(d.Number)
		if o, held := s.held[h.hash]; held && o.score > d.Score {
			return nil
		}
	}
	walk := sh.runs(d.Number)
	for asked := 1; ; asked++ {
		x := walk.next()
		if x == nil {
			return nil
		}
		h.offset = x.offset
		if !s.takes(h) {
			return nil // older runs are not hits either
		}
		if asked%4096 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if s.q.Distinct {
			if s.q.Field == Concepts {
				h.hash = sh.past.contentOf(x.doc[Words.index()])
			}
			if !s.betters(h) {
				if s.q.Field == Words {
					return nil // all of them have this content hash
				}
				continue
			}
		}
		if s.q.Filter != nil && !s.q.Filter(sh.tp, x.offset) {
			continue
		}
		s.top.add(h)
		if s.q.Distinct && s.q.Field == Words {
			return nil
		}
	}
}

// hits returns the hits that were kept.
func (s *search) hits() []Hit {
	hits := make([]Hit, len(s.best))
	for i, f := range s.best {
		hits[i] = Hit{TP: s.shards[f.collection].tp, Offset: f.offset, Score: f.score.Float(), ContentHash: f.hash}
	}
	return hits
}

// runs returns the runs of a document that may be hits.
func (sh *shard) runs(doc uint32) walk {
	if c := sh.only; c != nil {
		i, _ := slices.BinarySearch(c.docs, doc)
		return walk{listed: c.runs[c.from[i]:c.from[i+1]]}
	}
	return sh.past.walkFrom(doc)
}
