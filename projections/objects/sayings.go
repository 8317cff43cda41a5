package objects

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/recountdb/recount/schemas"
)

// sayings tell of what is said in an audience, without a read, whether nobody says it, or
// one alone: about 8 bytes an object. Of what several say the stored lists tell who.
type sayings struct {
	// marks are fingerprints of audience and content hash, the lowest bit of which says that
	// it came more than once; 0 where there is none. Two that are one by chance are as if
	// both came more than once. A power of two of places, of which at most three quarters
	// are taken.
	marks []uint32
	taken int
}

const several = 1

// mark is the fingerprint of what is said in an audience, without the lowest bit.
func (l *links) mark(a *schemas.AudienceID, contentHash uint64) uint32 {
	var room [16 + 8]byte
	b := binary.LittleEndian.AppendUint64(append(room[:0], a[:]...), contentHash)
	return max(uint32(maphash.Bytes(l.seed, b))&^several, several+1)
}

// place is where a mark stands, or would.
func (s *sayings) place(mark uint32) int {
	mask := len(s.marks) - 1
	at := int(mark>>1) & mask
	for s.marks[at] != 0 && s.marks[at]&^several != mark {
		at = (at + 1) & mask
	}
	return at
}

func (s *sayings) add(mark uint32) {
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

// count is how many say it: 0, 1, or 2 where they may be several.
func (s *sayings) count(mark uint32) int {
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

// saying is how many objects of an audience have a content hash, whoever may know of them
// and when: 0, 1, or more where they may be several.
func (v *View) saying(a *schemas.AudienceID, contentHash uint64) (n int) {
	for i := range v.parts {
		l := &v.parts[i].links
		l.mu.RLock()
		n += l.said.count(l.mark(a, contentHash))
		l.mu.RUnlock()
	}
	return n
}
