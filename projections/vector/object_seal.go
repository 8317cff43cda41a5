package vector

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

const objectsSuffix = ".objects.vec"

func objectsName(seq int) string { return fmt.Sprintf("%08d%s", seq, objectsSuffix) }

// full reports whether a step must be sealed. It depends on the records alone.
func (s *objectShard) full() bool { return len(s.tail.offset) >= s.opts.objectRuns() }

// sealFull makes the tail a step if it is full. Until it returns nil nothing has changed, except
// perhaps a file on disk that the next attempt replaces with the same bytes or the next Open loads
// as the step that it is: the rename advances the state.
func (s *objectShard) sealFull() error {
	if !s.full() {
		return nil
	}
	name := objectsName(len(s.view.steps))
	if err := s.store(name, true, s.header(kindObjects, s.tail.at[len(s.tail.at)-1]+1), append(s.whose(), s.stepRegions()...)); err != nil {
		return fmt.Errorf("seal objects %d of %s: %w", len(s.view.steps), s.tp, err)
	}
	f, err := s.open(filepath.Join(s.dir, name), kindObjects, uint64(len(s.view.steps)))
	if err != nil {
		return err
	}
	st, err := readObjectStep(f, &s.view, s.sealedSpaces(), s.base)
	if err != nil {
		f.close()
		return schemas.Fatalf("vector: what was just sealed cannot be read: %w", err)
	}
	s.useTail(st)
	s.remove(tailName) // the step has replaced it; if it cannot be removed, it is ignored
	return nil
}

// sealedSpaces returns how many spaces the steps name.
func (s *objectShard) sealedSpaces() int {
	n := len(s.spaces)
	for n > 0 && s.spaces[n-1].n == 0 {
		n--
	}
	return n
}

func (s *objectShard) header(kind fileKind, next int64) header {
	return header{kind: kind, partition: s.tp.Partition, sequence: uint64(len(s.view.steps)), base: s.base, next: next}
}

// useTail replaces the tail by the step that was made of it.
func (s *objectShard) useTail(st *objectStep) {
	t := s.tail
	st.newest = make([]atomic.Uint32, len(st.key))
	for i, row := range t.row {
		if row >= s.view.rows {
			st.newest[st.row[i]-st.firstRow].Store(t.newest.at(row - s.view.rows).Load())
		}
	}
	s.tail = newObjectTail()
	s.useStep(st)
}

// useStep adds a step, whose newest runs are known, to the state and shows it to readers.
func (s *objectShard) useStep(st *objectStep) {
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
	s.base, s.saved = st.next, st.next
	s.mu.Lock()
	for _, g := range st.groups {
		sp := s.spaces[g.space]
		sp.extend(st, g.start, g.n)
		sp.tail, sp.seen = nil, nil
	}
	s.view.steps, s.view.tail, s.view.embedders = steps, s.tail.objectColumns, s.embedders
	s.view.next = max(s.view.next, st.next)
	s.view.events += uint32(len(st.id))
	s.view.runs += uint32(len(st.offset))
	s.view.rows += uint32(len(st.key))
	s.mu.Unlock()
	for _, g := range st.groups {
		s.links.due(s, s.spaces[g.space])
	}
}

// flush saves the tail durably.
func (s *objectShard) flush() error {
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.sealFull(); err != nil { // a checkpoint of a full tail would be a state that no log leads to
		return err
	}
	next := s.view.next
	if s.saved == next {
		return nil
	}
	err := s.store(tailName, true, s.header(kindObjectTail, next), append(s.whose(), s.stepRegions()...))
	if err == nil {
		s.saved = next
	}
	return err
}

// load reads the shard's folder. The linker loads the links.
func (s *objectShard) load() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	s.made = true
	seq := 0
	for _, e := range entries { // ReadDir sorts
		switch name := e.Name(); {
		case strings.HasSuffix(name, sealed.TempSuffix):
			s.remove(name) // a crash left it before its rename
		case strings.HasSuffix(name, objectsSuffix):
			if err := s.loadStep(name, seq); err != nil {
				return err
			}
			seq++
		}
	}
	next, err := s.loadTail()
	if err == nil {
		s.saved = next
		s.publish(next)
	} else if !errors.Is(err, fs.ErrNotExist) {
		s.opts.Logger.Info("vector: checkpoint not used, reading from the log again", "projection", Name, "position", s.tp.String(), "err", err)
	}
	return nil
}

