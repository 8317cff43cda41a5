package code

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"

	"github.com/recountdb/recount/languages/documents"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// textIndex finds the symbols of a snapshot by description: BM25F, one document for each symbol
// with the fields below. Text is split at inner capitals and at characters other than letters and
// digits, and words are stemmed.
type textIndex struct {
	hash     schemas.Hash
	terms    map[string]int32
	postings [][]posting // by term, in node order
	idf      []float32   // by term
	// inNames are the words of names, sorted.
	inNames []string
	// nameIDF is the sum of the idf of the words of each node's name.
	nameIDF []float32
	// prior is how likely a description means each node, whatever its words are.
	prior []float32
	// behind marks tests, examples and steps of CI.
	behind []bool
	// file numbers the files, by node; files is how many there are.
	file  []int32
	files int
}

// posting takes 12 bytes.
type posting struct {
	node   int32
	weight float32 // frequency of the word, weighted by field and normalised by the field's length
	inName bool
}

// These are the fields of a symbol's text.
const (
	nameField      = iota
	joinedField    // two adjacent words of its name as one: WebSocket is also "websocket"
	ownerField     // the names around it
	sentenceField  // the first sentence of its documentation
	docField       // the rest of it
	signatureField // the head of its declaration
	pathField
	usesField    // the names that it uses
	usersField   // the names of what uses it
	membersField // the names that a type declares
	pairField    // two adjacent words of its name or first sentence as one term, "word word"
	saidField    // what documents say of it, where they name it
	textFields
)

// fieldWeights says how much a word in a field counts, and how much the field's length counts
// against it, 0 to 1. bench/symbols defines the half of the tasks on which they were chosen.
var fieldWeights = [textFields]struct{ weight, length float64 }{
	nameField: {4, 0.4}, joinedField: {2, 0}, ownerField: {0.6, 0.4}, sentenceField: {2.5, 0.4}, docField: {0.7, 0.6},
	signatureField: {0.4, 0.3}, pathField: {0.4, 0.5}, usesField: {0.3, 0.75}, usersField: {0.05, 0.75}, membersField: {2, 0.75}, pairField: {2, 0},
	saidField: {0.7, 0.6},
}

// maxFieldWords is the maximum number of words of a field that count.
const maxFieldWords = 200

// texts caches the text indexes of the last few snapshots.
type texts struct {
	mu   sync.Mutex
	kept []*textIndex // most recently used first
	// building has the snapshots whose indexes are being built.
	building map[schemas.Hash]chan struct{}
}

// maxTexts is the number of cached indexes.
const maxTexts = 4

