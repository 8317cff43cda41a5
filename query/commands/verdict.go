package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxReasons is the maximum number of differences in a verdict.
const maxReasons = 3

// likely is the prior likelihood that a kind of difference explains why two runs ended
// differently. Earlier steps with other outcomes and the command's arguments come first;
// the place and the user come last.
var likely = map[string]float64{
	fieldOutcome: 0.9, fieldArguments: 0.85, fieldCwd: 0.7, fieldGitHead: 0.65, fieldEnvironment: 0.6,
	fieldHost: 0.5, fieldUser: 0.4, fieldDuration: 0.1, fieldAuthor: 0.05,
}

// likelyStep is the same for a step that only one of the runs has; one that why names as a cause of the
// failure counts in full, however far away it is.
const likelyStep = 0.75

// reason is a difference that may explain the different outcomes.
type reason struct {
	score float64
	words string
}

// verdict returns a sentence about how two runs ended differently and what else differs, the
// most likely reason first: by the kind of difference, times the score of its step. It is
// empty if both ended alike, or if either outcome is unknown.
func verdict(a, b *runUp, lines []DiffLine) string {
	x, y := a.last(), b.last()
	if x.ExitCode == nil || y.ExitCode == nil || *x.ExitCode == *y.ExitCode {
		return ""
	}
	ends := fmt.Sprintf("A ends with %s, B with %s", ended(&x.Intent), ended(&y.Intent))
	switch {
	case *x.ExitCode == 0:
		ends = fmt.Sprintf("B fails (%s) where A succeeded", ended(&y.Intent))
	case *y.ExitCode == 0:
		ends = fmt.Sprintf("B succeeds where A failed (%s)", ended(&x.Intent))
	}
	reasons := reasons(a, b, lines)
	if len(reasons) == 0 {
		return ends + "; nothing else recorded differs"
	}
	var words []string
	for _, r := range reasons[:min(len(reasons), maxReasons)] {
		words = append(words, r.words)
	}
	return ends + "; differences, the likeliest first: " + strings.Join(words, "; ")
}

func reasons(a, b *runUp, lines []DiffLine) []reason {
	score := map[*Intent]float64{}
	for _, side := range []*runUp{a, b} {
		for i := range side.rows {
			score[&side.rows[i].Intent] = side.scores[side.rows[i].ID]
		}
	}
	step := func(side *runUp, in *Intent) float64 {
		if side.causes[in.ID] {
			return likelyStep
		}
		return likelyStep * score[in]
	}
	said := map[string]bool{}
	var out []reason
	for i, l := range slices.Backward(lines) {
		root := i == len(lines)-1
		switch l.Way {
		case DiffOnlyA:
			out = append(out, reason{step(a, l.A), fmt.Sprintf("only A ran `%s` before", inBrief(l.A.Command))})
		case DiffOnlyB:
			out = append(out, reason{step(b, l.B), fmt.Sprintf("only B ran `%s` before", inBrief(l.B.Command))})
		}
		for _, c := range l.Changes {
			if root && c.Field == fieldOutcome {
				continue
			}
			// A difference of the whole run is reported once, for its last command.
			what := fmt.Sprintf("%s %s → %s", c.Field, orNone(c.A), orNone(c.B))
			if c.Field != fieldArguments && c.Field != fieldOutcome && c.Field != fieldDuration {
				if said[what] {
					continue
				}
				said[what] = true
			}
			if !root {
				what = fmt.Sprintf("`%s` before it: %s", inBrief(l.B.Command), what)
			}
			out = append(out, reason{likely[c.Field] * max(score[l.A], score[l.B]), what})
		}
	}
	slices.SortStableFunc(out, func(a, b reason) int { return cmp.Compare(b.score, a.score) })
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
