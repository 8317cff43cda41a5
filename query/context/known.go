package context

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/recountdb/recount/query"
)

// known reports whether the repository has what the task is about, and if not, why. It has where files
// or a change are given, and where the task says a path of the repository or the very name of one of
// its symbols that is no common word.
func (e *engine) known() (bool, string) {
	if len(e.given) > 0 || len(e.task.terms) == 0 && len(e.task.places) > 0 && len(e.pointed.traced) > 0 {
		return true, ""
	}
	if len(e.terms) == 0 {
		return false, "no word of the task is in the repository"
	}
	if e.saysPath() || e.saysSymbol() {
		return true, ""
	}
	s := e.belonging()
	e.a.Step(query.Step{Operator: "belonging", Counts: map[string]int64{"thousandths": int64(math.Round(1000 * s)), "least": int64(math.Round(1000 * minBelonging))}})
	if s >= minBelonging {
		return true, ""
	}
	hint := "what the task says is not what this repository is about"
	if words := e.strangeWords(); len(words) > 0 {
		hint += ": it does not have " + strings.Join(words, ", ")
	}
	return false, hint + "; check the repository and its revision, or name a symbol or a file"
}

// saysPath reports whether the task says a path of two elements or more that the repository has.
func (e *engine) saysPath() bool {
	for _, p := range e.task.places {
		if strings.Contains(p.path, "/") && len(e.c.located(p.path)) == 1 {
			at := e.c.files[e.c.located(p.path)[0]].Path
			if parts := strings.Split(p.path, "/"); strings.HasSuffix("/"+at, "/"+strings.Join(parts[len(parts)-2:], "/")) {
				return true
			}
		}
	}
	return false
}

// saysSymbol reports whether the task says an identifier of several parts that other repositories do
// not have, and that this one declares.
func (e *engine) saysSymbol() bool {
	for _, n := range e.task.names {
		last := n.name
		if i := strings.LastIndexAny(last, ".:#>"); i >= 0 {
			last = last[i+1:]
		}
		w := termsOf(last)
		if w.whole == 0 || !e.c.names.has(last) {
			continue
		}
		if files, _ := backgroundOf(w.whole); files == 0 {
			return true
		}
	}
	return false
}

// evidence is what speaks for a text being about a repository. Each part is a mean over the task's
// terms, weighted by how rare they are elsewhere.
type evidence struct {
	// files is how much more often the repository's files have the terms than those of others do, as
	// a logarithm; messages is that of its commits.
	files, messages float64
	// unsaid is the share of terms that no message has.
	unsaid float64
	// best is the share of terms that the file of the code has that has most of them; it favours the
	// rarest more than the others do.
	best float64
}

// maxOfOne bounds what one term says.
const maxOfOne = 3

// model says how evidence is added up. bench/docs/context.md ("Is it here") says on what it was fitted, and how
// its constant was chosen.
type model struct{ files, messages, unsaid, best, constant float64 }

func (m model) sum(v evidence) float64 {
	return m.files*v.files + m.messages*v.messages + m.unsaid*v.unsaid + m.best*v.best + m.constant
}

var (
	withHistory    = model{files: 2.902, messages: 3.213, unsaid: -1.719, best: 1.679, constant: -1.946}
	withoutHistory = model{files: 4.257, best: 2.844, constant: -1.004}
)

const (
	// minBelonging is the sum below which the repository does not have what a task is about.
	minBelonging = 0
	// enoughHistory is the number of commits from which messages count.
	enoughHistory = 50
)

// belonging returns the sum of the evidence that the task is about this repository, beyond what texts of
// other repositories have here: a large repository, or one of many subjects, has most words of any text.
func (e *engine) belonging() float64 {
	v := e.c.evidence(e.terms, e.missing, e.c.said(e.task.terms), make([]float64, len(e.c.files)))
	v = v.plus(e.c.others, -1)
	if len(e.c.past.commits) < enoughHistory {
		return withoutHistory.sum(v)
	}
	return withHistory.sum(v)
}

// rareness is how much a term says about what a text is about, from its share in other repositories.
func rareness(share float64) float64 { return math.Log(1 / (share + 3e-4)) }

// evidence returns that of a text with the given terms, found and missing. said has how many messages
// have each term, and scratch a place for each file.
func (x *corpus) evidence(terms []found, missing []taskTerm, said map[term]int, scratch []float64) (v evidence) {
	files, commits := float64(x.read), float64(len(x.past.commits))
	clear(scratch)
	total, square, best := 0.0, 0.0, 0.0
	use := func(t taskTerm, in []int32) {
		bg, bgSaid := backgroundOf(t.term)
		r := rareness(bg)
		w := t.weight * r
		if t.title {
			w *= titleTimes
		}
		total += w
		square += w * r
		v.files += w * contrast(float64(len(in)), files, bg)
		n := float64(said[t.term])
		v.messages += w * contrast(n, commits, bgSaid)
		if n == 0 {
			v.unsaid += w
		}
		for _, i := range in {
			if f := &x.files[i]; !f.test && !f.noise && !f.aside {
				scratch[i] += w * r
				best = max(best, scratch[i])
			}
		}
	}
	for _, f := range terms {
		use(f.taskTerm, f.files)
	}
	for _, t := range missing {
		use(t, nil)
	}
	if total == 0 {
		return evidence{}
	}
	return evidence{v.files / total, v.messages / total, v.unsaid / total, best / square}
}

// contrast is the logarithm of how much more often n of all texts have a term than others do.
func contrast(n, all, elsewhere float64) float64 {
	return max(-maxOfOne, min(maxOfOne, math.Log((n/max(1, all)+minShare)/(elsewhere+minShare))))
}

// said returns in how many messages each term is.
func (x *corpus) said(terms []taskTerm) map[term]int {
	n := map[term]int{}
	for _, t := range terms {
		n[t.term] = 0
	}
	for c := range x.past.commits {
		for _, t := range x.past.commits[c].words.terms {
			if k, asked := n[t.term]; asked {
				n[t.term] = k + 1
			}
		}
	}
	return n
}

// maxStrange is the number of words that a refusal names.
const maxStrange = 6

// strangeWords returns the words of the task that the repository does not have, those first that are
// the rarest elsewhere.
func (e *engine) strangeWords() []string {
	missing := map[term]float64{}
	for _, t := range e.missing {
		bg, _ := backgroundOf(t.term)
		missing[t.term] = rareness(bg) * t.weight
	}
	type strange struct {
		word string
		by   float64
	}
	var all []strange
	for _, w := range strings.FieldsFunc(e.task.text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if len(w) > maxShownWord {
			continue
		}
		by := 0.0
		for _, p := range termsOf(w).parts {
			by = max(by, missing[p])
			delete(missing, p)
		}
		if by > 0 {
			all = append(all, strange{w, by})
		}
	}
	slices.SortStableFunc(all, func(a, b strange) int { return cmp.Compare(b.by, a.by) })
	var words []string
	for _, s := range all[:min(len(all), maxStrange)] {
		words = append(words, fmt.Sprintf("%q", s.word))
	}
	return words
}

// maxShownWord is the length in bytes beyond which a word is not named.
const maxShownWord = 30
