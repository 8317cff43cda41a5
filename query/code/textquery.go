package code

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kljensen/snowball/english"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/schemas/wordset"
)

// These decide how the words that a node has become its score. bench/symbols defines the half of
// the tasks on which they were chosen.
const (
	bm25K = 2
	// Shares of the weight of a word for what stands for it: the word joined with its neighbour, a
	// word of a name that begins it (an abbreviation) or that it begins (an inflection), another
	// word of the same meaning, the initials of several words, and two adjacent words found
	// adjacent.
	joinedShare, abbreviationShare, inflectionShare, meaningShare, initialsShare, pairShare = 0.8, 0.5, 0.6, 0.5, 1, 0.2
	// maxInflection is how much longer a word of a name may be than the word that begins it.
	maxInflection = 3
	// wholeName is what it adds if the description has all words of a name.
	wholeName = 0.3
	// askedKind and otherKind are the factors if the description says which kind is asked for.
	askedKind, otherKind = 1.8, 0.6
	// fileShare is the share of the best score in a node's file that is added to its own: what is
	// meant lies where more of the description is found.
	fileShare = 0.1
	// repeated is the factor for a node with the same full name as a better one, as overloads have.
	repeated = 0.5
	// maxSpread is the number of hits in which repeated names are looked for.
	maxSpread = 100
)

// scored is a node with its score.
type scored struct {
	n      int32
	score  float64
	behind bool
}

// find ranks the nodes that have some of the words of a description, the best first. Tests, examples
// and steps of CI come last unless they are asked for.
func (x *textIndex) find(g *Graph, text string, wanted map[recountv1.SymbolKind]bool, tests bool) []scored {
	ranked, spread := x.spread(g, text, wanted, tests)
	slices.SortFunc(ranked[spread:], better)
	return ranked
}

// better orders nodes: those behind last, and the highest score first.
func better(a, b scored) int {
	return cmp.Or(compareBool(a.behind, b.behind), cmp.Compare(b.score, a.score), cmp.Compare(a.n, b.n))
}

// spread scores the nodes that find ranks. Only those before the returned place are in its order.
func (x *textIndex) spread(g *Graph, text string, wanted map[recountv1.SymbolKind]bool, tests bool) ([]scored, int) {
	asked := kindsAsked(text)
	type sum struct {
		score, covered, named float32
		best                  float32 // of the current word
		inName                bool
	}
	sums := make([]sum, len(g.nodes))
	var touched, all []int32
	total := float32(0)
	for _, of := range x.variants(text) {
		touched = touched[:0]
		idf := float32(0)
		for _, v := range of {
			idf = max(idf, x.idf[v.term]*v.share)
			for _, p := range x.postings[v.term] {
				s := &sums[p.node]
				if s.best == 0 {
					touched = append(touched, p.node)
				}
				s.best = max(s.best, v.share*x.idf[v.term]*p.weight*(bm25K+1)/(p.weight+bm25K))
				s.inName = s.inName || p.inName
			}
		}
		total += idf
		for _, n := range touched {
			s := &sums[n]
			if s.score == 0 {
				all = append(all, n)
			}
			s.score += s.best
			s.covered += idf
			if s.inName {
				s.named += idf
			}
			s.best, s.inName = 0, false
		}
	}
	ranked := make([]scored, 0, len(all))
	for _, n := range all {
		kind := g.kind(n)
		if wanted != nil && !wanted[kind] {
			continue
		}
		s := &sums[n]
		score := s.score * x.prior[n] * s.covered / total
		if x.nameIDF[n] > 0 {
			score *= 1 + wholeName*min(1, s.named/x.nameIDF[n])
		}
		if asked.kinds[kind] {
			score *= askedKind
		} else if asked.kinds != nil {
			score *= otherKind
		}
		behind := x.behind[n] && !tests && !asked.tests && !(isCI(kind) && (wanted[kind] || asked.kinds[kind]))
		ranked = append(ranked, scored{n, float64(score), behind})
	}
	x.addFiles(ranked)
	count := min(len(ranked), maxSpread)
	selectFirst(ranked, count, better)
	first := ranked[:count]
	type named struct {
		pkg   int32
		chain string
	}
	seen := map[named]bool{}
	for i := range first {
		key := named{g.nodes[first[i].n].pkg, g.chain(first[i].n)}
		if seen[key] {
			first[i].score *= repeated
		}
		seen[key] = true
	}
	slices.SortFunc(first, better)
	return ranked, count
}

