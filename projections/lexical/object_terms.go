package lexical

// ObjectTerms returns the distinct terms under which a text would be found as a part of an object,
// in the order of their first occurrence: at most limit, or all if limit is 0. Stop words count only
// in a text that has nothing else. It lets a question compare a passage with ObjectStats.Terms.
func ObjectTerms(text string, limit int) []string {
	a := newAnalyser(true)
	a.limit = limit
	d := a.part("", "", "", text)
	terms := make([]string, len(d.terms))
	for i, u := range d.terms {
		terms[i] = u.term
	}
	return terms
}

// Analyser finds the terms of many passages; it remembers those of tokens. One goroutine may use it.
type Analyser struct{ a *analyser }

// NewAnalyser returns an Analyser.
func NewAnalyser() *Analyser { return &Analyser{newAnalyser(true)} }

// Terms calls yield with each distinct term of a passage.
func (x *Analyser) Terms(passage string, yield func(term string)) {
	for _, u := range x.a.part("", "", "", passage).terms {
		yield(u.term)
	}
}
