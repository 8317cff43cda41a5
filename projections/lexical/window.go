package lexical

import "math/bits"

// windowSize is the number of documents scored together: as many as have their scores in a CPU's
// nearest caches.
const windowSize = 1 << 11

// window holds the sums of scores of the documents from low to high.
type window struct {
	low, high uint64
	score     [windowSize]points
	terms     [windowSize]uint64 // a bit for each term of the query
	// touched has a bit for each document that is scored; the values of the others are not set.
	touched [windowSize / 64]uint64
}

// touch marks a document, so that it is scored.
func (w *window) touch(doc uint64) {
	i := doc - w.low
	w.touched[i/64] |= 1 << (i % 64)
}

func (w *window) isTouched(doc uint64) bool {
	i := doc - w.low
	return w.touched[i/64]>>(i%64)&1 == 1
}

// touchedIn reports whether a document from first to last is marked.
func (w *window) touchedIn(first, last uint64) bool {
	i, j := max(first, w.low)-w.low, min(last, w.high)-w.low
	if i > j {
		return false
	}
	from, to := ^uint64(0)<<(i%64), ^uint64(0)>>(63-j%64)
	if i/64 == j/64 {
		return w.touched[i/64]&from&to != 0
	}
	if w.touched[i/64]&from != 0 || w.touched[j/64]&to != 0 {
		return true
	}
	for _, b := range w.touched[i/64+1 : j/64] {
		if b != 0 {
			return true
		}
	}
	return false
}

// add scores a list's documents: all of them, marking each, or only those that are marked.
func (w *window) add(c *cursor, postings []posting, mark bool) {
	bit := uint64(1) << c.term
	for _, p := range postings {
		if p.doc < w.low {
			continue
		}
		if p.doc > w.high {
			break
		}
		if mark {
			w.touch(p.doc)
		} else if !w.isTouched(p.doc) {
			continue
		}
		i := p.doc - w.low
		w.score[i] += c.score(p.weight, p.length)
		w.terms[i] |= bit
	}
}

// each calls use with the marked documents, the last first, and removes the marks.
func (w *window) each(use func(doc uint64, score points, terms uint64)) {
	for k := len(w.touched) - 1; k >= 0; k-- {
		for b := w.touched[k]; b != 0; {
			j := bits.Len64(b) - 1
			b &^= 1 << j
			i := k*64 + j
			use(w.low+uint64(i), w.score[i], w.terms[i])
			w.score[i], w.terms[i] = 0, 0
		}
		w.touched[k] = 0
	}
}