// addFiles adds to each score a share of the best in the same file.
func (x *textIndex) addFiles(ranked []scored) {
	best := make([]float64, x.files)
	for i := range ranked {
		r := &ranked[i]
		best[x.file[r.n]] = max(best[x.file[r.n]], r.score)
	}
	for i := range ranked {
		ranked[i].score += fileShare * best[x.file[ranked[i].n]]
	}
}

// selectFirst puts the first n elements by an order to the front, in that order. The others follow in
// any order. It takes linear time, where few are wanted of many.
func selectFirst[E any](all []E, n int, order func(a, b E) int) {
	if n >= len(all) {
		slices.SortFunc(all, order)
		return
	}
	if n == 0 {
		return
	}
	// The first n are a heap, with the last by the order at its root.
	heap := all[:n]
	sink := func(i int) {
		for {
			last := i
			for _, child := range []int{2*i + 1, 2*i + 2} {
				if child < n && order(heap[child], heap[last]) > 0 {
					last = child
				}
			}
			if last == i {
				return
			}
			heap[i], heap[last] = heap[last], heap[i]
			i = last
		}
	}
	for i := n/2 - 1; i >= 0; i-- {
		sink(i)
	}
	for i := n; i < len(all); i++ {
		if order(all[i], heap[0]) < 0 {
			all[i], heap[0] = heap[0], all[i]
			sink(0)
		}
	}
	slices.SortFunc(heap, order)
}

// variant is a term that stands for a word of a description.
type variant struct {
	term  int32
	share float32
}

// variants returns the terms that stand for the words of a description, a list for each word.
func (x *textIndex) variants(text string) [][]variant {
	var all [][]variant
	words := wordsOf(text)
	for len(words) > 2 && asking[words[0]] {
		words = words[1:]
	}
	seen := map[string]bool{}
	before := ""
	for i, w := range words {
		if initials, ok := x.initials(words[i:]); ok {
			all = append(all, []variant{{initials, initialsShare}})
		}
		if len(w) < 2 || english.IsStopWord(w) {
			continue
		}
		stem := english.Stem(w, false)
		if id, ok := x.terms[before+" "+stem]; ok {
			all = append(all, []variant{{id, pairShare}})
		}
		before = stem
		if seen[stem] {
			continue
		}
		seen[stem] = true
		if of := x.variantsOf(words, i, stem); len(of) > 0 {
			all = append(all, of)
		}
	}
	return all
}

// variantsOf returns the terms that stand for the word at a place, which has the given stem.
func (x *textIndex) variantsOf(words []string, at int, stem string) []variant {
	var of []variant
	add := func(term string, share float32) {
		if id, ok := x.terms[term]; ok {
			of = append(of, variant{id, share})
		}
	}
	w := words[at]
	add(stem, 1)
	if at+1 < len(words) {
		add(english.Stem(w+words[at+1], false), joinedShare)
	}
	if at > 0 {
		add(english.Stem(words[at-1]+w, false), joinedShare)
	}
	for end := len(w) - 1; end >= 3; end-- {
		if _, ok := slices.BinarySearch(x.inNames, w[:end]); ok && w[:end] != stem {
			add(w[:end], abbreviationShare)
		}
	}
	if len(stem) >= 4 {
		i, _ := slices.BinarySearch(x.inNames, stem)
		for ; i < len(x.inNames) && strings.HasPrefix(x.inNames[i], stem); i++ {
			if longer := len(x.inNames[i]) - len(stem); longer > 0 && longer <= maxInflection {
				add(x.inNames[i], inflectionShare)
			}
		}
	}
	for _, other := range sameMeaning[stem] {
		add(other, meaningShare)
	}
	return of
}

