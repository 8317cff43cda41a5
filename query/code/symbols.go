package code

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// SymbolsRequest asks for symbols by a part of their name, or by a description.
type SymbolsRequest struct {
	Scope
	Text  string   `json:"text" minLength:"1" maxLength:"4096" example:"ClientProduce" doc:"The name or part of it: a prefix, some of its words (camelCase and snake_case), or some of its letters in order. Also a place, a path, or a description in words."`
	Kinds []string `json:"kinds,omitempty" example:"method" doc:"Only these kinds: function, method, struct, class, interface, …"`
	Tests bool     `json:"tests,omitempty" doc:"Rank tests like other symbols; by default they come last."`
	Limit int      `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"10" doc:"Maximum number of symbols."`
}

// SymbolsResponse is the answer of symbols.
type SymbolsResponse struct {
	query.Basis
	query.Announced
	Revision  Revision    `json:"revision" doc:"The revision that was queried."`
	Symbols   []SymbolHit `json:"symbols" nullable:"false" doc:"The symbols, the best match first."`
	Truncated int         `json:"truncated" example:"0" doc:"The number of further matches."`
}

// Subjects returns the symbols.
func (r *SymbolsResponse) Subjects() (all []query.Subject) {
	for _, h := range r.Symbols {
		all = append(all, h.subject())
	}
	return all
}

// SymbolHit is one symbol that matches.
type SymbolHit struct {
	Symbol
	Match     string `json:"match" enum:"name,exact,case,prefix,words,part,letters,place,text" example:"words" doc:"How it matches. name: the qualified name or its end. exact: the name. case: the name, ignoring case. prefix: the start of the name. words: words of the name. part: a part of the name. letters: its letters in order. place: a place. text: the words of a description occur in its name, its surroundings, its documentation or signature."`
	Signature string `json:"signature,omitempty" example:"func (cl *Client) Produce(ctx context.Context, r *Record, promise func(*Record, error))" doc:"The head of its declaration."`
	Doc       string `json:"doc,omitempty" doc:"The start of its documentation."`
}

func (r SymbolsRequest) check() error {
	_, err := parseKinds(r.Kinds)
	return cmp.Or(r.Scope.check(), checkSubject("text", strings.TrimSpace(r.Text)), checkLimit(r.Limit), err)
}

// Symbols finds symbols by name, or, if a text of several words matches no name, by description. An
// error is a *query.RequestError, *query.NotFoundError, *AmbiguousNameError, *query.NotVisibleError,
// that of ctx, or that of the projection; this holds for the other questions too.
func Symbols(ctx context.Context, s Sources, r SymbolsRequest) (SymbolsResponse, error) {
	var resp SymbolsResponse
	wanted, err := parseKinds(r.Kinds)
	if err != nil {
		return resp, err
	}
	r.Limit = cmp.Or(r.Limit, DefaultLimit)
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	snap, g, err := a.snapshotGraph(r.Scope)
	if err != nil {
		return resp, err
	}
	text, hits, err := a.matching(g, snap, r.Text, wanted, r.Tests)
	if err != nil {
		return resp, err
	}
	a.Step(query.Step{Operator: "symbols", Inputs: map[string]string{"text": text}, Counts: map[string]int64{"symbols": int64(len(g.nodes)), "matching": int64(len(hits))}})
	a.RecordTime("symbols")
	resp.Revision = revisionAt(snap)
	resp.Truncated = max(0, len(hits)-r.Limit)
	if resp.Symbols, err = toldSymbols(&world{graphs: []*Graph{g}}, 0, snap, hits[:min(len(hits), r.Limit)]); err != nil {
		return resp, err
	}
	hint := ""
	if len(hits) == 0 {
		hint = "no symbol matches"
		if near := g.near(text); len(near) > 0 {
			hint += "; near are " + strings.Join(near, ", ")
		}
		unread, err := unreadFiles(snap)
		if err != nil {
			return resp, err
		}
		hint = joinHints(hint, unread)
	}
	var filters []query.AppliedFilter
	if len(r.Kinds) > 0 {
		filters = append(filters, query.AppliedFilter{Field: "kinds", Op: "in", Value: strings.Join(r.Kinds, ",")})
	}
	resp.Basis = a.basis(len(hits) == 0, hint, filters...)
	return resp, nil
}

