package objects

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/cache"
	"github.com/recountdb/recount/schemas"
)

// These limit the caches of what queries read, in bytes.
const (
	rowCacheBytes  = 64 << 20
	headCacheBytes = 8 << 20 // for lists that are not cached in a memo
)

// rowCache caches the rows of events. A row never changes, so a cached row is right for every view
// that contains the event. The caller checks that by the offset.
type rowCache struct {
	mu   sync.Mutex
	rows *cache.Map[schemas.Position, []*Stored]
}

// maxKept is the maximum number of objects of an event whose row is cached. Objects of larger
// events are read one at a time.
const maxKept = 16

func sizeOfRow(all []*Stored) int {
	n := 64
	for _, s := range all {
		n += 1200 + len(s.Text) + 220*len(s.Edges) + 60*len(s.Parts)
	}
	return n
}

func (c *rowCache) get(at schemas.Position) []*Stored {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, _ := c.rows.Get(at)
	return all
}

func (c *rowCache) put(at schemas.Position, all []*Stored) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows.Put(at, all, sizeOfRow(all))
	c.rows.Trim()
}

// listKey is the common prefix of the keys of a list's rows, padded with zeros.
type listKey [nameList]byte

// head is the beginning of a list: its newest rows.
type head struct {
	all   []when
	whole bool // the head is the whole list
}

// maxHead is the maximum number of rows in a head.
const maxHead = 128

// headCache caches the heads of lists. A list grows, so a head is right for a view as long as no
// row that the view contains was added to the list after the head was read. A view skips rows of
// the head that it does not contain.
//
// Before a batch is committed, tell registers the lists that it adds to; settle ends this after the
// commit. tell drops the heads of these lists and invalidates their memos before any view can
// contain the batch. A head read from a view without the batch is not cached: its list was
// registered by a batch that was not settled when the view was opened.
type headCache struct {
	mu    sync.Mutex
	heads *cache.Map[listKey, head]
	// told counts batches; unsettled holds the numbers of those not yet settled.
	told      uint64
	unsettled []uint64
	// last is the number of the latest batch registered for a list, by place; lists share places.
	// It is read without the lock.
	last [1 << 14]atomic.Uint64
}

func (k *listKey) place() uint64 { return xxh3.Hash(k[:]) % (1 << 14) }

// memo caches a short list next to a cached object (rowCache), where a query finds it without a
// lookup. Almost all lists have one row or none. A memo stays valid as long as a head would. The
// zero memo is empty.
type memo struct{ p atomic.Pointer[memorised] }

type memorised struct {
	all   []when // the whole list
	place uint64 // that of the list
	upTo  uint64 // the number of the last batch that it includes
}

// maxMemorised is the maximum length of a list in a memo.
const maxMemorised = 4

// recall returns the list in a memo, or false if it is empty or the list may have grown.
func (c *headCache) recall(m *memo) (head, bool) {
	if m == nil {
		return head{}, false
	}
	l := m.p.Load()
	if l == nil || c.last[l.place].Load() > l.upTo {
		return head{}, false
	}
	return head{l.all, true}, true
}

// note stores a list that includes all batches up to upTo in a memo, if the list is short. It
// reports whether it did.
func (m *memo) note(k *listKey, h head, upTo uint64) bool {
	if m == nil || !h.whole || len(h.all) > maxMemorised {
		return false
	}
	m.p.Store(&memorised{slices.Clip(h.all), k.place(), upTo})
	return true
}

// tell drops the heads of lists to which a batch adds, and returns the batch's number.
func (c *headCache) tell(all []listKey) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told++
	c.unsettled = append(c.unsettled, c.told)
	for i := range all {
		c.heads.Remove(all[i])
		c.last[all[i].place()].Store(c.told)
	}
	return c.told
}

// settle records that a batch is committed, or never will be.
func (c *headCache) settle(batch uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsettled = slices.DeleteFunc(c.unsettled, func(b uint64) bool { return b == batch })
}

// settled returns the number of a batch such that every view opened from now on contains all
// batches up to it.
func (c *headCache) settled() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unsettled) > 0 {
		return slices.Min(c.unsettled) - 1
	}
	return c.told
}

func (h head) size() int { return 160 + 56*len(h.all) }

// get returns a cached head and the number of the last batch that it includes.
func (c *headCache) get(k listKey) (h head, upTo uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok = c.heads.Get(k)
	return h, c.told, ok
}

// put caches a head read from a view that contains all batches up to upTo.
func (c *headCache) put(k listKey, h head, upTo uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last[k.place()].Load() <= upTo {
		c.heads.Put(k, h, h.size())
		c.heads.Trim()
	}
}
