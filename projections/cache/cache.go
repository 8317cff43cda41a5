// Package cache keeps recently used values in memory, up to a number of bytes. A cache affects only
// speed: what it drops is read or computed again, and is the same.
package cache

import (
	"math"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Map is a cache that drops the least recently used values first. It is not safe for concurrent
// use.
type Map[K comparable, V any] struct {
	// The interface keeps the generic code of the list out of every package that imports a type with
	// a cache in it: the compiler would translate it anew in each, which took seconds of a build.
	lru          simplelru.LRUCache[K, sized[V]]
	limit, bytes int
}

type sized[V any] struct {
	value V
	bytes int
}

// New returns an empty cache. limit is in bytes, by the sizes that the callers of Put report; a
// cache with a negative limit keeps nothing.
func New[K comparable, V any](limit int) *Map[K, V] {
	lru, err := simplelru.NewLRU[K, sized[V]](math.MaxInt, nil)
	if err != nil {
		panic(err) // only a number below 1 is refused
	}
	return &Map[K, V]{lru: lru, limit: limit}
}

// Get returns the value of a key, if it is cached.
func (m *Map[K, V]) Get(k K) (V, bool) {
	s, ok := m.lru.Get(k)
	return s.value, ok
}

// Put stores a value, or the new size of one, and drops nothing: the limit may be exceeded until
// Trim.
func (m *Map[K, V]) Put(k K, v V, bytes int) {
	m.bytes += bytes
	if old, ok := m.lru.Peek(k); ok {
		m.bytes -= old.bytes
	}
	m.lru.Add(k, sized[V]{v, bytes})
}

// Trim drops values until the limit is met.
func (m *Map[K, V]) Trim() {
	for m.bytes > m.limit {
		_, s, ok := m.lru.RemoveOldest()
		if !ok {
			return
		}
		m.bytes -= s.bytes
	}
}

// Remove drops the value of a key.
func (m *Map[K, V]) Remove(k K) {
	if s, ok := m.lru.Peek(k); ok {
		m.bytes -= s.bytes
		m.lru.Remove(k)
	}
}

// Bytes returns the sum of the sizes of all values.
func (m *Map[K, V]) Bytes() int { return m.bytes }

// Values returns all values, the least recently used first.
func (m *Map[K, V]) Values() []V {
	all := make([]V, 0, m.lru.Len())
	for _, s := range m.lru.Values() {
		all = append(all, s.value)
	}
	return all
}
