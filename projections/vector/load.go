package vector

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
)

// load reads the shard's folder.
func (s *shard) load() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	s.made = true
	var steps, extra []string
	for _, e := range entries { // ReadDir sorts
		switch name := e.Name(); {
		case strings.HasSuffix(name, sealed.TempSuffix):
			s.remove(name) // a crash left it before its rename
		case strings.HasSuffix(name, stepSuffix):
			steps = append(steps, name)
		case strings.HasSuffix(name, linksSuffix), strings.HasSuffix(name, chunkSuffix):
			extra = append(extra, name)
		}
	}
	for i, name := range steps {
		if err := s.loadStep(name, i); err != nil {
			return err
		}
	}
	next := s.base
	if len(steps) > 0 {
		s.saved = next
	}
	if tailNext, err := s.loadTail(); err == nil {
		next, s.saved = tailNext, tailNext
	} else {
		if !errors.Is(err, fs.ErrNotExist) {
			s.opts.Logger.Info("vector: checkpoint not used, reading from the log again", "projection", Name, "position", s.tp.String(), "err", err)
		}
		if len(steps) > 0 {
			if err := s.loadLinks(len(steps) - 1); err != nil {
				return err
			}
		}
	}
	s.sweep(extra)
	s.publish(next)
	return nil
}

// sweep removes links that a later step replaced and files that were written for a state that a
// crash undid.
func (s *shard) sweep(names []string) {
	used := map[string]bool{linksName(len(s.steps) - 1): true}
	for i, sp := range s.spaces {
		for seq := range sp.chunks {
			used[chunkName(i, seq)] = true
		}
	}
	for _, name := range names {
		if !used[name] {
			s.remove(name)
		}
	}
}

// loadStep reads a sealed step, which must be the shard's i-th.
func (s *shard) loadStep(name string, i int) error {
	path := filepath.Join(s.dir, name)
	if name != stepName(i) {
		return corrupt(filepath.Join(s.dir, stepName(i)), "file", 0, 0, "missing, yet there is %s", name)
	}
	f, err := s.open(path, kindStep, uint64(i))
	if err != nil {
		return err
	}
	s.steps = append(s.steps, f) // released with the shard even after an error
	st, err := s.readStep(f)
	if err == nil {
		err = f.bindIDs()
	}
	if err == nil && len(st.id) != s.opts.SealRows {
		err = f.wrong(tagIDs, ofShard, "a sealed step of %d runs, want %d", len(st.id), s.opts.SealRows)
	}
	if err != nil {
		return err
	}
	s.take(st)
	for _, sp := range s.spaces {
		sp.sealed = len(sp.key)
	}
	s.base = f.next
	return nil
}

// step is the content of a step or a tail: what came after the state before it.
type step struct {
	f           *file
	id          []schemas.EventID
	offset      []int64
	space, row  []uint32
	names       []string
	key         [][]uint64
	content     [][]uint64
	like        [][]uint32
	cosines     [][]float32
	rows, total []int // of each space: the new rows, all rows
}

// readStep reads a step and checks that it can be used without further bounds checks.
func (s *shard) readStep(f *file) (*step, error) {
	st := &step{f: f}
	var errs [4]error
	st.id, errs[0] = array[schemas.EventID](f, tagIDs, ofShard)
	st.offset, errs[1] = array[int64](f, tagOffsets, ofShard)
	st.space, errs[2] = array[uint32](f, tagSpaces, ofShard)
	st.row, errs[3] = array[uint32](f, tagRows, ofShard)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if f.base != s.base || f.next < f.base {
		return nil, corrupt(f.path, "header", 0, headerSize, "from %d to %d: want from %d", f.base, f.next, s.base)
	}
	for i := uint32(0); ; i++ {
		if _, ok := f.regions[place{tagName, i}]; !ok {
			break
		}
		if err := s.readSpace(st, i); err != nil {
			return nil, err
		}
	}
	if len(st.names) < len(s.spaces) {
		return nil, corrupt(f.path, "directory", 0, 0, "%d spaces, there were %d", len(st.names), len(s.spaces))
	}
	return st, st.checkRuns(s)
}

