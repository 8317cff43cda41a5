package code

import (
	"context"
	"strings"
	"sync"

	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// Name of the projection.
	Name = "code"
	// Version of what it stores.
	Version = 10
)

// blockBytes is how much of neighbouring chunks is compressed together.
const blockBytes = 64 << 10

// Options say how the projection is opened. The zero value is what a node uses.
type Options struct {
	Store store.Options
	// Language names the language of a path, "" where it is not known, as the
	// processor does that makes the facts; nil means languages.NameOf.
	Language func(path string) string
	// Resolvers makes the resolvers of one repository; nil means languages.Resolvers.
	Resolvers func() []resolve.Resolver
	// CacheBytes bounds the memory for decoded chunks; 0 means 64 MiB.
	CacheBytes int64
}

// Kind is how a node knows this projection. What extractors and resolvers say is
// part of the state, so one of another version has it made anew.
func Kind(o Options) projections.Kind {
	return projections.Kind{
		Name: Name, Version: Version, Params: o.params(), Topics: []string{schemas.TopicCommits},
		Open: func(dir string) (projections.Projection, error) { return Open(dir, o) },
	}
}

func (o Options) resolvers() []resolve.Resolver {
	if o.Resolvers != nil {
		return o.Resolvers()
	}
	return languages.Resolvers()
}

// params names what the state is made by: extractors and resolvers, with versions.
func (o Options) params() string {
	var names []string
	if o.Language == nil {
		names = strings.Fields(languages.Extractors())
	}
	for _, r := range o.resolvers() {
		names = append(names, r.Name())
	}
	return strings.Join(names, " ")
}

// Code is the open projection.
type Code struct {
	*store.DB
	opts Options
	maps *prolly.DB

	// mu guards what follows: what was computed for repositories, to resolve their
	// next commits faster.
	mu    sync.Mutex
	repos map[string]*repository
	order []string // least recently used first
}

// Open opens or creates the projection in dir.
func Open(dir string, o Options) (*Code, error) {
	if o.Language == nil {
		o.Language = languages.NameOf
	}
	o.Store.Name, o.Store.BlockBytes = Name, blockBytes
	db, err := store.Open(dir, o.Store)
	if err != nil {
		return nil, err
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 64 << 20
	}
	return &Code{
		DB: db, opts: o, repos: map[string]*repository{},
		maps: prolly.New(noChunks{}, prolly.Options{CacheBytes: o.CacheBytes}),
	}, nil
}

func concerns(r *recountv1.Record) bool {
	return r.GetFileFacts() != nil || r.GetCommit() != nil || r.GetRefMoved() != nil || r.GetSnapshotsRetired() != nil
}

// Apply folds a batch in, a commit with content at a time: each is stored with the
// position behind it, so that neither memory nor what a crash loses grows with the
// batch. What retires snapshots is applied by itself, over what is stored before it.
func (c *Code) Apply(ctx context.Context, b schemas.Batch) error {
	for len(b.Records) > 0 {
		part := b
		n := step(b.Records)
		if n == len(b.Records) {
			break
		}
		part.Records = b.Records[:n]
		part.Next = part.Records[n-1].GetOrigin().GetOffset() + 1
		if err := c.apply(ctx, part); err != nil {
			return err
		}
		b.Records = b.Records[n:]
	}
	return c.apply(ctx, b)
}

// step is how many of the records are applied together.
func step(records []*recountv1.Record) int {
	for i, r := range records {
		switch {
		case r.GetSnapshotsRetired() != nil:
			return max(i, 1)
		case r.GetCommit() != nil && r.GetCommit().Scope != recountv1.Scope_SCOPE_METADATA:
			return i + 1
		}
	}
	return len(records)
}

func (c *Code) apply(ctx context.Context, b schemas.Batch) error {
	t, err := c.Begin(ctx, b, concerns)
	if err != nil || t == nil {
		return err
	}
	f := fold{c: c, t: t, pending: map[string][]byte{}}
	if err := f.all(ctx); err != nil {
		t.Discard()
		return err
	}
	if err := t.Commit(); err != nil {
		f.forget()
		return err
	}
	return nil
}

// maxRepositories is how many repositories' working memory is kept.
const maxRepositories = 8

// repository is what is remembered of one, for speed alone. Its partition's
// goroutine is the only one to use it.
type repository struct {
	resolvers []resolve.Resolver
	facts     *factsCache
	// last are the files of the snapshot made last, and roots its maps.
	last  *tree
	roots roots
}

// repositoryOf is the memory of a repository of a partition.
func (c *Code) repositoryOf(key string) *repository {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.repos[key]
	if !ok {
		r = &repository{resolvers: c.opts.resolvers(), facts: newFactsCache()}
		c.repos[key] = r
		if len(c.order) == maxRepositories {
			delete(c.repos, c.order[0])
			c.order = c.order[1:]
		}
	} else {
		for i, k := range c.order {
			if k == key {
				c.order = append(c.order[:i:i], c.order[i+1:]...)
				break
			}
		}
	}
	c.order = append(c.order, key)
	return r
}

// forget drops what is remembered of a repository: after an error it may be of a
// state that was not stored.
func (c *Code) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.repos, key)
	for i, k := range c.order {
		if k == key {
			c.order = append(c.order[:i:i], c.order[i+1:]...)
			return
		}
	}
}
