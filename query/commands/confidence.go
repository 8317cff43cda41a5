package commands

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/schemas"
)

// The confidence in a cause of a failure is the probability that a reader of the session accepts it
// as one. It follows from signals, facts that either hold or do not: the sum of the weights of those
// that hold, through the logistic function. The weights in signalWeights were fitted by
// `go -C bench run ./why -fit` on sessions with labels made by hand; bench/docs/why.md has the
// calibration on sessions that were not used for it.

// minConfidence is the confidence below which why names no causes of a failure, unless the request
// names kinds of edges.
const minConfidence = 0.48

// judge computes signals and confidence of the causes of one failure.
type judge struct {
	root    *reached
	class   string
	steps   map[schemas.EventID]int // how many commands of the session before the root
	direct  map[schemas.EventID][]narrative.Edge
	attempt *reached // the newest failed attempt at the same thing
}

// maxSteps is the number of commands before a failure whose distance in the session is known.
const maxSteps = 24

func (t *narrativeQuery) judge(w *walk, output string) (*judge, error) {
	j := &judge{root: w.taken[0], class: classOf(output, w.taken[0].ExitCode), steps: map[schemas.EventID]int{}, direct: map[schemas.EventID][]narrative.Edge{}}
	before, err := t.view.Previous(j.root.ID, maxSteps)
	if err != nil {
		return nil, err
	}
	for i := range before {
		j.steps[before[i].ID] = i + 1
	}
	for _, e := range w.edges {
		if e.To == j.root.ID {
			j.direct[e.From] = append(j.direct[e.From], e.Edge)
		}
	}
	for _, c := range w.taken[1:] {
		if slices.ContainsFunc(j.direct[c.ID], func(e narrative.Edge) bool { return e.Kind == narrative.Retry }) &&
			(j.attempt == nil || j.attempt.compareOlder(c.stop) < 0) {
			j.attempt = c
		}
	}
	return j, nil
}

// signalOf names the signal of a piece of evidence of an edge.
var signalOf = map[string]string{
	"its output names what this works on": "answers", showsNamed: "named", "wrote": "wrote", showsSeen: "wrote", showsBelow: "below", "made the directory": "below", "changed the directory": "below",
	"rewrote files below": "below", "showed": "showed", showsFirst: "first use", "was the only change between": "sole change",
	"rewrote the working tree": "wide", "installed or removed software": "wide", "set variables of the session": "wide", "changed settings": "wide",
	"started or ended a service": "wide", "went to the directory it ran in": "moved", "names it as its parent": "parent", "its output says that something is there already": "there already", "its output names it": "shown",
}

// signals returns the signals of a cause that hold, in order.
func (j *judge) signals(c *reached) []string {
	var all []string
	say := func(s string) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	group, changes := j.tie(c, say)
	if len(j.direct[c.ID]) == 0 {
		say("by way of " + c.via.Kind.String())
		first := c
		for first.from != j.root {
			first = first.from
		}
		say("by way to " + first.via.Kind.String())
		if c.depth > 2 {
			say("far")
		}
		group = "indirect"
	}
	switch {
	case c.Failed() && j.onlyBefore(c):
		say("only failed before")
	case c.Failed():
		say("failed")
	case changes:
		say("changed")
	default:
		say("looked")
	}
	switch n := j.steps[c.ID]; {
	case n == 0:
		say("long before")
		if c.Session != j.root.Session {
			say("other session")
		}
	case n == 1:
		say("step before")
	case n <= 3:
		say("steps before")
	case n > 8:
		say("many before")
	}
	if j.attempt != nil && group != "attempt" {
		if j.attempt.compareOlder(c.stop) < 0 {
			say("since the attempt")
		} else {
			say("before the attempt")
		}
	}
	say(j.class + ", " + group)
	return all
}

// tie says what ties a command to the failure directly. It returns the kind of that tie, and whether the
// command changed something.
func (j *judge) tie(c *reached, say func(string)) (group string, changes bool) {
	changes = c.Effects&narrative.Changes != 0
	for _, e := range j.direct[c.ID] {
		switch e.Kind {
		case narrative.Retry:
			switch {
			case e.Weight >= 0.85:
				say("same command")
			case e.Weight > 0.6:
				say("same thing")
			default:
				say("like")
			}
			if j.attempt != c {
				say("earlier attempt")
			}
			group = "attempt"
		case narrative.Branch:
			say("other way")
			if e.Weight >= 0.5 {
				say("same goal")
			}
			group = "attempt"
		case narrative.Dependency:
			switch {
			case e.Weight >= 0.6:
				say("strong use")
			case e.Weight >= 0.35:
				say("use")
			default:
				say("weak use")
			}
			if group == "" {
				group = "use"
			}
		case narrative.Temporal:
			say("next before")
		case narrative.Causal:
			say("causal")
			if e.Weight >= 0.75 {
				say("strong cause")
			}
		}
		for _, v := range e.Evidence {
			changes = changes || v.Shows == showsSeen && v.Position == c.Position
			if s := signalOf[v.Shows]; s != "" && e.Kind != narrative.Temporal {
				say(s)
			}
		}
	}
	if group == "" {
		if group = "look"; changes {
			group = "change"
		}
	}
	return group, changes
}

