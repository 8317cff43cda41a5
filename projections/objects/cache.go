package objects

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
)

// What is kept of what questions read, in bytes of a half (see kept).
const (
	rowCacheBytes  = 32 << 20
	headCacheBytes = 4 << 20 // of the lists that are not beside a row
)

// kept is what was used of late: when the younger half is full it becomes the older, and
// what that had and nobody asked for again is forgotten.
type kept[K comparable, V any] struct {
	limit      int // of bytes of a half
	young, old map[K]V
	bytes      int // of young
}

func (c *kept[K, V]) get(k K, size func(V) int) (V, bool) {
	if v, ok := c.young[k]; ok {
		return v, true
	}
	v, ok := c.old[k]
	if ok {
		c.put(k, v, size(v))
	}
	return v, ok
}

func (c *kept[K, V]) put(k K, v V, size int) {
	if c.young == nil || c.bytes+size > c.limit {
		c.young, c.old, c.bytes = map[K]V{}, c.young, 0
	}
	c.young[k] = v
	c.bytes += size
}

func (c *kept[K, V]) forget(k K) {
	delete(c.young, k)
	delete(c.old, k)
}

// rowCache keeps events' rows as they were read. A row never changes, so what is kept is
// right for every view that has the event. Whoever asks of it knows that by its offset.
type rowCache struct {
	mu   sync.Mutex
	rows kept[schemas.Position, []*Stored]
}

// maxKept is how many objects an event has at most whose row is kept. Of a larger one
// the object that is asked for is read by itself.
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
	all, _ := c.rows.get(at, sizeOfRow)
	return all
}

func (c *rowCache) put(at schemas.Position, all []*Stored) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows.put(at, all, sizeOfRow(all))
}

// listKey is what the keys of a list's rows begin with, zeros behind it.
type listKey [nameList]byte

// head is the beginning of a list: the newest rows.
type head struct {
	all   []when
	whole bool // that is all of it
}

// maxHead is how many rows a head has.
const maxHead = 128

// headCache keeps the heads of lists. Lists grow, so a head is right for a view as long as
// nothing came into the list that the view has and the head has not; what the head has
// and the view has not, the view leaves out.
//
// A batch is told of with the lists that it adds to before it is committed, and settled
// after. Then every head of such a list is forgotten, and no memo of it holds any more,
// before a view can have the batch, and one that is read from a view that has it not is not kept: the list was told of in a
// batch that was not settled when the view was opened.
type headCache struct {
	mu    sync.Mutex
	heads kept[listKey, head]
	// told counts batches; unsettled are those that are under way.
	told      uint64
	unsettled []uint64
	// last is, of the lists that share a place, the batch told of last. It is read at any
	// time.
	last [1 << 14]atomic.Uint64
}

func (k *listKey) place() uint64 { return xxh3.Hash(k[:]) % (1 << 14) }

// memo keeps a short list beside an object that is kept (rowCache), where a question finds
// it without a look-up: that is what most lists are, of one row or of none. It holds as
// long as a head would. The zero memo keeps nothing.
type memo struct{ p atomic.Pointer[memorised] }

type memorised struct {
	all   []when // of the whole list
	place uint64 // the list's
	upTo  uint64 // the batch up to which it has all
}

// maxMemorised is how many rows a list has at most that is kept in a memo.
const maxMemorised = 4

// recall is what a memo keeps; false where it keeps nothing, or the list may have grown.
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

// note keeps a list in a memo, if it is short, that has all up to a batch.
func (m *memo) note(k *listKey, h head, upTo uint64) bool {
	if m == nil || !h.whole || len(h.all) > maxMemorised {
		return false
	}
	m.p.Store(&memorised{slices.Clip(h.all), k.place(), upTo})
	return true
}

// tell forgets lists to which a batch adds, and gives its number.
func (c *headCache) tell(all []listKey) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told++
	c.unsettled = append(c.unsettled, c.told)
	for i := range all {
		c.heads.forget(all[i])
		c.last[all[i].place()].Store(c.told)
	}
	return c.told
}

// settle says that a batch is committed, or never will be.
func (c *headCache) settle(batch uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsettled = slices.DeleteFunc(c.unsettled, func(b uint64) bool { return b == batch })
}

// settled is a batch up to which every view that is opened from now on has all.
func (c *headCache) settled() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unsettled) > 0 {
		return slices.Min(c.unsettled) - 1
	}
	return c.told
}

func (h head) size() int { return 160 + 56*len(h.all) }

// get is a head that is kept, and the batch up to which it has all.
func (c *headCache) get(k listKey) (h head, upTo uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok = c.heads.get(k, head.size)
	return h, c.told, ok
}

// put keeps a head that was read from a view that has all up to a batch.
func (c *headCache) put(k listKey, h head, upTo uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last[k.place()].Load() <= upTo {
		c.heads.put(k, h, h.size())
	}
}
