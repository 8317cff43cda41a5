package context

import (
	"fmt"
	"math"
)

// known reports whether the repository has what the task is about, and if not, why. Where files or a
// change are given, or where the task says a path of it, it has.
func (e *engine) known(files []fused) (bool, string) {
	if len(e.given) > 0 {
		return true, ""
	}
	if len(e.pointed.traced) > 0 {
		return true, ""
	}
	if len(files) == 0 {
		return false, "no word of the task is in the repository"
	}
	if c := e.covered(files); c < leastCovered {
		return false, fmt.Sprintf("the best file has %.0f %% of what the task names, fewer than files for tasks of this repository have; check the repository and its revision, or name a symbol or a file", 100*c)
	}
	return true, ""
}

// leastCovered is the share of the weight of a task's words below which the repository does not have
// what it is about. bench/README.md ("Context") says how it was chosen.
const leastCovered = 0.25

// covered returns how much of the weight of the task's words the best of the first files has.
func (e *engine) covered(files []fused) float64 {
	n := float64(len(e.c.files))
	unknown := math.Log(1 + (n+0.5)/0.5)
	total := 0.0
	has := map[int32]float64{}
	for _, f := range e.terms {
		w := f.idf * weightOfTerm(f.taskTerm)
		total += w
		for _, i := range f.files {
			has[i] += w
		}
	}
	for _, m := range e.missing {
		total += unknown * weightOfTerm(m)
	}
	if total == 0 {
		return 0
	}
	best := 0.0
	for _, f := range files[:min(len(files), 10)] {
		best = max(best, has[f.key]/total)
	}
	return best
}
