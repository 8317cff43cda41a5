package runtime

// trace is all that is known of one trace. It is used under the lock of Apply.
type trace struct {
	id    [16]byte
	spans []span
	links []link // to its spans
	parts []part
	// charged is what the cache counts it for.
	charged int

	// The places in spans and links by what they are found by, once there are more
	// than fewSpans.
	byID     map[uint64][]int32
	byParent map[uint64][]int32
	byTarget map[uint64][]int32
}

// part is what one partition says of a trace, as it is stored: in chunks of
// chunkEntries, of which the last may still grow.
type part struct {
	shard   uint16
	full    int // chunks that are
	last    writer
	changed bool
}

const (
	// chunkEntries is the length of a full chunk.
	chunkEntries = 32
	// maxEntries is how many entries of one partition a trace has at most; what comes
	// later is summed, but not joined, so that no trace fills the memory.
	maxEntries = 1 << 17
	// maxNamesakes is the same for spans of one id. Ids are unique but for a client and
	// its server in Zipkin, and for what is broken.
	maxNamesakes = 4
	// fewSpans is up to where looking at all is as good as an index.
	fewSpans = 48
)

func (p *part) entries() int { return p.full*chunkEntries + p.last.n }

func (t *trace) part(shard uint16) *part {
	for i := range t.parts {
		if t.parts[i].shard == shard {
			return &t.parts[i]
		}
	}
	t.parts = append(t.parts, part{shard: shard})
	return &t.parts[len(t.parts)-1]
}

// named calls f with the spans of an id: at most maxNamesakes of each partition.
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

// linked calls f with the links to spans of an id.
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

// size is about the memory that it takes.
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
