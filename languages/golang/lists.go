package golang

// table is a map from nodes to lists of numbers, in two arrays.
type table struct {
	pairs      []copied // what it was built from: node, number
	start, all []int32
}

func (t *table) list(node int32) []int32 {
	if int(node)+1 >= len(t.start) {
		return nil
	}
	return t.all[t.start[node]:t.start[node+1]]
}

// set rebuilds the table from pairs.
func (t *table) set(nodes int, pairs []copied) {
	t.pairs, t.start, t.all = pairs, cleared(t.start, nodes+1), cleared(t.all, len(pairs))
	for _, p := range pairs {
		t.start[p.from+1]++
	}
	for i := 1; i <= nodes; i++ {
		t.start[i] += t.start[i-1]
	}
	for _, p := range pairs {
		t.all[t.start[p.from]] = p.to
		t.start[p.from]++
	}
	copy(t.start[1:], t.start) // each start has moved to that of the next node
	t.start[0] = 0
}

// ints allocates the memory of many lists, most of which are short.
type ints struct {
	blocks [][]int32
	used   int // blocks
	free   []int32
}

// reset makes all memory available again: no earlier list may be used any more.
func (s *ints) reset() { s.used, s.free = 0, nil }

func (s *ints) append(list []int32, n int32) []int32 {
	if len(list) == cap(list) {
		list = append(s.take(max(4, 2*len(list))), list...)
	}
	return append(list, n)
}

// intsBlock is the number of elements of a block; longer lists are allocated separately.
const intsBlock = 1 << 14

func (s *ints) take(size int) []int32 {
	if size > intsBlock {
		return make([]int32, 0, size)
	}
	if len(s.free) < size {
		if s.used == len(s.blocks) {
			s.blocks = append(s.blocks, make([]int32, intsBlock))
		}
		s.free = s.blocks[s.used]
		s.used++
	}
	list := s.free[:0:size]
	s.free = s.free[size:]
	return list
}

// sets allocates the memory of sets of small numbers, as bitmaps.
type sets struct {
	all  [][]uint64
	used int
}

// reset makes all memory available again: no earlier set may be used any more.
func (s *sets) reset() { s.used = 0 }

// grow returns a set with the given number of words that contains the elements of set, if any.
func (s *sets) grow(set []uint64, words int) []uint64 {
	if set != nil {
		return append(set, make([]uint64, words-len(set))...)
	}
	if s.used == len(s.all) {
		s.all = append(s.all, nil)
	}
	s.all[s.used] = cleared(s.all[s.used], words)
	s.used++
	return s.all[s.used-1][:words:words]
}
