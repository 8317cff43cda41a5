package objects

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/recountdb/recount/schemas"
)

// contentCounts counts, in memory, how many objects of an audience have the same content: none, one, or
// several. It takes about 8 bytes per object. The stored lists have the objects themselves.
type contentCounts struct {
	// marks is an open-addressing hash table of fingerprints of audience and content hash. The
	// lowest bit is set if the fingerprint was added more than once; 0 is a free slot. If two
	// fingerprints collide, both count as several. Its length is a power of two, and at most three
	// quarters are in use.
	marks []uint32
	taken int
}

const several = 1

// mark returns the fingerprint of some content in an audience, with the lowest bit clear.
func (l *links) mark(a *schemas.AudienceID, contentHash uint64) uint32 {
	var room [16 + 8]byte
	b := binary.LittleEndian.AppendUint64(append(room[:0], a[:]...), contentHash)
	return max(uint32(maphash.Bytes(l.seed, b))&^several, several+1)
}

// place returns the slot of a mark, or the free slot where it would be added.
func (s *contentCounts) place(mark uint32) int {
	mask := len(s.marks) - 1
	at := int(mark>>1) & mask
	for s.marks[at] != 0 && s.marks[at]&^several != mark {
		at = (at + 1) & mask
	}
	return at
}

func (s *contentCounts) add(mark uint32) {
	if s.taken+1 > len(s.marks)/4*3 {
		all := s.marks
		s.marks = make([]uint32, max(1<<10, 2*len(all)))
		for _, m := range all {
			if m != 0 {
				s.marks[s.place(m&^several)] = m
			}
		}
	}
	at := s.place(mark)
	if s.marks[at] != 0 {
		s.marks[at] |= several
		return
	}
	s.marks[at] = mark
	s.taken++
}

// count returns 0, 1, or 2 if there may be several.
func (s *contentCounts) count(mark uint32) int {
	if len(s.marks) == 0 {
		return 0
	}
	switch s.marks[s.place(mark)] {
	case 0:
		return 0
	case mark:
		return 1
	}
	return 2
}

// saying returns how many objects of an audience have a content hash, whether visible or not: 0, 1,
// or more if there may be several.
func (v *View) saying(a *schemas.AudienceID, contentHash uint64) (n int) {
	for i := range v.parts {
		l := &v.parts[i].links
		l.mu.RLock()
		n += l.said.count(l.mark(a, contentHash))
		l.mu.RUnlock()
	}
	return n
}
