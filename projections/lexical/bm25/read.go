package bm25

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/recountdb/recount/projections/store"
)

// iterator returns an iterator over all lists. Keys are ordered by partition, term and collection,
// so one iterator never has to go back, and the lists of small collections are adjacent. It is
// opened on first use, since most searches find everything in memory.
func (s *search) iterator() (store.Iterator, error) {
	if s.iter == nil {
		v, err := s.View()
		if err != nil {
			return nil, err
		}
		if s.iter, err = v.Iter([]byte{s.index.kind}, []byte{s.index.kind + 1}); err != nil {
			return nil, err
		}
		s.view = v
	}
	return s.iter, nil
}

// read reads the list of each term in each collection.
func (s *search) read() error {
	n := len(s.Collections) * len(s.Terms)
	s.lists = slices.Grow(s.lists[:0], n)[:n]
	for from := 0; from < len(s.Collections); {
		to := from + 1
		for to < len(s.Collections) && bytes.Equal(s.Collections[to].Shard, s.Collections[from].Shard) {
			to++
		}
		for term := range s.Terms {
			if err := s.readTerm(from, to, term); err != nil {
				return err
			}
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// fewCollections is the maximum number of collections of a partition whose lists are looked up in
// memory one by one. With more, the lists of small ones are read from the store, where they are
// adjacent.
const fewCollections = 16

// readTerm reads the lists of a term in the collections [from, to), which belong to one partition.
func (s *search) readTerm(from, to, term int) error {
	s.key = appendTerm(s.key[:0], s.index.kind, s.Collections[from].Shard, s.Terms[term].Text)
	end := len(s.key)
	var it store.Iterator
	at, n := uint32(0), uint32(0) // collection and block at which the iterator is
	for i := from; i < to; i++ {
		c := &s.Collections[i]
		known := &s.nothing
		keep := to-from <= fewCollections || c.complete() > 0
		if keep {
			s.key = binary.BigEndian.AppendUint32(s.key[:end], c.Number)
			if kept := s.index.cache.Get(s.key); kept != nil {
				known = kept
			}
			if known.docs >= c.Docs {
				s.lists[i*len(s.Terms)+term] = known.below(c.Docs).cursor()
				continue
			}
		}
		upTo := known.docs / BlockDocs
		if it == nil || at < c.Number || at == c.Number && n < upTo {
			var err error
			if it, err = s.iterator(); err != nil {
				return err
			}
			s.key = appendBlock(s.key[:end], c.Number, upTo)
			it.SeekGE(s.key)
			at = c.Number // or a later collection
		}
		// A list that is kept has memory of its own, the others share that of the search.
		l, full := &list{docs: c.Docs, full: known.full}, &s.room
		first := len(s.room.heads)
		for at == c.Number && it.Valid() {
			key := it.Key()
			if len(key) != end+8 || !bytes.Equal(key[:end], s.key[:end]) {
				at = noCollection // the term has no further blocks
				break
			}
			at, n = binary.BigEndian.Uint32(key[end:]), binary.BigEndian.Uint32(key[end+4:])
			if at != c.Number || uint64(n)*BlockDocs >= uint64(c.Docs) {
				break
			}
			value, err := it.ValueAndErr()
			if err != nil {
				return s.view.Explain(err)
			}
			b := full
			switch {
			case !keep:
			case n == c.complete():
				b = &l.tail
			case full == &s.room:
				l.full = known.full.clone()
				full, b = &l.full, &l.full
			}
			if err := b.add(n, value, uint64(c.Docs)-uint64(n)*BlockDocs); err != nil {
				return s.view.Damaged(fmt.Errorf("list of %q: %w", s.Terms[term].Text, err))
			}
			it.Next()
		}
		if err := it.Error(); err != nil {
			return s.view.Explain(err)
		}
		if !it.Valid() {
			at = noCollection
		}
		if keep {
			s.key = binary.BigEndian.AppendUint32(s.key[:end], c.Number)
			s.index.cache.Put(s.key, l)
		} else {
			l.full = s.room.from(first)
		}
		s.lists[i*len(s.Terms)+term] = l.cursor()
	}
	return nil
}