// indexOf returns the index of a snapshot, and builds it if it is not cached. Concurrent callers for
// the same snapshot wait.
func (t *texts) indexOf(ctx context.Context, g *Graph, s *snapshots.Snapshot) (*textIndex, error) {
	for {
		x, wait, mine := t.begin(g.hash)
		switch {
		case x != nil:
			return x, nil
		case mine:
			x, err := indexText(ctx, g, s)
			t.end(g.hash, x, wait)
			return x, err
		}
		select {
		case <-wait: // either it is cached now, or the other query failed: try again
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin returns a cached index, or else what is closed when it has been built; mine is set if the
// caller is to build it.
func (t *texts) begin(hash schemas.Hash) (x *textIndex, wait chan struct{}, mine bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, x := range t.kept {
		if x.hash == hash {
			t.kept = append([]*textIndex{x}, slices.Delete(slices.Clone(t.kept), i, i+1)...)
			return x, nil, false
		}
	}
	wait, busy := t.building[hash]
	if !busy {
		if t.building == nil {
			t.building = map[schemas.Hash]chan struct{}{}
		}
		wait = make(chan struct{})
		t.building[hash] = wait
	}
	return nil, wait, !busy
}

// end ends a build; x is nil if it failed.
func (t *texts) end(hash schemas.Hash, x *textIndex, wait chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.building, hash)
	close(wait)
	if x != nil {
		t.kept = append([]*textIndex{x}, t.kept[:min(len(t.kept), maxTexts-1)]...)
	}
}

// textWriter collects the words of a graph.
type textWriter struct {
	ids     map[string]int32
	terms   []string
	counts  [][]wordCount // by term
	lengths [][textFields]uint16
	stems   map[string]string
}

// wordCount is how often a node has a word, by field.
type wordCount struct {
	node int32
	in   [textFields]uint8
}

func indexText(ctx context.Context, g *Graph, s *snapshots.Snapshot) (*textIndex, error) {
	nodes, err := s.Nodes()
	if err != nil {
		return nil, err
	}
	unresolved, err := s.Unresolved()
	if err != nil {
		return nil, err
	}
	uses, err := g.unresolvedUses(ctx, unresolved)
	if err != nil {
		return nil, err
	}
	w := &textWriter{ids: map[string]int32{}, lengths: make([][textFields]uint16, len(g.nodes)), stems: map[string]string{}}
	said, err := g.saidInText(ctx, s)
	if err != nil {
		return nil, err
	}
	members := g.membersOfTypes()
	n := int32(-1)
	full := &recountv1.CodeNode{}
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
		w.words(n, nameField, full.Name)
		w.joined(n, joinedField, full.Name)
		w.words(n, ownerField, full.Owner)
		w.joined(n, ownerField, full.Owner)
		first, rest := cutSentence(full.Doc)
		w.words(n, sentenceField, first)
		w.words(n, docField, rest)
		w.words(n, signatureField, full.Signature)
		w.words(n, pathField, g.keys[n].Path())
		for _, m := range members[n] {
			w.words(n, membersField, g.name(m))
		}
		for _, e := range g.edges[g.out[n]:g.out[n+1]] {
			if usingKinds.has(e.kind) {
				w.words(n, usesField, g.name(e.to))
			}
		}
		for _, e := range g.outside[g.outStart[n]:g.outStart[n+1]] {
			w.words(n, usesField, lastName(g.symbols[e.to].name))
		}
		for _, e := range g.into[g.in[n]:min(g.in[n+1], g.in[n]+maxUsers)] {
			if usingKinds.has(g.edges[e].kind) {
				w.words(n, usersField, g.name(g.edges[e].from))
			}
		}
		for _, name := range uses[n] {
			w.words(n, usesField, name)
		}
		for _, text := range said[n] {
			w.words(n, saidField, text)
		}
	}
	x := w.index(g)
	x.hash = g.hash
	return x, nil
}

// maxUsers is the maximum number of users whose names count.
const maxUsers = 30

// usingKinds are the edges whose targets a symbol's text names.
var usingKinds = callKinds | kindsOf(recountv1.EdgeKind_EDGE_KIND_REFERENCES)

// add counts a term in a field of a node. Nodes come in order.
func (w *textWriter) add(n int32, field int, term string) {
	id, ok := w.ids[term]
	if !ok {
		id = int32(len(w.terms))
		w.ids[term] = id
		w.terms, w.counts = append(w.terms, term), append(w.counts, nil)
	}
	of := w.counts[id]
	if len(of) == 0 || of[len(of)-1].node != n {
		of = append(of, wordCount{node: n})
	}
	if c := &of[len(of)-1].in[field]; *c < math.MaxUint8 {
		*c++
	}
	w.counts[id] = of
	if l := &w.lengths[n][field]; *l < math.MaxUint16 {
		*l++
	}
}

// words counts the words of a text, without English stop words.
func (w *textWriter) words(n int32, field int, text string) {
	before, count := "", 0
	for _, word := range wordsOf(text) {
		if len(word) < 2 || english.IsStopWord(word) {
			continue
		}
		if count++; count > maxFieldWords {
			return
		}
		stem := w.stem(word)
		w.add(n, field, stem)
		if before != "" && (field == nameField || field == sentenceField) {
			w.add(n, pairField, before+" "+stem)
		}
		before = stem
	}
}

// joined counts each two adjacent words of a name as one.
func (w *textWriter) joined(n int32, field int, name string) {
	words := wordsOf(name)
	for i := 1; i < len(words); i++ {
		w.add(n, field, w.stem(words[i-1]+words[i]))
	}
}

func (w *textWriter) stem(word string) string {
	stem, ok := w.stems[word]
	if !ok {
		stem = english.Stem(word, false)
		w.stems[word] = stem
	}
	return stem
}

// index weighs what was counted.
func (w *textWriter) index(g *Graph) *textIndex {
	x := &textIndex{
		terms: w.ids, postings: make([][]posting, len(w.terms)), idf: make([]float32, len(w.terms)),
		nameIDF: make([]float32, len(g.nodes)), prior: make([]float32, len(g.nodes)), behind: make([]bool, len(g.nodes)), file: make([]int32, len(g.nodes)),
	}
	var total [textFields]float64
	count := 0.0
	type file struct {
		number int32
		apart  bool
	}
	paths := map[string]file{}
	for i := range g.nodes {
		n := int32(i)
		if g.chain(n) == "" {
			continue
		}
		count++
		for f, length := range w.lengths[n] {
			total[f] += float64(length)
		}
		x.prior[n] = g.textPrior(n)
		path := g.keys[n].Path()
		f, known := paths[path]
		if !known {
			f = file{int32(len(paths)), apartFromCode(path)}
			paths[path] = f
		}
		x.file[n] = f.number
		x.behind[n] = g.nodes[n].test || f.apart || isCI(g.kind(n))
	}
	x.files = len(paths)
	for id, term := range w.terms {
		of := w.counts[id]
		idf := math.Log(1 + (count-float64(len(of))+0.5)/(float64(len(of))+0.5))
		x.idf[id] = float32(idf)
		list := make([]posting, len(of))
		named := false
		for i, c := range of {
			weight := 0.0
			for f, tf := range c.in {
				if tf > 0 {
					b := fieldWeights[f].length
					weight += fieldWeights[f].weight * float64(tf) / (1 - b + b*float64(w.lengths[c.node][f])*count/total[f])
				}
			}
			list[i] = posting{c.node, float32(weight), c.in[nameField] > 0 || c.in[joinedField] > 0}
			if c.in[nameField] > 0 {
				x.nameIDF[c.node] += x.idf[id]
				named = true
			}
		}
		x.postings[id], w.counts[id] = list, nil
		if named {
			x.inNames = append(x.inNames, term)
		}
	}
	slices.Sort(x.inNames)
	return x
}

// textPrior returns the factor for the score of a node: a description usually means a function or
// a type that others can name rather than a part of one.
func (g *Graph) textPrior(n int32) float32 {
	p := float32(1)
	switch g.kind(n) {
	case recountv1.SymbolKind_SYMBOL_KIND_FIELD, recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, recountv1.SymbolKind_SYMBOL_KIND_CONSTANT,
		recountv1.SymbolKind_SYMBOL_KIND_PROPERTY, recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, recountv1.SymbolKind_SYMBOL_KIND_COLUMN,
		recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR:
		p = 0.6
	case recountv1.SymbolKind_SYMBOL_KIND_ROUTE, recountv1.SymbolKind_SYMBOL_KIND_STEP, recountv1.SymbolKind_SYMBOL_KIND_JOB:
		p = 0.3
	}
	if isType(g.kind(n)) {
		p = 1.1
	}
	if !g.nodes[n].exported {
		p *= 0.5
	}
	return p
}

// unresolvedUses returns the names in the unresolved references of each node.
func (g *Graph) unresolvedUses(ctx context.Context, m *prolly.Map) (map[int32][]string, error) {
	all := map[int32][]string{}
	for e, err := range m.All() {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		from, _, rest, ok := snapshots.CutEdge(e.Key)
		path, _, cut := strings.Cut(string(rest), "\x00")
		if n, known := g.find(from); ok && cut && known {
			all[n] = append(all[n], path)
		}
	}
	return all, nil
}

// maxSaid is the maximum number of sentences of documents that count for a symbol.
const maxSaid = 3

// saidInText returns the sentences in which documents name each symbol, the best few: those that name
// little else.
func (g *Graph) saidInText(ctx context.Context, s *snapshots.Snapshot) (map[int32][]string, error) {
	type sentence struct {
		text string
		loss int
	}
	all := map[int32][]sentence{}
	read := ""
	for i := range g.outside {
		e := &g.outside[i]
		path := g.keys[e.from].Path()
		if !inText(g.symbols[e.to]) || path == read {
			continue
		}
		read = path
		f := &recountv1.CodeFile{}
		if _, err := s.Read(snapshots.FilesMap, []byte(path), f); cmp.Or(err, ctx.Err()) != nil {
			return nil, cmp.Or(err, ctx.Err())
		}
		stored, err := s.Facts(f)
		if err != nil {
			return nil, err
		}
		facts := stored.GetFacts()
		texts, names := make([]string, len(facts.GetReferences())), map[string]int{}
		for i, r := range facts.GetReferences() {
			texts[i] = r.Attributes[documents.TextAttribute]
			names[texts[i]]++
		}
		for i, r := range facts.GetReferences() {
			for _, n := range g.named[r.Path] {
				all[n] = append(all[n], sentence{texts[i], len(g.named[r.Path])*10 + names[texts[i]]})
			}
		}
	}
	said := map[int32][]string{}
	for n, of := range all {
		slices.SortStableFunc(of, func(a, b sentence) int { return cmp.Compare(a.loss, b.loss) })
		for _, s := range of {
			if len(said[n]) < maxSaid && !slices.Contains(said[n], s.text) {
				said[n] = append(said[n], s.text)
			}
		}
	}
	return said, nil
}

// membersOfTypes returns the nodes that each type declares, by name and package.
func (g *Graph) membersOfTypes() map[int32][]int32 {
	type named struct {
		pkg   int32
		chain string
	}
	types := map[named]int32{}
	for i := range g.nodes {
		if n := int32(i); isType(g.kind(n)) {
			types[named{g.nodes[n].pkg, g.chain(n)}] = n
		}
	}
	members := map[int32][]int32{}
	for i := range g.nodes {
		n := int32(i)
		if t, ok := types[named{g.nodes[n].pkg, g.owner(n)}]; ok && g.nodes[n].ownerLen > 0 {
			members[t] = append(members[t], n)
		}
	}
	return members
}

// apartFromCode reports whether a path is that of a test, an example or a benchmark.
func apartFromCode(path string) bool {
	if strings.HasPrefix(path, "t/") { // where Perl's projects and some of Python's have their tests
		return true
	}
	for _, w := range wordsOf(path) {
		switch w {
		case "test", "tests", "testing", "testdata", "spec", "specs", "conftest", "mock", "mocks", "fixtures", "fuzz",
			"example", "examples", "samples", "snippets", "bench", "benches", "benchmark", "benchmarks":
			return true
		}
	}
	return false
}

// cutSentence splits a documentation behind its first sentence or paragraph.
func cutSentence(doc string) (first, rest string) {
	end := len(doc)
	for _, stop := range []string{". ", ".\n", "\n\n"} {
		if i := strings.Index(doc[:end], stop); i >= 0 {
			end = i
		}
	}
	return doc[:end], doc[end:]
}

func isType(k recountv1.SymbolKind) bool {
	switch k {
	case recountv1.SymbolKind_SYMBOL_KIND_STRUCT, recountv1.SymbolKind_SYMBOL_KIND_CLASS, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE,
		recountv1.SymbolKind_SYMBOL_KIND_TRAIT, recountv1.SymbolKind_SYMBOL_KIND_ENUM, recountv1.SymbolKind_SYMBOL_KIND_TYPE:
		return true
	}
	return false
}

func isCI(k recountv1.SymbolKind) bool {
	return k == recountv1.SymbolKind_SYMBOL_KIND_STEP || k == recountv1.SymbolKind_SYMBOL_KIND_JOB
}
