package lexical

import (
	"cmp"
	"slices"

	"github.com/recountdb/recount/projections/lexical/bm25"
)

// found is a potential hit.
type found struct {
	score bm25.Points
	// partition is that of an object. Of objects in different partitions neither is newer by its
	// offset, since offsets also count events that other clients appended.
	partition int
	offset    int64
	// collection is the index of its collection in the request. For commands, these are in the order
	// of partitions.
	collection int
	hash       uint64
	// index is an object's index in its event, and part its best part.
	index, part uint32
}

// order returns a negative number if a is the better hit: by score, then newer, then by partition,
// then by the order within an event. Objects are ordered by partition before the offset.
func order(a, b found) int {
	switch {
	case a.score != b.score:
		return cmp.Compare(b.score, a.score)
	case a.partition != b.partition:
		return cmp.Compare(a.partition, b.partition)
	case a.offset != b.offset:
		return cmp.Compare(b.offset, a.offset)
	}
	return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.collection, b.collection))
}

// top holds the best hits so far, best first. With distinct it holds one for each content hash, and
// held has them by hash.
type top struct {
	k        int
	distinct bool
	best     []found
	held     map[uint64]found
}

func newTop(k int, distinct bool) top {
	room := min(k, 1<<10)
	return top{k: k, distinct: distinct, best: make([]found, 0, room+1), held: make(map[uint64]found, room)}
}

// Floor returns the minimum score that a hit could have. A document whose score equals that of the
// worst hit may still be one: its offset decides.
func (t *top) Floor() bm25.Points {
	if len(t.best) < t.k {
		return 1
	}
	return t.best[len(t.best)-1].score
}

// takes reports whether a hit is better than the worst one.
func (t *top) takes(h found) bool {
	return len(t.best) < t.k || order(h, t.best[len(t.best)-1]) < 0
}

// betters reports whether no better hit with its content hash is held.
func (t *top) betters(h found) bool {
	o, held := t.held[h.hash]
	return !held || order(h, o) < 0
}

// add adds a hit, which replaces one with the same content hash or the worst.
func (t *top) add(h found) {
	o, held := t.held[h.hash]
	switch {
	case held:
		i, _ := slices.BinarySearchFunc(t.best, o, order)
		t.best = slices.Delete(t.best, i, i+1)
	case len(t.best) == t.k:
		delete(t.held, t.best[t.k-1].hash)
		t.best = t.best[:t.k-1]
	}
	i, _ := slices.BinarySearchFunc(t.best, h, order)
	t.best = slices.Insert(t.best, i, h)
	if t.distinct {
		t.held[h.hash] = h
	}
}
