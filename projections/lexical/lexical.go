package lexical

import (
	"context"
	"slices"
	"sync"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical/bm25"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// Name is the name of the projection.
	Name = "lexical"
	// Version is the version of what is stored, including the rules for terms.
	Version = 6

	kindPosting = 0x10

	kindRuns    = 0x11
	kindStats   = 0x12
	kindContent = 0x13
	kindID      = 0x14

	kindAudience = 0x15
	kindEntries  = 0x16
	kindPlaced   = 0x17
	kindCall     = 0x18
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
	mu           sync.Mutex
	vocabularies map[schemas.TopicPartition]*vocabulary
	writers      map[schemas.TopicPartition]*writer
	runs         map[schemas.TopicPartition]*runs
	audiences    map[schemas.TopicPartition]*audiences

	fields  [fields]*bm25.Index
	objects *bm25.Index
	entries *bm25.Cache[entries]
}

// Bounds of each of the two halves of the caches.
const (
	fieldCacheBytes  = 16 << 20
	objectCacheBytes = 144 << 20 // 3,000 queries among a million objects read 131 MB
	entryCacheBytes  = 40 << 20  // a half holds the entries of a million parts
)

// Open opens or creates the projection in dir.
func Open(dir string, o store.Options) (*Index, error) {
	o.Name = Name
	db, err := store.Open(dir, o)
	if err != nil {
		return nil, err
	}
	x := &Index{
		DB: db, vocabularies: map[schemas.TopicPartition]*vocabulary{}, writers: map[schemas.TopicPartition]*writer{}, runs: map[schemas.TopicPartition]*runs{}, audiences: map[schemas.TopicPartition]*audiences{},
		objects: bm25.NewIndex(kindPosting, objectCacheBytes), entries: bm25.NewCache[entries](entryCacheBytes),
	}
	for i := range x.fields {
		x.fields[i] = bm25.NewIndex(kindPosting, fieldCacheBytes)
	}
	return x, nil
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
	x.vocabularyOf(b.TP()).add(w.fresh)
	return nil
}

// vocabularyOf returns the vocabulary of a shard.
func (x *Index) vocabularyOf(tp schemas.TopicPartition) *vocabulary {
	x.mu.Lock()
	defer x.mu.Unlock()
	v := x.vocabularies[tp]
	if v == nil {
		v = &vocabulary{}
		x.vocabularies[tp] = v
	}
	return v
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
		w = newWriter(x.Damaged, r, all)
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
