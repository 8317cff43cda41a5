package lexical

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/recountdb/recount/projections/store"
)

// cacheBytes bounds each of a cache's two halves.
const cacheBytes = 12 << 20

// cache keeps the sealed blocks of the lists that searches read last. A sealed
// block never changes, so what is kept is right for every view: it can only lack
// the newest blocks, or have some that are newer than the view.
//
// Of two halves one is filled while the other is read and then dropped: what is
// asked for again moves over, so that about the least recently used half goes.
type cache struct {
	mu         sync.Mutex
	young, old map[string][]block // by the prefix of the blocks' keys
	bytes      int                // of young
}

func (c *cache) get(prefix []byte) []block {
	c.mu.Lock()
	defer c.mu.Unlock()
	if blocks, ok := c.young[string(prefix)]; ok {
		return blocks
	}
	blocks, ok := c.old[string(prefix)]
	if ok {
		c.add(string(prefix), blocks)
	}
	return blocks
}

func (c *cache) put(prefix []byte, blocks []block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.young[string(prefix)]) < len(blocks) {
		c.add(string(prefix), blocks)
	}
}

// add is called with mu held.
func (c *cache) add(prefix string, blocks []block) {
	const head = 64 // of a block, and its share of the map
	size := len(prefix) + head
	for i := range blocks {
		size += head + len(blocks[i].entries)
	}
	if size > cacheBytes/2 {
		return // it would push out everything else
	}
	if c.young == nil || c.bytes+size > cacheBytes {
		c.old, c.young, c.bytes = c.young, map[string][]block{}, 0
	}
	c.young[prefix] = blocks
	c.bytes += size
}

// blocks are those of a list, ascending: the sealed ones, then the tail. prefix
// is that of the sealed blocks' keys.
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

// readBlocks is known, the first blocks of a list, with those behind it.
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
