package code

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// changeRenamed means that the symbol has another name, and the same or nearly the same text.
const changeRenamed = "renamed"

// These decide which removed and added symbols are one that was renamed. The similarity of two
// texts is the share of their runs of three tokens that both have (Dice's coefficient), with the
// symbol's own name left out. Short texts resemble each other by chance.
const (
	minSimilarity = 0.7
	minTokens     = 24 // of texts that differ
	minEqual      = 10 // of equal texts
	// maxRenamed is the maximum number of removed, and of added symbols among which pairs are looked
	// for; with more, which is an import rather than a change, none are.
	maxRenamed = 600
)

// text is what a symbol's declaration says.
type text struct {
	change
	tokens int
	runs   []uint64 // hashes of runs of three tokens, ascending
}

// renaming is a pair of a removed and an added symbol.
type renaming struct {
	was, is    *text
	similarity float64
	near       int // how much else they have in common
}

// renames finds the symbols that were renamed, and adds them to the moves. It reads the content of
// the files that had or have them.
func (d *differing) renames() error {
	var gone, came []*text
	for _, c := range d.nodes {
		if c.key.Chain() == "" || !renamable[c.known().Kind] {
			continue
		}
		switch d.moved.kind(c) {
		case changeRemoved:
			gone = append(gone, &text{change: c})
		case changeAdded:
			came = append(came, &text{change: c})
		}
	}
	d.resp.Counts[changeRenamed] = 0
	if len(gone) == 0 || len(came) == 0 || d.a.s.Contents == nil || max(len(gone), len(came)) > maxRenamed {
		return nil
	}
	if err := d.readTexts(d.base, gone); err != nil {
		return err
	}
	if err := d.readTexts(d.now, came); err != nil {
		return err
	}
	pairs := pairsOf(gone, came)
	d.moved.rename(pairs)
	d.a.Step(query.Step{Operator: "renames", Counts: map[string]int64{"removed": int64(len(gone)), "added": int64(len(came)), "renamed": int64(len(d.moved.similarity))}})
	d.a.RecordTime("renames")
	return nil
}

// renamable are the kinds of symbols that have a text of their own.
var renamable = map[recountv1.SymbolKind]bool{
	recountv1.SymbolKind_SYMBOL_KIND_FUNCTION: true, recountv1.SymbolKind_SYMBOL_KIND_METHOD: true, recountv1.SymbolKind_SYMBOL_KIND_CLASS: true,
	recountv1.SymbolKind_SYMBOL_KIND_STRUCT: true, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE: true, recountv1.SymbolKind_SYMBOL_KIND_ENUM: true, recountv1.SymbolKind_SYMBOL_KIND_TRAIT: true, recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR: true,
}

// readTexts sets the tokens of symbols of a snapshot.
func (d *differing) readTexts(s *snapshots.Snapshot, all []*text) error {
	files := map[string][][]byte{}
	for _, t := range all {
		path := t.key.Path()
		lines, read := files[path]
		if !read {
			content, err := d.a.content(s, path)
			if err != nil {
				return err
			}
			if content != nil {
				lines = bytes.SplitAfter(content, []byte("\n"))
			}
			files[path] = lines
		}
		from, err := s.Line(t.key)
		if err != nil {
			return err
		}
		to := from + t.known().GetEnd().GetLine()
		if from == 0 || int(to) > len(lines) {
			continue
		}
		t.read(bytes.Join(lines[from-1:to], nil))
	}
	return nil
}

// read sets the tokens of a text. The runs are hashed.
func (t *text) read(source []byte) {
	own := t.known().Name
	var last [2]string
	seen := map[uint64]uint64{}
	for token := range sourceTokens(string(source)) {
		if token == own {
			token = "\x00"
		}
		t.tokens++
		h := xxh3.HashString(last[0] + "\x01" + last[1] + "\x01" + token)
		// The second of two equal runs is another one.
		n := seen[h]
		seen[h]++
		t.runs = append(t.runs, h+n*0x9e3779b97f4a7c15)
		last = [2]string{last[1], token}
	}
	slices.Sort(t.runs)
}

