package prolly

import (
	"bytes"
	"crypto/sha256"
	"slices"
)

// Prove returns a claim about a key in the map with a root, that it has a value or is absent, and
// its proof.
func (d *DB) Prove(root Hash, key []byte) (Claim, *Proof, error) {
	if err := checkEntry(key, nil); err != nil {
		return Claim{}, nil, err
	}
	m, err := d.Map(root)
	if err != nil {
		return Claim{}, nil, err
	}
	absent := Claim{Key: bytes.Clone(key), Absent: true}
	if m.root == nil {
		return absent, &Proof{}, nil
	}
	c := newCursor(d, m.root, 0)
	if err := c.seek(key); err != nil {
		return Claim{}, nil, err
	}
	n, i := c.at()
	p := &Proof{Count: m.Len()}
	if i < n.len() && bytes.Equal(n.key(i), key) {
		p.Path = steps(c.path, 1)
		p.Path[len(p.Path)-1].Shown = nil // it is in the claim
		return Claim{Key: absent.Key, Value: bytes.Clone(n.value(i))}, p, nil
	}
	left, right := c, c.clone()
	there := true
	switch i {
	case 0: // the entry before it is the last one of the previous chunk
		there, err = left.prevChunk()
	case n.len(): // the entry after it is the first one of the next chunk
		left.path[len(left.path)-1].i--
		there, err = right.nextChunk()
	default:
		left.path[len(left.path)-1].i--
	}
	if err != nil {
		return Claim{}, nil, err
	}
	if !there {
		p.Path = steps(left.path, 1)
		return absent, p, nil
	}
	parts := 0
	for left.path[parts].i == right.path[parts].i {
		parts++
	}
	p.Path = steps(left.path[:parts+1], 2)
	p.Left = steps(left.path[parts+1:], 1)
	p.Right = steps(right.path[parts+1:], 1)
	return absent, p, nil
}

// steps returns the steps of a path, with lastShown entries shown of the last chunk.
func steps(path []nodeEntry, lastShown int) []Step {
	var all []Step
	for i, p := range path {
		shown := 1
		if i == len(path)-1 {
			shown = lastShown
		}
		all = append(all, p.n.step(p.i, shown))
	}
	return all
}

// step returns a step that shows some entries of a chunk, beginning with from.
func (n *node) step(from, shown int) Step {
	s := Step{Entries: n.len(), Index: from}
	for i := from; i < from+shown; i++ {
		e := Shown{Key: n.key(i)}
		switch value := n.value(i); {
		case n.level > 0:
			h, count := n.link(i)
			e.Hash, e.Count = &h, count
		case len(value) < longValue:
			e.Value = value
		default:
			h := Hash(sha256.Sum256(value))
			e.Hash = &h
		}
		s.Shown = append(s.Shown, e)
	}
	s.Siblings = appendSiblings(make([]Hash, 0, siblings(0, n.len(), from, from+shown)), n.leaves(), 0, from, from+shown)
	return s
}

// appendSiblings appends the sibling hashes that a subtree contributes to show the leaves first
// (inclusive) to end (exclusive). leaves are the subtree's, of which the first is leaf lo of the
// tree.
func appendSiblings(b, leaves []Hash, lo, first, end int) []Hash {
	hi := lo + len(leaves)
	switch {
	case hi <= first || end <= lo:
		return append(b, merkleRoot(slices.Clone(leaves)))
	case hi-lo == 1:
		return b
	}
	mid := split(hi - lo)
	b = appendSiblings(b, leaves[:mid], lo, first, end)
	return appendSiblings(b, leaves[mid:], lo+mid, first, end)
}
