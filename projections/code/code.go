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
	// Name is the name of the projection.
	Name = "code"
	// Version is the version of the stored state. Changing it rebuilds the projection.
	Version = 10
)

// blockBytes is the size of the blocks in which adjacent chunks are compressed together.
const blockBytes = 64 << 10

// Options configure the projection. The zero value is what a server uses.
type Options struct {
	Store store.Options
	// Language returns the language of a path, "" if it is not known. It must agree with the
	// processor that extracts the facts. Nil means languages.NameOf.
	Language func(path string) string
	// Resolvers returns new resolvers for one repository. Nil means languages.Resolvers.
	Resolvers func() []resolve.Resolver
	// CacheBytes limits the memory for decoded chunks; 0 means 64 MiB.
	CacheBytes int64
}

// Kind returns what registers this projection with a server. The state depends on the extractors
// and resolvers, so a change of any of their versions rebuilds it.
func Kind(o Options) projections.Definition {
	return projections.Definition{
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

// params names the extractors and resolvers with their versions.
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

	// mu guards the fields below: intermediate results of repositories that make resolving their
	// next commits faster.
	mu    sync.Mutex
	repos map[string]*repository
	order []string // least recently used first
}

// Open opens the projection in dir and creates it if needed.
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

// Apply applies a batch in steps that end with a commit that has content. Each step is stored
// together with the next position, so that neither memory nor the work lost in a crash grows with
// the batch. An event that retires snapshots is applied in a step of its own, after everything
// before it is stored.
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

// step returns the number of records to apply together.
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

// maxRepositories is the number of repositories whose working memory is kept.
const maxRepositories = 8

// repository is a cache for one repository. Only the goroutine of its partition uses it.
type repository struct {
	resolvers []resolve.Resolver
	facts     *factsCache
	// last has the files of the snapshot built last, and roots its maps.
	last  *tree
	roots roots
}

// repositoryOf returns the cache of a repository of a partition.
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

// forget drops the cache of a repository. After an error it may describe a state that was not
// stored.
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
