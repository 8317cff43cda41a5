// Package lexical is the projection that finds commands by their words: BM25
// over what was typed, why, and where.
//
// What a caller may rely on:
//
//   - A document is a command; its number is the offset of its event within its
//     partition, the shard.
//   - Scores use statistics summed over all shards, so that they can be compared
//     across shards. Equal scores are ordered by offset, the newer first, then by
//     shard. The same state gives the same answer on every machine.
//   - A search reads one state and says which (Stats.Watermark).
//
// There are two fields. Words holds the terms of the command's text and of the
// stated intent at full weight, and those of the last two parts of the working
// directory at a quarter of it (see terms.go for what a term is). Concepts holds
// the classes of the embedder's concept table.
//
// # Keys
//
// Pebble, with the keys of package store and four kinds more. Integers in keys
// are big-endian, all others uvarints. Shard is as in package store, field one
// byte (1 words, 2 concepts), and a term has no zero byte. Weights count quarters
// of an occurrence: a word typed once has weight 4.
//
//	0x10 Shard field term             df, sealed max weight, sealed min length,
//	                                  tail (block, or empty where df is a
//	                                  multiple of 128)
//	0x11 Shard field term 00 first    a sealed block: 128 postings from the
//	     (uint64)                     document `first` on
//	0x12 Shard n (uint64)             content hashes of documents 128n to
//	                                  128n+127: a bitmap of which there are (16
//	                                  bytes), then 8 bytes for each, both
//	                                  little-endian
//	0x13 Shard                        documents, sum of lengths in words, in
//	                                  concepts
//
// A block is: count, first document, last minus first, max weight, min length
// (which bound the score of what is in it), then for each posting: the document
// minus the one before (not for the first), the field's length in the document
// times 2, plus 1 if a weight other than 4 follows.
//
// Blocks are cut by count alone, so that the state does not depend on batches.
package lexical

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// Name of the projection.
	Name = "lexical"
	// Version of what it stores, the rules for terms included.
	Version = 1

	kindTerm  = 0x10
	kindBlock = 0x11
	kindHash  = 0x12
	kindStats = 0x13
)

// Kind is how a node knows this projection.
var Kind = projections.Kind{Name: Name, Version: Version, Open: func(dir string) (projections.Projection, error) {
	return Open(dir, store.Options{})
}}

// Index is the open projection.
type Index struct {
	*store.DB

	hashes knownHashes

	// mu guards the map; a writer belongs to the one goroutine that applies its
	// partition.
	mu      sync.Mutex
	writers map[schemas.TopicPartition]*writer
}

// Open opens or creates the projection in dir.
func Open(dir string, o store.Options) (*Index, error) {
	o.Name = Name
	db, err := store.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &Index{DB: db, writers: map[schemas.TopicPartition]*writer{}}, nil
}

func concerns(r *recountv1.Record) bool { return r.GetIntent() != nil }

// Apply indexes the commands of a batch.
func (x *Index) Apply(ctx context.Context, b schemas.Batch) error {
	t, err := x.Begin(ctx, b, concerns)
	if err != nil || t == nil {
		return err
	}
	w := x.writer(b.TP())
	if err := w.apply(t); err != nil {
		// The writer remembers what was not stored: forget it.
		x.mu.Lock()
		delete(x.writers, b.TP())
		x.mu.Unlock()
		return err
	}
	return nil
}

func (x *Index) writer(tp schemas.TopicPartition) *writer {
	x.mu.Lock()
	defer x.mu.Unlock()
	w := x.writers[tp]
	if w == nil {
		w = &writer{damaged: x.Damaged, lists: map[string]*list{}, texts: map[string][]weighted{}}
		x.writers[tp] = w
	}
	return w
}

// writer appends to one shard. Between batches it keeps what the next one will
// likely append to, so that a list is not read again for every batch; it is
// equal to what is stored, and may be dropped at any time.
type writer struct {
	damaged func(error) error
	loaded  bool
	stats   shardStats
	hashes  hashBlock
	lists   map[string]*list
	dirty   []string
	texts   map[string][]weighted // a history is mostly repeats
	key     []byte
	value   []byte
}

// maxLists is how many lists a writer keeps; beyond it, it starts anew.
const maxLists = 1 << 16

func (w *writer) apply(t *store.Txn) error {
	if len(t.New) == 0 {
		return t.Commit()
	}
	if err := t.Do(func() error { return w.append(t) }); err != nil {
		t.Discard()
		return err
	}
	return t.Commit()
}

