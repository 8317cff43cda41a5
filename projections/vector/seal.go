package vector

import (
	"fmt"
	"path/filepath"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/projections/vector/rows"
)

// ofShard is the space of a region that belongs to the shard and not to a space.
const ofShard = ^uint32(0)

// Suffixes of the sealed files, whose names begin with numbers, and the name of the checkpoint.
const (
	stepSuffix  = ".step.vec"
	linksSuffix = ".links.vec"
	chunkSuffix = ".chunk.vec"
	tailName    = "tail.vec"
)

func stepName(seq int) string         { return fmt.Sprintf("%08d%s", seq, stepSuffix) }
func linksName(seq int) string        { return fmt.Sprintf("%08d%s", seq, linksSuffix) }
func chunkName(space, seq int) string { return fmt.Sprintf("%03d-%08d%s", space, seq, chunkSuffix) }

// full reports whether a step must be sealed. It depends on the records alone.
func (s *shard) full() bool { return len(s.tail.id) >= s.opts.SealRows }

// sealFull seals what is complete. Until it returns nil nothing has changed, except perhaps files
// on disk that the next attempt replaces with the same bytes or the next Open loads as the sealed
// files that they are.
func (s *shard) sealFull() error {
	for i, sp := range s.spaces {
		for len(sp.chunks) < sp.fullChunks() {
			if err := s.sealChunk(i, len(sp.chunks)); err != nil {
				return fmt.Errorf("seal chunk %d of %s: %w", len(sp.chunks), s.tp, err)
			}
		}
	}
	if !s.full() {
		return nil
	}
	if err := s.sealStep(); err != nil {
		return fmt.Errorf("seal step %d of %s: %w", len(s.steps), s.tp, err)
	}
	return nil
}

// sealChunk writes a full chunk of vectors to a file and maps the file into the index. A crash
// right after it leaves a file that no step refers to: the next Open removes it, and it is written
// again with the same bytes.
func (s *shard) sealChunk(space, seq int) error {
	sp := s.spaces[space]
	h := s.header(kindChunk)
	h.sequence, h.space, h.base, h.next = uint64(seq), uint32(space), 0, 0
	name := chunkName(space, seq)
	if err := s.store(name, true, h, append(s.whose(), region{tagChunk, uint32(space), [][]byte{sp.index.Chunk(seq)}})); err != nil {
		return err
	}
	f, b, err := s.openChunk(space, seq)
	if err != nil {
		return err
	}
	if err := sp.index.Map(seq, b); err != nil {
		f.close()
		return err
	}
	sp.chunks = append(sp.chunks, f)
	return nil
}

// sealStep makes the tail a sealed step; the caller publishes it. The rename of the step's file
// advances the state. A crash before that leaves the file of links, which the next Open removes.
func (s *shard) sealStep() error {
	seq := len(s.steps)
	next := s.tail.offset[len(s.tail.offset)-1] + 1
	h := s.header(kindLinks)
	h.next = next
	if err := s.store(linksName(seq), true, h, append(s.whose(), s.linkRegions()...)); err != nil {
		return err
	}
	h.kind = kindStep
	if err := s.store(stepName(seq), true, h, append(s.whose(), s.stepRegions()...)); err != nil {
		return err
	}
	f, err := openFile(filepath.Join(s.dir, stepName(seq)))
	if err != nil {
		return err
	}
	if err := f.bindIDs(); err != nil {
		f.close()
		return err
	}
	s.steps = append(s.steps, f)
	s.tail, s.base, s.since, s.saved = newTail(), next, 0, next
	for _, sp := range s.spaces {
		sp.sealed = len(sp.key)
	}
	// The step has replaced these files. If they cannot be removed, they are ignored.
	s.remove(tailName)
	if seq > 0 {
		s.remove(linksName(seq - 1))
	}
	return nil
}

