package look

import (
	"math"
	"slices"
	"strings"

	"github.com/kljensen/snowball/english"

	"github.com/recountdb/recount/projections/lexical/gloss"
	"github.com/recountdb/recount/query/code"
)

// Shares of the weight of a word for what stands for it: a longer word that it begins or a shorter
// one that begins it, and another word of the same meaning.
const (
	prefixShare  = 0.7
	meaningShare = 0.5
	// minPrefix is the least length of a word that stands for one that it begins.
	minPrefix = 4
	// A content with more than shortWords distinct words has some of the text's by accident: with
	// longWords more, what it has counts half.
	shortWords, longWords = 25, 100
)

// kindWords are the words by which a text names the kind that it asks for. They are not looked for
// unless there are no others.
var kindWords = map[string]string{
	"command": Commands, "commands": Commands, "shell": Commands, "ran": Commands,
	"function": Code, "method": Code, "struct": Code, "class": Code, "interface": Code, "type": Code, "symbol": Code, "constant": Code, "declared": Code, "defined": Code, "implemented": Code,
	"endpoint": Runtime, "operation": Runtime, "requests": Runtime, "latency": Runtime, "traffic": Runtime, "rpc": Runtime, "route": Runtime,
	"agent": Agents, "agents": Agents, "said": Agents, "decided": Agents, "decision": Agents, "noticed": Agents, "concluded": Agents, "tried": Agents,
}

// asked is a text as words to compare with.
type asked struct {
	words []string // distinct stems
	named map[string]bool
}

// newAsked reads a text. Words without meaning count only if there is nothing else.
func newAsked(text string) asked {
	a := asked{named: map[string]bool{}}
	all := code.Words(text)
	add := func(w string) {
		if s := stemOf(w); !slices.Contains(a.words, s) {
			a.words = append(a.words, s)
		}
	}
	for _, w := range all {
		if kind := kindWords[w]; kind != "" && len(all) > 1 {
			a.named[kind] = true
		} else if len(w) > 1 && !english.IsStopWord(w) {
			add(w)
		}
	}
	if len(a.words) == 0 {
		for _, w := range all {
			add(w)
		}
	}
	return a
}

// content is what a hit says, as words.
type content struct {
	title int // the number of distinct words of the title, which are the first of words
	words []string
}

func newContent(title string, more ...string) content {
	var c content
	seen := map[string]bool{}
	add := func(text string) {
		for _, w := range code.Words(text) {
			if s := stemOf(w); !seen[s] {
				seen[s] = true
				c.words = append(c.words, s)
			}
		}
	}
	add(title)
	c.title = len(c.words)
	for _, text := range more {
		add(text)
	}
	return c
}

// has returns how well a word of the text occurs, from 0 to 1, and the place of its best occurrence.
func (c *content) has(word string) (share float64, at int) {
	groups := gloss.Groups(word)
	at = -1
	for i, w := range c.words {
		s := 0.0
		switch {
		case w == word:
			return 1, i
		case len(w) >= minPrefix && strings.HasPrefix(word, w), len(word) >= minPrefix && strings.HasPrefix(w, word):
			s = prefixShare
		case len(groups) > 0 && slices.ContainsFunc(gloss.Groups(w), func(g string) bool { return slices.Contains(groups, g) }):
			s = meaningShare
		}
		if s > share {
			share, at = s, i
		}
	}
	return share, at
}

// fit is how a hit compares with a text.
type fit struct {
	words float64 // the share of the text's words that the hit has, by their weights, less if it is long
	title float64 // the share of the title's words that the text has
}

// fitsOf compares hits with a text. A word counts the more the fewer of the hits have it, of whatever
// kind they are: the collections of the kinds differ in what is common.
func (a *asked) fitsOf(all []content) []fit {
	shares := make([][]float64, len(all))
	have := make([]int, len(a.words))
	fits := make([]fit, len(all))
	for i := range all {
		shares[i] = make([]float64, len(a.words))
		titled := map[int]bool{}
		for j, word := range a.words {
			share, at := all[i].has(word)
			if shares[i][j] = share; share > 0 {
				have[j]++
				if at < all[i].title {
					titled[at] = true
				}
			}
		}
		if all[i].title > 0 {
			fits[i].title = float64(len(titled)) / float64(all[i].title)
		}
	}
	total := 0.0
	weights := make([]float64, len(a.words))
	for j := range a.words {
		weights[j] = math.Log1p(float64(len(all)+1) / float64(have[j]+1))
		total += weights[j]
	}
	for i := range all {
		sum := 0.0
		for j := range a.words {
			sum += float64(weights[j] * shares[i][j])
		}
		if total > 0 {
			long := max(0, len(all[i].words)-shortWords)
			fits[i].words = sum / total / (1 + float64(long)/longWords)
		}
	}
	return fits
}

func stemOf(word string) string { return english.Stem(word, true) }
