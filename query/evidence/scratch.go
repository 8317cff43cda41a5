package evidence

import (
	"slices"
	"sync"

	"github.com/recountdb/recount/projections/graph/objects"
	"github.com/recountdb/recount/schemas"
)

// scratch is room that questions leave to the next ones, empty. Nothing of it is in an
// answer that was given.
type scratch struct {
	// read are the objects read so far, nil where one may not be known of, each once; ends
	// are what edges of objects lead to, and come from; fragments are links of chains.
	read       map[schemas.ObjectRef]*objects.Stored
	ends       map[*objects.Stored]*ends
	fragments  map[schemas.ObjectRef]*fragment
	candidates []candidate
	keys       map[schemas.ObjectRef]int // of candidates
	order      []int                     // of candidates
	hits       []*hit                    // as many as were needed at once
	hitsTaken  int
	neighbors  []neighbor // room for more
	walks      []walk
	expanded   []Edge
	tied       map[tie]bool // the edges of chains, each once
	chained    []Edge       // those of these that do not join hits
	// have are edges that were told, joined of two things that are the kind of the first.
	have   map[edgeKey]bool
	joined map[edgeKey]string
	// taken are the objects that chains have come to, reached those that the expansion has.
	taken, reached map[schemas.ObjectRef]bool
	// shown are the objects that the answer has, by id; own are where their events stand.
	shown map[string]bool
	own   map[schemas.Position]bool
	// parts are of the events that the answer rests on, made those of them that are of no
	// chain. told are its edges, before what has no room is cut.
	parts []*part
	made  []part
	told  []Edge
	bytes []byte // of what is measured
}

var scratches = sync.Pool{New: func() any {
	return &scratch{
		read: map[schemas.ObjectRef]*objects.Stored{}, ends: map[*objects.Stored]*ends{}, fragments: map[schemas.ObjectRef]*fragment{},
		keys: map[schemas.ObjectRef]int{},
		have: map[edgeKey]bool{}, joined: map[edgeKey]string{},
		tied: map[tie]bool{}, taken: map[schemas.ObjectRef]bool{}, reached: map[schemas.ObjectRef]bool{},
		shown: map[string]bool{}, own: map[schemas.Position]bool{},
	}
}}

// mostScratch is how many objects a question has read at most whose room is kept.
const mostScratch = 4 << 10

// give leaves the room to another question.
func (s *scratch) give() {
	if len(s.read) > mostScratch {
		return
	}
	clear(s.read)
	clear(s.ends)
	clear(s.fragments)
	clear(s.keys)
	clear(s.have)
	clear(s.joined)
	clear(s.tied)
	clear(s.taken)
	clear(s.reached)
	clear(s.shown)
	clear(s.own)
	for _, h := range s.hits[:s.hitsTaken] {
		*h = hit{}
	}
	s.hitsTaken = 0
	s.neighbors = empty(s.neighbors)
	s.candidates, s.expanded, s.told, s.parts = empty(s.candidates), empty(s.expanded), empty(s.told), empty(s.parts)
	s.made, s.chained = empty(s.made), empty(s.chained)
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
			s.walks[i].seen = map[schemas.ObjectRef]bool{}
		}
	}
	return s.walks
}

func (w *walk) empty() {
	clear(w.seen)
	c := &w.chain
	*w = walk{
		chain: chain{parts: empty(c.parts), edges: empty(c.edges), roots: empty(c.roots), dangling: empty(c.dangling)},
		seen:  w.seen, open: w.open[:0], spare: w.spare[:0], // which hold nothing but topics
	}
}
