package prolly

import (
	"errors"
	"fmt"
	"math/bits"
)

// Claim is the statement of a proof: that a map has a key with a value, or does not have the key.
type Claim struct {
	Key    []byte `json:"key"`
	Value  []byte `json:"value,omitempty"`
	Absent bool   `json:"absent,omitempty"`
}

// Proof shows that a claim holds for the map with a root; Verify checks it. It has the path from
// the root down to the entry, and of each chunk only what is needed for that. A proof of absence
// has the paths to both neighbours of the key, or to the first or the last entry.
type Proof struct {
	// Count is the number of entries of the map, which the root commits to as well.
	Count uint64 `json:"count"`
	// Path leads down from the root. It is empty for the empty map.
	Path []Step `json:"path"`
	// Left and Right continue to the neighbours before and after the key, if these are in different
	// chunks.
	Left  []Step `json:"left,omitempty"`
	Right []Step `json:"right,omitempty"`
}

// Step is one chunk of the path.
type Step struct {
	// Entries is the number of entries of the chunk.
	Entries int `json:"entries"`
	// Index is the index of the first entry shown.
	Index int `json:"index"`
	// Shown has the entry that the path goes through, two entries where it divides, and none if the
	// entry is that of the claim.
	Shown []Shown `json:"shown,omitempty"`
	// Siblings are hashes of the chunk's Merkle tree, from left to right: of the largest subtrees
	// without a shown entry.
	Siblings []Hash `json:"siblings,omitempty"`
}

// Shown is an entry of a chunk.
type Shown struct {
	Key []byte `json:"key"`
	// Value is the value of an entry of level 0, if it is shorter than 129 bytes.
	Value []byte `json:"value,omitempty"`
	// Hash is that of the linked chunk, or at level 0 the SHA-256 of a longer value.
	Hash *Hash `json:"hash,omitempty"`
	// Count is the number of entries of the map below a link.
	Count uint64 `json:"count,omitempty"`
}

// hash returns the Merkle leaf of the entry.
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

// form checks that the entry has the parts required at its level.
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

// height returns the number of levels of the map.
func (p *Proof) height() int { return len(p.Path) + len(p.Left) }

// steps calls do with each step, its level, and the minimum and maximum number of entries that it
// must show.
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

// form checks that the proof is well-formed, whatever it proves.
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

// split returns where RFC 6962 splits a tree of n leaves: the largest power of two below n.
func split(n int) int { return 1 << (bits.Len(uint(n-1)) - 1) }

// siblings returns the number of hashes that the subtree over the leaves lo to hi contributes to
// show the leaves first (inclusive) to end (exclusive).
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
