package runtime

// cache keeps recently used values in two halves: if the younger half is full, the older half is
// dropped and the younger takes its place.
type cache[K comparable, V any] struct {
	young, old map[K]V
	// bytes is the size of young, which is limited to limit.
	bytes, limit int
}

// newCache returns a cache limited to a number of bytes, by the sizes that its callers report.
func newCache[K comparable, V any](bytes int) cache[K, V] {
	return cache[K, V]{young: map[K]V{}, old: map[K]V{}, limit: bytes / 2}
}

// get returns a value. size returns its size in case it moves to the younger half.
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

// grew records that the size of a value in the younger half has changed.
func (c *cache[K, V]) grew(by int) { c.bytes += by }

func (c *cache[K, V]) trim() {
	if c.bytes > c.limit {
		c.old, c.young, c.bytes = c.young, make(map[K]V, len(c.young)), 0
	}
}
