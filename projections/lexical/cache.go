package lexical

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/recountdb/recount/projections/store"
)

// Bounds of each of the two halves of the caches.
const (
	blockCacheBytes = 12 << 20
	partCacheBytes  = 144 << 20 // 3,000 queries among a million objects read 131 MB
	entryCacheBytes = 40 << 20  // a half holds the entries of a million parts
)

// cache keeps what searches read last of data that never changes except by growing: the sealed
// blocks of lists, lists up to a document, and entries. So a cached value is valid for every state:
// it can only lack the newest data, or have data newer than the state.
//
// The cache has two halves: one is filled while the other is only read and later dropped. A value
// that is requested again moves to the filled half, so about the least recently used half is
// dropped.
type cache[V kept] struct {
	limit int // bytes of a half

	mu         sync.Mutex
	young, old map[string]V // by the common prefix of the blocks' keys
	bytes      int          // size of young
}

// kept is a value of a cache; of two versions the one with the larger count is kept.
type kept interface {
	size() int
	count() int
}

func (c *cache[V]) get(prefix []byte) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.young[string(prefix)]; ok {
		return v
	}
	v, ok := c.old[string(prefix)]
	if ok {
		c.add(string(prefix), v)
	}
	return v
}

func (c *cache[V]) put(prefix []byte, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young[string(prefix)].count() < v.count() {
		c.add(string(prefix), v)
	}
}

// add is called with mu held.
func (c *cache[V]) add(prefix string, v V) {
	size := len(prefix) + keptHead + v.size()
	if size > c.limit/2 {
		return // it would evict everything else
	}
	if c.young == nil || c.bytes+size > c.limit {
		c.old, c.young, c.bytes = c.young, map[string]V{}, 0
	}
	if o, ok := c.young[prefix]; ok {
		c.bytes -= len(prefix) + keptHead + o.size()
	}
	c.young[prefix] = v
	c.bytes += size
}

// keptHead is the approximate size of a value, or a block, besides its bytes.
const keptHead = 64

// blocks are the first sealed blocks of a list.
type blocks []block

func (all blocks) count() int { return len(all) }

func (all blocks) size() int {
	size := 0
	for i := range all {
		size += keptHead + len(all[i].entries)
	}
	return size
}

// blocks returns the blocks of a list, ascending: the sealed ones, then the tail. prefix is that of
// the sealed blocks' keys.
func (s *search) blocks(prefix []byte, l *list) ([]block, error) {
	n := int(l.df / blockSize)
	sealed := s.cache.get(prefix)
	if len(sealed) < n {
		var err error
		if sealed, err = readBlocks(s.v, prefix, sealed, l); err != nil {
			return nil, err
		}
		s.cache.put(prefix, sealed)
	}
	sealed = sealed[:n:n]
	if l.tail.count > 0 {
		sealed = append(sealed, l.tail)
	}
	return sealed, nil
}

// readBlocks returns known, the first blocks of a list, followed by the later ones in the store.
func readBlocks(v *store.View, prefix []byte, known []block, l *list) ([]block, error) {
	from := uint64(0)
	if len(known) > 0 {
		from = known[len(known)-1].last + 1
	}
	it, err := v.Iter(binary.BigEndian.AppendUint64(prefix[:len(prefix):len(prefix)], from), store.PrefixEnd(prefix))
	if err != nil {
		return nil, err
	}
	var all []byte
	var ends []int
	var firsts []uint64
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			_ = it.Close()
			return nil, v.Explain(err)
		}
		first := uint64(0)
		if key := it.Key(); len(key) == len(prefix)+8 {
			first = binary.BigEndian.Uint64(key[len(prefix):])
		}
		all = append(all, value...)
		ends, firsts = append(ends, len(all)), append(firsts, first)
	}
	if err := it.Close(); err != nil {
		return nil, v.Explain(err)
	}
	if n := int(l.df / blockSize); len(known)+len(ends) != n {
		return nil, v.Damaged(fmt.Errorf("list of %q has %d blocks, want %d", prefix, len(known)+len(ends), n))
	}
	blocks := make([]block, len(known), len(known)+len(ends))
	copy(blocks, known)
	begin := 0
	for i, end := range ends {
		b, err := decodeBlock(all[begin:end:end])
		if err == nil && (b.first != firsts[i] || b.first < from || b.count != blockSize ||
			b.maxWeight > l.maxWeight || b.minLength < l.minLength) {
			err = fmt.Errorf("block at %d does not fit its list", b.first)
		}
		if err != nil {
			return nil, v.Damaged(err)
		}
		blocks = append(blocks, b)
		begin, from = end, b.last+1
	}
	return blocks, nil
}
