package context

import (
	"cmp"
	"slices"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// document is what a file's content says, independent of its path. It is made once for each content.
type document struct {
	terms  []termCount // ordered by term
	length float64
	// names are the words of the names that it declares, ordered.
	names []term
}

// termCount takes 8 bytes, since a large repository has millions.
type termCount struct {
	term term
	n    uint16
}

func (d *document) bytes() int { return 64 + 8*len(d.terms) + 4*len(d.names) }

func (d *document) declares(t term) bool {
	_, ok := slices.BinarySearch(d.names, t)
	return ok
}

// documentOf makes the document of a file from its content or, where that is not known, from its
// facts. Both may be missing.
func documentOf(s *splitter, content []byte, facts *recountv1.FileFacts) *document {
	counts := map[term]uint16{}
	d := &document{}
	add := func(t term) {
		if n := counts[t]; n < 1<<16-1 {
			counts[t] = n + 1
		}
		d.length++
	}
	use := func(w wordTerms) {
		for _, t := range w.parts {
			add(t)
		}
		if w.whole != 0 {
			add(w.whole)
		}
	}
	if content != nil {
		s.each(string(content), use)
	} else if facts != nil {
		factWords(facts, func(text string) { s.each(text, use) })
	}
	names := map[term]bool{}
	for _, decl := range facts.GetDeclarations() {
		s.each(decl.Name, func(w wordTerms) {
			for _, t := range w.parts {
				names[t] = true
			}
			if w.whole != 0 {
				names[w.whole] = true
			}
		})
	}
	for t, n := range counts {
		d.terms = append(d.terms, termCount{t, n})
	}
	slices.SortFunc(d.terms, func(a, b termCount) int { return cmp.Compare(a.term, b.term) })
	for t := range names {
		d.names = append(d.names, t)
	}
	slices.Sort(d.names)
	return d
}

// factWords calls use with the texts of a file's facts.
func factWords(facts *recountv1.FileFacts, use func(string)) {
	for _, d := range facts.Declarations {
		use(d.Name)
		use(d.Doc)
		use(d.Signature)
	}
	for _, r := range facts.References {
		use(r.Path)
		for _, a := range r.Args {
			use(a.Path)
		}
	}
	for _, i := range facts.Imports {
		for _, n := range i.Names {
			use(n.Name)
		}
	}
}
