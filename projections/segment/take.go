package segment

// slice returns the rows [lo, hi) as a view. Only the ends of strings and lists are copied, so that
// they count from zero: some readers of Arrow accept nothing else.
func (c *columns) slice(lo, hi int) columns {
	s := *c
	s.n = hi - lo
	s.id, s.parent = c.id[lo:hi], c.parent[lo:hi]
	s.offset, s.time, s.eventTime = c.offset[lo:hi], c.time[lo:hi], c.eventTime[lo:hi]
	for i := range s.text {
		var from, to int32
		s.text[i].off, from, to = rebase(c.text[i].off[lo : hi+1])
		s.text[i].data = c.text[i].data[from:to]
	}
	for i := range nRowDict {
		s.dict[i].idx = c.dict[i].idx[lo:hi]
	}
	for l := range s.list {
		var from, to int32
		s.list[l], from, to = rebase(c.list[l][lo : hi+1])
		d := listItems[l]
		s.dict[d].idx = c.dict[d].idx[from:to]
		switch l {
		case listResources:
			s.resourceKind, s.resourceAccess = c.resourceKind[from:to], c.resourceAccess[from:to]
		case listTokens:
			s.tokenKind, s.tokenOffset = c.tokenKind[from:to], c.tokenOffset[from:to]
		}
	}
	s.category, s.confidence, s.complexity = c.category[lo:hi], c.confidence[lo:hi], c.complexity[lo:hi]
	s.exitCode, s.duration = c.exitCode[lo:hi], c.duration[lo:hi]
	s.contextHash, s.contentHash = c.contextHash[lo:hi], c.contentHash[lo:hi]
	s.hasExit, s.hasDuration = c.hasExit.slice(lo, hi), c.hasDuration.slice(lo, hi)
	s.hasParent, s.hasEmbedding = c.hasParent.slice(lo, hi), c.hasEmbedding.slice(lo, hi)
	s.embedding = c.embedding[lo:hi]
	return s
}

// rebase returns the ends counted from zero, and the range that they span.
func rebase(ends []int32) (zeroed []int32, from, to int32) {
	from, to = ends[0], ends[len(ends)-1]
	if from == 0 {
		return ends, from, to
	}
	zeroed = make([]int32, len(ends))
	for i, e := range ends {
		zeroed[i] = e - from
	}
	return zeroed, from, to
}

// gather returns a copy of the chosen rows, which shares dictionaries and vectors with c.
func (c *columns) gather(rows []uint32) columns {
	t := *c
	t.n = len(rows)
	t.id, t.parent = pick(c.id, rows), pick(c.parent, rows)
	t.offset, t.time, t.eventTime = pick(c.offset, rows), pick(c.time, rows), pick(c.eventTime, rows)
	for i := range t.text {
		t.text[i] = utf8Column{off: []int32{0}}
		for _, r := range rows {
			t.text[i].append(c.text[i].at(int(r)))
		}
	}
	for i := range nRowDict {
		t.dict[i].idx = pick(c.dict[i].idx, rows)
	}
	for l := range t.list {
		items, ends := c.items(l, rows)
		t.list[l] = ends
		d := listItems[l]
		t.dict[d].idx = pick(c.dict[d].idx, items)
		switch l {
		case listResources:
			t.resourceKind, t.resourceAccess = pick(c.resourceKind, items), pick(c.resourceAccess, items)
		case listTokens:
			t.tokenKind, t.tokenOffset = pick(c.tokenKind, items), pick(c.tokenOffset, items)
		}
	}
	t.category, t.confidence, t.complexity = pick(c.category, rows), pick(c.confidence, rows), pick(c.complexity, rows)
	t.exitCode, t.duration = pick(c.exitCode, rows), pick(c.duration, rows)
	t.contextHash, t.contentHash = pick(c.contextHash, rows), pick(c.contentHash, rows)
	t.hasExit, t.hasDuration = c.hasExit.gather(rows), c.hasDuration.gather(rows)
	t.hasParent, t.hasEmbedding = c.hasParent.gather(rows), c.hasEmbedding.gather(rows)
	t.embedding = pick(c.embedding, rows)
	return t
}

// items returns the items of the rows' lists, and the ends of each list among them.
func (c *columns) items(list int, rows []uint32) (items []uint32, ends []int32) {
	ends = make([]int32, 1, len(rows)+1)
	for _, r := range rows {
		for i, hi := c.span(list, int(r)); i < hi; i++ {
			items = append(items, uint32(i))
		}
		ends = append(ends, int32(len(items)))
	}
	return items, ends
}

func pick[T any](from []T, rows []uint32) []T {
	to := make([]T, len(rows))
	for i, r := range rows {
		to[i] = from[r]
	}
	return to
}

// slice shares the memory if the first row's bit begins a byte, and copies otherwise.
func (v *validity) slice(lo, hi int) validity {
	if v.flags != nil {
		return validity{flags: v.flags[lo:hi]}
	}
	if lo%8 == 0 {
		return validity{bits: v.bits[lo/8 : (hi+7)/8]}
	}
	flags := make([]bool, 0, hi-lo)
	for i := lo; i < hi; i++ {
		flags = append(flags, v.at(i))
	}
	return validity{flags: flags}
}

func (v *validity) gather(rows []uint32) validity {
	flags := make([]bool, len(rows))
	for i, r := range rows {
		flags[i] = v.at(int(r))
	}
	return validity{flags: flags}
}
