// Package lexical is the projection that finds commands and agents' objects by their terms. It
// ranks by BM25 over what was typed, why, and where, and over what agents said and did.
//
// For commands (Search) a caller may rely on the following:
//
//   - A hit is a run: a command, identified by the offset of its event within its partition, the
//     shard.
//   - The unit that is indexed and scored is the document: the text that a run has in a field. A
//     history consists largely of repeats; runs of one text are one document, numbered within its
//     shard and field in the order of first runs.
//   - BM25's statistics count documents, not runs: N, the documents with a term and the mean length
//     are those of the distinct texts, summed over all shards (a text in two shards counts in
//     both). So scores can be compared across shards, and running a command often does not make its
//     terms common.
//   - For a document that matches, the newest run that may be a hit is returned. Equal scores are
//     ordered by offset, the newer first, then by shard. The same state gives the same answer on
//     every machine.
//   - A search reads one state and returns its watermark (Stats.Watermark).
//
// Commands have two fields. Words holds the terms of the command's text and of the stated intent at
// full weight, and those of the last two parts of the working directory at a quarter of it
// (terms.go defines a term). Concepts holds the classes of the embedder's concept table; as there
// are few, many commands are one document of concepts.
//
// For objects (SearchObjects):
//
//   - A document is a part of an object; equal parts are separate documents. A hit is an object
//     with its best part.
//   - Each audience has its own lists, numbers and statistics in each partition. A search sums them
//     over the audiences of the query, and nothing else affects its answer.
//   - An answer for a state in the past (ObjectQuery.Below) equals that of a projection that was
//     built only up to there: hits, scores and statistics.
//   - Equal scores are ordered by partition, then by offset, the newer first, then by the order
//     within the event.
//
// Commands repeat often, so few documents are needed; agents' texts rarely repeat. For those that
// do, ObjectQuery.Distinct returns only the newest.
//
// # Keys
//
// Pebble, with the keys of package store and ten more kinds. Integers in keys are big-endian, all
// others uvarints. Shard is as in package store, field is one byte (1 words, 2 concepts), and a
// term has no zero byte. Weights count quarters of an occurrence: a term typed once has weight 4.
//
//	0x10 Shard field term             df, sealed max weight, sealed min length,
//	                                  tail (block, or empty if df is a
//	                                  multiple of 128)
//	0x11 Shard field term 00 first    a sealed block: 128 postings from the
//	     (uint64)                     document `first` on
//	0x12 Shard n (uint64)             runs 128n to 128n+127: of each the offset
//	                                  minus the previous one (of the first the
//	                                  offset) and its documents of words and of
//	                                  concepts
//	0x13 Shard                        runs; documents and the sum of their
//	                                  lengths, of words, then of concepts
//	0x14 Shard n (uint64)             content hashes of the documents of words
//	                                  128n to 128n+127, 8 bytes each,
//	                                  little-endian
//	0x15 Shard field id (16 bytes)    the document with this identity: a hash of
//	                                  the text and, in words, of the content hash
//
//	0x16 Shard audience (16 bytes)   its number in the shard, in the order of first
//	                                  appearance; documents, the sum of their
//	                                  lengths, the newest one's offset
//	0x17 Shard term 00 number n       postings of the audience's documents 2048n
//	     (both uint32)                to 2048n+2047
//	0x18 Shard number n (uint32)      of the audience's documents 128n to 128n+127, 36
//	                                  bytes each, little-endian: the event's
//	                                  offset (8), the sum of the lengths up to this
//	                                  one (8), the part's content hash (8), the
//	                                  object's index in its event, the part's in the
//	                                  object, the object's parts (4 each)
//	0x19 Shard offset (uint64)        of each object of the event that has parts: its
//	                                  index, its audience's number, its first
//	                                  document, its parts
//
// A block of postings is: count, first document, last minus first, max weight, min length (which
// bound the scores in it), then for each posting: the document minus the previous one (not for the
// first), and the field's length in the document times 2, plus 1 if a weight other than 4 follows.
//
// Blocks are divided by count alone, so that the state does not depend on batches.
//
// A posting of objects is a number of 4 bytes, little-endian: the document's number within its
// block in the upper 11 bits, then 8 bits of weight and 13 of the document's length in terms, each
// limited to its highest value. Blocks are divided by the document's number: they can be appended
// to without being read, and the part of a block that belongs to a past state is what the block was
// then.
package lexical

