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

// textIndex finds the symbols of a snapshot by description: BM25 over the words of their names,
// those of their owners, their documentation, their signatures and their paths, as one document
// with weighted fields (BM25F). Text is split at inner capitals and at characters other than
// letters and digits, and words are stemmed.
type textIndex struct {
	hash     schemas.Hash
	postings map[string][]posting
	// length is the weighted number of words of each node, mean the mean over all nodes with words.
	length []float32
	mean   float64
	count  int
}

type posting struct {
	node   int32
	weight float32 // frequency of the word, weighted by field
}

// These are the weights of fields: a name says most about the purpose of a symbol.
const (
	nameWeight      = 3
	ownerWeight     = 1.5
	docWeight       = 1
	signatureWeight = 0.5
	pathWeight      = 0.5

	bm25K, bm25B = 1.2, 0.6
	// maxDocWords is the maximum number of words of a documentation that count.
	maxDocWords = 200
)

// texts caches the text indexes of the last few snapshots.
type texts struct {
	mu   sync.Mutex
	kept []*textIndex // most recently used first
}

// maxTexts is the number of cached indexes.
const maxTexts = 4

// indexOf returns the index of a snapshot, and builds it if it is not cached. Concurrent callers wait.
func (t *texts) indexOf(ctx context.Context, g *Graph, s *snapshots.Snapshot) (*textIndex, error) {
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

// textWords returns the words of a text, stemmed and without English stop words.
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

// scored is a node with its score.
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
			s /= 4 // tests use the same words as what they test
		}
		all = append(all, scored{n, s * kindShare(g.kind(n))})
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.n, b.n)) })
	return all
}

// kindShare returns the factor for the score of a kind: a description usually means a function or a
// type rather than one of its parts.
func kindShare(k recountv1.SymbolKind) float64 {
	switch strings.ToLower(kindName(k)) {
	case "field", "variable", "constant", "property", "enum_member", "column":
		return 0.6
	}
	return 1
}
