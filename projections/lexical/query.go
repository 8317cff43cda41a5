package lexical

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recountdb/recount/schemas"
)

// Query is what a search looks for.
type Query struct {
	// Text in words or as part of a command. A word after + must be there, a word
	// after ! must not; a - stands for itself, since commands are full of flags.
	Text string
	// Terms, Required and Excluded are terms as they are, beside those of Text.
	// For Concepts they are the names of classes.
	Terms, Required, Excluded []string
	// Field to search; zero means Words.
	Field Field
	// K is how many hits at most; zero means 10.
	K int
	// Distinct keeps the best hit alone of those with one content hash: of equal
	// scores, the newest.
	Distinct bool
	// Shards to search; nil means all. Statistics are those of all in any case.
	Shards []schemas.TopicPartition
	// Below, if not nil, hides what lies at or above these offsets, and the shards
	// it does not name.
	Below schemas.Watermark
	// Filter, if not nil, says which runs may be hits. It is asked only of those that
	// would be: of a document's runs from the newest on, until one may.
	Filter func(tp schemas.TopicPartition, offset int64) bool
	// Only, if not nil, names all runs that may be hits, by shard, ascending:
	// for few of them. The search then goes from one to the next and does not look
	// at what lies between.
	Only map[schemas.TopicPartition][]int64
}

// Hit is a run of a document found.
type Hit struct {
	TP     schemas.TopicPartition
	Offset int64
	Score  float64
	// Terms are those of the query that the document has, ascending.
	Terms []string
	// ContentHash is only set in a Distinct search.
	ContentHash uint64
}

// Stats says what a search rests on and what it did.
type Stats struct {
	// Watermark of the state that was searched.
	Watermark schemas.Watermark
	// Terms that were looked for, with the number of documents that have each.
	Terms []TermStats
	// Documents there are of the field in all shards, each distinct text counted
	// once a shard, and their mean length in words (or concepts).
	Documents  uint64
	MeanLength float64
	// Scored is how many documents were scored; the others could not be hits.
	Scored int
}

// TermStats is one term of a query.
type TermStats struct {
	Term      string
	Documents uint64
	IDF       float64
	Required  bool
	Excluded  bool
}

// maxQueryTerms is how many terms of a query count.
const maxQueryTerms = 64

// stopWords say nothing about a command when they stand in a question. In
// commands they are kept: some are the shell's.
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

// wanted returns the terms of the query, each once, ascending. Stop words count
// only in a text that has nothing else.
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
			parts = nil // they stand elsewhere too
		}
		if len(parts) > 0 {
			// What holds the word inside a longer one has the parts alone.
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

// operator cuts an operator off a token: only before a word, since +x and !! are
// the shell's.
func operator(token string, op byte) (bool, string) {
	if len(token) < 3 || token[0] != op {
		return false, token
	}
	if r, _ := utf8.DecodeRuneInString(token[1:]); !unicode.IsLetter(r) {
		return false, token
	}
	return true, token[1:]
}
