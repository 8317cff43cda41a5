package vector

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// source is what differs between the partitions of commands and those of agents' events.
type source struct {
	// passages appends the passages of a record at a position.
	passages func(all []passage, at schemas.Position, r *recountv1.Record) ([]passage, error)
	// linked is true if rows are linked as they are added and have similar earlier rows stored with
	// them. Otherwise the linker links large spaces, and smaller ones are scanned.
	linked bool
}

// passage is a text that has an embedding: a command, or a part of an object. It is a run of the row
// with that embedding.
type passage struct {
	offset   int64  // of its event
	index    uint32 // of the object in its event
	part     uint32 // of the object
	audience schemas.AudienceID
	embedder string
	content  uint64 // passages of two contents are not of one row
	key      uint64 // a hash of all that makes the row
	vec      []float32
}

// shard is the state of one partition. doc.go has the layout.
type shard struct {
	*source
	home  // guarded by write
	links *linker

	// write is held while rows are added, sealed or saved. It guards the fields below. Rows and
	// runs are numbered over the shard: those of steps first, then the tail's.
	write     sync.Mutex
	embedders []string
	changed   []*space // those with runs that are not yet published
	table     keyTable // the rows of steps
	events    keyTable // the events of steps
	tail      *tail    // what came after the last step
	chains    *chains  // of the runs of each row
	base      int64    // the offset at which the tail begins
	saved     int64    // the value of Next that is durable on disk; -1 if none is
	kept      int      // the tail's runs that the checkpoint on disk has

	// mu makes the view, and with it what readers see, change in one step. It is locked after write
	// and held briefly, never during I/O. The holder of write may read the fields that mu guards
	// without locking it.
	mu     sync.RWMutex
	view   view
	spaces []*space            // in the order in which the log named them
	number map[spaceKey]uint32 // the number of each space
}

// columns holds the runs and rows of the tail. They are only appended to, so that a copy of the
// struct is a snapshot, except for the newest run of each row.
type columns struct {
	// Of each run: the offset of its event, the index of the object in the event and of the part in
	// the object, and its row in the shard.
	offset []int64
	index  []uint32
	part   []uint32
	row    []uint32
	// Of each row: its space; its first run, counted from the tail's first; the newest one, counted
	// over the shard; its vector.
	space   []uint32
	first   []uint32
	newest  heads
	vectors [][]float32
	codes   *rows.Rows // of objects
	// Of each row of commands: see step.
	content []uint64
	like    []uint32
	cosines []float32
}

// tail is what came since the last sealed step.
type tail struct {
	columns
	ids   map[schemas.EventID]struct{}
	id    []schemas.EventID
	at    []int64  // the offset of each id
	key   []uint64 // the key of each row
	table keyTable
}

func newTail() *tail {
	return &tail{ids: map[schemas.EventID]struct{}{}, columns: columns{codes: rows.New(dim)}}
}

func newShard(of *source, h home, l *linker) *shard {
	s := &shard{source: of, home: h, links: l, tail: newTail(), chains: newChains(), saved: -1, number: map[spaceKey]uint32{}}
	s.view.tp, s.view.sealRuns = h.tp, uint32(h.opts.SealRows)
	s.publish(0)
	return s
}

func (s *shard) snapshot() view {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.view
}

// publish makes the current state of the shard visible to readers.
func (s *shard) publish(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sp := range s.changed {
		sp.seen.tail, sp.seen.runs, sp.changed = sp.tail, sp.runs, false
		if s.linked {
			sp.seen.named = sp.similar.named
		}
	}
	s.changed = s.changed[:0]
	s.view.next, s.view.embedders, s.view.tail = next, s.embedders, s.tail.columns
}

