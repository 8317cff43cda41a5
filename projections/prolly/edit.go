package prolly

import (
	"bytes"
	"slices"
	"sort"
)

// Edit sets the value of a key, or deletes the key.
type Edit struct {
	Key, Value []byte
	Delete     bool
}

// Stats counts the changes that Apply made, and its reads and writes.
type Stats struct {
	Added, Changed, Deleted int // number of entries

	ChunksRead    int // includes cache hits
	ChunksWritten int
	BytesWritten  int64 // of stored forms
}

// Apply applies edits to a map and returns the root of the new map: the one that Build gives for
// the same entries. Edits may be in any order; of several for one key the last one counts. Setting
// a value that is already set, or deleting a key that is absent, changes nothing. It reads and
// writes O(edits · log n) chunks.
func (d *DB) Apply(root Hash, edits []Edit) (Hash, Stats, error) {
	edits, err := normal(edits)
	if err != nil {
		return Hash{}, Stats{}, err
	}
	a := &applier{d: d, w: &writer{d: d}}
	if root, err = a.apply(root, edits); err == nil {
		err = a.w.flush()
	}
	if err != nil {
		return Hash{}, Stats{}, err
	}
	a.stats.ChunksWritten, a.stats.BytesWritten = a.w.chunks, a.w.bytes
	return root, a.stats, nil
}

