package vector

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// shard is the state of one partition.
type shard struct {
	home // made is guarded by write

	// write is held while rows are added, sealed or saved. It guards the fields below.
	write  sync.Mutex
	spaces []*space // in the order in which the log named their embedders
	steps  []*file  // sealed steps, oldest first
	tail   tail     // what came after the last step
	base   int64    // the offset at which the tail begins
	saved  int64    // the value of Next that is durable on disk; -1 if none is
	since  int      // new rows since the last checkpoint

	// mu makes the view, and with it what readers see, change in one step. It is locked after write
	// and held for a copy only, never during I/O.
	mu   sync.RWMutex
	view view
}

// view is a state of the shard. A copy of it does not change.
type view struct {
	tp     schemas.TopicPartition
	spaces []spaceView
	next   int64
	sealed int // the number of steps
}

// spaceView is a space at one moment. A reader uses only the rows of its index that the columns
// have.
type spaceView struct {
	*space
	columns
	chunksSealed int
}

// tail is what came since the last sealed step: an entry for each run.
type tail struct {
	ids    map[schemas.EventID]struct{}
	id     []schemas.EventID
	offset []int64
	space  []uint32
	row    []uint32
}

func newTail() tail { return tail{ids: map[schemas.EventID]struct{}{}} }

func newShard(tp schemas.TopicPartition, dir string, opts *Options) *shard {
	s := &shard{home: home{tp: tp, dir: dir, opts: opts}, tail: newTail(), saved: -1}
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
	v := view{tp: s.tp, next: next, spaces: make([]spaceView, len(s.spaces)), sealed: len(s.steps)}
	for i, sp := range s.spaces {
		v.spaces[i] = spaceView{sp, sp.columns, len(sp.chunks)}
	}
	s.mu.Lock()
	s.view = v
	s.mu.Unlock()
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
	keys, err := s.checkBatch(b, next)
	if err != nil {
		return err
	}
	err = s.addAll(b, keys, &next)
	if err == nil {
		next = b.Next
	}
	s.publish(next)
	if err == nil && s.opts.CheckpointRows > 0 && s.since >= s.opts.CheckpointRows && !s.opts.paused.Load() {
		s.since = 0
		if err := s.save(false); err != nil {
			s.opts.Logger.Warn("vector: checkpoint not written", "projection", Name, "position", s.tp.String(), "err", err)
		}
	}
	return err
}

// addAll adds the batch's new intents, whose rows have these keys, and keeps next after the last.
func (s *shard) addAll(b schemas.Batch, keys []uint64, next *int64) error {
	if err := s.sealFull(); err != nil {
		return err // an earlier attempt to seal failed, and this one too
	}
	for i, r := range b.Records {
		in := embedded(r)
		if in == nil || r.Origin.Offset < *next {
			continue
		}
		id := schemas.EventID(r.EventId)
		known, err := s.known(id)
		if err == nil && !known {
			err = s.add(id, keys[i], in, r.Origin.Offset)
		}
		if err != nil {
			return fmt.Errorf("at %s: %w", schemas.PositionOf(r.Origin), err)
		}
		if known {
			continue
		}
		*next = r.Origin.Offset + 1
		if err := s.sealFull(); err != nil {
			return err
		}
	}
	return nil
}

func (s *shard) add(id schemas.EventID, key uint64, in *recountv1.Intent, offset int64) error {
	sp, err := s.space(in.Embedder)
	if err != nil {
		return err
	}
	row, isNew, err := s.spaces[sp].add(key, in.ContentHash, in.Embedding, offset)
	if err != nil {
		return err
	}
	if isNew {
		s.since++
	}
	t := &s.tail
	t.ids[id] = struct{}{}
	t.id, t.offset = append(t.id, id), append(t.offset, offset)
	t.space, t.row = append(t.space, uint32(sp)), append(t.row, row)
	return nil
}

// space returns the number of an embedder's space and creates the space if there is none.
func (s *shard) space(embedder string) (int, error) {
	if i := s.spaceOf(embedder); i >= 0 {
		return i, nil
	}
	b := backends[s.opts.Backend]
	x, err := b.make(s.opts.index())
	if err != nil {
		return 0, schemas.Fatalf("vector: make index: %w", err)
	}
	// The record's memory must not be kept.
	s.spaces = append(s.spaces, newSpace(strings.Clone(embedder), b, x))
	return len(s.spaces) - 1, nil
}

// spaceOf returns the number of an embedder's space, -1 if there is none.
func (s *shard) spaceOf(embedder string) int {
	return slices.IndexFunc(s.spaces, func(sp *space) bool { return sp.embedder == embedder })
}

// known reports whether the shard has the event already.
func (s *shard) known(id schemas.EventID) (bool, error) {
	if _, ok := s.tail.ids[id]; ok {
		return true, nil
	}
	for _, f := range slices.Backward(s.steps) {
		if f.hasID(id) {
			return true, nil
		}
	}
	return false, nil
}

// embedded returns the record's intent if it has an embedding, else nil.
func embedded(r *recountv1.Record) *recountv1.Intent {
	if in := r.GetIntent(); in != nil && len(in.Embedding) > 0 {
		return in
	}
	return nil
}

// maxEmbedder bounds an embedder's name, which each file repeats.
const maxEmbedder = 255

// checkBatch rejects a batch that cannot be applied before any of it is. It returns the keys of the
// rows of its records.
func (s *shard) checkBatch(b schemas.Batch, next int64) ([]uint64, error) {
	keys := make([]uint64, len(b.Records))
	last := int64(-1)
	for i, r := range b.Records {
		at := schemas.PositionOf(r.GetOrigin())
		if at.TP() != b.TP() || at.Offset <= last || at.Offset >= b.Next {
			return nil, schemas.Fatalf("vector: record %s in a batch of %s up to %d, after offset %d", at, b.TP(), b.Next, last)
		}
		last = at.Offset
		in := embedded(r)
		if in == nil || at.Offset < next {
			continue
		}
		if id, err := schemas.EventIDFromBytes(r.EventId); err != nil || id.IsZero() {
			return nil, projections.Poison(at, "event id %x: want 16 bytes, not all zero", r.EventId)
		}
		if len(in.Embedder) > maxEmbedder {
			return nil, projections.Poison(at, "embedder: a name of %d bytes, at most %d can be stored", len(in.Embedder), maxEmbedder)
		}
		keys[i] = rowKey(in.ContentHash, in.Embedding)
		if sp := s.spaceOf(in.Embedder); sp >= 0 && s.spaces[sp].has(keys[i], in.ContentHash) {
			continue // its vector was checked before
		}
		if err := check(in.Embedding); err != nil {
			return nil, projections.Poison(at, "%w", err)
		}
	}
	return keys, nil
}
