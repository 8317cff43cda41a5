package prolly

import (
	"sync"

	"github.com/recountdb/recount/projections/cache"
)

// chunkCache keeps recently used decoded chunks, up to a number of bytes. It is split by hash, so
// that readers seldom wait for each other.
type chunkCache [16]struct {
	mu     sync.Mutex
	chunks *cache.Map[Hash, *node]
}

func newCache(limit int64) *chunkCache {
	c := new(chunkCache)
	for i := range c {
		c[i].chunks = cache.New[Hash, *node](int(limit) / len(c))
	}
	return c
}

// get returns a chunk, or nil if it is not cached.
func (c *chunkCache) get(h Hash) *node {
	s := &c[h[0]%uint8(len(c))]
	s.mu.Lock()
	defer s.mu.Unlock()
	n, _ := s.chunks.Get(h)
	return n
}

func (c *chunkCache) add(n *node) {
	s := &c[n.hash[0]%uint8(len(c))]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunks.Put(n.hash, n, n.size())
	s.chunks.Trim()
}
