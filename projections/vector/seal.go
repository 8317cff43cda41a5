package vector

import (
	"fmt"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
)

// full reports whether a step must be sealed. It depends on the records alone.
func (s *shard) full() bool { return len(s.tail.offset) >= s.opts.SealRows }

// sealFull makes the tail a step if it is full. Until it returns nil nothing has changed, except
// perhaps a file on disk that the next attempt replaces with the same bytes or the next Open loads
// as the step that it is: the rename advances the state.
func (s *shard) sealFull() error {
	if !s.full() {
		return nil
	}
	seq := len(s.view.steps)
	name := stepName(seq)
	if err := s.store(name, true, s.header(kindStep, s.tail.at[len(s.tail.at)-1]+1), s.stepRegions(kindStep)); err != nil {
		return fmt.Errorf("seal step %d of %s: %w", seq, s.tp, err)
	}
	st, err := s.openStep(name, seq)
	if err != nil {
		return schemas.Fatalf("vector: what was just sealed cannot be read: %w", err)
	}
	s.useTail(st)
	s.remove(tailName) // the step has replaced it; if it cannot be removed, it is ignored
	s.linkSealed(st)
	return nil
}

func (s *shard) header(kind fileKind, next int64) header {
	return header{kind: kind, partition: s.tp.Partition, sequence: uint64(len(s.view.steps)), base: s.base, next: next}
}

// useTail replaces the tail by the step that was made of it.
func (s *shard) useTail(st *step) {
	t := s.tail
	st.newest = make([]atomic.Uint32, len(st.key))
	for i, row := range t.row {
		if row >= s.view.rows {
			st.newest[st.row[i]-st.firstRow].Store(t.newest.at(row - s.view.rows).Load())
		}
	}
	s.tail = newTail()
	s.useStep(st)
}

// useStep adds a step, whose newest runs are known, to the state and shows it to readers.
func (s *shard) useStep(st *step) {
	steps := append(s.view.steps, st) // readers keep their length of the slice
	after := s.view
	after.steps = steps
	for i := range st.key {
		s.table.insert(st.firstRow+uint32(i), func(row uint32) uint64 {
			st, at := after.step(row)
			return st.key[at]
		})
	}
	for i := range st.id {
		s.events.insert(st.firstEvent+uint32(i), func(n uint32) uint64 {
			id := after.event(n)
			return xxh3.Hash(id[:])
		})
	}
	s.base, s.saved, s.kept = st.next, st.next, 0
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range st.groups {
		s.spaces[g.space].extend(st, g.start, g.n)
	}
	s.view.steps, s.view.tail, s.view.embedders = steps, s.tail.columns, s.embedders
	s.view.next = max(s.view.next, st.next)
	s.view.events += uint32(len(st.id))
	s.view.runs += uint32(len(st.offset))
	s.view.rows += uint32(len(st.key))
}

// fewRuns is the number of new runs for which Close does not write a checkpoint again: the next Open
// reads so few from the log sooner.
const fewRuns = 32

// flush saves the tail durably, and the links of rows that are linked as they are added, unless a
// checkpoint lacks fewer than few runs.
func (s *shard) flush(few int) error {
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.sealFull(); err != nil { // a checkpoint of a full tail would be a state that no log leads to
		return err
	}
	if s.kept > 0 && len(s.tail.offset)-s.kept < few {
		return nil
	}
	if next := s.view.next; s.saved != next {
		if err := s.store(tailName, true, s.header(kindTail, next), s.stepRegions(kindTail)); err != nil {
			return err
		}
		s.saved, s.kept = next, len(s.tail.offset)
	}
	if !s.linked {
		return nil
	}
	// A crash before a file of links leaves an older one, and the next Open links the rest.
	for _, sp := range s.spaces {
		if err := s.storeGraph(sp, 1); err != nil {
			return err
		}
	}
	return nil
}
