package vector

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/index"
)

// load reads the shard's folder.
func (s *shard) load() error {
	entries, err := os.ReadDir(s.folder.Dir)
	if err != nil {
		return err
	}
	s.folder.Made = true
	seq := 0
	for _, e := range entries { // ReadDir sorts
		switch name := e.Name(); {
		case strings.HasSuffix(name, sealed.TempSuffix):
			s.remove(name) // a crash left it before its rename
		case strings.HasSuffix(name, stepSuffix):
			if err := s.loadStep(name, seq); err != nil {
				return err
			}
			seq++
		}
	}
	next, err := s.loadTail()
	if err == nil {
		s.saved, s.kept = next, len(s.tail.offset)
	} else if next = s.view.next; !errors.Is(err, fs.ErrNotExist) {
		s.opts.Logger.Info("vector: checkpoint not used, reading from the log again", "projection", Name, "position", s.tp.String(), "err", err)
	}
	if s.linked {
		for _, sp := range s.spaces {
			if err := s.linkAll(sp); err != nil {
				return err
			}
		}
	}
	if err := s.damage.found(); err != nil {
		return err // linking read it
	}
	s.publish(next)
	return nil
}

// loadStep reads a sealed step, which must be the shard's i-th.
func (s *shard) loadStep(name string, i int) error {
	if name != stepName(i) {
		return corrupt(filepath.Join(s.folder.Dir, stepName(i)), "file", 0, 0, "missing, yet there is %s", name)
	}
	st, err := s.openStep(name, i)
	if err != nil {
		return err
	}
	f := st.file
	err = s.freshSpaces(st)
	if err == nil && len(st.offset) < s.opts.SealRows {
		err = f.wrong(tagOffsets, ofShard, "a sealed step of %d runs, want %d", len(st.offset), s.opts.SealRows)
	}
	if err != nil {
		f.close()
		return err
	}
	s.useLoaded(st)
	if !s.linked {
		s.linkSealed(st)
	}
	return nil
}

// useLoaded adds a step that was read from disk.
func (s *shard) useLoaded(st *step) {
	s.name(st)
	st.newest = make([]atomic.Uint32, len(st.key))
	for i := range st.newest {
		st.newest[i].Store(none)
	}
	for i, row := range st.row {
		in, at := st, row-st.firstRow
		if row < st.firstRow {
			in, at = s.view.step(row)
		}
		head := &in.newest[at]
		s.chains.add(head.Load())
		head.Store(st.firstRun + uint32(i))
		s.count(s.spaces[in.spaceOf(at)])
	}
	if s.linked {
		for _, g := range st.groups {
			sp := s.spaces[g.space]
			for i := range g.n {
				sp.similar.add(sp.n+i, st.similarTo(g.start+i))
			}
		}
	}
	s.useStep(st)
}

// similarTo returns the rows similar to a row of the step.
func (st *step) similarTo(row uint32) (like [SimilarK]index.Neighbour) {
	for i := range like {
		at := int(row)*SimilarK + i
		like[i] = index.Neighbour{Row: st.like[at], Score: st.cosines[at]}
	}
	return like
}

// freshSpaces checks that the embedders and spaces that a step names as new are new.
func (s *shard) freshSpaces(st *step) error {
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
func (s *shard) name(st *step) {
	for _, name := range st.names {
		s.embedders = append(s.embedders, string(name))
	}
	for i, a := range st.audiences {
		s.space(spaceKey{a, st.embedder[i]})
	}
}

// loadTail loads the checkpoint if it continues exactly what is sealed and every region of it is
// intact, and returns its Next. On an error nothing has changed: the content is still in the log.
func (s *shard) loadTail() (int64, error) {
	f, err := s.open(filepath.Join(s.folder.Dir, tailName), kindTail, uint64(len(s.view.steps)))
	if err != nil {
		return 0, err
	}
	defer f.close()
	return s.takeTail(f)
}

// takeTail adds the content of a checkpoint as it was added at first. Rows are linked later.
func (s *shard) takeTail(f *file) (int64, error) {
	st, err := s.readStep(f)
	if err == nil {
		err = s.freshSpaces(st)
	}
	if err != nil {
		return 0, err
	}
	if len(st.offset) >= s.opts.SealRows {
		return 0, fmt.Errorf("%s: it has %d runs, which would be sealed", f.path, len(st.offset))
	}
	for row := range st.key {
		if err := check(st.vector(uint32(row))); err != nil {
			return 0, f.wrong(tagPacked, ofShard, "row %d: %s", row, err)
		}
	}
	s.name(st)
	t := s.tail
	for i, row := range st.row {
		in, at := st, row-st.firstRow
		if row < st.firstRow {
			in, at = s.view.step(row)
		}
		sp := s.spaces[in.spaceOf(at)]
		p := passage{offset: st.offset[i], index: st.index[i], part: st.part[i], key: in.key[at], vec: in.vector(at)}
		var like [SimilarK]index.Neighbour
		if s.linked {
			p.content, like = in.content[at], in.similarTo(at)
		}
		has, known := s.find(sp, &p)
		if !known {
			if s.linked {
				sp.hold(p.vec)
			}
			has = s.addRow(sp, &p, like)
		}
		s.addRun(sp, &p, has)
		if i == 0 || st.offset[i] != st.offset[i-1] {
			t.addEvent(st.id[len(t.id)], st.offset[i])
		}
	}
	return f.next, nil
}

// release unmaps the shard's files.
func (s *shard) release() {
	for _, st := range s.view.steps {
		st.close()
	}
	for _, sp := range s.spaces {
		closeAll(sp.link.codes)
		if sp.link.from != nil {
			sp.link.from.close()
		}
	}
}
