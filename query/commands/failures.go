package commands

import (
	"cmp"
	"slices"
	"strings"
)

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
	type place struct{ template, workspace int32 }
	later := map[place]bool{} // whether the next run of it, seen backwards, succeeded
	byKey := map[clusterKey]*cluster{}
	var order []*cluster
	failures := r.failures
	for i := range r.list {
		x := &r.list[i]
		if !x.known || x.template == none {
			continue
		}
		at := place{x.template, x.workspace}
		if x.exit == 0 {
			later[at] = true
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
		if later[at] {
			c.fixed++
		}
		later[at] = false
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