// flush saves the tail durably.
func (s *shard) flush() error {
	s.write.Lock()
	defer s.write.Unlock()
	// A full tail must become a step: a checkpoint of it would be a state that no log leads to.
	err := s.sealFull()
	s.publish(s.view.next)
	if err != nil {
		return err
	}
	return s.save(true)
}

// save writes the checkpoint, unless the one on disk is of the same state.
func (s *shard) save(durable bool) error {
	next := s.view.next
	if s.saved == next {
		return nil
	}
	h := s.header(kindTail)
	h.next = next
	err := s.store(tailName, durable, h, append(append(s.whose(), s.stepRegions()...), s.linkRegions()...))
	if err == nil && durable {
		s.saved = next
	}
	return err
}

func (s *shard) header(kind fileKind) header {
	return header{kind: kind, partition: s.tp.Partition, sequence: uint64(len(s.steps)), base: s.base}
}

// stepRegions returns the regions of a step: the runs of the tail and the rows that are new with
// them.
func (s *shard) stepRegions() []region {
	t := &s.tail
	bloom := make([]byte, sealed.BloomBytes(len(t.id)))
	for _, id := range t.id {
		sealed.BloomAdd(bloom, id)
	}
	all := []region{
		{tagIDs, ofShard, [][]byte{sealed.BytesOf(t.id)}},
		{tagIDOrder, ofShard, [][]byte{sealed.BytesOf(sealed.OrderIDs(t.id))}},
		{tagBloom, ofShard, [][]byte{bloom}},
		{tagOffsets, ofShard, [][]byte{sealed.BytesOf(t.offset)}},
		{tagSpaces, ofShard, [][]byte{sealed.BytesOf(t.space)}},
		{tagRows, ofShard, [][]byte{sealed.BytesOf(t.row)}},
	}
	for i, sp := range s.spaces {
		n := uint32(i)
		all = append(all,
			region{tagName, n, [][]byte{[]byte(sp.embedder)}},
			region{tagKeys, n, [][]byte{sealed.BytesOf(sp.key[sp.sealed:])}},
			region{tagContent, n, [][]byte{sealed.BytesOf(sp.content[sp.sealed:])}},
			region{tagLike, n, [][]byte{sealed.BytesOf(sp.simRow[sp.sealed*SimilarK:])}},
			region{tagCosines, n, [][]byte{sealed.BytesOf(sp.simCos[sp.sealed*SimilarK:])}},
		)
	}
	return all
}

// linkRegions returns each index's links, and the rows of its last chunk if that is not full.
func (s *shard) linkRegions() []region {
	var all []region
	for i, sp := range s.spaces {
		all = append(all,
			region{tagLinks, uint32(i), [][]byte{sp.index.AppendLinks(nil)}},
			region{tagPart, uint32(i), sp.part()},
		)
	}
	return all
}

// part returns the rows of the last chunk if that is not full: codes, vectors, scales.
func (sp *space) part() [][]byte {
	n := sp.index.Len() % rows.PerChunk
	if n == 0 {
		return nil
	}
	return trim(sp.index.Chunk(sp.fullChunks()), n)
}

// trim returns the first n rows of a chunk, in three pieces.
func trim(chunk []byte, n int) [][]byte {
	stride := kernel.Stride(dim)
	codes, vectors, scales := chunk, chunk[rows.PerChunk*stride:], chunk[rows.PerChunk*(stride+4*dim):]
	return [][]byte{codes[:n*stride], vectors[:n*4*dim], scales[:n*4]}
}

// untrim returns a chunk with the n rows of part, which trim returned.
func untrim(part []byte, n int) []byte {
	chunk := sealed.Bytes(rows.ChunkSize(dim))
	for _, piece := range trim(chunk, n) {
		part = part[copy(piece, part):]
	}
	return chunk
}

// partSize returns the length of the result of trim.
func partSize(n int) int { return n * (kernel.Stride(dim) + 4*dim + 4) }
