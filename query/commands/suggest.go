package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The kinds of contexts, that is, of preceding templates, from the longest to the shortest.
const (
	contextPair    = iota // the two templates before, and how the last one ended
	contextOutcome        // the last template, and how it ended
	contextOne            // the last template
	nContexts
)

// given is the context for which a suggestion is requested.
type given struct {
	before, template int32 // the last two templates; none where there is no such
	known, failed    bool  // how the last one ended
	workspace        int32
}

// candidateNext is a template that came next, with its counts.
type candidateNext struct {
	template    int32
	times       [nContexts]int64
	level       int // the longest context in which it came next
	probability float64
	command     int32   // the run to show
	newest      []int32 // in that context, a few
}

// nexts are the templates that came next.
type nexts struct {
	list  []candidateNext
	of    [nContexts]int64 // how often anything came next in a context
	kinds [nContexts]int64 // how many different templates
}

// suggest ranks the templates that came after the given ones. The probability of a template
// in a context with n followers, t of them distinct, is that of Witten and Bell: its share
// with weight n/(n+t), plus its probability in the next shorter context with the remaining
// weight; after the shortest context comes its share of all commands. So a template seen
// twice in a long context does not outweigh one seen a hundred times in a shorter one. A context that
// leaves out none of the followers of the next shorter one says nothing of its own.
func suggest(r *runs, g given, limit int) (nexts, int) {
	var out nexts
	if g.template == none {
		return out, 0
	}
	byTemplate := map[int32]int{}
	follow := func(level int, template, run int32) {
		at, known := byTemplate[template]
		if !known {
			at = len(out.list)
			byTemplate[template] = at
			out.list = append(out.list, candidateNext{template: template, level: level})
		}
		c := &out.list[at]
		if c.times[level] == 0 {
			out.kinds[level]++
		}
		c.times[level]++
		out.of[level]++
		if level < c.level {
			c.level, c.newest = level, nil
		}
		if level == c.level {
			c.newest = append(c.newest, run)
		}
	}
	total := make([]int64, len(r.template.all))
	r.eachSession(func(_ int32, of []int32) {
		for i, at := range of {
			x := &r.list[at]
			if x.template != none {
				total[x.template]++
			}
			if x.template != g.template || i+1 == len(of) {
				continue
			}
			next := r.list[of[i+1]].template
			if next == none {
				continue
			}
			follow(contextOne, next, of[i+1])
			if !g.known || !x.known || x.failed != g.failed {
				continue
			}
			follow(contextOutcome, next, of[i+1])
			if g.before != none && i > 0 && r.list[of[i-1]].template == g.before {
				follow(contextPair, next, of[i+1])
			}
		}
	})
	for i := range out.list {
		c := &out.list[i]
		p := float64(total[c.template]) / float64(len(r.list))
		for level := contextOne; level >= contextPair; level-- {
			if level < contextOne && out.of[level] == out.of[level+1] {
				continue
			}
			if n, kinds := float64(out.of[level]), float64(out.kinds[level]); n > 0 {
				p = (float64(c.times[level]) + float64(kinds*p)) / (n + kinds)
			}
		}
		c.probability = p
		slices.Sort(c.newest) // the newest come first
		c.command = c.newest[0]
		for _, run := range c.newest {
			if r.list[run].workspace == g.workspace {
				c.command = run
				break
			}
		}
		c.newest = c.newest[:min(len(c.newest), maxEvidence)]
	}
	slices.SortFunc(out.list, func(a, b candidateNext) int {
		return cmp.Or(cmp.Compare(b.probability, a.probability), strings.Compare(r.template.all[a.template], r.template.all[b.template]))
	})
	found := len(out.list)
	out.list = out.list[:min(found, limit)]
	return out, found
}

// describe returns a context as text.
func (g given) describe(r *runs, level int) string {
	text := r.template.all[g.template]
	if level == contextOne {
		return text
	}
	how := "ok"
	if g.failed {
		how = "failed"
	}
	text = fmt.Sprintf("%s (%s)", text, how)
	if level == contextPair {
		text = r.template.all[g.before] + ", then " + text
	}
	return text
}

// clusterKey is the key that the failures of one cluster share.
type clusterKey struct{ template, exit, signature int32 }

// cluster is a group of similar failures.
type cluster struct {
	clusterKey
	runs, sessions, fixed int64
	first, last           int32   // runs
	newest                []int32 // a few
	seen                  map[int32]bool
}

// clusterFailures groups failures by template, exit code and signature, the most frequent
// group first. A single failure is not a cluster. A failure counts as fixed if the next
// run of its template in its workspace with a known outcome succeeded; in a series of
// failures, only the last can be fixed.
func clusterFailures(r *runs, limit int) (clusters []cluster, total int) {
	byKey := map[clusterKey]*cluster{}
	var order []*cluster
	failures := r.failures
	for i := range r.list {
		x := &r.list[i]
		if !x.failed || x.template == none {
			continue
		}
		f := failures[0] // the failures are in the order of the runs
		failures = failures[1:]
		key := clusterKey{x.template, x.exit, f.signature}
		c := byKey[key]
		if c == nil {
			c = &cluster{clusterKey: key, last: int32(i), seen: map[int32]bool{}}
			byKey[key], order = c, append(order, c)
		}
		c.runs++
		c.first = int32(i)
		if len(c.newest) < maxEvidence {
			c.newest = append(c.newest, int32(i))
		}
		if x.session != none {
			c.seen[x.session] = true
		}
		if f.fixed {
			c.fixed++
		}
	}
	order = slices.DeleteFunc(order, func(c *cluster) bool { return c.runs < minRecurring })
	slices.SortFunc(order, func(a, b *cluster) int {
		return cmp.Or(cmp.Compare(b.runs, a.runs), cmp.Compare(a.last, b.last),
			strings.Compare(r.template.all[a.template], r.template.all[b.template]), cmp.Compare(a.exit, b.exit))
	})
	for _, c := range order[:min(len(order), limit)] {
		c.sessions = int64(len(c.seen))
		clusters = append(clusters, *c)
	}
	return clusters, len(order)
}
