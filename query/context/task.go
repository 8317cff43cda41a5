package context

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
)

// task is what a request's text says.
type task struct {
	text string
	// terms are its words with their weights, the first ones first.
	terms []taskTerm
	// names are identifiers as written.
	names []taskName
	// places are files that it names, with a line where it says one.
	places []place
	// first is its first line, which sums it up.
	first string
	// asksTests is set if it is about tests.
	asksTests bool
}

type taskTerm struct {
	term   term
	weight float64
	// coded is set for whole identifiers.
	coded bool
	title bool
}

type taskName struct {
	name  string
	title bool
}

type place struct {
	path string
	line int
}

const (
	// maxWords is the number of bytes of a task whose words count; names and places are read in all
	// of it.
	maxWords = 12 << 10
	// maxNames and maxPlaces limit what is looked up.
	maxNames, maxPlaces = 48, 48
)

var (
	identifier = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::|#|->)[A-Za-z_][A-Za-z0-9_]*)*`)
	quoted     = lazyregexp.New("`([^`\n]{2,80})`")
	pathText   = lazyregexp.New(`(?:[A-Za-z]:)?[\w@.\-/\\]*[\w\-]\.[A-Za-z][A-Za-z0-9]{0,7}\b(?:["']?,? line (\d+)|[:(](\d+))?`)
	aboutTests = lazyregexp.New(`(?i)\btests?\b`)
	humps      = lazyregexp.New(`[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|_`)
)

// readTask reads a task.
func readTask(s *splitter, text string) task {
	t := task{text: text}
	trimmed := strings.TrimSpace(text)
	t.first, _, _ = strings.Cut(trimmed, "\n")
	t.asksTests = aboutTests.MatchString(text)
	at := map[term]int{}
	counts := []float64{}
	add := func(w term, coded, title bool) {
		i, ok := at[w]
		if !ok {
			i = len(t.terms)
			at[w] = i
			t.terms = append(t.terms, taskTerm{term: w, coded: coded, title: title})
			counts = append(counts, 0)
		}
		counts[i]++
	}
	read := func(text string, title bool) {
		s.each(text, func(w wordTerms) {
			for _, p := range w.parts {
				add(p, false, title)
			}
			if w.whole != 0 {
				add(w.whole, true, title)
			}
		})
	}
	read(t.first, true)
	rest := trimmed[len(t.first):]
	read(rest[:min(len(rest), maxWords)], false)
	for i := range t.terms {
		t.terms[i].weight = weightOfTimes(counts[i])
	}
	seen := map[string]bool{}
	name := func(n string, title bool) {
		if len(n) >= 3 && len(n) <= maxWord*2 && !seen[n] && len(t.names) < maxNames {
			seen[n] = true
			t.names = append(t.names, taskName{n, title})
		}
	}
	for _, m := range quoted.FindAllStringSubmatchIndex(text, -1) {
		for _, n := range identifier.FindAllString(text[m[2]:m[3]], 4) {
			name(n, m[0] < len(t.first))
		}
	}
	for _, m := range identifier.FindAllStringIndex(text, 4000) {
		if n := text[m[0]:m[1]]; humps.MatchString(n) || strings.ContainsAny(n, ".:#>") || m[1] < len(text) && text[m[1]] == '(' {
			name(n, m[0] < len(t.first))
		}
	}
	for _, m := range pathText.FindAllStringSubmatch(text, 4000) {
		if len(t.places) == maxPlaces {
			break
		}
		path := m[0]
		if i := strings.IndexAny(path, `:("', `); i > 1 {
			path = path[:i]
		}
		line, _ := strconv.Atoi(cmp.Or(m[1], m[2]))
		p := place{strings.Trim(strings.ReplaceAll(path, `\`, "/"), "./"), line}
		if !slices.Contains(t.places, p) {
			t.places = append(t.places, p)
		}
	}
	return t
}
