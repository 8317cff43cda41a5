package segment

import "github.com/zeebo/xxh3"

// texts finds a text among the distinct values of a dictionary. It is a hash table of their indexes
// only, since the dictionary holds the texts: a hot buffer has hundreds of thousands of them.
type texts struct {
	slots []int32 // index + 1, 0 if free; the length is a power of two
	n     int
}

// index returns the index of a value, if it is there.
func (t *texts) index(values *utf8Column, s string) (int32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	at := t.slots[t.slot(values, s)]
	return at - 1, at > 0
}

// slot returns the slot of a value, or the free one where it would be added.
func (t *texts) slot(values *utf8Column, s string) int {
	mask := len(t.slots) - 1
	i := int(xxh3.HashString(s)) & mask
	for t.slots[i] > 0 && values.at(int(t.slots[i]-1)) != s {
		i = (i + 1) & mask
	}
	return i
}

// add adds the value at an index, which must not be in the table yet.
func (t *texts) add(values *utf8Column, index int32) {
	if t.n++; 3*t.n > 2*len(t.slots) {
		old := t.slots
		t.slots = make([]int32, max(16, 2*len(old)))
		for _, at := range old {
			if at > 0 {
				t.slots[t.slot(values, values.at(int(at-1)))] = at
			}
		}
	}
	t.slots[t.slot(values, values.at(int(index)))] = index + 1
}