// readSpace reads the part of a step that belongs to a space.
func (s *shard) readSpace(st *step, i uint32) error {
	f := st.f
	name, err := f.get(tagName, i)
	if err != nil {
		return err
	}
	before := 0
	if int(i) < len(s.spaces) {
		before = len(s.spaces[i].key)
		if s.spaces[i].embedder != string(name) {
			return f.wrong(tagName, i, "%q, want %q", name, s.spaces[i].embedder)
		}
	} else if slices.Contains(st.names, string(name)) {
		return f.wrong(tagName, i, "%q is another one's name too", name)
	}
	key, err := array[uint64](f, tagKeys, i)
	if err != nil {
		return err
	}
	content, err := array[uint64](f, tagContent, i)
	if err != nil {
		return err
	}
	like, err := array[uint32](f, tagLike, i)
	if err != nil {
		return err
	}
	cosines, err := array[float32](f, tagCosines, i)
	if err != nil {
		return err
	}
	n := len(key)
	if before+n > index.MaxRows {
		return f.wrong(tagKeys, i, "%d rows after %d", n, before)
	}
	if len(content) != n {
		return f.wrong(tagContent, i, "%d values, want %d", len(content), n)
	}
	if len(like) != n*SimilarK {
		return f.wrong(tagLike, i, "%d values, want %d", len(like), n*SimilarK)
	}
	if len(cosines) != n*SimilarK {
		return f.wrong(tagCosines, i, "%d values, want %d", len(cosines), n*SimilarK)
	}
	for k, row := range like {
		if row != noRow && int(row) >= before+k/SimilarK {
			return f.wrong(tagLike, i, "row %d is like row %d, which is not earlier", before+k/SimilarK, row)
		}
		if c := float64(cosines[k]); math.IsNaN(c) || math.IsInf(c, 0) {
			return f.wrong(tagCosines, i, "value %d is %v", k, c)
		}
	}
	st.names = append(st.names, string(name))
	st.key, st.content = append(st.key, key), append(st.content, content)
	st.like, st.cosines = append(st.like, like), append(st.cosines, cosines)
	st.rows, st.total = append(st.rows, n), append(st.total, before+n)
	return nil
}

// checkRuns checks that offsets ascend and that the first run of each new row comes in the order of
// rows.
func (st *step) checkRuns(s *shard) error {
	f, n := st.f, len(st.id)
	for _, r := range []struct {
		tag tag
		n   int
	}{{tagOffsets, len(st.offset)}, {tagSpaces, len(st.space)}, {tagRows, len(st.row)}} {
		if r.n != n {
			return f.wrong(r.tag, ofShard, "%d values, want %d", r.n, n)
		}
	}
	seen := make([]int, len(st.names))
	for i, sp := range s.spaces {
		seen[i] = len(sp.key)
		if have := len(sp.offset); have+n >= math.MaxUint32 {
			return f.wrong(tagRows, ofShard, "%d runs after %d", n, have)
		}
	}
	last := f.base - 1
	for i, off := range st.offset {
		if off <= last || off >= f.next {
			return f.wrong(tagOffsets, ofShard, "%d after %d, before %d", off, last, f.next)
		}
		last = off
		sp := st.space[i]
		if int(sp) >= len(st.names) {
			return f.wrong(tagSpaces, ofShard, "%d of %d", sp, len(st.names))
		}
		switch row := int(st.row[i]); {
		case row == seen[sp] && row < st.total[sp]:
			seen[sp]++
		case row >= seen[sp]:
			return f.wrong(tagRows, ofShard, "run %d is of row %d, there are %d", i, row, seen[sp])
		}
	}
	for i, n := range seen {
		if n != st.total[i] {
			return f.wrong(tagKeys, uint32(i), "%d rows, %d have a run", st.total[i], n)
		}
	}
	return nil
}

// take adds the content of a step to the columns. Indexes are loaded separately.
func (s *shard) take(st *step) {
	for i, name := range st.names {
		if i == len(s.spaces) {
			s.spaces = append(s.spaces, newSpace(strings.Clone(name), backends[s.opts.Backend], nil))
		}
		sp := s.spaces[i]
		for k, key := range st.key[i] {
			var like [SimilarK]index.Neighbour
			for j := range like {
				like[j] = index.Neighbour{Row: st.like[i][k*SimilarK+j], Score: st.cosines[i][k*SimilarK+j]}
			}
			sp.appendRow(key, st.content[i][k], like)
		}
	}
	for i, off := range st.offset {
		s.spaces[st.space[i]].appendRun(off, st.row[i])
	}
}

// loadTail loads the checkpoint if it continues exactly what is sealed and every byte of it is
// intact, and returns its Next. On an error nothing has changed: the content is still in the log.
func (s *shard) loadTail() (int64, error) {
	f, err := s.open(filepath.Join(s.dir, tailName), kindTail, uint64(len(s.steps)))
	if err != nil {
		return 0, err
	}
	defer f.close()
	if damage := f.verify(); damage != nil {
		return 0, damage
	}
	return s.takeTail(f)
}

// takeTail loads a checkpoint whose every byte was verified.
func (s *shard) takeTail(f *file) (int64, error) {
	st, err := s.readStep(f)
	if err != nil {
		return 0, err
	}
	if len(st.id) >= s.opts.SealRows {
		return 0, fmt.Errorf("%s: it has %d runs, which would be sealed", f.path, len(st.id))
	}
	loaded, err := s.loadIndexes(f, st.total)
	if err != nil {
		return 0, err
	}
	s.take(st)
	s.useIndexes(loaded)
	t := &s.tail
	t.id, t.offset = slices.Clone(st.id), slices.Clone(st.offset)
	t.space, t.row = slices.Clone(st.space), slices.Clone(st.row)
	for _, id := range t.id {
		t.ids[id] = struct{}{}
	}
	return f.next, nil
}

