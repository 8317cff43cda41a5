package segment

import "github.com/zeebo/xxh3"

// texts finds a text among the distinct values of a dictionary. It keeps their
// indexes alone, by hash, as the texts themselves stand in the dictionary: there
// are hundreds of thousands of them in a hot buffer.
type texts struct {
	slots []int32 // an index plus one, 0 where free; a power of two of them
	n     int
}

// index is that of a value, if it is there.
func (t *texts) index(values *utf8Column, s string) (int32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	at := t.slots[t.slot(values, s)]
	return at - 1, at > 0
}

// slot is where a value stands, or where it would.
func (t *texts) slot(values *utf8Column, s string) int {
	mask := len(t.slots) - 1
	i := int(xxh3.HashString(s)) & mask
	for t.slots[i] > 0 && values.at(int(t.slots[i]-1)) != s {
		i = (i + 1) & mask
	}
	return i
}

// add notes the value at an index, which is not there yet.
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