func (w *writer) append(t *store.Txn) error {
	if !w.loaded {
		if err := w.load(t); err != nil {
			return err
		}
	}
	if len(w.lists) > maxLists {
		clear(w.lists)
	}
	for _, r := range t.New {
		d := analyse(r.GetIntent(), w.texts)
		offset := uint64(r.Origin.Offset)
		for _, f := range [...]struct {
			field Field
			text  fieldTerms
		}{{Words, d.words}, {Concepts, d.concepts}} {
			for _, term := range f.text.terms {
				if err := w.add(t, f.field, term.term, posting{offset, term.weight, f.text.length}); err != nil {
					return err
				}
			}
		}
		if err := w.addHash(t, offset, r.GetIntent().ContentHash); err != nil {
			return err
		}
		w.stats.docs++
		w.stats.length[Words] += uint64(d.words.length)
		w.stats.length[Concepts] += uint64(d.concepts.length)
	}
	for _, name := range w.dirty {
		l := w.lists[name]
		l.dirty = false
		w.key = append(append(append(w.key[:0], kindTerm), t.Shard()...), name...)
		w.value = l.encode(w.value[:0])
		if err := t.Set(w.key, w.value); err != nil {
			return fmt.Errorf("set list: %w", err)
		}
	}
	w.dirty = w.dirty[:0]
	if err := w.setHashes(t); err != nil {
		return err
	}
	w.value = w.stats.encode(w.value[:0])
	return t.Set(append([]byte{kindStats}, t.Shard()...), w.value)
}

func (w *writer) load(t *store.Txn) error {
	v, ok, err := t.Get(append([]byte{kindStats}, t.Shard()...))
	if err != nil {
		return err
	}
	if ok {
		if w.stats, err = decodeStats(v); err != nil {
			return w.damaged(err)
		}
	}
	w.loaded = true
	return nil
}

// add appends a posting to a list, and seals the list's tail when it is full.
func (w *writer) add(t *store.Txn, f Field, term string, p posting) error {
	w.key = append(append(w.key[:0], byte(f)), term...)
	l := w.lists[string(w.key)]
	if l == nil {
		name := string(w.key)
		l = &list{}
		w.key = append(append(append(w.key[:0], kindTerm), t.Shard()...), name...)
		v, ok, err := t.Get(w.key)
		if err != nil {
			return err
		}
		if ok {
			if *l, err = decodeList(v); err != nil {
				return w.damaged(fmt.Errorf("list of %q: %w", name[1:], err))
			}
		}
		l.name = name
		w.lists[name] = l
	}
	if !l.dirty {
		l.dirty = true
		w.dirty = append(w.dirty, l.name)
	}
	l.df++
	l.tail.add(p)
	if l.tail.count < blockSize {
		return nil
	}
	w.key = append(append(append(append(w.key[:0], kindBlock), t.Shard()...), l.name...), 0)
	w.key = binary.BigEndian.AppendUint64(w.key, l.tail.first)
	w.value = l.tail.encode(w.value[:0])
	if err := t.Set(w.key, w.value); err != nil {
		return fmt.Errorf("set block: %w", err)
	}
	l.seal()
	return nil
}

// shardStats are what BM25 knows of a shard. length is indexed by Field.
type shardStats struct {
	docs   uint64
	length [3]uint64
}

func (s shardStats) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, s.docs)
	b = binary.AppendUvarint(b, s.length[Words])
	return binary.AppendUvarint(b, s.length[Concepts])
}

func decodeStats(b []byte) (shardStats, error) {
	r := reader{b: b}
	s := shardStats{docs: r.uvarint(), length: [3]uint64{Words: r.uvarint(), Concepts: r.uvarint()}}
	return s, r.end("statistics")
}

func (w *writer) addHash(t *store.Txn, offset, hash uint64) error {
	if n := offset / hashesPerBlock; n != w.hashes.n || len(w.hashes.hashes) == 0 {
		if err := w.setHashes(t); err != nil {
			return err
		}
		w.hashes = hashBlock{n: n}
		v, ok, err := t.Get(hashKey(nil, t.Shard(), n))
		if err != nil {
			return err
		}
		if ok {
			if err := w.hashes.decode(v); err != nil {
				return w.damaged(err)
			}
		}
	}
	bit := offset % hashesPerBlock
	w.hashes.bitmap[bit/64] |= 1 << (bit % 64)
	w.hashes.hashes = append(w.hashes.hashes, hash)
	w.hashes.dirty = true
	return nil
}

func (w *writer) setHashes(t *store.Txn) error {
	if !w.hashes.dirty {
		return nil
	}
	w.hashes.dirty = false
	w.key = hashKey(w.key[:0], t.Shard(), w.hashes.n)
	w.value = w.hashes.encode(w.value[:0])
	return t.Set(w.key, w.value)
}
