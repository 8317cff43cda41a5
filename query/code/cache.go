package code

import (
	"context"
	"sync"

	"github.com/recountdb/recount/projections/cache"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
)

// DefaultCacheBytes is the default memory limit of a Cache, approximately.
const DefaultCacheBytes = 128 << 20

// Cache caches the graphs of snapshots and drops the least recently used. A snapshot's hash covers
// all of it, so cached graphs never become stale. A missing graph is derived from the nearest
// cached one of the repository, or else read whole. It is safe for concurrent use.
type Cache struct {
	limit int64
	texts texts

	mu     sync.Mutex
	graphs *cache.Map[schemas.Hash, *Graph]
	// loading has the graphs being read, so that concurrent queries read one only once.
	loading map[schemas.Hash]chan struct{}
}

// NewCache returns a cache limited to about `limit` bytes; 0 means DefaultCacheBytes. At least one
// graph is kept, however large.
func NewCache(limit int64) *Cache {
	if limit == 0 {
		limit = DefaultCacheBytes
	}
	return &Cache{limit: limit, graphs: cache.New[schemas.Hash, *Graph](int(limit)), loading: map[schemas.Hash]chan struct{}{}}
}

// Get returns the graph of a snapshot. An error is that of ctx or of the projection.
func (c *Cache) Get(ctx context.Context, s *snapshots.Snapshot) (*Graph, error) {
	hash := s.Hash()
	for {
		c.mu.Lock()
		if g, ok := c.graphs.Get(hash); ok {
			c.mu.Unlock()
			return g, nil
		}
		wait, busy := c.loading[hash]
		if !busy {
			wait = make(chan struct{})
			c.loading[hash] = wait
		}
		near := c.nearest(s)
		c.mu.Unlock()
		if !busy {
			g, err := read(ctx, s, near)
			c.put(hash, g, wait)
			return g, err
		}
		select {
		case <-wait: // either it is cached now, or the other query failed: try again
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// nearest returns the cached graph of the repository whose commit is nearest to the snapshot's in
// the log, or nil if there is none. The caller holds mu.
func (c *Cache) nearest(s *snapshots.Snapshot) (near *Graph) {
	at := s.GetPosition()
	away := func(g *Graph) int64 {
		return max(g.of.GetPosition().GetOffset()-at.GetOffset(), at.GetOffset()-g.of.GetPosition().GetOffset())
	}
	for _, g := range c.graphs.Values() {
		if of := g.of.GetPosition(); g.repo != s.Repo().Name || of.GetTopic() != at.GetTopic() || of.GetPartition() != at.GetPartition() {
			continue
		}
		if near == nil || away(g) < away(near) {
			near = g
		}
	}
	return near
}

// read returns the graph of a snapshot. If it cannot be derived from near, for example because
// chunks of that snapshot were removed since, it is read whole.
func read(ctx context.Context, s *snapshots.Snapshot, near *Graph) (*Graph, error) {
	if near != nil {
		if base, err := s.Beside(near.of); err == nil && !far(base, s) {
			if g, err := derive(ctx, near, base, s); err == nil || ctx.Err() != nil {
				return g, err
			}
		}
	}
	return load(ctx, s)
}

// put ends a load; g is nil if it failed.
func (c *Cache) put(hash schemas.Hash, g *Graph, loaded chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.loading, hash)
	close(loaded)
	if g != nil {
		c.graphs.Put(hash, g, int(min(g.bytes, c.limit))) // so that the latest graph is kept, however large
		c.graphs.Trim()
	}
}
