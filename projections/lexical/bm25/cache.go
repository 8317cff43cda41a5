package bm25

import "sync"

// Cache keeps what searches read last of data that never changes except by growing. So a cached
// value is valid for every state: it can only lack the newest data, or have data newer than the
// state.
//
// The cache has two halves: one is filled while the other is only read and later dropped. A value
// that is requested again moves to the filled half, so about the least recently used half is
// dropped.
type Cache[V Cached] struct {
	limit int // bytes of a half

	mu         sync.Mutex
	young, old map[string]V
	bytes      int // size of young
}

// Cached is a value of a cache.
type Cached interface {
	// Size is the approximate size in bytes.
	Size() int
	// Version grows with the value: of two versions the cache keeps the higher one.
	Version() int
}

// NewCache returns a cache whose halves hold limit bytes each.
func NewCache[V Cached](limit int) *Cache[V] { return &Cache[V]{limit: limit} }

// Get returns the value of a key, the zero value if there is none.
func (c *Cache[V]) Get(key []byte) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.young[string(key)]; ok {
		return v
	}
	v, ok := c.old[string(key)]
	if ok {
		c.add(string(key), v)
	}
	return v
}

// Put keeps a value, unless the cache has a newer version.
func (c *Cache[V]) Put(key []byte, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have, ok := c.young[string(key)]; !ok || have.Version() < v.Version() {
		c.add(string(key), v)
	}
}

// add is called with mu held.
func (c *Cache[V]) add(key string, v V) {
	const head = 64
	size := len(key) + head + v.Size()
	if size > c.limit/2 {
		return // it would evict everything else
	}
	if c.young == nil || c.bytes+size > c.limit {
		c.old, c.young, c.bytes = c.young, map[string]V{}, 0
	}
	if have, ok := c.young[key]; ok {
		c.bytes -= len(key) + head + have.Size()
	}
	c.young[key] = v
	c.bytes += size
}
