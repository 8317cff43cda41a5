package vector

import (
	"cmp"
	"math"
)

// scoredRow is a row that may be among the nearest.
type scoredRow struct {
	score float32
	part  uint32 // the index of its partition's search
	row   uint32 // its number in that shard
	first uint32 // its first run
}

// compare orders candidates: the highest score first, then by partition, then in the order of the
// log, wherever the rows are stored.
func (c scoredRow) compare(o scoredRow) int {
	switch {
	case c.score > o.score:
		return -1
	case c.score < o.score:
		return 1
	case c.part != o.part:
		return cmp.Compare(c.part, o.part)
	}
	return cmp.Compare(c.first, o.first)
}

// nearestRows keeps the best limit candidates: when full, a heap with the worst at its root.
type nearestRows struct {
	limit int
	list  []scoredRow
	floor float32 // candidates with a lower score are not kept
	cut   bool    // some candidates were left out
}

func (b *nearestRows) reset(limit int) {
	*b = nearestRows{limit: limit, list: b.list[:0], floor: float32(math.Inf(-1))}
}

// reaches reports whether a candidate with a score may be among the best.
func (b *nearestRows) reaches(score float32) bool {
	if score < b.floor {
		b.cut = true
		return false
	}
	return true
}

func (b *nearestRows) add(c scoredRow) {
	if len(b.list) < b.limit {
		if b.list = append(b.list, c); len(b.list) == b.limit {
			for i := b.limit/2 - 1; i >= 0; i-- {
				b.sink(i)
			}
			b.floor = b.list[0].score
		}
		return
	}
	b.cut = true
	if c.compare(b.list[0]) < 0 {
		b.list[0] = c
		b.sink(0)
		b.floor = b.list[0].score
	}
}

// sink moves the candidate at i down the heap until none below it is worse.
func (b *nearestRows) sink(i int) {
	for c := b.list[i]; ; {
		worst := 2*i + 1
		if worst >= len(b.list) {
			return
		}
		if next := worst + 1; next < len(b.list) && b.list[next].compare(b.list[worst]) > 0 {
			worst = next
		}
		if b.list[worst].compare(c) <= 0 {
			return
		}
		b.list[i], b.list[worst] = b.list[worst], c
		i = worst
	}
}
