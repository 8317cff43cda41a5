package code

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// textIndex finds the symbols of a snapshot by words that describe them: BM25 over
// the words of their names, those of what encloses them, their documentation, their
// signatures and their paths, as one document with weighted fields (BM25F). Words are
// cut at humps and at what is no letter or digit, and stemmed.
type textIndex struct {
	hash     schemas.Hash
	postings map[string][]posting
	// length is the weighted number of words of each node, mean that of all that have any.
	length []float32
	mean   float64
	count  int
}

type posting struct {
	node   int32
	weight float32 // how often the word is there, by fields
}

// Weights of fields: a name says most of what a symbol is for.
const (
	nameWeight      = 3
	ownerWeight     = 1.5
	docWeight       = 1
	signatureWeight = 0.5
	pathWeight      = 0.5

	bm25K, bm25B = 1.2, 0.6
	// maxDocWords bounds what counts of a documentation.
	maxDocWords = 200
)

// texts keeps the text indexes of the last few snapshots.
type texts struct {
	mu   sync.Mutex
	kept []*textIndex // the last used first
}

// maxTexts is how many indexes are kept.
const maxTexts = 4

// of is the index of a snapshot, read where it is not kept. Who asks for it at the
// same time waits.
func (t *texts) of(ctx context.Context, g *Graph, s *snapshots.Snapshot) (*textIndex, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, x := range t.kept {
		if x.hash == g.hash {
			t.kept = append([]*textIndex{x}, slices.Delete(slices.Clone(t.kept), i, i+1)...)
			return x, nil
		}
	}
	x, err := indexText(ctx, g, s)
	if err != nil {
		return nil, err
	}
	t.kept = append([]*textIndex{x}, t.kept[:min(len(t.kept), maxTexts-1)]...)
	return x, nil
}

func indexText(ctx context.Context, g *Graph, s *snapshots.Snapshot) (*textIndex, error) {
	nodes, err := s.Nodes()
	if err != nil {
		return nil, err
	}
	x := &textIndex{hash: g.hash, postings: map[string][]posting{}, length: make([]float32, len(g.nodes))}
	n := int32(-1)
	total := 0.0
	full := &recountv1.CodeNode{}
	doc := map[string]float32{}
	for e, err := range nodes.All() {
		if err != nil {
			return nil, err
		}
		if n++; n&0x3ff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if g.chain(n) == "" { // a file or a package
			continue
		}
		if err := unmarshal(e.Value, full); err != nil {
			return nil, err
		}
		clear(doc)
		add := func(words []string, weight float32) {
			for _, w := range words {
				doc[w] += weight
				x.length[n] += weight
			}
		}
		add(textWords(full.Name), nameWeight)
		add(textWords(full.Owner), ownerWeight)
		said := textWords(full.Doc)
		add(said[:min(len(said), maxDocWords)], docWeight)
		add(textWords(full.Signature), signatureWeight)
		add(textWords(g.keys[n].Path()), pathWeight)
		for w, weight := range doc {
			x.postings[w] = append(x.postings[w], posting{n, weight})
		}
		if len(doc) > 0 {
			x.count++
			total += float64(x.length[n])
		}
	}
	x.mean = total / max(1, float64(x.count))
	return x, nil
}

// textWords are the words of a text, stemmed; those that only join others are left
// out, as any English text has them.
func textWords(text string) []string {
	words := wordsOf(text)
	kept := words[:0]
	for _, w := range words {
		if len(w) > 1 && !english.IsStopWord(w) {
			kept = append(kept, english.Stem(w, false))
		}
	}
	return kept
}

// scored is a node and how well a description fits it.
type scored struct {
	n     int32
	score float64
}

// find ranks the nodes that have some of the words, the best first.
func (x *textIndex) find(g *Graph, text string, wanted map[recountv1.SymbolKind]bool, tests bool) []scored {
	words := textWords(text)
	slices.Sort(words)
	words = slices.Compact(words)
	score := map[int32]float64{}
	for _, w := range words {
		of := x.postings[w]
		idf := math.Log(1 + (float64(x.count)-float64(len(of))+0.5)/(float64(len(of))+0.5))
		for _, p := range of {
			tf := float64(p.weight)
			norm := 1 - bm25B + bm25B*float64(x.length[p.node])/x.mean
			score[p.node] += idf * tf * (bm25K + 1) / (tf + bm25K*norm)
		}
	}
	var all []scored
	for n, s := range score {
		if wanted != nil && !wanted[g.kind(n)] {
			continue
		}
		if g.nodes[n].test && !tests {
			s /= 4 // tests say what they test in as many words
		}
		all = append(all, scored{n, s * kindShare(g.kind(n))})
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.n, b.n)) })
	return all
}

// kindShare is how much of its score a kind keeps: who describes something means what
// does it or what it is made of, rather than one of the parts.
func kindShare(k recountv1.SymbolKind) float64 {
	switch strings.ToLower(kindName(k)) {
	case "field", "variable", "constant", "property", "enum_member", "column":
		return 0.6
	}
	return 1
}
