package secrets

// matcher finds which of many literals occur in a text, in one pass over it and
// without regard to the case of ASCII letters: an Aho-Corasick automaton. It is
// what lets a hundred patterns cost a usual command next to nothing.
//
// The transition table is dense over the classes of bytes that occur in some
// literal (about forty), one class standing for all other bytes.
type matcher struct {
	class   [256]uint8
	classes int
	next    []uint32 // next[state*classes+class]
	hit     [][]int  // hit[state] lists the owners of the literals that end there
	owners  int
	// steps is next for any: the state times the number of classes, plus stop where
	// a literal ends.
	steps []uint32
}

// stop marks the steps at which a literal ends.
const stop = 1 << 31

// newMatcher builds the automaton; literals[i] belong to owner i.
func newMatcher(literals [][]string) *matcher {
	m := &matcher{classes: 1, owners: len(literals)}
	for _, ls := range literals {
		for _, l := range ls {
			for i := range len(l) {
				c := lower(l[i])
				if m.class[c] == 0 {
					m.class[c] = uint8(m.classes)
					m.classes++
				}
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		m.class[c] = m.class[lower(c)]
	}

	// The trie: 0 in next means no child, as nothing leads back to the root yet.
	m.grow()
	for owner, ls := range literals {
		for _, l := range ls {
			state := 0
			for i := range len(l) {
				at := state*m.classes + int(m.class[l[i]])
				if m.next[at] == 0 {
					m.next[at] = uint32(m.grow())
				}
				state = int(m.next[at])
			}
			m.hit[state] = append(m.hit[state], owner)
		}
	}

	// Breadth first, replace missing children by those of the longest proper
	// suffix that is also in the trie, and inherit its hits.
	fail := make([]uint32, len(m.hit))
	var queue []int
	for c := range m.classes {
		if child := m.next[c]; child != 0 {
			queue = append(queue, int(child))
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		m.hit[state] = append(m.hit[state], m.hit[fail[state]]...)
		for c := range m.classes {
			at := state*m.classes + c
			viaFail := m.next[int(fail[state])*m.classes+c]
			if child := m.next[at]; child != 0 {
				fail[child] = viaFail
				queue = append(queue, int(child))
			} else {
				m.next[at] = viaFail
			}
		}
	}
	m.steps = make([]uint32, len(m.next))
	for i, state := range m.next {
		m.steps[i] = state * uint32(m.classes)
		if len(m.hit[state]) > 0 {
			m.steps[i] |= stop
		}
	}
	return m
}

// any says whether a literal occurs in s, which for most texts is all there is to
// know.
func (m *matcher) any(s string) bool {
	var at uint32
	for i := range len(s) {
		if at = m.steps[at+uint32(m.class[s[i]])]; at >= stop {
			return true
		}
	}
	return false
}

func (m *matcher) grow() int {
	m.next = append(m.next, make([]uint32, m.classes)...)
	m.hit = append(m.hit, nil)
	return len(m.hit) - 1
}

// hits calls yield once for each owner of which a literal occurs in s.
func (m *matcher) hits(s string, yield func(owner int)) {
	var few [4]uint64 // enough for the built-in rules, and no garbage
	var seen []uint64
	state := 0
	for i := range len(s) {
		state = int(m.next[state*m.classes+int(m.class[s[i]])])
		for _, owner := range m.hit[state] {
			if seen == nil {
				if seen = few[:]; m.owners > 64*len(few) {
					seen = make([]uint64, (m.owners+63)/64)
				}
			}
			if bit := uint64(1) << (owner % 64); seen[owner/64]&bit == 0 {
				seen[owner/64] |= bit
				yield(owner)
			}
		}
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