// normal returns the edits in ascending order, one per key. It does not modify its argument.
func normal(edits []Edit) ([]Edit, error) {
	ascending := true
	for i, e := range edits {
		value := e.Value
		if e.Delete {
			value = nil
		}
		if err := checkEntry(e.Key, value); err != nil {
			return nil, err
		}
		ascending = ascending && (i == 0 || bytes.Compare(edits[i-1].Key, e.Key) < 0)
	}
	edits = slices.Clone(edits)
	if ascending {
		return edits, nil
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return bytes.Compare(a.Key, b.Key) })
	kept := edits[:0]
	for i, e := range edits {
		if i+1 == len(edits) || !bytes.Equal(e.Key, edits[i+1].Key) {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

type applier struct {
	d     *DB
	w     *writer
	stats Stats
}

// apply works upwards level by level. The entries of a level above 0 are links to the chunks below,
// so changes of chunks are edits of that level: rewrite turns the edits of a level into those of
// the next.
func (a *applier) apply(root Hash, edits []Edit) (Hash, error) {
	if root == Empty {
		return a.grow(0, edits)
	}
	top, err := a.d.load(nil, root)
	if err != nil {
		return Hash{}, err
	}
	a.stats.ChunksRead++
	for level := uint8(0); ; level++ {
		above, made, err := a.rewrite(top, level, edits)
		switch {
		case err != nil:
			return Hash{}, err
		case len(above) == 0:
			return root, nil
		case level == top.level: // there was one chunk, so the new ones are all there are
			return a.grow(level+1, made)
		}
		edits = above
	}
}

// grow builds everything above the chunks of a level, given that the map has exactly these, and
// returns the root.
func (a *applier) grow(level uint8, edits []Edit) (Hash, error) {
	b := &builder{d: a.d, w: a.w, base: level, soon: true}
	for _, e := range edits {
		if e.Delete {
			continue
		}
		if level == 0 {
			a.stats.Added++
		}
		if err := b.add(0, e.Key, e.Value); err != nil {
			return Hash{}, err
		}
	}
	root, err := b.finish()
	for err == nil && root != Empty {
		var n *node
		if n, err = a.w.load(root); err != nil || n.level == 0 || n.len() > 1 {
			break
		}
		// The levels below have one chunk each, so this chunk is superfluous.
		a.w.forget(root)
		root, _ = n.link(0)
	}
	return root, err
}

// rewrite applies edits to a level of the map below top. It returns the edits of the level above,
// and links to all new chunks.
//
// It rewrites chunks from the beginning of the first that an edit touches, until an old and a new
// one end at the same entry: from there on both are the same up to the next edit. At level 0 that
// entry must be one that existed before, since the key of the next link depends on it.
func (a *applier) rewrite(top *node, level uint8, edits []Edit) (above, made []Edit, err error) {
	r := &rewriter{a: a, c: newCursor(a.d, top, level), ck: &chunker{level: level}}
	for len(edits) > 0 {
		if err := r.c.seek(edits[0].Key); err != nil {
			return nil, nil, err
		}
		var olds []Edit
		r.begin()
		for {
			n, _ := r.c.at()
			upper := r.c.upper()
			var mine []Edit
			mine, edits = cutEdits(edits, upper)
			if level == 0 {
				mine = a.effective(n, mine)
			}
			if len(olds) == 0 && len(mine) == 0 {
				break
			}
			olds = append(olds, Edit{Key: r.c.lower(), Value: appendLink(nil, n.hash, n.count)})
			if err := r.merge(n, mine); err != nil {
				return nil, nil, err
			}
			if upper == nil {
				if err := r.flush(); err != nil {
					return nil, nil, err
				}
				break
			}
			if r.ck.n == 0 && (level > 0 || r.begun() && bytes.Equal(r.before, n.last())) {
				break
			}
			if _, err := r.c.nextChunk(); err != nil {
				return nil, nil, err
			}
		}
		above = appendChanges(above, olds, r.made[r.from:])
	}
	a.stats.ChunksRead += r.c.reads
	return above, r.made, nil
}

// cutEdits splits off the edits that belong in a chunk, which are those below upper.
func cutEdits(edits []Edit, upper []byte) (mine, rest []Edit) {
	if upper == nil {
		return edits, nil
	}
	i := sort.Search(len(edits), func(i int) bool { return bytes.Compare(edits[i].Key, upper) >= 0 })
	return edits[:i], edits[i:]
}

// effective returns those edits that change something, in the same memory.
func (a *applier) effective(n *node, edits []Edit) []Edit {
	kept := edits[:0]
	for _, e := range edits {
		i := n.search(e.Key)
		there := i < n.len() && bytes.Equal(n.key(i), e.Key)
		switch {
		case e.Delete && there:
			a.stats.Deleted++
		case !e.Delete && !there:
			a.stats.Added++
		case !e.Delete && !bytes.Equal(n.value(i), e.Value):
			a.stats.Changed++
		default:
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// rewriter rewrites the chunks of one level, in separate stretches.
type rewriter struct {
	a    *applier
	c    *cursor
	ck   *chunker
	made []Edit // links to the new chunks of all stretches

	start  *cursor // beginning of the stretch in the old map
	from   int     // number of new chunks before the stretch
	before []byte  // last key of the previous chunk of the stretch, if any
}

// begin starts a stretch at the chunk that the cursor is in.
func (r *rewriter) begin() {
	r.start, r.from, r.before = r.c.clone(), len(r.made), nil
}

// begun reports whether the stretch has produced a chunk.
func (r *rewriter) begun() bool { return len(r.made) > r.from }

// merge adds the entries of a chunk with the edits applied.
func (r *rewriter) merge(n *node, edits []Edit) error {
	i := 0
	for _, e := range edits {
		upTo := n.search(e.Key)
		for ; i < upTo; i++ {
			if err := r.add(n.key(i), n.value(i)); err != nil {
				return err
			}
		}
		if i < n.len() && bytes.Equal(n.key(i), e.Key) {
			i++
		}
		if !e.Delete {
			if err := r.add(e.Key, e.Value); err != nil {
				return err
			}
		}
	}
	for ; i < n.len(); i++ {
		if err := r.add(n.key(i), n.value(i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *rewriter) add(key, value []byte) error {
	if r.ck.add(key, value) {
		return r.flush()
	}
	return nil
}

// flush ends the current chunk, if it has entries.
func (r *rewriter) flush() error {
	if r.ck.n == 0 {
		return nil
	}
	key, err := r.linkKey()
	if err != nil {
		return err
	}
	h, data := r.ck.chunk()
	r.made = append(r.made, Edit{Key: key, Value: appendLink(nil, h, r.ck.count)})
	r.before = bytes.Clone(r.ck.last())
	r.ck.reset()
	return r.a.w.write(key, h, data, true)
}

// linkKey returns the key of the link to the current chunk. The key before the first chunk of a
// stretch is seldom needed, and then read from the old map.
func (r *rewriter) linkKey() ([]byte, error) {
	first, before := false, r.before
	if !r.begun() && r.ck.level == 0 {
		n, _ := r.start.at()
		if bytes.Equal(r.ck.first(), n.key(0)) {
			return r.start.lower(), nil
		}
		there, err := r.start.prevChunk()
		if err != nil {
			return nil, err
		}
		r.c.reads += r.start.reads
		n, _ = r.start.at()
		first, before = !there, n.last()
	}
	return bytes.Clone(r.ck.linkKey(first, before)), nil
}

// appendChanges appends the edits that turn the old links into the new ones.
func appendChanges(edits, olds, news []Edit) []Edit {
	for len(olds) > 0 || len(news) > 0 {
		order := -1
		switch {
		case len(olds) == 0:
			order = 1
		case len(news) > 0:
			order = bytes.Compare(olds[0].Key, news[0].Key)
		}
		switch {
		case order < 0:
			edits = append(edits, Edit{Key: olds[0].Key, Delete: true})
		case order > 0 || !bytes.Equal(olds[0].Value, news[0].Value):
			edits = append(edits, news[0])
		}
		if order <= 0 {
			olds = olds[1:]
		}
		if order >= 0 {
			news = news[1:]
		}
	}
	return edits
}
