package vector

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/coder"
	"github.com/recountdb/recount/projections/vector/flat"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/rows"
)

// Graphs are not part of the state. The graph of a number of rows is a function of these rows, so
// two nodes that have linked the same number have the same graph. A stored graph is used if every
// byte of it is intact and it has no more rows than the space; otherwise it is built again.

// Names of files whose bytes are not a function of the log alone. They do not begin with a digit, as
// those of steps do, which `recount verify` compares with a replay.
const (
	linksPrefix = "links-"
	codesPrefix = "codes-"
)

func linksName(space uint32) string { return fmt.Sprintf("%s%08d.vec", linksPrefix, space) }

func codesName(space uint32, seq int) string {
	return fmt.Sprintf("%s%08d-%08d.vec", codesPrefix, space, seq)
}

// newIndex returns the empty index of a space whose rows are linked as they are added.
func (o *Options) newIndex(vectors index.Vectors) (x index.Index) {
	var err error
	if o.Backend == BackendCoder {
		x, err = coder.New(o.index(), vectors)
	} else {
		x, err = flat.New(o.index(), vectors)
	}
	if err != nil {
		panic(err) // Open has checked the options
	}
	return x
}

// graphOptions returns the options of the shard's graphs. Those of objects have half the links,
// chosen from half the candidates, for a walk that keeps four times as many (decision 38).
func (s *shard) graphOptions() index.Options {
	x := s.opts.index()
	if !s.linked {
		x.M, x.EfConstruction = max(2, x.M/2), max(1, x.EfConstruction/2)
	}
	return x
}

// setIndex sets the index of a space whose rows are linked as they are added.
func (sp *space) setIndex(x index.Index) {
	sp.index = x
	if x, ok := x.(*flat.Index); ok {
		sp.graph.Store(x)
	}
}

// linkAll loads the graph of a space that was read from disk and links the rows that it lacks.
func (s *shard) linkAll(sp *space) error {
	s.loadGraph(sp, uint32(sp.rows()))
	for n := sp.index.Len(); n < sp.rows(); n++ {
		if err := sp.index.Add(sp.vector(uint32(n))); err != nil {
			return fmt.Errorf("link row %d: %w", n, err)
		}
	}
	return nil
}

// linkSealed links the rows of a new step, or stores the links if these rows have them.
func (s *shard) linkSealed(st *step) {
	for _, g := range st.groups {
		sp := s.spaces[g.space]
		if !s.linked {
			s.links.due(s, sp)
		} else if err := s.storeGraph(sp, uint32(s.opts.linkRows)); err != nil {
			s.opts.Logger.Warn("vector: links not stored", "projection", Name, "position", s.tp.String(), "err", err)
		}
	}
}

// storeGraph stores a space's graph if it has enough new rows: atLeast, and if that is more than
// one, also an eighth of those stored, so that the bytes written in total are a few times the final
// size. Only files that Open waits for are synced: after a power cut the others may be damaged, which
// is found before they are used.
func (s *shard) storeGraph(sp *space, atLeast uint32) error {
	x := sp.graph.Load()
	if x == nil {
		return nil // an index that cannot be stored
	}
	if err := s.storeCodes(sp, x); err != nil {
		return err
	}
	n := uint32(x.Len())
	if atLeast > 1 {
		atLeast = max(atLeast, sp.link.stored/8)
	}
	if n < sp.link.stored+atLeast {
		return nil
	}
	var rest [][]byte // codes that are in no file of codes
	for i := len(sp.link.codes) * s.opts.linkRows / rows.PerChunk; i*rows.PerChunk < int(n); i++ {
		rest = append(rest, x.Chunk(i))
	}
	head := header{kind: kindLinks, partition: s.tp.Partition, space: sp.number, next: int64(n)}
	if err := s.store(linksName(sp.number), s.linked, head, []region{
		{tagKeys, sp.number, [][]byte{s.keysOf(sp, 0, n)}},
		{tagLinks, sp.number, [][]byte{x.AppendLinks(nil)}},
		{tagCodes, sp.number, rest},
	}); err != nil {
		return err
	}
	sp.link.stored = n
	return nil
}

// storeCodes writes the codes of each linkRows rows to a file and maps them into the graph.
func (s *shard) storeCodes(sp *space, x *flat.Index) error {
	chunks := s.opts.linkRows / rows.PerChunk
	for seq := len(sp.link.codes); (seq+1)*s.opts.linkRows <= x.Len(); seq++ {
		var parts [][]byte
		for i := range chunks {
			parts = append(parts, x.Chunk(seq*chunks+i))
		}
		head := header{kind: kindCodes, partition: s.tp.Partition, space: sp.number, sequence: uint64(seq)}
		if err := s.store(codesName(sp.number, seq), s.linked, head, []region{
			{tagKeys, sp.number, [][]byte{s.keysOf(sp, uint32(seq*s.opts.linkRows), uint32((seq+1)*s.opts.linkRows))}},
			{tagCodes, sp.number, parts},
		}); err != nil {
			return err
		}
		f, parts, err := s.openCodes(sp, seq)
		if err != nil {
			return err
		}
		for i, chunk := range parts {
			if err := x.Map(seq*chunks+i, chunk); err != nil {
				f.close()
				return err
			}
		}
		s.keep(sp, f)
	}
	return nil
}

