package code

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/query"
)

// Threshold is a limit on one count of a diff, such as removed>0.
type Threshold struct {
	Count string `json:"count" example:"removed" doc:"The name of the count."`
	Op    string `json:"op" enum:">,>=,<,<=,=" example:">" doc:"The comparison."`
	Bound int    `json:"bound" example:"0" doc:"The number to compare with."`
	Value int    `json:"value" example:"2" doc:"The actual count."`
}

func (t Threshold) String() string { return fmt.Sprintf("%s%s%d: %d", t.Count, t.Op, t.Bound, t.Value) }

// counted are the counts that thresholds may name.
var counted = []string{
	"added", "removed", "signature", "body", "renamed", "moved", "edges_added", "edges_removed", "files", "owners",
	"dependencies_added", "dependencies_removed", "used_elsewhere",
}

// needsImpact are the counts that require a walk over both graphs.
var needsImpact = map[string]bool{"impact": true, "impact_before": true, "impact_growth": true, "tests": true, "untested": true}

// parseThresholds parses a list such as removed>0,impact>=50.
func parseThresholds(s string) ([]Threshold, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var all []Threshold
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		bad := func(why string) error {
			return &query.RequestError{Field: "fail_on", Value: fmt.Sprintf("%q", part), Reason: why}
		}
		i := strings.IndexAny(part, "<>=")
		if i < 0 {
			return nil, bad("want a count, one of > >= < <= =, and a number, as in removed>0")
		}
		t := Threshold{Count: strings.TrimSpace(part[:i]), Op: part[i : i+1]}
		rest := part[i+1:]
		if t.Op != "=" && strings.HasPrefix(rest, "=") {
			t.Op, rest = part[i:i+2], rest[1:]
		}
		if !slices.Contains(counted, t.Count) && !needsImpact[t.Count] {
			return nil, bad("want a count of " + strings.Join(slices.Concat(counted, slices.Sorted(maps.Keys(needsImpact))), ", "))
		}
		n, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil {
			return nil, bad(fmt.Sprintf("%q is not a number", strings.TrimSpace(rest)))
		}
		t.Bound = n
		all = append(all, t)
	}
	return all, nil
}

// failed returns the thresholds that are met. For them a renamed symbol is also a removed one, since
// what uses the old name breaks.
func failed(all []Threshold, counts map[string]int) []Threshold {
	out := []Threshold{}
	for _, t := range all {
		t.Value = counts[t.Count]
		if t.Count == changeRemoved {
			t.Value += counts[changeRenamed]
		}
		holds := false
		switch t.Op {
		case ">":
			holds = t.Value > t.Bound
		case ">=":
			holds = t.Value >= t.Bound
		case "<":
			holds = t.Value < t.Bound
		case "<=":
			holds = t.Value <= t.Bound
		case "=":
			holds = t.Value == t.Bound
		}
		if holds {
			out = append(out, t)
		}
	}
	return out
}
