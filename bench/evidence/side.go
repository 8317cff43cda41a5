package main

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kljensen/snowball/english"

	"github.com/recountdb/recount/processors/embed"
)

// side is one way of answering questions.
type side interface {
	name() string
	// answer returns the events that it shows for a question, best first, as their numbers
	// in the dataset, and the size of the answer in bytes.
	answer(ctx context.Context, q question) (shown []int, bytes int, err error)
}

// corpus is the input of the baselines: the events' whole texts.
type corpus struct {
	events   []event
	vectors  [][embed.Dim]float32
	embedder embed.Embedder
}

func newCorpus(d *dataset) *corpus {
	c := &corpus{events: d.events, embedder: embed.NewHash()}
	for _, e := range d.events {
		c.vectors = append(c.vectors, c.embedder.Embed(e.text()))
	}
	return c
}

// visible reports whether an event may be in the answer to a question.
func (c *corpus) visible(q question, i int) bool {
	e := c.events[i]
	return (q.Workspace == "" || e.Workspace == q.Workspace) && (q.AsOf.IsZero() || !e.time().After(q.AsOf))
}

// shown returns an answer of k events and its size as JSON: the minimum, because a baseline
// is a list of ids, scores and texts, and cuts each text as Recount does.
func (c *corpus) shown(ranked []int, k int) ([]int, int) {
	ranked = ranked[:min(len(ranked), k)]
	size := 0
	for _, i := range ranked {
		e := c.events[i]
		text := e.text()
		b, _ := json.Marshal(map[string]any{"event_id": e.id(), "type": e.Type, "session": e.Session, "time": e.time(), "text": text[:min(len(text), snippet)]})
		size += len(b) + 1
	}
	return ranked, size
}

// snippet is the maximum length of a text in a baseline's answer, in bytes.
const snippet = 300

// bm25 ranks by BM25 (k1 = 1.2, b = 0.75) over the words that terms extracts from a text.
type bm25 struct {
	*corpus
	as       string
	terms    func(text string) []string
	postings map[string][]posting
	lengths  []int
	mean     float64
	k        int
}

type posting struct{ doc, n int }

func newBM25(c *corpus, as string, terms func(string) []string, k int) *bm25 {
	b := &bm25{corpus: c, as: as, terms: terms, postings: map[string][]posting{}, k: k}
	for i, e := range c.events {
		counts := map[string]int{}
		words := terms(e.text())
		for _, w := range words {
			counts[w]++
		}
		for w, n := range counts {
			b.postings[w] = append(b.postings[w], posting{i, n})
		}
		b.lengths = append(b.lengths, len(words))
		b.mean += float64(len(words))
	}
	b.mean /= float64(max(len(c.events), 1))
	return b
}

func (b *bm25) name() string { return b.as }

func (b *bm25) answer(_ context.Context, q question) ([]int, int, error) {
	scores := map[int]float64{}
	n := float64(len(b.lengths))
	for _, w := range b.terms(q.Text) {
		list := b.postings[w]
		idf := math.Log(1 + (n-float64(len(list))+0.5)/(float64(len(list))+0.5))
		for _, p := range list {
			if b.visible(q, p.doc) {
				tf := float64(p.n)
				scores[p.doc] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(b.lengths[p.doc])/b.mean))
			}
		}
	}
	shown, size := b.shown(best(scores), b.k)
	return shown, size, nil
}

// vector ranks by the exact cosine of the embeddings of whole texts, with Recount's default
// embedder.
type vector struct {
	*corpus
	k int
}

func (vector) name() string { return "vector" }

func (v vector) answer(_ context.Context, q question) ([]int, int, error) {
	want := v.embedder.Embed(q.Text)
	scores := map[int]float64{}
	for i := range v.vectors {
		if !v.visible(q, i) {
			continue
		}
		var dot float64
		for j, x := range v.vectors[i] {
			dot += float64(x) * float64(want[j])
		}
		if dot > 0 {
			scores[i] = dot
		}
	}
	shown, size := v.shown(best(scores), v.k)
	return shown, size, nil
}

// latest returns the newest events.
type latest struct {
	*corpus
	k int
}

func (latest) name() string { return "last events" }

func (l latest) answer(_ context.Context, q question) ([]int, int, error) {
	var all []int
	for i := range l.events {
		if l.visible(q, i) {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(x, y int) int { return l.events[y].time().Compare(l.events[x].time()) })
	shown, size := l.shown(all, l.k)
	return shown, size, nil
}

// best returns the documents ordered by score; with equal scores the newer comes first.
func best(scores map[int]float64) []int {
	all := make([]int, 0, len(scores))
	for i := range scores {
		all = append(all, i)
	}
	slices.SortFunc(all, func(x, y int) int {
		if n := cmp.Compare(scores[y], scores[x]); n != 0 {
			return n
		}
		return y - x
	})
	return all
}

// words returns the words of a text in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127)
	})
}

// stems returns the English stems of a text's words, without stop words.
func stems(text string) []string {
	var all []string
	for _, w := range words(text) {
		if !english.IsStopWord(w) {
			all = append(all, english.Stem(w, false))
		}
	}
	return all
}

// timed answers a question and returns the time it took.
func timed(ctx context.Context, s side, q question) ([]int, int, time.Duration, error) {
	start := time.Now()
	shown, size, err := s.answer(ctx, q)
	return shown, size, time.Since(start), err
}
