package vector

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
)

const (
	dim = schemas.EmbeddingDim
	// SimilarK is how many similar earlier rows are stored with a row.
	SimilarK = 4
	// asked is how many neighbours of a new row are requested, since some may be of its own
	// content.
	asked = 2 * SimilarK

	noRow = ^uint32(0)
	noRun = ^uint32(0)
)

// space holds the vectors that one embedder made of a shard's intents. Only vectors of one space
// are compared.
//
// A row is a distinct content (Intent.content_hash) with its vector; a run is one intent of it.
// Both are numbered in log order.
type space struct {
	embedder string
	backend  backend
	index    index.Index
	table    rowTable
	columns
	chunks []*file // the index's full chunks, sealed
	sealed int     // rows in sealed steps
}

func newSpace(embedder string, b backend, x index.Index) *space {
	return &space{embedder: embedder, backend: b, index: x, columns: columns{prev: newLinks(), simPrev: newLinks(), miles: newLinks()}}
}

// columns holds the rows and runs. They are only appended to, so a copy of the struct is a
// snapshot. Only the heads of chains change. A reader that loads a head may find a run that came
// after its snapshot; it follows the chain, newest to oldest, until it reaches a run of the
// snapshot.
type columns struct {
	// Of each row: its key, its content, and the SimilarK rows most similar to it with their scores
	// (noRow if there are fewer).
	key     []uint64
	content []uint64
	simRow  []uint32
	simCos  []float32
	// Of each entry of simRow: the previous one that names the same row.
	simPrev *links
	// Of each run: its offset, its row, the previous run of the same row.
	offset []int64
	row    []uint32
	prev   *links
	// Of each row: its newest run and how many it has; the newest entry of simRow that names it.
	newest heads
	named  heads
	// Every mileRuns-th run of a row is a milestone. Of each milestone: the run, and the previous
	// milestone of the same row. Of each row: its newest milestone and how many it has. See near.
	miles *links
	mile  heads
}

// mileRuns bounds the walk along a row's runs, since a content may be run a million times.
const mileRuns = 128

// heads is a value that changes for each row, in blocks that do not move.
type heads []*[block]atomic.Uint64

const block = 4096

func (h *heads) grow(row int) {
	if row/block == len(*h) {
		*h = append(*h, new([block]atomic.Uint64))
	}
}

func (h heads) at(row uint32) *atomic.Uint64 { return &h[row/block][row%block] }

// links are the elements of chains: each has the previous one. They are in blocks that do not move,
// and the table of blocks is published before any head that refers to an element, so that a reader
// of the head can read the element.
type links struct {
	n     int // used by the writer
	table atomic.Pointer[[]*[block]uint32]
}

func newLinks() *links {
	l := &links{}
	l.table.Store(new([]*[block]uint32))
	return l
}

func (l *links) append(x uint32) {
	t := *l.table.Load()
	if l.n/block == len(t) {
		grown := append(slices.Clip(t), new([block]uint32)) // readers keep the old table
		l.table.Store(&grown)
		t = grown
	}
	t[l.n/block][l.n%block] = x
	l.n++
}

func (l *links) at(i uint32) uint32 { return (*l.table.Load())[i/block][i%block] }

// chain packs the last element of a chain and its length into a head.
func chain(last uint32, length int) uint64 { return uint64(last)<<32 | uint64(uint32(length)) }

func unchain(head uint64) (last uint32, length int) { return uint32(head >> 32), int(uint32(head)) }

// rowKey returns the key of a row. A content that was embedded with two stated intents has two
// rows: each can be found by what was stated.
func rowKey(content uint64, vec []float32) uint64 {
	return xxh3.HashSeed(sealed.BytesOf(vec), content)
}

// has reports whether there is such a row.
func (s *space) has(key, content uint64) bool {
	_, known := s.table.find(s.key, s.content, key, content)
	return known
}