// sourceTokens yields the words, numbers and signs of a source text.
func sourceTokens(s string) func(yield func(string) bool) {
	letter := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	return func(yield func(string) bool) {
		for len(s) > 0 {
			r, size := utf8.DecodeRuneInString(s)
			if unicode.IsSpace(r) {
				s = s[size:]
				continue
			}
			if letter(r) {
				if size = strings.IndexFunc(s, func(r rune) bool { return !letter(r) }); size < 0 {
					size = len(s)
				}
			}
			if !yield(s[:size]) {
				return
			}
			s = s[size:]
		}
	}
}

// similarity returns the share of runs that two texts have in common, 0 to 1.
func similarity(a, b *text) float64 {
	both, i, j := 0, 0, 0
	for i < len(a.runs) && j < len(b.runs) {
		switch c := cmp.Compare(a.runs[i], b.runs[j]); {
		case c == 0:
			both++
			i++
			j++
		case c < 0:
			i++
		default:
			j++
		}
	}
	return 2 * float64(both) / float64(len(a.runs)+len(b.runs))
}

// pairsOf returns the pairs of removed and added symbols that are one, each symbol once: the most
// similar first, of equals those that have more in common besides. Two pairs of one symbol that
// nothing tells apart are left out.
func pairsOf(gone, came []*text) (chosen []renaming) {
	var all []renaming
	for _, was := range gone {
		for _, is := range came {
			if p, ok := pairOf(was, is); ok {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y renaming) int { return x.compare(y) })
	taken := map[*text]bool{}
	for i, p := range all {
		if taken[p.was] || taken[p.is] {
			continue
		}
		unsure := []renaming{p}
		for _, o := range all[i+1:] {
			if p.compare(o) != 0 {
				break
			}
			if o.was == p.was && !taken[o.is] || o.is == p.is && !taken[o.was] {
				unsure = append(unsure, o)
			}
		}
		for _, o := range unsure {
			taken[o.was], taken[o.is] = true, true
		}
		if len(unsure) == 1 {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// compare orders pairs, the surest first.
func (p renaming) compare(o renaming) int {
	return cmp.Or(cmp.Compare(o.similarity, p.similarity), cmp.Compare(o.near, p.near))
}

// pairOf compares a removed with an added symbol, and reports whether they may be one.
func pairOf(was, is *text) (p renaming, ok bool) {
	short, long := min(len(was.runs), len(is.runs)), max(len(was.runs), len(is.runs))
	function := func(t *text) bool {
		k := t.known().Kind
		return k == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION || k == recountv1.SymbolKind_SYMBOL_KIND_METHOD
	}
	switch {
	case was.old.Language != is.new.Language || was.old.Kind != is.new.Kind && !(function(was) && function(is)) || was.old.Test != is.new.Test:
		return p, false
	case short < minEqual || 2*float64(short) < minSimilarity*float64(short+long):
		return p, false
	}
	p = renaming{was: was, is: is, similarity: similarity(was, is)}
	if p.similarity < minSimilarity || p.similarity < 1 && short < minTokens {
		return p, false
	}
	for _, same := range []bool{was.key.Path() == is.key.Path(), was.old.Owner == is.new.Owner, was.old.Name == is.new.Name, was.old.Package == is.new.Package} {
		if same {
			p.near++
		}
	}
	return p, true
}

// rename adds renamed symbols to the moves.
func (m *moves) rename(all []renaming) {
	m.similarity = map[schemas.NodeKey]float64{}
	for _, p := range all {
		m.to[p.was.key], m.from[p.is.key] = p.is.key, p.was.key
		m.old[p.is.key] = p.was.old
		m.similarity[p.is.key] = p.similarity
	}
}