// matching returns the symbols of a graph that match a text, the best first, and the form of the
// text that matched.
func (a *session) matching(g *Graph, snap *snapshots.Snapshot, asked string, wanted map[recountv1.SymbolKind]bool, tests bool) (string, []symbolHit, error) {
	asked = strings.TrimSpace(asked)
	text := strings.TrimPrefix(strings.TrimPrefix(asked, g.repo+"/"), "./")
	hits := g.search(text, wanted, tests)
	if plain := plainName(text); len(hits) == 0 && plain != text {
		text, hits = plain, g.search(plain, wanted, tests)
	}
	if slices.ContainsFunc(hits, func(h symbolHit) bool { return h.tier <= matchWords }) || !strings.Contains(asked, " ") {
		return text, hits, nil
	}
	hits, err := a.described(g, snap, hits, asked, wanted, tests)
	return text, hits, err
}

// described puts the symbols of a graph that match a description before hits that match a part of it.
func (a *session) described(g *Graph, snap *snapshots.Snapshot, hits []symbolHit, asked string, wanted map[recountv1.SymbolKind]bool, tests bool) ([]symbolHit, error) {
	x, err := a.s.Graphs.texts.indexOf(a.Ctx, g, snap)
	if err != nil {
		return nil, err
	}
	a.RecordTime("index of terms")
	return g.described(x, hits, asked, wanted, tests), nil
}

// toldSymbols converts hits in a graph of a world to the form of answers, with details from the
// snapshot.
func toldSymbols(w *world, graph int32, snap *snapshots.Snapshot, hits []symbolHit) ([]SymbolHit, error) {
	nodes, err := snap.Nodes()
	if err != nil {
		return nil, err
	}
	all := make([]SymbolHit, 0, len(hits))
	for _, h := range hits {
		hit := SymbolHit{Symbol: w.symbol(ref{graph, h.n}), Match: matchNames[h.tier]}
		value, ok, err := nodes.Get([]byte(w.graphs[graph].keys[h.n]))
		if err != nil {
			return nil, err
		}
		if ok {
			var full recountv1.CodeNode
			if err := unmarshal(value, &full); err != nil {
				return nil, err
			}
			hit.Signature, hit.Doc = full.Signature, FirstSentence(full.Doc)
		}
		all = append(all, hit)
	}
	return all, nil
}

func parseKinds(names []string) (map[recountv1.SymbolKind]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	wanted := map[recountv1.SymbolKind]bool{}
	for _, name := range names {
		k, ok := recountv1.SymbolKind_value["SYMBOL_KIND_"+strings.ToUpper(name)]
		if !ok || k == 0 {
			return nil, &query.RequestError{Field: "kinds", Value: fmt.Sprintf("%q", name), Reason: "want one of " + strings.Join(KindNames(), ", ")}
		}
		wanted[recountv1.SymbolKind(k)] = true
	}
	return wanted, nil
}

// KindNames returns the names of the kinds of symbols in requests and answers.
func KindNames() []string {
	var names []string
	for k := recountv1.SymbolKind(1); int(k) < len(recountv1.SymbolKind_name); k++ {
		names = append(names, kindName(k))
	}
	return names
}

// These are the kinds of matches, the best first.
const (
	matchPlace = iota
	matchName
	matchExact
	matchCase
	matchPrefix
	matchWords
	matchPart
	matchLetters
	matchText
	noMatch
)

var matchNames = [...]string{"place", "name", "exact", "case", "prefix", "words", "part", "letters", "text"}

type symbolHit struct {
	n    int32
	tier int
	loss int // how much of the name did not match
	// later is true of a declaration of a style sheet, if none is asked for: it follows what programs
	// declare under the same name.
	later bool
}