// onlyBefore reports whether nothing but the order joins a command to the failure, and they have no program in common.
func (j *judge) onlyBefore(c *reached) bool {
	edges := j.direct[c.ID]
	return len(edges) > 0 && !slices.ContainsFunc(edges, func(e narrative.Edge) bool { return e.Kind != narrative.Temporal }) &&
		!slices.ContainsFunc(c.Programs, func(p string) bool { return !hardlyFails[p] && slices.Contains(j.root.Programs, p) })
}

func (j *judge) confidence(signals []string) float64 {
	sum := signalWeights[""]
	for _, s := range signals {
		sum += signalWeights[s]
	}
	return math.Round(1000/(1+math.Exp(-sum))) / 1000
}

// classes are the ways in which a command fails, by what its output says; the first that matches
// counts.
var classes = []struct {
	name  string
	shows func() *regexp.Regexp
}{
	{"slip", compiled(`(?i)syntax error near|unexpected EOF|unexpected end of file|^usage:|\busage: |invalid option|unrecognized (option|argument|command)|unknown (option|flag|command|argument)|missing operand|too many arguments|arguments must be|regex parse error|no matches found|not applied`)},
	{"program", compiled(`(?i)command not found|is not recognized as|not currently installed|executable file not found`)},
	{"denied", compiled(`(?i)permission denied|access denied|operation not permitted|unauthorized|forbidden|rejected by user`)},
	{"network", compiled(`(?i)connection refused|address already in use|timed out|unreachable|could not resolve|network is`)},
	{"absent", compiled(`(?i)no such file|does not exist|doesn't exist|cannot find|can't open|not a directory|no module named|not found|unknown database|no such`)},
	{"code", compiled(`(?i)traceback|error|exception|failed|failure|panic|undefined|assert`)},
}

// classOf returns the class of a failure.
func classOf(output string, exit *int32) string {
	for _, c := range classes {
		if c.shows().MatchString(output) {
			return c.name
		}
	}
	switch {
	case exit != nil && *exit == 127:
		return "program"
	case strings.TrimSpace(output) == "":
		return "silent"
	}
	return "other"
}

// signalWeights has the weight of each signal, and that of none at all under "". A signal without
// an entry weighs nothing. That of "only failed before" was set by hand: the labelled sessions have six such causes, of
// which three are right.
var signalWeights = map[string]float64{
	"":                     -0.65,
	"absent, attempt":      -0.65,
	"absent, change":       0.02,
	"absent, indirect":     -0.77,
	"absent, look":         -0.41,
	"absent, use":          -0.25,
	"answers":              0.33,
	"before the attempt":   -0.31,
	"below":                -1.03,
	"by way of branch":     -0.09,
	"by way of causal":     -0.44,
	"by way of dependency": -0.88,
	"by way of fixes":      -0.40,
	"by way of retry":      0.79,
	"by way of temporal":   -0.09,
	"by way to branch":     -0.61,
	"by way to causal":     -1.05,
	"by way to dependency": -0.54,
	"by way to retry":      1.04,
	"by way to temporal":   0.05,
	"causal":               0.31,
	"changed":              0.31,
	"code, attempt":        1.22,
	"code, change":         0.22,
	"code, indirect":       0.43,
	"code, look":           0.12,
	"code, use":            0.62,
	"denied, attempt":      0.23,
	"denied, indirect":     -1.11,
	"denied, look":         -0.50,
	"denied, use":          0.31,
	"earlier attempt":      0.91,
	"failed":               0.56,
	"far":                  -0.67,
	"first use":            -0.19,
	"long before":          -1.24,
	"looked":               -1.25,
	"many before":          -1.48,
	"named":                0.30,
	"network, attempt":     0.72,
	"network, change":      0.60,
	"network, indirect":    0.44,
	"network, look":        -0.85,
	"network, use":         -0.09,
	"next before":          0.98,
	"only failed before":   -1.50,
	"other session":        -2.29,
	"other way":            -1.14,
	"other, attempt":       -0.57,
	"other, change":        -0.07,
	"other, indirect":      -0.33,
	"other, look":          -0.99,
	"other, use":           -0.13,
	"program, attempt":     1.52,
	"program, indirect":    1.30,
	"program, look":        0.69,
	"program, use":         1.40,
	"same command":         2.37,
	"same goal":            0.49,
	"same thing":           0.81,
	"showed":               0.11,
	"shown":                -0.22,
	"silent, indirect":     -1.17,
	"since the attempt":    1.22,
	"slip, attempt":        0.13,
	"slip, change":         -1.30,
	"slip, indirect":       0.09,
	"slip, look":           -0.16,
	"slip, use":            -1.06,
	"sole change":          0.50,
	"step before":          0.98,
	"steps before":         0.89,
	"strong cause":         0.18,
	"strong use":           0.01,
	"use":                  0.48,
	"weak use":             0.22,
	"wide":                 -0.68,
	"wrote":                0.35,
}
