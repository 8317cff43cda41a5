package flat

import (
	"math/bits"
	"slices"
)

// maxLevel bounds a row's level for any M.
const maxLevel = 30

// level returns the highest layer that a row is on: the number of trailing zeros of a hash of its
// number, written in base m. So one row in m is on layer 1 and one in m×m on layer 2, the same rows
// in every run.
func level(row uint32, m int) int {
	// The finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
	// generators, 2014).
	h := uint64(row) + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	h ^= h >> 31
	n := 0
	for h%uint64(m) == 0 && n < maxLevel {
		h, n = h/uint64(m), n+1
	}
	return n
}

// graph is the memory of the links at one moment. The writer publishes a new one when it needs more
// memory; the lists themselves change in place.
type graph struct {
	base  lists      // layer 0: list r belongs to row r
	upper lists      // layer l > 0 of row r is list start(r)+l-1
	start [][]uint32 // perBlock each; set only for rows of level 1 and more
	chain [][]uint32 // perBlock each; see duplicates.go
}

// list returns the lists, and the index in them, that hold the links of a row on a layer.
func (g *graph) list(row uint32, layer int) (*lists, uint32) {
	if layer == 0 {
		return &g.base, row
	}
	return &g.upper, g.start[row/perBlock][row%perBlock] + uint32(layer-1)
}

// with returns the graph with memory for rows up to row and upper lists below top.
func (g *graph) with(row, top uint32) *graph {
	n := *g
	for int(row/perBlock) >= len(n.base.slots) {
		n.base = n.base.with()
		n.start = append(n.start[:len(n.start):len(n.start)], make([]uint32, perBlock))
		n.chain = append(n.chain[:len(n.chain):len(n.chain)], slices.Repeat([]uint32{none}, perBlock))
	}
	for int(top) > len(n.upper.slots)*perBlock {
		n.upper = n.upper.with()
	}
	return &n
}

// has reports whether there is memory for rows up to row and upper lists below top.
func (g *graph) has(row, top uint32) bool {
	return int(row/perBlock) < len(g.base.slots) && int(top) <= len(g.upper.slots)*perBlock
}

// entry is the row at which walks begin, and its level.
type entry struct {
	row   uint32
	level int
}

func (e entry) pack() uint64     { return uint64(e.level)<<32 | uint64(e.row) }
func unpackEntry(v uint64) entry { return entry{row: uint32(v), level: int(v >> 32)} }
func stampsFor(n uint32) int     { return 1 << bits.Len32(n|1023) }
