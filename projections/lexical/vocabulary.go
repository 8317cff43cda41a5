package lexical

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"

	"github.com/recountdb/recount/projections/lexical/bm25"
	"github.com/recountdb/recount/projections/lexical/gloss"
	"github.com/recountdb/recount/projections/lexical/spelling"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// vocabulary is the terms of the field Words of one shard that a word of a query may be a part or a
// misspelling of: those that are short and begin with a letter. It is read from the store when the
// first query needs it, and then follows the writer. It may have terms that are newer than what a
// query sees; these find nothing.
type vocabulary struct {
	mu     sync.Mutex
	loaded bool
	// terms and recent are ascending and distinct; they are replaced, never changed.
	terms, recent []string
	fresh         []string // what the writer added since
}

const (
	minVocabularyTerm = 3
	maxVocabularyTerm = 40
	// maxRecent is the maximum of recent, which is then merged into terms, and of fresh, beyond
	// which the vocabulary is read again when it is needed.
	maxRecent = 1 << 13
)

// inVocabulary reports whether a vocabulary has a term.
func inVocabulary(term string) bool {
	return len(term) >= minVocabularyTerm && len(term) <= maxVocabularyTerm && term[0] >= 'a' && term[0] <= 'z' &&
		strings.IndexByte(term, '/') < 0
}

// add adds terms of a batch that is stored.
func (v *vocabulary) add(terms []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.loaded {
		return
	}
	for _, t := range terms {
		if inVocabulary(t) {
			v.fresh = append(v.fresh, t)
		}
	}
	if len(v.fresh) > maxRecent {
		v.loaded, v.terms, v.recent, v.fresh = false, nil, nil, nil
	}
}

// lists returns the terms in two ascending lists.
func (v *vocabulary) lists(x *Index, tp schemas.TopicPartition) ([2][]string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.loaded {
		// The writer waits to add what it stores from here on.
		terms, err := x.readVocabulary(tp)
		if err != nil {
			return [2][]string{}, err
		}
		v.loaded, v.terms = true, terms
	}
	if len(v.fresh) > 0 {
		v.recent = merged(v.recent, v.fresh)
		v.fresh = nil
	}
	if len(v.recent) > maxRecent {
		v.terms, v.recent = merged(v.terms, v.recent), nil
	}
	return [2][]string{v.terms, v.recent}, nil
}

