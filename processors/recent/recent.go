// Package recent is a bounded memory of what was made lately, for pure functions
// that are asked for the same thing again and again. What is in it shows in speed
// alone. Safe for concurrent use.
package recent

import "sync"

// Map remembers the last entries that were added or asked for: at least Most, less
// than twice as many.
type Map[K comparable, V any] struct {
	most int

	mu sync.Mutex
	// young is filled; when it is full it becomes old, and what was old is
	// forgotten unless it was asked for again meanwhile.
	young, old map[K]V
}

// New makes an empty map that remembers most entries; most is 1 or more.
func New[K comparable, V any](most int) *Map[K, V] {
	return &Map[K, V]{most: most, young: map[K]V{}}
}

// Get is the value of a key, if it is remembered.
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

// Add remembers a value.
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
