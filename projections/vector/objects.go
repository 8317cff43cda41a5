package vector

import (
	"context"
	"encoding/binary"
	"math"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// objectShard is the state of one partition of agents' events: the passages of objects. doc.go has
// the layout.
type objectShard struct {
	home  // made is guarded by write
	links *linker

	// write is held while rows are added, sealed or saved. It guards the fields below. Rows and
	// runs are numbered over the shard: those of steps first, then the tail's.
	write     sync.Mutex
	embedders []string
	touched   []*objectSpace // those with rows that are not yet published
	table     keyTable       // the rows of steps
	events    keyTable       // the events of steps
	tail      *objectTail    // what came after the last step
	prev      *links         // of each run: the previous one of the same row
	base      int64          // the offset at which the tail begins
	saved     int64          // the value of Next that is durable on disk; -1 if none is

	// mu makes the view, and with it what readers see, change in one step. It is locked after write
	// and held briefly, never during I/O. The holder of write may read the fields that mu guards
	// without locking it.
	mu     sync.RWMutex
	view   objectView
	spaces []*objectSpace      // in the order in which the log named them
	number map[spaceKey]uint32 // the number of each space
}

// objectView is a state of the shard. A copy of it does not change.
type objectView struct {
	tp        schemas.TopicPartition
	next      int64
	embedders []string
	steps     []*objectStep
	events    uint32 // events in steps; so are runs and rows
	runs      uint32
	rows      uint32
	tail      objectColumns
}

func newObjectShard(tp schemas.TopicPartition, dir string, opts *Options, l *linker) *objectShard {
	s := &objectShard{
		home: home{tp: tp, dir: dir, opts: opts}, links: l,
		tail: newObjectTail(), prev: newLinks(), saved: -1, number: map[spaceKey]uint32{},
	}
	s.view.tp = tp
	s.publish(0)
	return s
}

// ofObjects reports whether a partition has agents' events.
func ofObjects(tp schemas.TopicPartition) bool {
	return tp.Topic[strings.LastIndexByte(tp.Topic, '.')+1:] == schemas.TopicAgents
}

func (s *objectShard) snapshot() objectView {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.view
}

// publish makes the current state of the shard visible to readers.
func (s *objectShard) publish(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sp := range s.touched {
		sp.seen, sp.touched = sp.tail, false
	}
	s.touched = s.touched[:0]
	s.view.next, s.view.embedders, s.view.tail = next, s.embedders, s.tail.objectColumns
}

// passage is a part of an object that has an embedding.
type passage struct {
	offset   int64
	index    uint32 // of the object in its event
	part     uint32
	key      uint64
	audience schemas.AudienceID
	vec      []float32
}

func (s *objectShard) apply(ctx context.Context, b schemas.Batch) error {
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
	s.publish(b.Next)
	s.links.pace.took(len(passages))
	return nil
}

// addAll adds the batch's new events, to which passages belong, in order.
func (s *objectShard) addAll(b schemas.Batch, passages []passage, next int64) error {
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
			return schemas.Fatalf("vector: %s has %d passages of objects, more than can be numbered", s.tp, s.view.runs)
		}
		for i := range of {
			s.add(s.space(spaceKey{of[i].audience, s.embedder(r.GetObjects().Embedder)}), &of[i])
		}
		s.tail.ids[id] = struct{}{}
		s.tail.id, s.tail.at = append(s.tail.id, id), append(s.tail.at, at)
		if s.full() {
			s.publish(at + 1)
			if err := s.sealFull(); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds one passage: a run of the row with its vector, which is created if the space has none.
func (s *objectShard) add(sp *objectSpace, p *passage) {
	t, run := s.tail, s.view.runs+uint32(len(s.tail.offset))
	row, known := s.find(sp.number, p.key, p.vec)
	if !known {
		row = s.view.rows + t.addRow(sp.number, p, uint32(len(t.offset)))
		sp.tail = append(sp.tail, row-s.view.rows)
		if !sp.touched {
			sp.touched = true
			s.touched = append(s.touched, sp)
		}
	}
	t.offset, t.index = append(t.offset, p.offset), append(t.index, p.index)
	t.part, t.row = append(t.part, p.part), append(t.row, row)
	head := s.view.newest(row, &t.objectColumns)
	s.prev.append(head.Load()) // before the head refers to the new run
	head.Store(run)
}

// find returns the row of a vector in a space.
func (s *objectShard) find(space uint32, key uint64, vec []float32) (uint32, bool) {
	t := s.tail
	if row, ok := t.table.find(key, func(row uint32) bool {
		return t.key[row] == key && t.space[row] == space && equalBits(t.rows.Vector(row), vec)
	}); ok {
		return s.view.rows + row, true
	}
	return s.table.find(key, func(row uint32) bool {
		st, at := s.view.step(row)
		return st.key[at] == key && st.spaceOf(at) == space && equalBits(st.vector(at), vec)
	})
}

// space returns the space of a key and creates it if there is none.
func (s *objectShard) space(key spaceKey) *objectSpace {
	if n, ok := s.number[key]; ok {
		return s.spaces[n]
	}
	sp := newObjectSpace(uint32(len(s.spaces)), key)
	s.mu.Lock()
	s.spaces = append(s.spaces, sp)
	s.number[key] = sp.number
	s.mu.Unlock()
	return sp
}

// embedder returns the number of an embedder's name and assigns one if it has none.
func (s *objectShard) embedder(name string) uint32 {
	for i, e := range s.embedders {
		if e == name {
			return uint32(i)
		}
	}
	s.embedders = append(s.embedders, strings.Clone(name)) // the record's memory must not be kept
	return uint32(len(s.embedders) - 1)
}

// known reports whether the shard has the event already.
func (s *objectShard) known(id schemas.EventID) bool {
	if _, ok := s.tail.ids[id]; ok {
		return true
	}
	_, ok := s.events.find(xxh3.Hash(id[:]), func(n uint32) bool { return s.view.event(n) == id })
	return ok
}

// checkBatch rejects a batch that cannot be applied before any of it is. It returns the passages of
// the records from next on, in order.
func (s *objectShard) checkBatch(b schemas.Batch, next int64) ([]passage, error) {
	var all []passage
	last := int64(-1)
	for _, r := range b.Records {
		at := schemas.PositionOf(r.GetOrigin())
		if at.TP() != b.TP() || at.Offset <= last || at.Offset >= b.Next {
			return nil, schemas.Fatalf("vector: record %s in a batch of %s up to %d, after offset %d", at, b.TP(), b.Next, last)
		}
		last = at.Offset
		if at.Offset < next || r.GetObjects() == nil {
			continue
		}
		n := len(all)
		var err error
		if all, err = appendPassages(all, at, r.GetObjects()); err != nil {
			return nil, err
		}
		if len(all) == n {
			continue
		}
		if id, err := schemas.EventIDFromBytes(r.EventId); err != nil || id.IsZero() {
			return nil, projections.Poison(at, "event id %x: want 16 bytes, not all zero", r.EventId)
		}
	}
	return all, nil
}

// appendPassages appends the passages of one event.
func appendPassages(all []passage, at schemas.Position, b *recountv1.ObjectBatch) ([]passage, error) {
	if len(b.Embedder) > maxEmbedder {
		return nil, projections.Poison(at, "embedder: a name of %d bytes, at most %d can be stored", len(b.Embedder), maxEmbedder)
	}
	seed := xxh3.HashString(b.Embedder)
	for i, o := range b.Objects {
		var of schemas.AudienceID
		for j, part := range o.Parts {
			if len(part.Embedding) == 0 {
				continue
			}
			if err := check(part.Embedding); err != nil {
				return nil, projections.Poison(at, "object %d, part %d: %w", i, j, err)
			}
			if of == (schemas.AudienceID{}) {
				of = schemas.AudienceOf(o.Tenant, o.Workspace, o.Session, o.Agent, o.Visibility).ID()
			}
			all = append(all, passage{
				offset: at.Offset, index: uint32(i), part: uint32(j), audience: of, vec: part.Embedding,
				key: xxh3.HashSeed(sealed.BytesOf(part.Embedding), seed^binary.LittleEndian.Uint64(of[:])),
			})
		}
	}
	return all, nil
}
