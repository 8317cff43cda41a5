package prolly

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrNotProved is in the chain of every error of Verify.
var ErrNotProved = errors.New("not proved")

// Verify checks that a proof shows a claim for the map with a root. It needs no store. It does not
// check whether the map is well-formed (its keys in order), as Check does: the caller must trust
// the root.
func Verify(root Hash, c Claim, p *Proof) error {
	err := checkEntry(c.Key, c.Value)
	switch {
	case err != nil:
	case p == nil:
		err = errors.New("no proof")
	case c.Absent && len(c.Value) > 0:
		err = errors.New("an absent key has no value")
	default:
		if err = p.form(); err == nil {
			err = p.verify(root, c)
		}
	}
	if err != nil {
		return fmt.Errorf("%w under %s: %w", ErrNotProved, root, err)
	}
	return nil
}

func (p *Proof) verify(root Hash, c Claim) error {
	if p.Count == 0 {
		switch {
		case root != Empty:
			return errors.New("the map is not empty")
		case !c.Absent:
			return errors.New("the map is empty")
		}
		return nil
	}
	path, err := follow(p.Path, p.height()-1, Shown{Hash: &root, Count: p.Count}, c)
	if err != nil {
		return fmt.Errorf("path: %w", err)
	}
	switch {
	case c.Absent == (len(path.end) == 0):
		return errors.New("the claim is of presence and the proof of absence, or the other way about")
	case !c.Absent:
		return nil
	case len(path.end) == 1:
		switch order := bytes.Compare(c.Key, path.end[0].Key); {
		case order < 0 && path.first, order > 0 && path.last:
			return nil
		}
		return errors.New("the key does not come before the first entry or after the last")
	}
	before, after := path.end[0].Key, path.end[1].Key
	if len(p.Left) > 0 {
		left, err := follow(p.Left, len(p.Left)-1, path.end[0], c)
		if err != nil {
			return fmt.Errorf("left: %w", err)
		}
		right, err := follow(p.Right, len(p.Right)-1, path.end[1], c)
		if err != nil {
			return fmt.Errorf("right: %w", err)
		}
		if !left.last || !right.first {
			return errors.New("the neighbours are not next to each other")
		}
		before, after = left.end[0].Key, right.end[0].Key
	}
	if bytes.Compare(before, c.Key) >= 0 || bytes.Compare(c.Key, after) >= 0 {
		return errors.New("the key does not come between its neighbours")
	}
	return nil
}

// pathShape describes the path that some steps take.
type pathShape struct {
	end         []Shown // entries shown by the last step
	first, last bool    // whether every step takes the first entry of its chunk, or the last
}

// follow checks that steps lead down from a link to a chunk of a level.
func follow(steps []Step, level int, link Shown, c Claim) (pathShape, error) {
	w := pathShape{first: true, last: true}
	for i := range steps {
		s := &steps[i]
		if err := s.check(uint8(level-i), &link, c); err != nil {
			return w, fmt.Errorf("step %d: %w", i, err)
		}
		w.first = w.first && s.Index == 0
		w.last = w.last && s.Index == s.Entries-1
		if w.end = s.Shown; len(w.end) > 0 {
			link = w.end[0]
		}
	}
	return w, nil
}

// check checks that a step belongs to the chunk that a link leads to.
func (s *Step) check(level uint8, link *Shown, c Claim) error {
	shown := s.Shown
	key := c.Key
	var leaves [2]Hash
	if len(shown) == 0 {
		leaves[0], _ = entryHash(level, c.Key, c.Value, nil)
	} else {
		key = shown[0].Key
	}
	for i := range shown {
		leaves[i] = shown[i].hash(level)
	}
	r := ranged{first: s.Index, leaves: leaves[:max(1, len(shown))], siblings: s.Siblings}
	switch {
	case chunkHash(level, s.Entries, link.Count, r.root(0, s.Entries)) != *link.Hash:
		return errors.New("what is shown does not have the hash of the chunk")
	case level == 0 && link.Count != uint64(s.Entries):
		return fmt.Errorf("%d entries, %d in the link", s.Entries, link.Count)
	case s.Index > 0 && bytes.Compare(key, link.Key) <= 0,
		s.Index == 0 && level > 0 && !bytes.Equal(key, link.Key),
		s.Index == 0 && !bytes.HasPrefix(key, link.Key):
		return errors.New("the key is not where the link leads")
	case len(shown) == 2 && bytes.Compare(key, shown[1].Key) >= 0:
		return errors.New("the keys do not ascend")
	}
	return nil
}

// ranged computes the root of a Merkle tree from some adjacent leaves and the sibling hashes. Their
// number has been checked.
type ranged struct {
	first    int
	leaves   []Hash
	siblings []Hash // those not yet used
}

// root returns the root of the subtree over the leaves from lo to hi.
func (r *ranged) root(lo, hi int) (h Hash) {
	switch {
	case hi <= r.first || r.first+len(r.leaves) <= lo:
		h, r.siblings = r.siblings[0], r.siblings[1:]
		return h
	case hi-lo == 1:
		return r.leaves[lo-r.first]
	}
	mid := lo + split(hi-lo)
	left := r.root(lo, mid)
	right := r.root(mid, hi)
	return nodeHash(&left, &right)
}
