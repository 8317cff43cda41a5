package lexical

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recountdb/recount/projections/lexical/bm25"
	"github.com/recountdb/recount/projections/lexical/gloss"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/wordset"
)

// Query is a query for commands.
type Query struct {
	// Text is plain text or part of a command. A word after + is required, a word after ! is
	// excluded; a - has no meaning, since commands are full of flags.
	Text string
	// Terms are terms that are not analysed, in addition to those of Text. For Concepts they are
	// the names of classes, and Text gives the words that explain programs and flags, and groups of
	// synonyms.
	Terms []string
	// Field is the field to search; zero means Words.
	Field Field
	// K is the maximum number of hits; zero means 10.
	K int
	// Distinct keeps only the best of the hits with the same content hash: of equal scores, the
	// newest.
	Distinct bool
	// Below, if not nil, hides what lies at or above these offsets, and the shards that it does not
	// name. Statistics always cover everything.
	Below schemas.Watermark
	// Filter, if not nil, reports whether a run may be a hit. It is called only for runs that would
	// be one: for a document's runs from the newest on, until one is accepted.
	Filter func(tp schemas.TopicPartition, offset int64) bool
	// Variants also finds words that occur nowhere, or hardly, by terms that begin like them or are
	// spelled nearly alike (Stats.Variants), with a part of their score.
	Variants bool
	// Again, if not nil, is what an earlier search with the same text, terms and field searched for
	// (Stats.Searched): the query is not analysed again, nor are variants looked for.
	Again []bm25.Term
	// Only, if not nil, lists the runs that may be hits, by shard, ascending. It is meant for few
	// runs: the search visits only these.
	Only map[schemas.TopicPartition][]int64
}

// Hit is a run of a document that was found.
type Hit struct {
	TP     schemas.TopicPartition
	Offset int64
	Score  float64
	// ContentHash is set only in a Distinct search.
	ContentHash uint64
}

// Stats describes what the answer is based on and the work of the search.
type Stats struct {
	// Watermark is that of the state that was searched.
	Watermark schemas.Watermark
	// Terms are the query's terms, each with the number of documents that have it.
	Terms []TermStats
	// Variants are what words of the query stood for.
	Variants []Variant
	// Searched are the terms with those of the variants, for Query.Again.
	Searched []bm25.Term
	// Documents is the number of documents of the field in all shards, with each distinct text
	// counted once a shard.
	Documents uint64
	// Scored is how many documents were scored; the others could not be hits.
	Scored int
}

// TermStats is the statistics of one term of a query.
type TermStats = bm25.TermStats

// maxQueryTerms is the maximum number of terms of a query that count.
const maxQueryTerms = 64

// stopWords are words without meaning in a query. In commands they are indexed, since some are the
// shell's.
var stopWords = wordset.Of(`a an and are as at be been by did do does for from had has have how i in is it its
	me my of on or our that the their them then there these they this those to was we were what when where
	which who why will with you your`)

// terms returns the distinct terms of the query, ascending. Stop words count only in a text that
// has nothing else.
func (q Query) terms() []bm25.Term {
	if q.Field == Concepts {
		return q.concepts()
	}
	var out []bm25.Term
	for _, term := range q.Terms {
		out = append(out, bm25.Term{Text: conceptTerm(term)})
	}
	var text, stops []bm25.Term
	tokens(q.Text, func(token string) bool {
		required, rest := operator(token, '+')
		excluded, rest := operator(rest, '!')
		if excluded {
			required = false
		}
		var parts, whole []bm25.Term
		split(rest, func(term string, kind termKind) {
			if kind == aPart {
				parts = append(parts, bm25.Term{Text: term, Required: required, Excluded: excluded})
			} else {
				whole = append(whole, bm25.Term{Text: term, Required: required, Excluded: excluded})
			}
		})
		if excluded {
			parts = nil // the parts occur in other words too
		}
		if len(parts) > 0 {
			// A document with the word inside a longer one has only the parts.
			for i := range whole {
				whole[i].Required = false
			}
		}
		if stopWords[strings.ToLower(rest)] && !required && !excluded {
			stops = append(stops, whole...)
		} else {
			text = append(append(text, parts...), whole...)
		}
		return len(text) < 16*maxQueryTerms
	})
	if len(text) == 0 && len(out) == 0 {
		text = stops
	}
	out = append(out, text...)
	slices.SortStableFunc(out, func(a, b bm25.Term) int { return strings.Compare(a.Text, b.Text) })
	merged := out[:0]
	for _, t := range out {
		if n := len(merged); n > 0 && merged[n-1].Text == t.Text {
			merged[n-1].Required = merged[n-1].Required || t.Required
			merged[n-1].Excluded = merged[n-1].Excluded || t.Excluded
			continue
		}
		if t.Text != "" && len(merged) < maxQueryTerms {
			merged = append(merged, t)
		}
	}
	return merged
}

// concepts returns the distinct terms of a query for Concepts, ascending.
func (q Query) concepts() []bm25.Term {
	var all []string
	for _, name := range q.Terms {
		all = append(all, conceptTerm(name))
	}
	tokens(q.Text, func(token string) bool {
		_, rest := operator(token, '+')
		excluded, rest := operator(rest, '!')
		if excluded || stopWords[strings.ToLower(rest)] {
			return true
		}
		split(rest, func(term string, kind termKind) {
			if kind == whole {
				return
			}
			if gloss.Known(term) {
				all = append(all, glossPrefix+term)
			}
			for _, g := range gloss.Groups(term) {
				all = append(all, groupPrefix+g)
			}
		})
		return len(all) < 16*maxQueryTerms
	})
	slices.Sort(all)
	all = slices.Compact(all)
	out := make([]bm25.Term, 0, min(len(all), maxQueryTerms))
	for _, term := range all[:min(len(all), maxQueryTerms)] {
		if term != "" {
			out = append(out, bm25.Term{Text: term})
		}
	}
	return out
}

// operator removes an operator from a token, but only before a word, since +x and !! belong to the
// shell.
func operator(token string, op byte) (bool, string) {
	if len(token) < 3 || token[0] != op {
		return false, token
	}
	if r, _ := utf8.DecodeRuneInString(token[1:]); !unicode.IsLetter(r) {
		return false, token
	}
	return true, token[1:]
}
