package lexical

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/schemas"
)

// readLists reads what each term's list has of each shard. Keys go by partition, term and
// audience, so that one iterator never goes back, and the lists of small audiences lie
// side by side.
func (s *objectSearch) readLists() error {
	it, err := s.v.Iter([]byte{kindPosting}, []byte{kindPosting + 1})
	if err != nil {
		return err
	}
	defer it.Close()
	s.lists = make([][]partBlock, len(s.shards)*len(s.terms))
	for from := 0; from < len(s.shards); {
		to := from + 1
		for to < len(s.shards) && s.shards[to].tp == s.shards[from].tp {
			to++
		}
		for term := range s.terms {
			if err := s.readTerm(it, from, to, term); err != nil {
				return err
			}
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		from = to
	}
	return s.v.Explain(it.Error())
}

// readTerm reads the lists of a term in the shards from, up to but without to, which are
// of one partition.
func (s *objectSearch) readTerm(it *pebble.Iterator, from, to, term int) error {
	prefix := appendList(s.key[:0], s.shards[from].key, s.terms[term])
	end := len(prefix)
	at, n, stands := uint32(0), uint32(0), false // where the iterator stands
	for i := from; i < to; i++ {
		sh := &s.shards[i]
		var known partBlocks
		if sh.complete() > 0 {
			known = s.x.parts.get(appendBlockNumber(prefix[:end], sh.number, 0)[:end+4])
			known = known.below(sh.complete())
		}
		if !stands || at < sh.number || at == sh.number && n < known.upTo {
			prefix = appendBlockNumber(prefix[:end], sh.number, known.upTo)
			it.SeekGE(prefix)
			stands = true
		} else if at > sh.number {
			s.lists[i*len(s.terms)+term] = known.all
			continue
		}
		read := known.all
		for ; it.Valid(); it.Next() {
			key := it.Key()
			if len(key) != end+8 || !bytes.Equal(key[:end], prefix[:end]) {
				break
			}
			at, n = binary.BigEndian.Uint32(key[end:]), binary.BigEndian.Uint32(key[end+4:])
			if at != sh.number || uint64(n)*partsPerBlock >= uint64(sh.docs) {
				break
			}
			value, err := it.ValueAndErr()
			if err != nil {
				return s.v.Explain(err)
			}
			b, err := newPartBlock(n, s.room.keep(value), uint64(sh.docs)-uint64(n)*partsPerBlock)
			if err != nil {
				return s.v.Damaged(fmt.Errorf("list of %q: %w", s.terms[term], err))
			}
			if b.len() > 0 {
				read = append(read, b)
			}
		}
		if !it.Valid() || !bytes.HasPrefix(it.Key(), prefix[:end]) {
			at = tooMany // of this term there is no more
		}
		s.lists[i*len(s.terms)+term] = read
		if complete := sh.complete(); complete > known.upTo {
			last := sort.Search(len(read), func(i int) bool { return read[i].n >= complete })
			kept := partBlocks{complete, slices.Clone(read[:last])}
			for i := len(known.all); i < last; i++ {
				kept.all[i].postings = bytes.Clone(kept.all[i].postings)
			}
			s.x.parts.put(appendBlockNumber(prefix[:end], sh.number, 0)[:end+4], kept)
		}
	}
	s.key = prefix
	return nil
}

// below are those of the blocks that are below a number.
func (b partBlocks) below(n uint32) partBlocks {
	if b.upTo <= n {
		return partBlocks{b.upTo, b.all[:len(b.all):len(b.all)]}
	}
	last := sort.Search(len(b.all), func(i int) bool { return b.all[i].n >= n })
	return partBlocks{n, b.all[:last:last]}
}

// room keeps values of an iterator, until it is cleared.
type room struct{ all, free []byte }

func (r *room) keep(v []byte) []byte {
	if len(v) > len(r.free) {
		r.all = make([]byte, max(64<<10, len(v))) // what was kept stays where it is
		r.free = r.all
	}
	kept := r.free[:copy(r.free, v):len(v)]
	r.free = r.free[len(v):]
	return kept
}

func (r *room) clear() { r.free = r.all }

// block is a block of a shard's entries, with as many as are enough or all that the
// view has. What is cached may be its beginning only.
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
	_, err := s.v.Get(s.key, func(value []byte) error {
		b = bytes.Clone(value)
		if err := checkEntries(b, n*entriesPerBlock); err != nil {
			return s.v.Damaged(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.x.entries.put(s.key, b)
	return b, nil
}

// entry is that of a document that there is.
func (s *objectSearch) entry(sh *objectShard, doc uint32) (partEntry, error) {
	i := int(doc % entriesPerBlock)
	b, err := s.block(sh, doc/entriesPerBlock, func(b entries) bool { return b.len() > i })
	if err != nil {
		return partEntry{}, err
	}
	if i >= b.len() {
		return partEntry{}, s.v.Damaged(fmt.Errorf("%s: part %d of %d of an audience is missing", sh.tp, doc, sh.docs))
	}
	return b.at(i), nil
}

// past sets what a shard has below an offset.
func (s *objectSearch) past(sh *objectShard, a audience, below int64) error {
	if a.last < below {
		sh.docs, sh.length = a.docs, a.length
		return nil
	}
	reaches := func(b entries) bool {
		return b.len() == entriesPerBlock || b.len() > 0 && b.at(b.len()-1).offset >= below
	}
	var failed error
	// What the view lacks of the blocks is newer than it, and so not below.
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

// choose sets which documents of the shards may be hits, where they are listed.
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
			_, err := s.v.Get(s.key, func(value []byte) (err error) {
				if objects, err = decodePlaced(value); err != nil {
					return s.v.Damaged(err)
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
