package context

import (
	"fmt"
	"math"
)

// known reports whether the repository has what the task is about, and if not, why. Where files or a
// change are given, or where the task says a path or the very name of a
// symbol, it has.
func (e *engine) known(files []fused) (bool, string) {
	if len(e.given) > 0 || len(e.pointed.traced) > 0 {
		return true, ""
	}
	for _, s := range e.pointed.symbols {
		if s >= tierExact {
			return true, ""
		}
	}
	if len(files) == 0 {
		return false, "no word of the task is in the repository"
	}
	if c := e.covered(); c < leastCovered {
		return false, fmt.Sprintf("no file has more than %.0f %% of what the task says, by weight; check the repository and its revision, or name a symbol or a file", 100*c)
	}
	return true, ""
}

// leastCovered is the share below which the repository does not have what a task is about.
// bench/README.md ("Context") says how it was chosen.
const leastCovered = 0.25

// covered returns how much of the task's words, weighted by the square of their idf, the file of the
// code has that has most of them, 0 to 1. Tests and texts for people do not count: they speak of
// everything. The square favours the rare words, since those that every repository has say nothing.
func (e *engine) covered() float64 {
	n := float64(len(e.c.files))
	unknown := math.Log(1 + (n+0.5)/0.5)
	total := 0.0
	has := map[int32]float64{}
	for _, f := range e.terms {
		w := f.idf * f.idf * weightOfTerm(f.taskTerm)
		total += w
		for _, i := range f.files {
			if x := &e.c.files[i]; !x.test && !x.noise && !prosePath(x.Path) {
				has[i] += w
			}
		}
	}
	for _, m := range e.missing {
		total += unknown * unknown * weightOfTerm(m)
	}
	best := 0.0
	for _, s := range has {
		best = max(best, s)
	}
	if total == 0 {
		return 0
	}
	return best / total
}
