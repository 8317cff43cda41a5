// Package recent provides a bounded cache of recently used results, for pure functions that are
// called repeatedly with the same arguments. A cache affects only speed.
package recent

import "sync"

// Map caches the entries that were last added or read: at least most of them, fewer than twice as
// many. It is safe for concurrent use.
type Map[K comparable, V any] struct {
	most int

	mu sync.Mutex
	// young is filled first. When it is full it becomes old, and the entries of the previous old
	// that were not read since are dropped.
	young, old map[K]V
}

// New returns an empty cache that keeps at least most entries; most must be 1 or more.
func New[K comparable, V any](most int) *Map[K, V] {
	return &Map[K, V]{most: most, young: map[K]V{}}
}

// Get returns the value of a key, if it is cached.
func (m *Map[K, V]) Get(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.young[k]; ok {
		return v, true
	}
	v, ok := m.old[k]
	if ok {
		m.add(k, v)
	}
	return v, ok
}

// Add stores a value.
func (m *Map[K, V]) Add(k K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(k, v)
}

func (m *Map[K, V]) add(k K, v V) {
	if _, ok := m.young[k]; !ok && len(m.young) >= m.most {
		m.old, m.young = m.young, make(map[K]V, m.most)
	}
	m.young[k] = v
}
