package prolly

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
)

// Entry is a key and its value. Entries that this package returns are slices of chunks: they never
// change, and must not be written to.
type Entry struct{ Key, Value []byte }

// Build builds a map from entries with ascending keys and returns its root. It stops at the first
// error of the sequence. If it fails, some chunks may have been stored that no root leads to.
func (d *DB) Build(entries iter.Seq2[Entry, error]) (Hash, error) {
	b := &builder{d: d, w: &writer{d: d}}
	var last []byte
	for e, err := range entries {
		if err != nil {
			return Hash{}, err
		}
		if err := checkEntry(e.Key, e.Value); err != nil {
			return Hash{}, err
		}
		if len(b.levels) > 0 && bytes.Compare(last, e.Key) >= 0 {
			return Hash{}, fmt.Errorf("key %.80q does not come after %.80q: sort the entries, each key once, or use Apply", e.Key, last)
		}
		last = append(last[:0], e.Key...)
		if err := b.add(0, e.Key, e.Value); err != nil {
			return Hash{}, err
		}
	}
	root, err := b.finish()
	if err != nil {
		return Hash{}, err
	}
	return root, b.w.flush()
}

func checkEntry(key, value []byte) error {
	switch {
	case len(key) > MaxKey:
		return fmt.Errorf("key %.80q… has %d bytes, more than %d", key, len(key), MaxKey)
	case len(value) > MaxValue:
		return fmt.Errorf("value of key %.80q has %d bytes, more than %d", key, len(value), MaxValue)
	}
	return nil
}

// builder builds the levels of a map from base upwards.
type builder struct {
	d      *DB
	w      *writer
	base   uint8
	soon   bool // the chunks will be read soon
	levels []*chunker
	// before is the last key of the previous chunk of level 0; begun reports whether there is one.
	before []byte
	begun  bool
}

// add adds the next entry of a level, counted from base.
func (b *builder) add(level int, key, value []byte) error {
	if level == len(b.levels) {
		b.levels = append(b.levels, &chunker{level: b.base + uint8(level)})
	}
	if !b.levels[level].add(key, value) {
		return nil
	}
	return b.cut(level)
}

// cut ends the chunk of a level and adds a link to it to the level above.
func (b *builder) cut(level int) error {
	c := b.levels[level]
	h, data := c.chunk()
	key := c.linkKey(!b.begun, b.before)
	if err := b.w.write(key, h, data, b.soon); err != nil {
		return err
	}
	var room [48]byte
	err := b.add(level+1, key, appendLink(room[:0], h, c.count))
	if c.level == 0 {
		b.before, b.begun = append(b.before[:0], c.last()...), true
	}
	c.reset()
	return err
}

// finish ends all open chunks and returns the root: the only chunk of the lowest level with a
// single chunk.
func (b *builder) finish() (Hash, error) {
	if len(b.levels) == 0 {
		return Empty, nil
	}
	for level := 0; ; level++ {
		c := b.levels[level]
		if level == len(b.levels)-1 {
			if c.n == 1 && c.level > 0 {
				return Hash(c.values), nil
			}
			h, data := c.chunk()
			return h, b.w.write(nil, h, data, b.soon)
		}
		if c.n > 0 {
			if err := b.cut(level); err != nil {
				return Hash{}, err
			}
		}
	}
}

// writer writes chunks to the store in batches.
type writer struct {
	d       *DB
	pending []Chunk
	size    int

	chunks int
	bytes  int64
}

// flushBytes is the size of stored forms at which a batch is written.
const flushBytes = 1 << 20

// write adds a chunk and does not keep data. A chunk that will be read soon is added to the cache
// too.
func (w *writer) write(place []byte, h Hash, data []byte, soon bool) error {
	stored := pack(h, data)
	w.pending = append(w.pending, Chunk{Ref{w.d.space, string(place), h}, stored})
	w.size += len(stored)
	w.chunks++
	w.bytes += int64(len(stored))
	if soon {
		n, err := decode(h, stored[storedData:])
		if err != nil {
			return damaged(h, err)
		}
		w.d.cache.add(n)
	}
	if w.size < flushBytes {
		return nil
	}
	return w.flush()
}

func (w *writer) flush() error {
	if len(w.pending) == 0 {
		return nil
	}
	if err := w.d.store.Put(w.pending); err != nil {
		return fmt.Errorf("put %d chunks: %w", len(w.pending), err)
	}
	w.pending, w.size = nil, 0
	return nil
}

// load reads a root, whether it has been written yet or not.
func (w *writer) load(root Hash) (*node, error) {
	for _, c := range w.pending {
		if c.Ref == (Ref{Space: w.d.space, Hash: root}) {
			return unpack(root, c.Stored)
		}
	}
	return w.d.load(nil, root)
}

// forget drops a root that turned out not to be needed. If it has been written, it stays in the
// store unused.
func (w *writer) forget(root Hash) {
	for i, c := range w.pending {
		if c.Ref == (Ref{Space: w.d.space, Hash: root}) {
			w.pending = slices.Delete(w.pending, i, i+1)
			w.size -= len(c.Stored)
			w.chunks--
			w.bytes -= int64(len(c.Stored))
			return
		}
	}
}