func merged(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// readVocabulary reads the terms of a shard's collection of words.
func (x *Index) readVocabulary(tp schemas.TopicPartition) (terms []string, err error) {
	v, err := x.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	prefix := append([]byte{kindPosting}, store.AppendShard(nil, tp)...)
	it, err := v.Iter(prefix, append(slices.Clone(prefix), 0xff))
	if err != nil {
		return nil, err
	}
	defer func() { _ = it.Close() }()
	collection := binary.BigEndian.AppendUint32(nil, uint32(Words.index()))
	last := ""
	for it.First(); it.Valid(); it.Next() {
		term, block, ok := bytes.Cut(it.Key()[len(prefix):], []byte{0})
		if ok && string(term) != last && len(term) <= maxVocabularyTerm && bytes.HasPrefix(block, collection) {
			if last = string(term); inVocabulary(last) {
				terms = append(terms, last)
			}
		}
	}
	return terms, v.Explain(it.Error())
}

// Variant says which terms a word of a query stood for, because it occurs nowhere or hardly.
type Variant struct {
	Word string   // its stem
	As   []string // terms
	Kind VariantKind
	// Unknown is true if the word occurs nowhere.
	Unknown bool
}

// VariantKind says what the terms are of the word.
type VariantKind string

// The kinds.
const (
	Shorter   VariantKind = "shorter"   // they begin it: auth for authentication
	Longer    VariantKind = "longer"    // they begin with it: kubectl for kubect
	Corrected VariantKind = "corrected" // it may be a misspelling of them
	Within    VariantKind = "within"    // they contain it
)

const (
	// rareShare is the part of the documents that may have a word that still has variants.
	rareShare = 1000
	// maxVariants is the maximum number of terms of each kind.
	maxVariants = 3
	// rareWeight is the weight of the scores of variants if the word itself occurs, too.
	rareWeight = 0.6
	minWord    = 4 // the minimum length of a word that is shortened or corrected
	// fewTerms is the maximum number of terms of a query whose words are corrected and looked for
	// within terms: names that somebody remembers in part. In a description most words that no
	// command has are spelled right, and both read all terms.
	fewTerms = 6
	farWord  = 8 // the minimum length of a word in which two mistakes are corrected
)

// isPlain reports whether a term is only letters and digits, of ASCII, and begins with a letter.
func isPlain(term string) bool {
	for i := range len(term) {
		if c := term[i]; (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return term != ""
}

// variants returns what a word may stand for. If it occurs nowhere and few is true, misspellings and
// terms that contain it are considered as well.
func variants(lists [][]string, word string, unknown, few bool) (out []Variant) {
	add := func(kind VariantKind, terms []string) {
		if len(terms) > 0 {
			out = append(out, Variant{Word: word, As: terms, Kind: kind})
		}
	}
	if len(word) >= minWord {
		var shorter []string
		for n := len(word) - 1; n >= minVocabularyTerm && len(shorter) < maxVariants; n-- {
			for _, list := range lists {
				if _, has := slices.BinarySearch(list, word[:n]); has {
					shorter = append(shorter, word[:n])
					break
				}
			}
		}
		add(Shorter, shorter)
	}
	if len(word) >= minWord || unknown && len(word) == minVocabularyTerm {
		var longer []string
		for _, list := range lists {
			at := sort.SearchStrings(list, word)
			for ; at < len(list) && strings.HasPrefix(list[at], word); at++ {
				if list[at] != word && isPlain(list[at]) {
					longer = append(longer, list[at])
				}
			}
		}
		add(Longer, shortest(longer))
	}
	if !unknown || !few || len(word) < minWord || len(out) > 0 && out[len(out)-1].Kind == Longer {
		return out
	}
	before := len(out)
	if add(Corrected, corrections(lists, word)); len(out) == before {
		var longer []string
		for _, list := range lists {
			for _, t := range list {
				if len(t) > len(word) && within(t, word) {
					longer = append(longer, t)
				}
			}
		}
		add(Within, shortest(longer))
	}
	return out
}

// within reports whether a term contains a word, leaving out what joins the term's parts.
func within(term, word string) bool {
	for start := range len(term) {
		at := 0
		for i := start; i < len(term); i++ {
			if term[i] == word[at] {
				if at++; at == len(word) {
					return true
				}
			} else if at == 0 || strings.IndexByte("-_.:@+", term[i]) < 0 {
				break
			}
		}
	}
	return false
}

// shortest returns the shortest terms, each once.
func shortest(terms []string) []string {
	slices.SortFunc(terms, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	terms = slices.Compact(terms)
	return terms[:min(maxVariants, len(terms))]
}

// corrections returns the terms with the fewest mistakes between them and a word: one, or two in a
// long word. A mistake in the first letter is found if the second is there.
func corrections(lists [][]string, word string) []string {
	limit := 1
	if len(word) >= farWord {
		limit = 2
	}
	var found []string
	for _, list := range lists {
		for _, first := range []byte{word[0], word[1]} {
			if first == word[1] && word[0] == word[1] {
				continue
			}
			from := sort.SearchStrings(list, string(first))
			for _, t := range list[from:] {
				if t[0] != first {
					break
				}
				if len(t) < minWord || len(t)-len(word) > limit || len(word)-len(t) > limit || !isPlain(t) {
					continue
				}
				if d := spelling.Distance(word, t, limit); d <= limit {
					if d < limit {
						limit, found = d, found[:0]
					}
					found = append(found, t)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Correct returns a text with its misspelled words replaced.
func Correct(text string, all []Variant) string {
	for _, v := range all {
		if v.Kind != Corrected {
			continue
		}
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if stem(w) == v.Word {
				text = strings.ReplaceAll(text, w, v.As[0])
				break
			}
		}
	}
	return text
}

// vary adds variants of the words that occur nowhere or hardly to the terms of a search.
func (x *Index) vary(ctx context.Context, r *bm25.Request, tps []schemas.TopicPartition) ([]Variant, error) {
	stats, err := x.fields[Words.index()].Count(ctx, *r)
	if err != nil {
		return nil, err
	}
	var lists [][]string
	var all []Variant
	few := len(r.Terms) <= fewTerms
	for i, t := range stats.Terms {
		word := r.Terms[i]
		// A word that describes what commands do is whole and spelled as it is meant: add is not the
		// beginning of address.
		if len(gloss.Groups(t.Term)) > 0 {
			continue
		}
		if t.Documents > stats.Docs/rareShare || word.Required || word.Excluded || !isPlain(t.Term) || len(t.Term) < minVocabularyTerm {
			continue
		}
		if lists == nil {
			for _, tp := range tps {
				two, err := x.vocabularyOf(tp).lists(x, tp)
				if err != nil {
					return nil, err
				}
				lists = append(lists, two[0], two[1])
			}
		}
		for _, v := range variants(lists, t.Term, t.Documents == 0, few) {
			v.Unknown = t.Documents == 0
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	for i := range all {
		if all[i].Kind == Corrected && len(all[i].As) > 1 {
			if err := x.commonest(ctx, r, &all[i]); err != nil {
				return nil, err
			}
		}
	}
	have := map[string]bool{}
	for _, t := range r.Terms {
		have[t.Text] = true
	}
	for _, v := range all {
		weight := rareWeight
		if v.Unknown {
			weight = 1
		}
		for _, term := range v.As {
			if !have[term] && len(r.Terms) < maxQueryTerms {
				have[term] = true
				r.Terms = append(r.Terms, bm25.Term{Text: term, Share: weight})
			}
		}
	}
	slices.SortFunc(r.Terms, func(a, b bm25.Term) int { return strings.Compare(a.Text, b.Text) })
	return all, nil
}

// commonest keeps the correction that most documents have.
func (x *Index) commonest(ctx context.Context, r *bm25.Request, v *Variant) error {
	q := *r
	q.Terms = nil
	for _, t := range v.As[:min(len(v.As), maxQueryTerms)] {
		q.Terms = append(q.Terms, bm25.Term{Text: t})
	}
	stats, err := x.fields[Words.index()].Count(ctx, q)
	if err != nil {
		return err
	}
	best := slices.MaxFunc(stats.Terms, func(a, b bm25.TermStats) int { return cmp.Compare(a.Documents, b.Documents) })
	v.As = []string{best.Term}
	return nil
}