import (
	"context"
	"slices"
	"sync"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// Name is the name of the projection.
	Name = "lexical"
	// Version is the version of what is stored, including the rules for terms.
	Version = 2

	kindTerm    = 0x10
	kindBlock   = 0x11
	kindRuns    = 0x12
	kindStats   = 0x13
	kindContent = 0x14
	kindID      = 0x15

	kindAudience = 0x16
	kindPosting  = 0x17
	kindEntries  = 0x18
	kindPlaced   = 0x19
)

// Kind describes the projection to a node.
var Kind = projections.Definition{Name: Name, Version: Version, Topics: []string{schemas.TopicCommands, schemas.TopicAgents}, Open: func(dir string) (projections.Projection, error) {
	return Open(dir, store.Options{CacheBytes: storeCacheBytes, MemTableBytes: memTableBytes, Depth: depth})
}}

// The store uses less memory than by default, since searches have block caches of their own.
// Reducing CacheBytes alone would not do: memory tables count towards it, and two of the default
// size would leave nothing of a cache of 32 MiB for the indexes and filters in which each new id
// and term is looked up.
const (
	storeCacheBytes = 48 << 20
	memTableBytes   = 8 << 20
	// depth is raised because every table has terms from the first to the last, so that merging one
	// rewrites everything.
	depth = 4
)

// Index is the open projection.
type Index struct {
	*store.DB

	// mu guards the maps. A writer belongs to the one goroutine that applies its partition.
	mu        sync.Mutex
	writers   map[schemas.TopicPartition]*writer
	runs      map[schemas.TopicPartition]*runs
	audiences map[schemas.TopicPartition]*audiences

	cache    cache[blocks]
	parts    cache[*partList]
	entries  cache[entries]
	searches sync.Pool // of *searchScratch
	scratch  sync.Pool // of *objectScratch
}

// Open opens or creates the projection in dir.
func Open(dir string, o store.Options) (*Index, error) {
	o.Name = Name
	db, err := store.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &Index{
		DB: db, writers: map[schemas.TopicPartition]*writer{}, runs: map[schemas.TopicPartition]*runs{},
		audiences: map[schemas.TopicPartition]*audiences{},
		cache:     cache[blocks]{limit: blockCacheBytes}, parts: cache[*partList]{limit: partCacheBytes}, entries: cache[entries]{limit: entryCacheBytes},
		searches: sync.Pool{New: func() any { return new(searchScratch) }},
		scratch:  sync.Pool{New: newObjectScratch},
	}, nil
}

// concerns reports whether a record has text to index.
func concerns(r *recountv1.Record) bool {
	if r.GetIntent() != nil {
		return true
	}
	return slices.ContainsFunc(r.GetObjects().GetObjects(), func(o *recountv1.Object) bool { return len(o.Parts) > 0 })
}

// Apply indexes the commands and the objects of a batch.
func (x *Index) Apply(ctx context.Context, b schemas.Batch) error {
	t, err := x.Begin(ctx, b, concerns)
	if err != nil || t == nil {
		return err
	}
	w, err := x.writer(b.TP())
	if err != nil {
		t.Discard()
		return err
	}
	if err := w.apply(t); err != nil {
		// The writer, the runs and the audiences in memory include what was not stored: drop them.
		x.mu.Lock()
		delete(x.writers, b.TP())
		delete(x.runs, b.TP())
		delete(x.audiences, b.TP())
		x.mu.Unlock()
		return err
	}
	return nil
}

func (x *Index) writer(tp schemas.TopicPartition) (*writer, error) {
	r, err := x.runsOf(tp)
	if err != nil {
		return nil, err
	}
	all, err := x.audiencesOf(tp)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	w := x.writers[tp]
	if w == nil {
		w = newWriter(x.Damaged, r, newObjectWriter(all))
		x.writers[tp] = w
	}
	return w, nil
}

// runsOf returns the runs of a shard, loaded.
func (x *Index) runsOf(tp schemas.TopicPartition) (*runs, error) {
	x.mu.Lock()
	r := x.runs[tp]
	if r == nil {
		r = &runs{}
		x.runs[tp] = r
	}
	x.mu.Unlock()
	return r, r.load(x.DB, tp)
}

// audiencesOf returns the audiences of a shard, loaded.
func (x *Index) audiencesOf(tp schemas.TopicPartition) (*audiences, error) {
	x.mu.Lock()
	all := x.audiences[tp]
	if all == nil {
		all = &audiences{}
		x.audiences[tp] = all
	}
	x.mu.Unlock()
	return all, all.load(x.DB, tp)
}