func (s *shard) apply(ctx context.Context, b schemas.Batch) error {
	s.write.Lock()
	defer s.write.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	next := s.view.next // only the holder of write changes it
	if b.Next <= next {
		return nil
	}
	passages, err := s.checkBatch(b, next)
	if err != nil {
		return err
	}
	if err := s.addAll(b, passages, next); err != nil {
		return err
	}
	if err := s.damage.found(); err != nil {
		return err // similar rows were compared with it
	}
	s.publish(b.Next)
	s.links.throttle.took(len(passages))
	return nil
}

// addAll adds the batch's new events, to which passages belong, in order.
func (s *shard) addAll(b schemas.Batch, passages []passage, next int64) error {
	if err := s.sealFull(); err != nil {
		return err // an earlier attempt to seal failed, and this one too
	}
	for _, r := range b.Records {
		at := r.Origin.Offset
		n := 0
		for n < len(passages) && passages[n].offset == at {
			n++
		}
		of := passages[:n]
		passages = passages[n:]
		if n == 0 || at < next {
			continue
		}
		id, err := schemas.SeenAs(r) // events of two tenants with the same id are distinct
		if err != nil {
			return err
		}
		if s.known(id) {
			continue
		}
		if uint64(s.view.runs)+uint64(len(s.tail.offset))+uint64(n) > math.MaxUint32-1 {
			s.publish(at)
			return schemas.Fatalf("vector: %s has %d runs, more than can be numbered", s.tp, s.view.runs)
		}
		for i := range of {
			if err := s.add(s.space(spaceKey{of[i].audience, s.embedder(of[i].embedder)}), &of[i]); err != nil {
				return schemas.Fatalf("vector: at %s: %w", schemas.PositionOf(r.Origin), err)
			}
		}
		s.tail.addEvent(id, at)
		if s.full() {
			s.publish(at + 1)
			if err := s.sealFull(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tail) addEvent(id schemas.EventID, at int64) {
	t.ids[id] = struct{}{}
	t.id, t.at = append(t.id, id), append(t.at, at)
}

// add adds one passage: a run of its row, which is created if the space has none.
func (s *shard) add(sp *space, p *passage) error {
	row, known := s.find(sp, p)
	if !known {
		p.vec = slices.Clone(p.vec) // the record's memory must not be kept
		var like [SimilarK]index.Neighbour
		if s.linked {
			var err error
			if like, err = s.linkRow(sp, p); err != nil {
				return err
			}
		}
		row = s.addRow(sp, p, like)
	}
	s.addRun(sp, p, row)
	return nil
}

// addRow adds a row whose first run is the next one.
func (s *shard) addRow(sp *space, p *passage, like [SimilarK]index.Neighbour) uint32 {
	t := s.tail
	row := uint32(len(t.key))
	t.key, t.space, t.first = append(t.key, p.key), append(t.space, sp.number), append(t.first, uint32(len(t.offset)))
	t.vectors = append(t.vectors, p.vec)
	t.newest.grow(row)
	if s.linked {
		t.content = append(t.content, p.content)
		local := uint32(sp.rows())
		for _, x := range like {
			if x.Row >= local {
				x.Row = none // a checkpoint that no log leads to
			}
			t.like, t.cosines = append(t.like, x.Row), append(t.cosines, x.Score)
		}
		sp.similar.add(local, like)
	} else {
		t.codes.Write(p.vec)
		t.codes.Publish()
	}
	t.table.insert(row, func(row uint32) uint64 { return t.key[row] })
	sp.tail = append(sp.tail, row)
	return s.view.rows + row
}

// addRun adds a run of a row.
func (s *shard) addRun(sp *space, p *passage, row uint32) {
	t, run := s.tail, s.view.runs+uint32(len(s.tail.offset))
	t.offset, t.index = append(t.offset, p.offset), append(t.index, p.index)
	t.part, t.row = append(t.part, p.part), append(t.row, row)
	head := s.view.newest(row, &t.columns)
	s.chains.add(head.Load()) // before the head refers to the new run
	head.Store(run)
	s.count(sp)
}

// count counts a run of a space.
func (s *shard) count(sp *space) {
	sp.runs++
	if !sp.changed {
		sp.changed = true
		s.changed = append(s.changed, sp)
	}
}

// find returns the row of a passage in a space. The key of a command covers its vector and content
// and is compared with those of the same content, so the vectors themselves are compared only for
// objects.
func (s *shard) find(sp *space, p *passage) (uint32, bool) {
	t := s.tail
	if row, ok := t.table.find(p.key, func(row uint32) bool {
		return t.key[row] == p.key && t.space[row] == sp.number && s.same(p, s.view.rows+row)
	}); ok {
		return s.view.rows + row, true
	}
	return s.table.find(p.key, func(row uint32) bool {
		st, at := s.view.step(row)
		return st.key[at] == p.key && st.spaceOf(at) == sp.number && s.same(p, row)
	})
}

// same reports whether a passage is of a row that has its key.
func (s *shard) same(p *passage, row uint32) bool {
	if s.linked {
		return s.view.contentIn(row, &s.tail.columns) == p.content
	}
	if row >= s.view.rows {
		return equalBits(s.tail.vectors[row-s.view.rows], p.vec)
	}
	return equalBits(s.view.vector(row), p.vec)
}

// space returns the space of a key and creates it if there is none.
func (s *shard) space(key spaceKey) *space {
	if n, ok := s.number[key]; ok {
		return s.spaces[n]
	}
	sp := newSpace(uint32(len(s.spaces)), key)
	if s.linked {
		sp.similar = &similar{prev: &list[uint32]{}}
		sp.setIndex(s.opts.newIndex(sp.vector))
	}
	s.mu.Lock()
	s.spaces = append(s.spaces, sp)
	s.number[key] = sp.number
	s.mu.Unlock()
	return sp
}

// embedder returns the number of an embedder's name and assigns one if it has none.
func (s *shard) embedder(name string) uint32 {
	for i, e := range s.embedders {
		if e == name {
			return uint32(i)
		}
	}
	s.embedders = append(s.embedders, strings.Clone(name)) // the record's memory must not be kept
	return uint32(len(s.embedders) - 1)
}

// known reports whether the shard has the event already.
func (s *shard) known(id schemas.EventID) bool {
	if _, ok := s.tail.ids[id]; ok {
		return true
	}
	_, ok := s.events.find(xxh3.Hash(id[:]), func(n uint32) bool { return s.view.event(n) == id })
	return ok
}

// maxEmbedder is the maximum length of an embedder's name, which files repeat.
const maxEmbedder = 255

// checkBatch rejects a batch that cannot be applied before any of it is. It returns the passages of
// the records from next on, in order.
func (s *shard) checkBatch(b schemas.Batch, next int64) ([]passage, error) {
	var all []passage
	last := int64(-1)
	for _, r := range b.Records {
		at := schemas.PositionOf(r.GetOrigin())
		if at.TP() != b.TP() || at.Offset <= last || at.Offset >= b.Next {
			return nil, schemas.Fatalf("vector: record %s in a batch of %s up to %d, after offset %d", at, b.TP(), b.Next, last)
		}
		last = at.Offset
		if at.Offset < next {
			continue
		}
		n := len(all)
		var err error
		if all, err = s.passages(all, at, r); err != nil {
			return nil, err
		}
		if len(all) == n {
			continue
		}
		if id, err := schemas.EventIDFromBytes(r.EventId); err != nil || id.IsZero() {
			return nil, projections.Poison(at, "event id %x: want 16 bytes, not all zero", r.EventId)
		}
		if name := all[n].embedder; len(name) > maxEmbedder {
			return nil, projections.Poison(at, "embedder: a name of %d bytes, at most %d can be stored", len(name), maxEmbedder)
		}
	}
	return all, nil
}

// check returns an error if a vector cannot be indexed.
func check(vec []float32) error {
	if err := index.Check(vec, dim); err != nil {
		return fmt.Errorf("embedding: %w", err)
	}
	return nil
}
