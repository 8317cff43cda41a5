package context

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
)

// othersFile has texts of other repositories: what evidence they have here says how much a text has that
// is about something else. It was written by `go -C bench run ./context others`. A text is the number of
// its terms and, for each, the term and a byte: how often the text has it, and whether its first line
// does.
//
//go:embed others.bin
var othersFile []byte

const (
	otherEntry   = 5
	otherInTitle = 1 << 7
)

// otherTexts returns the terms of these texts.
var otherTexts = sync.OnceValue(readOthers)

func readOthers() (all [][]taskTerm) {
	for rest := othersFile; len(rest) > 0; {
		n := int(rest[0])
		rest = rest[1:]
		var terms []taskTerm
		for range n {
			times := max(1, rest[4]&^otherInTitle)
			terms = append(terms, taskTerm{term: term(binary.LittleEndian.Uint32(rest)), weight: weightOfTimes(float64(times)), title: rest[4]&otherInTitle != 0})
			rest = rest[otherEntry:]
		}
		all = append(all, terms)
	}
	return all
}

// WriteOthers returns the file of texts of other repositories. Of each its first 255 terms are kept.
func WriteOthers(texts []string) (out []byte) {
	s := newSplitter()
	for _, text := range texts {
		t := readTask(s, text)
		terms := t.terms[:min(len(t.terms), math.MaxUint8)]
		out = append(out, byte(len(terms)))
		for _, one := range terms {
			times := byte(min(math.Round(timesOfWeight(one.weight)), otherInTitle-1))
			if one.title {
				times |= otherInTitle
			}
			out = append(binary.LittleEndian.AppendUint32(out, uint32(one.term)), times)
		}
	}
	return out
}

// weightOfTimes is the weight of a term that a text has so often, and timesOfWeight its inverse.
func weightOfTimes(n float64) float64 { return 1 + 0.5*math.Log(n) }
func timesOfWeight(w float64) float64 { return math.Exp(2 * (w - 1)) }

// ofOthers returns the mean evidence of texts of other repositories, minOfOthers at least.
func (x *corpus) ofOthers() (mean evidence) {
	texts := otherTexts()
	var all []taskTerm
	for _, terms := range texts {
		all = append(all, terms...)
	}
	said := x.said(all)
	scratch := make([]float64, len(x.files))
	for _, terms := range texts {
		found, missing := x.lookup(terms)
		mean = mean.plus(x.evidence(found, missing, said, scratch), 1)
	}
	mean = evidence{}.plus(mean, 1/float64(max(1, len(texts))))
	return evidence{max(mean.files, minOfOthers.files), max(mean.messages, minOfOthers.messages), min(mean.unsaid, minOfOthers.unsaid), max(mean.best, minOfOthers.best)}
}

// minOfOthers is the least evidence that other texts count as having. It is that of the smallest of
// the repositories that the model was fitted on: one of five files has few words of any text.
var minOfOthers = evidence{files: -0.8, messages: -0.5, unsaid: 0.65, best: 0.15}

// plus adds evidence so many times.
func (v evidence) plus(w evidence, times float64) evidence {
	return evidence{v.files + times*w.files, v.messages + times*w.messages, v.unsaid + times*w.unsaid, v.best + times*w.best}
}
