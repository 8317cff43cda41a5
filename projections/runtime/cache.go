package runtime

// cache keeps what was used of late: when the younger half is full, the older is
// forgotten and the younger becomes the older.
type cache[K comparable, V any] struct {
	young, old map[K]V
	// bytes is the size of young, which may be up to limit.
	bytes, limit int
}

// newCache makes a cache of at most so many bytes, as the sizes are told.
func newCache[K comparable, V any](bytes int) cache[K, V] {
	return cache[K, V]{young: map[K]V{}, old: map[K]V{}, limit: bytes / 2}
}

// get looks a value up; size is what it counts for if it moves to the younger half.
func (c *cache[K, V]) get(k K, size func(V) int) (v V, ok bool) {
	if v, ok = c.young[k]; ok {
		return v, true
	}
	if v, ok = c.old[k]; ok {
		delete(c.old, k)
		c.put(k, v, size(v))
	}
	return v, ok
}

func (c *cache[K, V]) put(k K, v V, size int) {
	c.young[k] = v
	c.bytes += size
}

// grew notes that a value that is in the younger half has another size.
func (c *cache[K, V]) grew(by int) { c.bytes += by }

func (c *cache[K, V]) trim() {
	if c.bytes > c.limit {
		c.old, c.young, c.bytes = c.young, make(map[K]V, len(c.young)), 0
	}
}
