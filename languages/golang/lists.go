package golang

// table lists small numbers by node.
type table struct {
	pairs      []copied // what it was made of: node, number
	start, all []int32
}

func (t *table) list(node int32) []int32 {
	if int(node)+1 >= len(t.start) {
		return nil
	}
	return t.all[t.start[node]:t.start[node+1]]
}

// set makes the table anew of pairs.
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
	copy(t.start[1:], t.start) // each has moved to where the next one begins
	t.start[0] = 0
}

// ints are the memory of many lists, most of them short.
type ints struct {
	blocks [][]int32
	used   int // blocks
	free   []int32
}

// reset takes all memory back: no list of before is used any more.
func (s *ints) reset() { s.used, s.free = 0, nil }

func (s *ints) append(list []int32, n int32) []int32 {
	if len(list) == cap(list) {
		list = append(s.take(max(4, 2*len(list))), list...)
	}
	return append(list, n)
}

// intsBlock is how many numbers a block has; what is longer has memory of its own.
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

// sets are the memory of sets of small numbers.
type sets struct {
	all  [][]uint64
	used int
}

// reset takes all memory back: no set of before is used any more.
func (s *sets) reset() { s.used = 0 }

// grow is a set with so many words; of one that has some, those too.
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
