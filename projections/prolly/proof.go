package prolly

import (
	"errors"
	"fmt"
	"math/bits"
)

// Claim is what a proof is about: that a map has a key with a value, or that it does
// not have the key.
type Claim struct {
	Key    []byte `json:"key"`
	Value  []byte `json:"value,omitempty"`
	Absent bool   `json:"absent,omitempty"`
}

// Proof shows that a claim holds for the map with a root; Verify checks it. It has
// the way from the root down to the entry, of each chunk only what that takes.
// For absence that is the way to both neighbours of the key, to the first entry or
// to the last one.
type Proof struct {
	// Count is how many entries the map has, which the root commits to as well.
	Count uint64 `json:"count"`
	// Path goes down from the root. Of the empty map it is empty.
	Path []Step `json:"path"`
	// Left and Right go on to the neighbours before and after the key, where these
	// are in different chunks.
	Left  []Step `json:"left,omitempty"`
	Right []Step `json:"right,omitempty"`
}

// Step is one chunk of the way.
type Step struct {
	// Entries is how many the chunk has.
	Entries int `json:"entries"`
	// Index is that of the first entry shown.
	Index int `json:"index"`
	// Shown is the entry that the way goes through, two where it parts, and none
	// where it is the claim's.
	Shown []Shown `json:"shown,omitempty"`
	// Siblings are hashes of the chunk's Merkle tree, from left to right: of the
	// largest parts without a shown entry.
	Siblings []Hash `json:"siblings,omitempty"`
}

// Shown is an entry of a chunk.
type Shown struct {
	Key []byte `json:"key"`
	// Value is that of an entry of level 0, if it is shorter than 129 bytes.
	Value []byte `json:"value,omitempty"`
	// Hash is that of the chunk linked to, or at level 0 the SHA-256 of a longer value.
	Hash *Hash `json:"hash,omitempty"`
	// Count is how many entries of the map lie below a link.
	Count uint64 `json:"count,omitempty"`
}

// hash is the Merkle leaf of the entry.
func (s *Shown) hash(level uint8) (h Hash) {
	switch {
	case level > 0:
		h, _ = leafHash(tagLink, s.Key, appendLink(nil, *s.Hash, s.Count), nil)
	case s.Hash != nil:
		h, _ = leafHash(tagLong, s.Key, s.Hash[:], nil)
	default:
		h, _ = leafHash(tagEntry, s.Key, s.Value, nil)
	}
	return h
}

// form checks the parts that an entry of a level has.
func (s *Shown) form(level uint8) error {
	switch {
	case len(s.Key) > MaxKey:
		return fmt.Errorf("a key of %d bytes, more than %d", len(s.Key), MaxKey)
	case level > 0 && (s.Hash == nil || s.Count == 0 || len(s.Value) > 0):
		return errors.New("a link has a hash and a count, and no value")
	case level == 0 && (s.Count > 0 || len(s.Value) >= longValue || s.Hash != nil && len(s.Value) > 0):
		return fmt.Errorf("an entry has a value of less than %d bytes or a hash, and no count", longValue)
	}
	return nil
}

// height is how many levels the map has.
func (p *Proof) height() int { return len(p.Path) + len(p.Left) }

// steps calls do with each step, its level, and how many entries it has to show at
// least and at most.
func (p *Proof) steps(do func(s *Step, level uint8, least, most int) error) error {
	level := p.height()
	for i := range p.Path {
		level--
		least, most := 1, 1
		if i == len(p.Path)-1 {
			switch most = 2; {
			case level == 0:
				least = 0
			case len(p.Left) > 0:
				least = 2
			}
		}
		if err := do(&p.Path[i], uint8(level), least, most); err != nil {
			return fmt.Errorf("path step %d: %w", i, err)
		}
	}
	for i := range p.Left {
		level--
		if err := do(&p.Left[i], uint8(level), 1, 1); err != nil {
			return fmt.Errorf("left step %d: %w", i, err)
		}
		if err := do(&p.Right[i], uint8(level), 1, 1); err != nil {
			return fmt.Errorf("right step %d: %w", i, err)
		}
	}
	return nil
}

// form checks that the proof has the parts that a proof has, whatever it proves.
func (p *Proof) form() error {
	switch {
	case len(p.Left) != len(p.Right):
		return fmt.Errorf("%d left steps and %d right ones", len(p.Left), len(p.Right))
	case len(p.Path) == 0 && (len(p.Left) > 0 || p.Count > 0):
		return errors.New("no path")
	case len(p.Path) > 0 && p.Count == 0:
		return errors.New("a path in an empty map")
	case len(p.Path) > maxLevel+1 || len(p.Left) > maxLevel+1 || p.height() > maxLevel+1:
		return fmt.Errorf("%d levels, more than %d", p.height(), maxLevel+1)
	}
	return p.steps(func(s *Step, level uint8, least, most int) error {
		shown := max(1, len(s.Shown))
		switch {
		case len(s.Shown) < least || len(s.Shown) > most:
			return fmt.Errorf("shows %d entries, want %d to %d", len(s.Shown), least, most)
		case s.Entries < 1 || s.Entries > MaxEntries:
			return fmt.Errorf("%d entries, want 1 to %d", s.Entries, MaxEntries)
		case s.Index < 0 || s.Index > s.Entries-shown:
			return fmt.Errorf("entry %d of %d", s.Index, s.Entries)
		case len(s.Siblings) != siblings(0, s.Entries, s.Index, s.Index+shown):
			return fmt.Errorf("%d siblings, want %d", len(s.Siblings), siblings(0, s.Entries, s.Index, s.Index+shown))
		}
		for i := range s.Shown {
			if err := s.Shown[i].form(level); err != nil {
				return err
			}
		}
		return nil
	})
}

// split is where RFC 6962 splits a tree of n leaves: the largest power of two below n.
func split(n int) int { return 1 << (bits.Len(uint(n-1)) - 1) }

// siblings is how many hashes the part of a Merkle tree over the leaves lo to hi
// takes to show those from first up to, but without, end.
func siblings(lo, hi, first, end int) int {
	switch {
	case hi <= first || end <= lo:
		return 1
	case hi-lo == 1:
		return 0
	}
	mid := lo + split(hi-lo)
	return siblings(lo, mid, first, end) + siblings(mid, hi, first, end)
}
