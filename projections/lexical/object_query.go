package lexical

import (
	"slices"

	"github.com/recountdb/recount/schemas"
)

// ObjectQuery is what a search for objects looks for.
type ObjectQuery struct {
	// Text in words. No sign in it has a meaning of its own, since questions quote code.
	// Stop words count only where there is nothing else, and the first 64 distinct terms
	// alone: that is what bounds a text of any length.
	Text string
	// Audiences are those searched. Nothing is read of, counted over or bounded by what
	// is of others.
	Audiences []schemas.AudienceID
	// Below, if not nil, is the state that is answered for: whatever lies at or above
	// these offsets, or in partitions that it does not name, does not exist, for the
	// statistics neither.
	Below schemas.Watermark
	// K is how many hits at most; zero means 10.
	K int
	// Distinct keeps the best hit alone of those whose best parts have one content hash:
	// of equal scores, the newest.
	Distinct bool
	// Filter, if not nil, says which objects may be hits. It is asked only of those that
	// would be.
	Filter func(schemas.ObjectRef) bool
	// Only, if not nil, names all objects that may be hits, ascending: for few of them.
	// Then no others are scored.
	Only []schemas.ObjectRef
}

// ObjectHit is an object found.
type ObjectHit struct {
	Ref schemas.ObjectRef
	// Part is the one of the object's parts that the score is of: the best.
	Part  uint32
	Score float64
	// ContentHash is that of the part.
	ContentHash uint64
}

// ObjectStats says what a search for objects rests on.
type ObjectStats struct {
	// Watermark of the state that was searched: no higher than ObjectQuery.Below.
	Watermark schemas.Watermark
	// Terms that were looked for, with the number of parts that have each.
	Terms []TermStats
	// Audiences are how many of those asked have objects.
	Audiences int
	// Parts there are in them, and their mean length in words.
	Parts      uint64
	MeanLength float64
	// Scored is how many parts were scored; the others could not be hits.
	Scored int
}

// terms are those of the query, ascending.
func (q ObjectQuery) terms(a *analyser) []string {
	found := a.part("", q.Text).terms
	terms := make([]string, len(found))
	for i, w := range found {
		terms[i] = w.term
	}
	slices.Sort(terms)
	return terms
}