// initials returns the word of a name that the initials of the first words make, at least three:
// "server sent events" is sse.
func (x *textIndex) initials(words []string) (int32, bool) {
	s := ""
	for i, w := range words[:min(len(words), 5)] {
		s += w[:1]
		if _, ok := slices.BinarySearch(x.inNames, s); ok && i >= 2 {
			return x.terms[s], true
		}
	}
	return 0, false
}

// kindRequest is what a description says about the kind that it asks for.
type kindRequest struct {
	kinds map[recountv1.SymbolKind]bool // nil: any
	tests bool
}

// kindsAsked reads the first noun phrase of a description, up to the word that begins a clause or
// another phrase: "the struct that …", "function for …".
func kindsAsked(text string) (r kindRequest) {
	count := 0
	for _, w := range wordsOf(text) {
		switch {
		case count == 0 && asking[w] || w == "the" || w == "an" || w == "a":
			continue
		case afterNoun[w]:
			return r
		case w == "test" || w == "tests" || w == "benchmark" || w == "example":
			r.tests = true
		}
		if count++; count > 4 {
			return r
		}
		if kinds := kindWords[w]; kinds != nil {
			r.kinds = map[recountv1.SymbolKind]bool{}
			for _, k := range kinds {
				r.kinds[k] = true
			}
		}
	}
	return r
}

// asking has the words that begin a question and say nothing about what is asked for.
var asking = wordset.Of("where find out show how does do is are can we i the a an what which code")

// afterNoun has the words that end the noun phrase at the beginning of a description.
var afterNoun = wordset.Of("that who which what where when whose is are for of to with in by from on as if after before how")

// kindWords has the kinds of symbols that a noun of a description may mean.
var kindWords = func() map[string][]recountv1.SymbolKind {
	names := map[string]string{
		"struct class type record enum exception error object builder iterator": "struct class interface trait enum type",
		"interface trait protocol": "interface trait class type",
		"function macro":           "function method macro",
		"method":                   "method function",
		"decorator":                "function class method",
		"constructor":              "constructor function method",
		"constant variable":        "constant variable",
		"field property":           "field property method",
		"route endpoint":           "route",
		"job":                      "job",
		"step":                     "step",
		"workflow":                 "job step",
		"table":                    "table",
		"column":                   "column",
	}
	all := map[string][]recountv1.SymbolKind{}
	for nouns, kinds := range names {
		for noun := range strings.FieldsSeq(nouns) {
			for kind := range strings.FieldsSeq(kinds) {
				all[noun] = append(all[noun], recountv1.SymbolKind(recountv1.SymbolKind_value["SYMBOL_KIND_"+strings.ToUpper(kind)]))
			}
		}
	}
	return all
}()

// sameMeaning has for words of programming the others that names use for the same, all as stems, so
// that "cancelled" is also "aborts".
var sameMeaning = func() map[string][]string {
	all := map[string][]string{}
	for _, group := range []string{
		"remove delete drop erase clear unset", "create make new build construct generate", "get read fetch obtain retrieve load",
		"write save store persist", "set change update modify", "add append insert push register", "find search lookup locate",
		"run execute invoke call perform", "stop cancel abort terminate kill shutdown", "start begin launch", "close end finish dispose",
		"send emit publish dispatch", "receive accept consume", "combine merge join concat", "split divide partition",
		"check verify validate test assert", "convert transform translate map", "show display print render format",
		"list enumerate iterate", "copy clone duplicate", "limit restrict max", "size length count len", "wait sleep delay pause",
		"error exception failure fault", "fail reject refuse deny forbid", "allow permit enable", "hide suppress omit skip ignore exclude",
		"choose select pick", "replace substitute swap", "compare equal diff", "detect guess discover", "empty none null",
		"folder directory dir", "text string", "function callback handler func fn", "configuration config setting option",
		"fake mock stub", "retry again repeat",
	} {
		var stems []string
		for word := range strings.FieldsSeq(group) {
			stems = append(stems, english.Stem(word, false))
		}
		for _, s := range stems {
			for _, other := range stems {
				if other != s && !slices.Contains(all[s], other) {
					all[s] = append(all[s], other)
				}
			}
		}
	}
	return all
}()