// add adds one run and reports whether it made a new row. An error comes from the index; nothing
// has changed then.
func (s *space) add(key, content uint64, vec []float32, offset int64) (row uint32, isNew bool, err error) {
	row, known := s.table.find(s.key, s.content, key, content)
	if !known {
		near, err := s.backend.add(s.index, vec, asked)
		if err != nil {
			return 0, false, err
		}
		row = uint32(len(s.key))
		if s.index.Len() != len(s.key)+1 {
			return 0, false, schemas.Fatalf("vector: the index of %s has %d rows, want %d", s.embedder, s.index.Len(), len(s.key)+1)
		}
		s.appendRow(key, content, s.closestOthers(content, near))
	}
	s.appendRun(offset, row)
	return row, !known, nil
}

// closestOthers returns the best of a new row's neighbours that are of another content.
func (s *space) closestOthers(content uint64, near []index.Neighbour) (like [SimilarK]index.Neighbour) {
	n := 0
	for _, x := range near {
		if n < SimilarK && s.content[x.Row] != content {
			like[n] = x
			n++
		}
	}
	for ; n < SimilarK; n++ {
		like[n].Row = noRow
	}
	return like
}

func (s *space) appendRow(key, content uint64, like [SimilarK]index.Neighbour) {
	row := uint32(len(s.key))
	s.key, s.content = append(s.key, key), append(s.content, content)
	s.newest.grow(int(row))
	s.named.grow(int(row))
	s.mile.grow(int(row))
	for _, x := range like {
		entry, prev := uint32(len(s.simRow)), noRow
		s.simRow, s.simCos = append(s.simRow, x.Row), append(s.simCos, x.Score)
		if x.Row == noRow {
			s.simPrev.append(noRow)
			continue
		}
		head := s.named.at(x.Row)
		last, n := unchain(head.Load())
		if n > 0 {
			prev = last
		}
		s.simPrev.append(prev)
		head.Store(chain(entry, n+1))
	}
	s.table.insert(s.key, row)
}

func (s *space) appendRun(offset int64, row uint32) {
	run := uint32(len(s.offset))
	head := s.newest.at(row)
	last, n := unchain(head.Load())
	if n == 0 {
		last = noRun
	}
	s.offset, s.row = append(s.offset, offset), append(s.row, row)
	s.prev.append(last)
	if (n+1)%mileRuns == 0 {
		mile := s.mile.at(row)
		at := uint32(s.miles.n)
		before, miles := unchain(mile.Load())
		s.miles.append(run)
		s.miles.append(before)
		mile.Store(chain(at, miles+1))
	}
	head.Store(chain(run, n+1))
}

// near returns where to begin the walk back along a row's runs to those below an offset: a run
// below the offset, or one of the mileRuns next above; and its number among the row's runs, from 1
// on. Runs added since the snapshot count as above.
func (c *columns) near(row uint32, below int64) (run uint32, n int) {
	run, n = unchain(c.newest.at(row).Load())
	if c.visible(run, below) {
		return run, n
	}
	at, miles := unchain(c.mile.at(row).Load())
	for ; miles > 0; miles-- {
		m := c.miles.at(at)
		if c.visible(m, below) {
			break
		}
		run, n = m, miles*mileRuns
		at = c.miles.at(at + 1)
	}
	return run, n
}

// check returns an error if a vector cannot be indexed.
func check(vec []float32) error {
	if err := index.Check(vec, dim); err != nil {
		return fmt.Errorf("embedding: %w", err)
	}
	return nil
}

// fullChunks returns how many chunks of the index will not change any more.
func (s *space) fullChunks() int { return s.index.Len() / rows.PerChunk }

// rowTable is a hash table that finds a row by its key, with open addressing. A used slot has the
// row's number plus one.
type rowTable struct {
	slots []uint32
	n     int
}

func (t *rowTable) find(keys, contents []uint64, key, content uint64) (uint32, bool) {
	if t.n == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := key & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if row := t.slots[i] - 1; keys[row] == key && contents[row] == content {
			return row, true
		}
	}
	return 0, false
}

// insert adds the last row of keys.
func (t *rowTable) insert(keys []uint64, row uint32) {
	if t.n*3 >= len(t.slots)*2 {
		t.slots = make([]uint32, max(64, 2*len(t.slots)))
		for r, key := range keys[:row] {
			t.put(key, uint32(r))
		}
	}
	t.put(keys[row], row)
	t.n++
}

func (t *rowTable) put(key uint64, row uint32) {
	mask := uint64(len(t.slots) - 1)
	i := key & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = row + 1
}