// loadLinks loads the indexes as the sealed step seq left them.
func (s *shard) loadLinks(seq int) error {
	f, err := s.open(filepath.Join(s.dir, linksName(seq)), kindLinks, uint64(seq))
	if err != nil {
		return err
	}
	defer f.close() // a chunk that is not full is copied
	if f.next != s.base {
		return corrupt(f.path, "header", 0, headerSize, "of the state at %d, want %d", f.next, s.base)
	}
	total := make([]int, len(s.spaces))
	for i, sp := range s.spaces {
		total[i] = len(sp.key)
	}
	loaded, err := s.loadIndexes(f, total)
	if err != nil {
		return err
	}
	s.useIndexes(loaded)
	return nil
}

// loaded is an index with the files that it reads in place.
type loaded struct {
	index  index.Index
	chunks []*file
}

func (s *shard) useIndexes(all []loaded) {
	for i, l := range all {
		s.spaces[i].index, s.spaces[i].chunks = l.index, l.chunks
	}
}

// loadIndexes makes an index of each space from links; total has the number of rows of each.
func (s *shard) loadIndexes(f *file, total []int) (all []loaded, err error) {
	defer func() {
		if err != nil {
			for _, l := range all {
				closeAll(l.chunks)
			}
			all = nil
		}
	}()
	for i, n := range total {
		all = append(all, loaded{})
		l := &all[i]
		links, err := f.get(tagLinks, uint32(i))
		if err != nil {
			return all, err
		}
		part, err := f.get(tagPart, uint32(i))
		if err != nil {
			return all, err
		}
		over := n % rows.PerChunk
		if len(part) != partSize(over) {
			return all, f.wrong(tagPart, uint32(i), "want %d bytes for %d rows", partSize(over), over)
		}
		var chunks [][]byte
		for seq := range n / rows.PerChunk {
			cf, b, err := s.openChunk(i, seq)
			if err != nil {
				return all, err
			}
			l.chunks, chunks = append(l.chunks, cf), append(chunks, b)
		}
		if over > 0 {
			chunks = append(chunks, untrim(part, over))
		}
		l.index, err = backends[s.opts.Backend].load(s.opts.index(), links, chunks)
		if err != nil {
			return all, f.wrong(tagLinks, uint32(i), "%s", err)
		}
		if l.index.Len() != n {
			return all, f.wrong(tagLinks, uint32(i), "%d rows, want %d", l.index.Len(), n)
		}
	}
	return all, nil
}

// openChunk opens a sealed chunk and returns its memory.
func (s *shard) openChunk(space, seq int) (*file, []byte, error) {
	f, err := s.open(filepath.Join(s.dir, chunkName(space, seq)), kindChunk, uint64(seq))
	if err != nil {
		return nil, nil, err
	}
	b, err := f.get(tagChunk, uint32(space))
	if err == nil && len(b) != rows.ChunkSize(dim) {
		err = f.wrong(tagChunk, uint32(space), "want %d bytes", rows.ChunkSize(dim))
	}
	if err != nil {
		f.close()
		return nil, nil, err
	}
	return f, b, nil
}

// bindIDs reads the ids of a step for lookups by hasID.
func (f *file) bindIDs() (err error) {
	if f.ids, err = array[schemas.EventID](f, tagIDs, ofShard); err != nil {
		return err
	}
	if f.order, err = array[uint32](f, tagIDOrder, ofShard); err != nil {
		return err
	}
	if f.bloom, err = f.get(tagBloom, ofShard); err != nil {
		return err
	}
	n := len(f.ids)
	if len(f.bloom) != sealed.BloomBytes(n) {
		return f.wrong(tagBloom, ofShard, "want %d bytes", sealed.BloomBytes(n))
	}
	if len(f.order) != n {
		return f.wrong(tagIDOrder, ofShard, "%d values, want %d", len(f.order), n)
	}
	for i, at := range f.order {
		if int(at) >= n || i > 0 && bytes.Compare(f.ids[f.order[i-1]][:], f.ids[at][:]) >= 0 {
			return f.wrong(tagIDOrder, ofShard, "value %d is not in order", i)
		}
	}
	return nil
}

// hasID reports whether a step has an event.
func (f *file) hasID(id schemas.EventID) bool {
	return sealed.BloomHas(f.bloom, id) && sealed.FindID(f.ids, f.order, id) >= 0
}

func closeAll(files []*file) {
	for _, f := range files {
		f.close()
	}
}

// release unmaps the shard's files.
func (s *shard) release() {
	closeAll(s.steps)
	for _, sp := range s.spaces {
		closeAll(sp.chunks)
	}
}
