package evidence

import (
	"slices"
	"sync"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/schemas"
)

// scratch is room that questions leave to the next ones, empty. Nothing of it is in an
// answer that was given.
type scratch struct {
	// read are the objects read so far, nil where one may not be known of, each once; nodes
	// are those that were looked at in memory, and made is room for more.
	read       map[schemas.ObjectRef]*objects.Stored
	nodes      map[objects.Node]*part
	made       []part
	candidates []candidate
	keys       map[schemas.ObjectRef]int // of candidates
	order      []int                     // of candidates
	hits       []*hit                    // as many as were needed at once
	hitsTaken  int
	neighbors  []neighbor // room for more
	building   []neighbor // of one object
	links      []objects.Link
	walks      []walk
	expanded   []Edge
	tied       map[tie]bool // the edges of chains, each once
	chained    []Edge       // those of these that do not join hits
	// have are edges that were told, joined of two things that are the kind of the first.
	have   map[edgeKey]bool
	joined map[edgeKey]string
	// shown are the objects that the answer has, by id; own are where their events stand.
	shown map[string]bool
	own   map[schemas.Position]bool
	// parts are of the events that the answer rests on. told are its edges, before what has
	// no room is cut.
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

// maxScratch is how many objects a question has read at most whose room is kept.
const maxScratch = 4 << 10

// give leaves the room to another question.
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

// empty leaves the room of a list that has only grown since it was empty last.
func empty[T any](list []T) []T {
	clear(list)
	return list[:0]
}

// newPart is a part of which nothing is known.
func (s *scratch) newPart() *part {
	if len(s.made) == cap(s.made) {
		s.made = make([]part, 0, max(2*cap(s.made), 64)) // the old one goes with those who have it
	}
	s.made = s.made[:len(s.made)+1]
	return &s.made[len(s.made)-1]
}

// newHit is a hit of which nothing is known.
func (s *scratch) newHit() *hit {
	if s.hitsTaken == len(s.hits) {
		s.hits = append(s.hits, &hit{})
	}
	s.hitsTaken++
	return s.hits[s.hitsTaken-1]
}

// roomFor is room for so many neighbors, empty.
func (s *scratch) roomFor(n int) []neighbor {
	if free := cap(s.neighbors) - len(s.neighbors); free < n {
		s.neighbors = make([]neighbor, 0, max(2*cap(s.neighbors), n, 256)) // the old one goes with those who have it
	}
	from := len(s.neighbors)
	s.neighbors = s.neighbors[:from+n]
	return s.neighbors[from : from : from+n]
}

// walksOf are so many walks that have not begun.
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
