package evidence

import (
	"slices"
	"sync"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/schemas"
)

// scratch has buffers that queries reuse. No returned answer refers to them.
type scratch struct {
	// read caches the objects read so far, nil for one that is not visible. nodes caches the
	// objects looked up in memory; made is the memory for new ones.
	read       map[schemas.ObjectRef]*objects.Stored
	nodes      map[objects.Node]*part
	made       []part
	candidates []candidate
	keys       map[schemas.ObjectRef]int // indexes of candidates
	order      []int                     // indexes of candidates
	hits       []*hit                    // the maximum number needed at once so far
	hitsTaken  int
	neighbors  []neighbor // free memory
	building   []neighbor // of the current object
	links      []objects.Link
	walks      []walk
	expanded   []Edge
	tied       map[tie]bool // the edges of chains, for removing duplicates
	chained    []Edge       // those that do not join hits
	// have is the set of edges in the answer; joined maps two ends to the kind of the first edge
	// between them.
	have   map[edgeKey]bool
	joined map[edgeKey]string
	// shown has the ids of the objects in the answer; own has the positions of their events.
	shown map[string]bool
	own   map[schemas.Position]bool
	// parts are the events that the answer rests on. told are its edges before they are cut.
	parts []*part
	told  []Edge
}

var scratches = sync.Pool{New: func() any {
	return &scratch{
		read: map[schemas.ObjectRef]*objects.Stored{}, nodes: map[objects.Node]*part{},
		keys: map[schemas.ObjectRef]int{},
		have: map[edgeKey]bool{}, joined: map[edgeKey]string{},
		tied:  map[tie]bool{},
		shown: map[string]bool{}, own: map[schemas.Position]bool{},
	}
}}

// maxScratch is the maximum number of objects read by a query whose buffers are kept.
const maxScratch = 4 << 10

// give returns the buffers to the pool.
func (s *scratch) give() {
	if len(s.read)+len(s.nodes) > maxScratch {
		return
	}
	clear(s.read)
	clear(s.nodes)
	clear(s.building[:cap(s.building)])
	clear(s.links[:cap(s.links)])
	clear(s.keys)
	clear(s.have)
	clear(s.joined)
	clear(s.tied)
	clear(s.shown)
	clear(s.own)
	for _, h := range s.hits[:s.hitsTaken] {
		*h = hit{}
	}
	s.hitsTaken = 0
	s.made, s.neighbors = empty(s.made), empty(s.neighbors)
	s.candidates, s.expanded, s.told, s.parts = empty(s.candidates), empty(s.expanded), empty(s.told), empty(s.parts)
	s.chained = empty(s.chained)
	for i := range s.walks {
		s.walks[i].empty()
	}
	scratches.Put(s)
}

// empty clears a list and keeps its memory.
func empty[T any](list []T) []T {
	clear(list)
	return list[:0]
}

// newPart returns an empty part.
func (s *scratch) newPart() *part {
	if len(s.made) == cap(s.made) {
		s.made = make([]part, 0, max(2*cap(s.made), 64)) // the old array stays with its users
	}
	s.made = s.made[:len(s.made)+1]
	return &s.made[len(s.made)-1]
}

// newHit returns an empty hit.
func (s *scratch) newHit() *hit {
	if s.hitsTaken == len(s.hits) {
		s.hits = append(s.hits, &hit{})
	}
	s.hitsTaken++
	return s.hits[s.hitsTaken-1]
}

// roomFor returns an empty slice with capacity for n neighbors.
func (s *scratch) roomFor(n int) []neighbor {
	if free := cap(s.neighbors) - len(s.neighbors); free < n {
		s.neighbors = make([]neighbor, 0, max(2*cap(s.neighbors), n, 256)) // the old array stays with its users
	}
	from := len(s.neighbors)
	s.neighbors = s.neighbors[:from+n]
	return s.neighbors[from : from : from+n]
}

// walksOf returns n empty walks.
func (s *scratch) walksOf(n int) []walk {
	s.walks = slices.Grow(s.walks[:0], n)[:n]
	for i := range s.walks {
		if s.walks[i].seen == nil {
			s.walks[i].seen = map[*part]bool{}
		}
	}
	return s.walks
}

func (w *walk) empty() {
	clear(w.seen)
	c := &w.chain
	*w = walk{
		chain: chain{parts: empty(c.parts), edges: empty(c.edges), roots: empty(c.roots), dangling: empty(c.dangling)},
		seen:  w.seen, open: empty(w.open[:cap(w.open)]), spare: empty(w.spare[:cap(w.spare)]),
	}
}