// compareMatch compares how two symbols match. Letters in the other case are no reason to prefer a rule
// of a style sheet to a declaration of a program.
func (h symbolHit) compareMatch(other symbolHit) int {
	band := func(tier int) int {
		if tier == matchCase {
			return matchExact
		}
		return tier
	}
	return cmp.Or(cmp.Compare(band(h.tier), band(other.tier)), compareBool(h.later, other.later), cmp.Compare(h.tier, other.tier))
}

// isStyle reports whether a node is a declaration of a style sheet.
func (g *Graph) isStyle(n int32) bool {
	language := g.language(n)
	return g.chain(n) != "" && (language == "css" || language == "scss")
}

// asksForStyles reports whether a text is written as names of style sheets are (.card, #top, @media,
// --gap, $gap, a:hover), or rules are among the wanted kinds.
func asksForStyles(text string, wanted map[recountv1.SymbolKind]bool) bool {
	return wanted[recountv1.SymbolKind_SYMBOL_KIND_RULE] || strings.ContainsAny(text, "#@$%>~[") || strings.HasPrefix(text, ".") || strings.HasPrefix(text, "--") || strings.Contains(text, ":")
}

// search ranks the symbols that match: by kind of match, then what programs declare before what style
// sheets do, unless these are asked for, then non-tests, exported symbols, the smallest part of the name that did not match, and by place.
func (g *Graph) search(text string, wanted map[recountv1.SymbolKind]bool, tests bool) []symbolHit {
	var hits []symbolHit
	placed := map[int32]bool{}
	if strings.ContainsAny(text, ":/") {
		found, _ := g.lookup(text)
		for _, n := range found {
			if wanted == nil || wanted[g.kind(n)] {
				placed[n] = true
				hits = append(hits, symbolHit{n: n, tier: matchPlace})
			}
		}
	}
	m := newMatcher(text)
	styles := asksForStyles(text, wanted)
	for i := range g.nodes {
		n := int32(i)
		if placed[n] || wanted != nil && !wanted[g.kind(n)] {
			continue
		}
		if tier, loss := m.match(g, n); tier < noMatch {
			hits = append(hits, symbolHit{n, tier, loss, !styles && g.isStyle(n)})
		}
	}
	slices.SortStableFunc(hits, func(a, b symbolHit) int {
		x, y := &g.nodes[a.n], &g.nodes[b.n]
		order := a.compareMatch(b)
		if order == 0 && !tests {
			order = compareBool(x.test, y.test)
		}
		return cmp.Or(order, compareBool(!x.exported, !y.exported), cmp.Compare(a.loss, b.loss), cmp.Compare(a.n, b.n))
	})
	return hits
}

// described puts the results of a search by description before hits that match only a part of it.
func (g *Graph) described(x *textIndex, hits []symbolHit, text string, wanted map[recountv1.SymbolKind]bool, tests bool) []symbolHit {
	var all []symbolHit
	seen := map[int32]bool{}
	for _, s := range x.find(g, text, wanted, tests) {
		seen[s.n] = true
		all = append(all, symbolHit{n: s.n, tier: matchText})
	}
	return append(all, slices.DeleteFunc(hits, func(h symbolHit) bool { return seen[h.n] })...)
}

// matcher compares one text with many names.
type matcher struct {
	text, lower string
	words       []string
}

func newMatcher(text string) matcher {
	return matcher{text, strings.ToLower(text), wordsOf(text)}
}

// match returns how a node's name matches the text.
func (m *matcher) match(g *Graph, n int32) (tier, loss int) {
	chain, name := g.chain(n), g.name(n)
	if chain == "" { // a file or a package: match its path
		path := strings.TrimSuffix(g.keys[n].Path(), "/")
		name = path[strings.LastIndexByte(path, '/')+1:]
		chain = name
	}
	loss = len(name) - len(m.text)
	if name == "" {
		return noMatch, 0
	}
	if name == m.text {
		return matchExact, len(chain) - len(name)
	}
	if len(m.text) > len(name) && strings.HasSuffix(m.text, name) {
		for _, pkg := range []string{g.unversioned(n), g.pkg(n)} {
			if qualified := pkg + "." + chain; endsAtName(qualified, m.text) {
				return matchName, len(qualified) - len(m.text)
			}
		}
	}
	lower := strings.ToLower(name)
	switch {
	case lower == m.lower:
		return matchCase, len(chain) - len(name)
	case strings.HasPrefix(lower, m.lower):
		return matchPrefix, loss
	}
	lowerChain := strings.ToLower(chain)
	switch {
	case m.mayHaveWords(lowerChain) && m.hasWords(strings.ToLower(g.unversioned(n)), chain):
		return matchWords, max(loss, len(chain)-len(m.text))
	case strings.Contains(lower, m.lower):
		return matchPart, loss
	case len(m.lower) >= 3 && hasLetters(lowerChain, m.lower):
		return matchLetters, len(chain) - len(m.text)
	}
	return noMatch, 0
}

