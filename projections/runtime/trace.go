package runtime

// trace has everything known of one trace. The lock of Apply guards it.
type trace struct {
	id    [16]byte
	spans []span
	links []link // to its spans
	parts []tracePart

	// These are indexes into spans and links, used if there are more than fewSpans.
	byID     map[uint64][]int32
	byParent map[uint64][]int32
	byTarget map[uint64][]int32
}

// tracePart is one partition's part of a trace as it is stored: chunks of chunkEntries, of which the
// last may still grow.
type tracePart struct {
	shard   uint16
	full    int // the number of full chunks
	last    writer
	changed bool
}

const (
	// chunkEntries is the number of entries in a full chunk.
	chunkEntries = 32
	// maxEntries is the maximum number of entries of a trace per partition. Later ones are summed
	// but not joined, so that no trace fills the memory.
	maxEntries = 1 << 17
	// maxNamesakes is the maximum number of spans with one id. Ids are unique except for a client
	// and its server in Zipkin, and for broken producers.
	maxNamesakes = 4
	// fewSpans is the number of spans up to which a linear search is as fast as an index.
	fewSpans = 48
)

func (p *tracePart) entries() int { return p.full*chunkEntries + p.last.n }

func (t *trace) part(shard uint16) *tracePart {
	for i := range t.parts {
		if t.parts[i].shard == shard {
			return &t.parts[i]
		}
	}
	t.parts = append(t.parts, tracePart{shard: shard})
	return &t.parts[len(t.parts)-1]
}

// named calls f with the spans that have an id: at most maxNamesakes of each partition.
func (t *trace) named(id uint64, f func(s *span)) {
	if t.byID != nil {
		for _, i := range t.byID[id] {
			f(&t.spans[i])
		}
		return
	}
	for i := range t.spans {
		if t.spans[i].id == id {
			f(&t.spans[i])
		}
	}
}

// children calls f with the spans whose parent has an id.
func (t *trace) children(id uint64, f func(s *span)) {
	if t.byID != nil {
		for _, i := range t.byParent[id] {
			f(&t.spans[i])
		}
		return
	}
	for i := range t.spans {
		if t.spans[i].hasParent && t.spans[i].parent == id {
			f(&t.spans[i])
		}
	}
}

// linked calls f with the links to spans that have an id.
func (t *trace) linked(id uint64, f func(l *link)) {
	if t.byTarget != nil {
		for _, i := range t.byTarget[id] {
			f(&t.links[i])
		}
		return
	}
	for i := range t.links {
		if t.links[i].target == id {
			f(&t.links[i])
		}
	}
}

func (t *trace) insert(s *span) {
	t.spans = append(t.spans, *s)
	switch {
	case t.byID != nil:
		t.index(len(t.spans) - 1)
	case len(t.spans) > fewSpans:
		t.byID, t.byParent = map[uint64][]int32{}, map[uint64][]int32{}
		for i := range t.spans {
			t.index(i)
		}
	}
}

func (t *trace) index(i int) {
	s := &t.spans[i]
	t.byID[s.id] = append(t.byID[s.id], int32(i))
	if s.hasParent {
		t.byParent[s.parent] = append(t.byParent[s.parent], int32(i))
	}
}

func (t *trace) insertLink(l *link) {
	t.links = append(t.links, *l)
	i := len(t.links) - 1
	switch {
	case t.byTarget != nil:
		t.byTarget[l.target] = append(t.byTarget[l.target], int32(i))
	case len(t.links) > fewSpans:
		t.byTarget = map[uint64][]int32{}
		for i := range t.links {
			t.byTarget[t.links[i].target] = append(t.byTarget[t.links[i].target], int32(i))
		}
	}
}

// size returns its approximate memory use in bytes.
func (t *trace) size() int {
	n := 300 + 80*cap(t.spans) + 112*cap(t.links)
	for i := range t.parts {
		n += 80 + cap(t.parts[i].last.b)
	}
	if t.byID != nil {
		n += 160 * len(t.spans)
	}
	if t.byTarget != nil {
		n += 80 * len(t.links)
	}
	return n
}
