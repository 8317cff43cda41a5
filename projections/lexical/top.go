package lexical

import (
	"cmp"
	"slices"
)

// found is a hit in the making; terms has a bit for each of the query's.
type found struct {
	shard int // in search.shards, which are in order
	// partition is an object's. Of two partitions' objects neither is the newer by its
	// offset, which counts also what others appended.
	partition int
	offset    int64
	score     points
	terms     uint64
	hash      uint64
	// index is an object's in its event, in objectSearch.shards[at]; part is its best.
	index, part, at uint32
}

// order is negative where a is the better hit: by score, then newer, then by
// shard, then by an event's order; objects by their partitions before that.
func order(a, b found) int {
	switch {
	case a.score != b.score:
		return cmp.Compare(b.score, a.score)
	case a.partition != b.partition:
		return cmp.Compare(a.partition, b.partition)
	case a.offset != b.offset:
		return cmp.Compare(b.offset, a.offset)
	}
	return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.index, b.index))
}

// top holds the best hits so far, best first; of one content hash one, where
// distinct: then held has them by hash.
type top struct {
	k        int
	distinct bool
	least    points // that a hit has; at least 1
	best     []found
	held     map[uint64]found
}

func newTop(k int, distinct bool) top {
	room := min(k, enoughWaiting)
	return top{k: k, distinct: distinct, least: 1, best: make([]found, 0, room+1), held: make(map[uint64]found, room)}
}

// reaches reports whether a document with this score could be a hit. Of one whose
// score is that of the worst hit, its runs decide.
func (t *top) reaches(score points) bool { return score >= t.floor() }

// floor is the least score that a hit could have.
func (t *top) floor() points {
	if len(t.best) < t.k {
		return t.least
	}
	return t.best[len(t.best)-1].score
}

// takes reports whether a run is a better hit than the worst.
func (t *top) takes(h found) bool {
	return len(t.best) < t.k || order(h, t.best[len(t.best)-1]) < 0
}

// clear lets all hits go.
func (t *top) clear() {
	t.best = t.best[:0]
	clear(t.held)
}

// betters reports whether no better hit of its content hash is held.
func (t *top) betters(h found) bool {
	o, held := t.held[h.hash]
	return !held || order(h, o) < 0
}

// add takes a hit in, in the place of one of its content hash or of the worst.
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
