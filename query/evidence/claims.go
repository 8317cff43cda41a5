package evidence

import (
	"slices"

	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/query/fusion"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// byClaims adds the statements that say what the text asks for: those whose property it names. The
// text names it with all words of the predicate ("port") and one at least of the subject's
// ("staging database"). What a program printed about the same thing has more of the question's
// words, and does not say it.
func (t *retrieval) byClaims(l *fusion.List) error {
	asked := slices.Sorted(slices.Values(lexical.ObjectTerms(t.r.Text, 64)))
	gain := map[int]float64{}
	read := 0
	for _, key := range t.first(t.depth()) {
		p := t.partAt(t.candidates[key].ref)
		if p == nil || !p.conditional {
			continue
		}
		o, err := t.object(p.ref)
		if err != nil {
			return err
		}
		read++
		if o != nil && o.Claim != nil {
			if share := naming(asked, o.Claim); share > 0 {
				gain[key] = share
			}
		}
	}
	t.rank(l, gain)
	l.Counts["read"] = int64(read)
	return nil
}

// naming returns the share of the words of a claim's property that a text has, 0 unless it names
// the property.
func naming(asked []string, c *recountv1.Claim) float64 {
	has := func(w string) bool { _, ok := slices.BinarySearch(asked, w); return ok }
	subject, predicate := lexical.ObjectTerms(c.Subject, 64), lexical.ObjectTerms(c.Predicate, 64)
	named := 0
	for _, w := range subject {
		if has(w) {
			named++
		}
	}
	if named == 0 || len(predicate) == 0 && named < len(subject) || slices.ContainsFunc(predicate, func(w string) bool { return !has(w) }) {
		return 0
	}
	return float64(named+len(predicate)) / float64(len(subject)+len(predicate))
}
