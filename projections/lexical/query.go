package lexical

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recountdb/recount/schemas"
)

// Query is a query for commands.
type Query struct {
	// Text is plain text or part of a command. A word after + is required, a word after ! is
	// excluded; a - has no meaning, since commands are full of flags.
	Text string
	// Terms, Required and Excluded are terms that are not analysed, in addition to those of Text.
	// For Concepts they are the names of classes.
	Terms, Required, Excluded []string
	// Field is the field to search; zero means Words.
	Field Field
	// K is the maximum number of hits; zero means 10.
	K int
	// Distinct keeps only the best of the hits with the same content hash: of equal scores, the
	// newest.
	Distinct bool
	// Shards are the shards to search; nil means all. Statistics always cover all shards.
	Shards []schemas.TopicPartition
	// Below, if not nil, hides what lies at or above these offsets, and the shards that it does not
	// name.
	Below schemas.Watermark
	// Filter, if not nil, reports whether a run may be a hit. It is called only for runs that would
	// be one: for a document's runs from the newest on, until one is accepted.
	Filter func(tp schemas.TopicPartition, offset int64) bool
	// Only, if not nil, lists the runs that may be hits, by shard, ascending. It is meant for few
	// runs: the search visits only these.
	Only map[schemas.TopicPartition][]int64
}

// Hit is a run of a document that was found.
type Hit struct {
	TP     schemas.TopicPartition
	Offset int64
	Score  float64
	// Terms are the query's terms that the document has, ascending.
	Terms []string
	// ContentHash is set only in a Distinct search.
	ContentHash uint64
}

// Stats describes what the answer is based on and the work of the search.
type Stats struct {
	// Watermark is that of the state that was searched.
	Watermark schemas.Watermark
	// Terms are the query's terms, each with the number of documents that have it.
	Terms []TermStats
	// Documents is the number of documents of the field in all shards, with each distinct text
	// counted once a shard; MeanLength is their mean length in terms (or concepts).
	Documents  uint64
	MeanLength float64
	// Scored is how many documents were scored; the others could not be hits.
	Scored int
}

// TermStats is the statistics of one term of a query.
type TermStats struct {
	Term      string
	Documents uint64
	IDF       float64
	Required  bool
	Excluded  bool
}

// maxQueryTerms is the maximum number of terms of a query that count.
const maxQueryTerms = 64

// stopWords are words without meaning in a query. In commands they are indexed, since some are the
// shell's.
var stopWords = wordSet(`a an and are as at be been by did do does for from had has have how i in is it its
	me my of on or our that the their them then there these they this those to was we were what when where
	which who why will with you your`)

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// wanted is a term of a query.
type wanted struct {
	term               string
	required, excluded bool
}

// wanted returns the distinct terms of the query, ascending. Stop words count only in a text that
// has nothing else.
func (q Query) wanted() []wanted {
	var out []wanted
	for kind, terms := range [][]string{q.Terms, q.Required, q.Excluded} {
		for _, term := range terms {
			out = append(out, wanted{conceptTerm(term), kind == 1, kind == 2})
		}
	}
	var text, stops []wanted
	tokens(q.Text, func(token string) bool {
		required, rest := operator(token, '+')
		excluded, rest := operator(rest, '!')
		if excluded {
			required = false
		}
		var parts, whole []wanted
		split(rest, func(term string, isPart bool) {
			if isPart {
				parts = append(parts, wanted{term, required, excluded})
			} else {
				whole = append(whole, wanted{term, required, excluded})
			}
		})
		if excluded {
			parts = nil // the parts occur in other words too
		}
		if len(parts) > 0 {
			// A document with the word inside a longer one has only the parts.
			for i := range whole {
				whole[i].required = false
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
	slices.SortStableFunc(out, func(a, b wanted) int { return strings.Compare(a.term, b.term) })
	merged := out[:0]
	for _, w := range out {
		if n := len(merged); n > 0 && merged[n-1].term == w.term {
			merged[n-1].required = merged[n-1].required || w.required
			merged[n-1].excluded = merged[n-1].excluded || w.excluded
			continue
		}
		if w.term != "" && len(merged) < maxQueryTerms {
			merged = append(merged, w)
		}
	}
	return merged
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
