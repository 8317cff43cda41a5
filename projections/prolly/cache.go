package prolly

import (
	"container/list"
	"sync"
)

// cache keeps recently used decoded chunks, up to a number of bytes. It is split by hash, so that
// readers seldom wait for each other.
type cache [16]cacheShard

type cacheShard struct {
	mu    sync.Mutex
	limit int64
	// mu guards the fields below.
	size  int64
	byKey map[Hash]*list.Element
	used  list.List // of *node, most recently used first
}

func newCache(limit int64) *cache {
	c := new(cache)
	for i := range c {
		c[i].limit = limit / int64(len(c))
		c[i].byKey = map[Hash]*list.Element{}
	}
	return c
}

// get returns a chunk, or nil if it is not cached.
func (c *cache) get(h Hash) *node {
	s := &c[h[0]%uint8(len(c))]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byKey[h]
	if e == nil {
		return nil
	}
	s.used.MoveToFront(e)
	return e.Value.(*node)
}

func (c *cache) add(n *node) {
	s := &c[n.hash[0]%uint8(len(c))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey[n.hash] != nil {
		return
	}
	s.byKey[n.hash] = s.used.PushFront(n)
	for s.size += n.size(); s.size > s.limit; {
		last := s.used.Remove(s.used.Back()).(*node)
		delete(s.byKey, last.hash)
		s.size -= last.size()
	}
}
