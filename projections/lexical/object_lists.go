package lexical

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

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

// postings returns an iterator over all lists. Keys are ordered by partition, term and audience, so
// one iterator never has to go back, and the lists of small audiences are adjacent.
func (s *objectSearch) postings() (*pebble.Iterator, error) {
	if s.iter == nil {
		v, err := s.view()
		if err != nil {
			return nil, err
		}
		if s.iter, err = v.Iter([]byte{kindPosting}, []byte{kindPosting + 1}); err != nil {
			return nil, err
		}
	}
	return s.iter, nil
}

// close closes what was opened.
func (s *objectSearch) close() {
	if s.iter != nil {
		_ = s.iter.Close()
	}
	if s.opened != nil {
		s.opened.Close()
	}
}

// readLists reads each term's list of each shard.
func (s *objectSearch) readLists() error {
	n := len(s.shards) * len(s.terms)
	s.lists = slices.Grow(s.lists[:0], n)[:n]
	for from := 0; from < len(s.shards); {
		to := from + 1
		for to < len(s.shards) && s.shards[to].tp == s.shards[from].tp {
			to++
		}
		for term := range s.terms {
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

// fewShards is the maximum number of shards of a partition whose lists are looked up in memory one
// by one. With more shards, the lists of small ones are read from the store, where they are
// adjacent.
const fewShards = 16

// readTerm reads the lists of a term in the shards [from, to), which belong to one partition.
func (s *objectSearch) readTerm(from, to, term int) error {
	s.key = appendList(s.key[:0], s.shards[from].key, s.terms[term])
	prefix, end := s.key, len(s.key)
	var it *pebble.Iterator
	at, n := uint32(0), uint32(0) // audience and block at which the iterator is
	for i := from; i < to; i++ {
		sh := &s.shards[i]
		known := &s.nothing
		keep := to-from <= fewShards || sh.complete() > 0
		if keep {
			if kept := s.x.parts.get(appendBlockNumber(prefix[:end], sh.number, 0)[:end+4]); kept != nil {
				known = kept
			}
			if known.docs >= sh.docs {
				s.lists[i*len(s.terms)+term] = known.below(sh.docs).cursor()
				continue
			}
		}
		upTo := known.docs / partsPerBlock
		if it == nil || at < sh.number || at == sh.number && n < upTo {
			var err error
			if it, err = s.postings(); err != nil {
				return err
			}
			prefix = appendBlockNumber(prefix[:end], sh.number, upTo)
			it.SeekGE(prefix)
			at = sh.number // or a later audience
		}
		full, tail := s.room.begin(), partBlocks{}
		for at == sh.number && it.Valid() {
			key := it.Key()
			if len(key) != end+8 || !bytes.Equal(key[:end], prefix[:end]) {
				at = tooMany // the term has no further blocks
				break
			}
			at, n = binary.BigEndian.Uint32(key[end:]), binary.BigEndian.Uint32(key[end+4:])
			if at != sh.number || uint64(n)*partsPerBlock >= uint64(sh.docs) {
				break
			}
			value, err := it.ValueAndErr()
			if err != nil {
				return s.opened.Explain(err)
			}
			b := &full
			if n == sh.complete() {
				s.room.keep(full)
				tail = s.room.begin()
				b = &tail
			}
			if err := b.add(n, value, uint64(sh.docs)-uint64(n)*partsPerBlock); err != nil {
				return s.opened.Damaged(fmt.Errorf("list of %q: %w", s.terms[term], err))
			}
			it.Next()
		}
		if err := it.Error(); err != nil {
			return s.opened.Explain(err)
		}
		if !it.Valid() {
			at = tooMany
		}
		l := &s.nothing
		switch {
		case keep:
			l = &partList{docs: sh.docs, full: known.full, tail: s.nothing.tail.join(&tail)}
			if len(full.heads) > 0 {
				l.full = known.full.join(&full)
			}
			s.x.parts.put(appendBlockNumber(prefix[:end], sh.number, 0)[:end+4], l)
		case len(tail.heads) > 0:
			s.room.keep(tail)
			l = s.room.list(partList{docs: sh.docs, full: full, tail: tail})
		case len(full.heads) > 0:
			s.room.keep(full)
			l = s.room.list(partList{docs: sh.docs, full: full})
		}
		s.lists[i*len(s.terms)+term] = l.cursor()
	}
	return nil
}

// block returns a block of a shard's entries for which enough returns true, or all entries that the
// view has. A cached block may be incomplete.
func (s *objectSearch) block(sh *objectShard, n uint32, enough func(entries) bool) (entries, error) {
	at := uint64(sh.id)<<32 | uint64(n)
	if at == s.blockAt && enough(s.blockLast) {
		return s.blockLast, nil
	}
	b := s.blocks[at]
	if !enough(b) {
		var err error
		if b, err = s.readEntries(sh, n, enough); err != nil {
			return nil, err
		}
		s.blocks[at] = b
	}
	s.blockAt, s.blockLast = at, b
	return b, nil
}

func (s *objectSearch) readEntries(sh *objectShard, n uint32, enough func(entries) bool) (entries, error) {
	s.key = appendEntriesKey(s.key[:0], sh.key, sh.number, n)
	if b := s.x.entries.get(s.key); enough(b) {
		return b, nil
	}
	var b entries
	v, err := s.view()
	if err != nil {
		return nil, err
	}
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
	s.x.entries.put(s.key, b)
	return b, nil
}

// entry returns the entry of an existing document.
func (s *objectSearch) entry(sh *objectShard, doc uint32) (partEntry, error) {
	i := int(doc % entriesPerBlock)
	b, err := s.block(sh, doc/entriesPerBlock, func(b entries) bool { return b.len() > i })
	if err != nil {
		return partEntry{}, err
	}
	if i >= b.len() {
		return partEntry{}, s.x.Damaged(fmt.Errorf("%s: part %d of %d of an audience is missing", sh.tp, doc, sh.docs))
	}
	return b.at(i), nil
}

// past sets the number and length of a shard's documents below an offset.
func (s *objectSearch) past(sh *objectShard, a audience, below int64) error {
	if a.last < below {
		sh.docs, sh.length = a.docs, a.length
		return nil
	}
	reaches := func(b entries) bool {
		return b.len() == entriesPerBlock || b.len() > 0 && b.at(b.len()-1).offset >= below
	}
	var failed error
	// Entries that the view lacks are newer than it, and so not below the offset.
	begun := sort.Search(int(a.docs+entriesPerBlock-1)/entriesPerBlock, func(n int) bool {
		b, err := s.block(sh, uint32(n), reaches)
		if err != nil {
			failed = err
		}
		return err != nil || b.len() == 0 || b.at(0).offset >= below
	})
	if failed != nil || begun == 0 {
		return failed
	}
	b, err := s.block(sh, uint32(begun-1), reaches)
	if err != nil {
		return err
	}
	n := sort.Search(b.len(), func(i int) bool { return b.at(i).offset >= below })
	sh.docs, sh.length = uint32((begun-1)*entriesPerBlock+n), b.at(n-1).sum
	return nil
}

// choose sets which documents of the shards may be hits if refs limits them.
func (s *objectSearch) choose(refs []schemas.ObjectRef) error {
	type shardOf struct {
		tp     schemas.TopicPartition
		number uint32
	}
	byNumber := map[shardOf]*objectShard{}
	keys := map[schemas.TopicPartition][]byte{}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.only = []uint32{}
		byNumber[shardOf{sh.tp, sh.number}] = sh
		keys[sh.tp] = sh.key
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
			sh := byNumber[shardOf{ref.TP(), p.audience}]
			if p.index != ref.Index || sh == nil {
				continue
			}
			for doc := uint64(p.first); doc < min(uint64(p.first)+uint64(p.parts), uint64(sh.docs)); doc++ {
				if n := len(sh.only); n == 0 || uint64(sh.only[n-1]) < doc {
					sh.only = append(sh.only, uint32(doc))
				}
			}
		}
	}
	return nil
}
