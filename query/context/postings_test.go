package context

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// search finds what postings.find does in the documents themselves.
func search(files []file, t term) (found []int32, tf []float32) {
	for i := range files {
		f := &files[i]
		much := f.count(t)
		if f.declares(t) {
			much += namesTimes
		}
		if slices.Contains(f.pathTerm, t) {
			much += pathTimes
		}
		if much > 0 {
			found, tf = append(found, int32(i)), append(tf, float32(much))
		}
	}
	return found, tf
}

// count returns how often a document has a term.
func (d *document) count(t term) float64 {
	i, ok := slices.BinarySearchFunc(d.terms, t, func(c termCount, t term) int { return cmp.Compare(c.term, t) })
	if !ok {
		return 0
	}
	return float64(d.terms[i].n)
}

// TestPostingsHaveWhatDocumentsHave compares postings of random documents with the documents.
func TestPostingsHaveWhatDocumentsHave(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 7))
	for _, count := range []int{0, 1, 7, 300} {
		// Few terms, of which some are the lowest and the highest of shards.
		all := []term{0, 1, 1<<28 - 1, 1 << 28, 1<<32 - 1, 1 << 31}
		for range 60 {
			all = append(all, term(rng.Uint32()))
		}
		files := make([]file, count)
		for i := range files {
			d := &document{}
			has := map[term]bool{}
			for range rng.IntN(40) {
				has[all[rng.IntN(len(all))]] = true
			}
			for _, x := range all {
				if has[x] {
					d.terms = append(d.terms, termCount{x, uint16(1 + rng.IntN(1<<16-1))})
				}
				if rng.IntN(9) == 0 {
					d.names = append(d.names, x)
				}
			}
			slices.SortFunc(d.terms, func(a, b termCount) int { return compareTerms(a.term, b.term) })
			d.terms = slices.CompactFunc(d.terms, func(a, b termCount) bool { return a.term == b.term })
			slices.Sort(d.names)
			d.names = slices.Compact(d.names)
			files[i].document = d
			for range rng.IntN(4) {
				files[i].pathTerm = append(files[i].pathTerm, all[rng.IntN(len(all))])
			}
		}
		p := postingsOf(files)
		for _, x := range append(all, 12345, 2, 1<<32-2) {
			wantFiles, wantTF := search(files, x)
			gotFiles, gotTF, gotNamed := p.find(x)
			var wantNamed []int32
			for i := range files {
				if slices.Contains(files[i].pathTerm, x) {
					wantNamed = append(wantNamed, int32(i))
				}
			}
			if !slices.Equal(wantNamed, gotNamed) {
				t.Fatalf("%d files, term %d: want %v in paths, got %v", count, x, wantNamed, gotNamed)
			}
			if !slices.Equal(wantFiles, gotFiles) || !slices.Equal(wantTF, gotTF) {
				t.Fatalf("%d files, term %d: want %v %v, got %v %v", count, x, wantFiles, wantTF, gotFiles, gotTF)
			}
		}
	}
}