// mayHaveWords reports whether the words of the text but the first, which may be the package, are
// parts of a name. It is much faster than hasWords and false for most names.
func (m *matcher) mayHaveWords(lowerChain string) bool {
	for _, word := range m.words[min(1, len(m.words)):] {
		if !strings.Contains(lowerChain, word) {
			return false
		}
	}
	return true
}

// hasWords reports whether each word of the text begins a word of the name or of its owners, in
// order. The first word may also be the package's last element.
func (m *matcher) hasWords(pkg, chain string) bool {
	if len(m.words) == 0 {
		return false
	}
	own := wordsOf(chain)
	at := 0
	short := shortPackage(pkg)
	for i, word := range m.words {
		if i == 0 && len(m.words) > 1 && short == word {
			continue
		}
		for at < len(own) && !strings.HasPrefix(own[at], word) {
			at++
		}
		if at == len(own) {
			return false
		}
		at++
	}
	return true
}

// hasLetters reports whether a name contains the letters in order.
func hasLetters(name, letters string) bool {
	i := 0
	for j := 0; i < len(letters) && j < len(name); j++ {
		if name[j] == letters[i] {
			i++
		}
	}
	return i == len(letters)
}

// Words splits a text as names are compared: at inner capitals and at characters other than letters
// and digits, in lower case.
func Words(s string) []string { return wordsOf(s) }

// wordsOf splits a name at inner capitals and at characters other than letters and digits:
// HTTPServer is http and server.
func wordsOf(s string) []string {
	var words []string
	runes := []rune(s)
	start := 0
	flush := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(string(runes[start:end])))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush(i)
			start = i
		}
	}
	flush(len(runes))
	return words
}

// FirstSentence returns the beginning of a documentation, for lists.
func FirstSentence(doc string) string {
	doc = strings.Join(strings.Fields(doc), " ")
	if i := strings.Index(doc, ". "); i >= 0 {
		doc = doc[:i+1]
	}
	const most = 160
	if r := []rune(doc); len(r) > most {
		doc = string(r[:most]) + "…"
	}
	return doc
}

// Symbols returns at most limit symbols that match a text in all repositories, or in the one named
// repo: by kind of match, then the best of each repository first. A single word that is in no name
// is searched for as a description too.
func (c *Codebase) Symbols(text, repo string, limit int) ([]SymbolHit, error) {
	type found struct {
		graph int32
		rank  int
		symbolHit
	}
	var all []found
	for i, g := range c.w.graphs {
		if repo != "" && g.repo != repo {
			continue
		}
		_, hits, err := c.a.matching(g, c.w.snaps[i], text, nil, false)
		if err == nil && len(hits) == 0 {
			hits, err = c.a.described(g, c.w.snaps[i], nil, text, nil, false)
		}
		if err != nil {
			return nil, err
		}
		for rank, h := range hits[:min(len(hits), limit)] {
			all = append(all, found{int32(i), rank, h})
		}
	}
	slices.SortStableFunc(all, func(x, y found) int { return cmp.Or(x.compareMatch(y.symbolHit), cmp.Compare(x.rank, y.rank)) })
	var answered []SymbolHit
	for _, f := range all[:min(len(all), limit)] {
		hit, err := toldSymbols(c.w, f.graph, c.w.snaps[f.graph], []symbolHit{f.symbolHit})
		if err != nil {
			return nil, err
		}
		answered = append(answered, hit...)
	}
	return answered, nil
}
