package lexical

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/lexical/bm25"
	"github.com/recountdb/recount/schemas"
)

// ObjectQuery is a query for objects.
type ObjectQuery struct {
	// Text is plain text without operators, since queries quote code. Stop words count only if
	// there is nothing else. Only the first 64 distinct terms count, which bounds a text of any
	// length.
	Text string
	// Audiences are the audiences to search. Data of others is not read and does not affect
	// statistics or bounds.
	Audiences []schemas.AudienceID
	// Below, if not nil, is the state to answer for: whatever lies at or above these offsets, or in
	// partitions that it does not name, is ignored, also in the statistics.
	Below schemas.Watermark
	// K is the maximum number of hits; zero means 10.
	K int
	// Distinct keeps only the best of the hits whose best parts have the same content hash: of
	// equal scores, the newest.
	Distinct bool
	// Filter, if not nil, reports whether an object may be a hit. It is called only for objects
	// that would be one.
	Filter func(schemas.ObjectRef) bool
	// Only, if not nil, lists the objects that may be hits, ascending. It is meant for few objects;
	// no others are scored.
	Only []schemas.ObjectRef
}

// ObjectHit is an object that was found.
type ObjectHit struct {
	Ref schemas.ObjectRef
	// Part is the index of the object's best part, which has the score.
	Part  uint32
	Score float64
	// ContentHash is the content hash of the part.
	ContentHash uint64
}

// ObjectStats describes what the answer to a query for objects is based on.
type ObjectStats struct {
	// Watermark is that of the state that was searched, never above ObjectQuery.Below.
	Watermark schemas.Watermark
	// Terms are the query's terms, each with the number of parts that have it.
	Terms []TermStats
	// Parts is the number of parts of the query's audiences.
	Parts uint64
	// Scored is how many parts were scored; the others could not be hits.
	Scored int
}

// terms returns the terms of the query, ascending.
func (q ObjectQuery) terms() []bm25.Term {
	a := newAnalyser(true)
	a.limit = maxQueryTerms
	var terms []bm25.Term
	for _, w := range a.part("", "", "", q.Text).terms {
		terms = append(terms, bm25.Term{Text: w.term})
	}
	slices.SortFunc(terms, func(a, b bm25.Term) int { return strings.Compare(a.Text, b.Text) })
	return terms
}