// loadStep reads a sealed step, which must be the shard's i-th.
func (s *objectShard) loadStep(name string, i int) error {
	if name != objectsName(i) {
		return corrupt(filepath.Join(s.dir, objectsName(i)), "file", 0, 0, "missing, yet there is %s", name)
	}
	f, err := s.open(filepath.Join(s.dir, name), kindObjects, uint64(i))
	if err != nil {
		return err
	}
	st, err := readObjectStep(f, &s.view, len(s.spaces), s.base)
	if err == nil {
		err = s.freshSpaces(st)
	}
	if err == nil && len(st.offset) < s.opts.objectRuns() {
		err = f.wrong(tagOffsets, ofShard, "a sealed step of %d runs, want %d", len(st.offset), s.opts.objectRuns())
	}
	if err != nil {
		f.close()
		return err
	}
	s.name(st)
	s.useLoaded(st)
	return nil
}

// useLoaded adds a step that was read from disk.
func (s *objectShard) useLoaded(st *objectStep) {
	st.newest = make([]atomic.Uint32, len(st.key))
	for i := range st.newest {
		st.newest[i].Store(noRun)
	}
	for i, row := range st.row {
		var head *atomic.Uint32
		if row < st.firstRow {
			before, at := s.view.step(row)
			head = &before.newest[at]
		} else {
			head = &st.newest[row-st.firstRow]
		}
		s.prev.append(head.Load())
		head.Store(st.firstRun + uint32(i))
	}
	s.useStep(st)
}

// freshSpaces checks that the embedders and spaces that a step names as new are new.
func (s *objectShard) freshSpaces(st *objectStep) error {
	names := map[string]bool{}
	for _, name := range s.embedders {
		names[name] = true
	}
	for i, name := range st.names {
		if names[string(name)] {
			return st.wrong(tagName, uint32(i), "%q is another one's name too", name)
		}
		names[string(name)] = true
	}
	fresh := map[spaceKey]bool{}
	for i, a := range st.audiences {
		key := spaceKey{a, st.embedder[i]}
		if _, ok := s.number[key]; ok || fresh[key] {
			return st.wrong(tagAudiences, ofShard, "space %d is there already", i)
		}
		fresh[key] = true
	}
	return nil
}

// name adds the embedders and spaces that are new with a step.
func (s *objectShard) name(st *objectStep) {
	for _, name := range st.names {
		s.embedders = append(s.embedders, string(name))
	}
	for i, a := range st.audiences {
		s.space(spaceKey{a, st.embedder[i]})
	}
}

// loadTail loads the checkpoint if it continues exactly what is sealed and every byte of it is
// intact, and returns its Next. On an error nothing has changed: the content is still in the log.
func (s *objectShard) loadTail() (int64, error) {
	f, err := s.open(filepath.Join(s.dir, tailName), kindObjectTail, uint64(len(s.view.steps)))
	if err != nil {
		return 0, err
	}
	defer f.close()
	if damage := f.verify(); damage != nil {
		return 0, damage
	}
	return s.takeTail(f)
}

// takeTail adds the content of a checkpoint in the way it was added at first.
func (s *objectShard) takeTail(f *file) (int64, error) {
	st, err := readObjectStep(f, &s.view, len(s.spaces), s.base)
	if err == nil {
		err = s.freshSpaces(st)
	}
	if err != nil {
		return 0, err
	}
	if len(st.offset) >= s.opts.objectRuns() {
		return 0, fmt.Errorf("%s: it has %d runs, which would be sealed", f.path, len(st.offset))
	}
	for row := range st.key {
		if err := check(st.vector(uint32(row))); err != nil {
			return 0, f.wrong(tagVectors, ofShard, "row %d: %s", row, err)
		}
	}
	s.name(st)
	t := s.tail
	for i, row := range st.row {
		p := passage{offset: st.offset[i], index: st.index[i], part: st.part[i]}
		if row < st.firstRow {
			old, at := s.view.step(row)
			p.key, p.vec = old.key[at], old.vector(at)
			s.add(s.spaces[old.spaceOf(at)], &p)
		} else {
			p.key, p.vec = st.key[row-st.firstRow], st.vector(row-st.firstRow)
			s.add(s.spaces[st.spaceOf(row-st.firstRow)], &p)
		}
		if i == 0 || st.offset[i] != st.offset[i-1] {
			id := st.id[len(t.id)]
			t.ids[id] = struct{}{}
			t.id, t.at = append(t.id, id), append(t.at, st.offset[i])
		}
	}
	return f.next, nil
}

// release unmaps the shard's files.
func (s *objectShard) release() {
	for _, st := range s.view.steps {
		st.close()
	}
	for _, sp := range s.spaces {
		closeAll(sp.link.codes)
	}
}