// keep registers mapped files to be released with the shard.
func (s *shard) keep(sp *space, files ...*file) {
	s.links.mu.Lock()
	defer s.links.mu.Unlock()
	sp.link.codes = append(sp.link.codes, files...)
}

// openCodes opens a file of codes and returns its chunks.
func (s *shard) openCodes(sp *space, seq int) (*file, [][]byte, error) {
	f, err := s.open(filepath.Join(s.folder.Dir, codesName(sp.number, seq)), kindCodes, uint64(seq))
	if err != nil {
		return nil, nil, err
	}
	b, err := f.get(tagCodes, sp.number)
	size := rows.ChunkSize(dim)
	if err == nil && len(b) != s.opts.linkRows/rows.PerChunk*size {
		err = f.wrong(tagCodes, sp.number, "want %d bytes", s.opts.linkRows/rows.PerChunk*size)
	}
	if err == nil {
		err = s.checkKeys(f, sp, uint32(seq*s.opts.linkRows), uint32((seq+1)*s.opts.linkRows))
	}
	if err != nil {
		f.close()
		return nil, nil, err
	}
	return f, slices.Collect(slices.Chunk(b, size)), nil
}

// loadGraph loads the stored graph of a space, if there is one that has at most that many rows.
func (s *shard) loadGraph(sp *space, limit uint32) {
	path := filepath.Join(s.folder.Dir, linksName(sp.number))
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return
	}
	if x, err := s.readGraph(sp, path, limit); err != nil {
		s.opts.Logger.Info("vector: links not used, linking the rows again", "projection", Name, "position", s.tp.String(), "err", err)
	} else if s.linked {
		sp.setIndex(x)
	} else {
		sp.graph.Store(x)
	}
}

func (s *shard) readGraph(sp *space, path string, limit uint32) (x *flat.Index, err error) {
	f, err := s.open(path, kindLinks, 0)
	if err != nil {
		return nil, err
	}
	files := []*file{f}
	defer func() {
		if err != nil {
			closeAll(files)
		}
	}()
	if f.next <= 0 || f.next > int64(limit) {
		return nil, f.wrong(tagLinks, sp.number, "of %d rows, there are %d", f.next, limit)
	}
	links, err := f.get(tagLinks, sp.number)
	if err == nil {
		err = s.checkKeys(f, sp, 0, uint32(f.next))
	}
	if err != nil {
		return nil, err
	}
	var chunks [][]byte
	for seq := range int(f.next) / s.opts.linkRows {
		cf, parts, err := s.openCodes(sp, seq)
		if err != nil {
			return nil, err
		}
		files, chunks = append(files, cf), append(chunks, parts...)
	}
	rest, err := f.get(tagCodes, sp.number)
	if err != nil {
		return nil, err
	}
	chunks = slices.AppendSeq(chunks, slices.Chunk(rest, rows.ChunkSize(dim)))
	if x, err = flat.Load(s.graphOptions(), links, chunks, sp.vector); err != nil {
		return nil, err
	}
	if x.Len() != int(f.next) {
		return nil, f.wrong(tagLinks, sp.number, "of %d rows, want %d", x.Len(), f.next)
	}
	s.keep(sp, files[1:]...)
	sp.link.from = f // its chunks are used in place
	sp.link.stored = uint32(f.next)
	return x, nil
}

// keysOf returns a hash over the keys of rows of a space, from start up to end. With it a file is not
// used for rows of another state.
func (s *shard) keysOf(sp *space, start, end uint32) []byte {
	h := xxh3.New()
	p := sp.places.Load()
	for _, r := range p.ranges {
		if lo, hi := max(start, r.before), min(end, r.before+r.n); lo < hi {
			h.Write(sealed.BytesOf(r.step.key[r.start+lo-r.before : r.start+hi-r.before]))
		}
	}
	for i := max(start, p.n); i < end; i++ {
		row := sp.tail[i-p.n]
		h.Write(sealed.BytesOf(s.tail.key[row : row+1]))
	}
	return h.Sum(nil)
}

// checkKeys returns an error if a file of codes or links is of other rows.
func (s *shard) checkKeys(f *file, sp *space, start, end uint32) error {
	got, err := f.get(tagKeys, sp.number)
	if err == nil && !bytes.Equal(got, s.keysOf(sp, start, end)) {
		err = f.wrong(tagKeys, sp.number, "of other rows")
	}
	return err
}
