package query_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
)

func TestNarrativeRequestsRefuse(t *testing.T) {
	ok := func(w query.Walk) query.WhyRequest { return query.WhyRequest{Ref: "abcd", Walk: w} }
	for name, tc := range map[string]struct {
		normal func() error
		field  string
		says   string
	}{
		"no id":             {why(query.WhyRequest{Ref: "  "}), "id", "want a command's id"},
		"a long id":         {why(query.WhyRequest{Ref: strings.Repeat("a", query.MaxRef+1)}), "id", "at most 300"},
		"limit below":       {why(query.WhyRequest{Ref: "abcd", Limit: -1}), "limit", "1 to 1000"},
		"limit above":       {why(query.WhyRequest{Ref: "abcd", Limit: query.MaxLimit + 1}), "limit", "1 to 1000"},
		"depth below":       {why(ok(query.Walk{Depth: -1})), "depth", "1 to 32"},
		"depth above":       {why(ok(query.Walk{Depth: query.MaxDepth + 1})), "depth", "1 to 32"},
		"nodes below":       {why(ok(query.Walk{Nodes: math.MinInt})), "nodes", "1 to 1000"},
		"nodes above":       {why(ok(query.Walk{Nodes: math.MaxInt})), "nodes", "1 to 1000"},
		"no number":         {why(ok(query.Walk{MinWeight: math.NaN()})), "min_weight", "NaN: want 0 to 1"},
		"weight below":      {why(ok(query.Walk{MinWeight: -0.1})), "min_weight", "0 to 1"},
		"weight above":      {why(ok(query.Walk{MinWeight: math.Inf(1)})), "min_weight", "0 to 1"},
		"an unknown kind":   {why(ok(query.Walk{Kinds: []string{"causal", "cause"}})), "kinds", "temporal, retry, fixes, dependency, branch, causal, similar"},
		"a kind in capital": {why(ok(query.Walk{Kinds: []string{"Causal"}})), "kinds", `"Causal"`},
		"a long wait":       {why(query.WhyRequest{Ref: "abcd", Moment: query.Moment{WaitMS: 60_001}}), "wait_ms", "1 to 60000"},
		"stitch, no id":     {stitch(query.StitchRequest{}), "id", "want"},
		"stitch, depth":     {stitch(query.StitchRequest{Ref: "abcd", Walk: query.Walk{Depth: -1}}), "depth", "want"},
		"stitch, a wait":    {stitch(query.StitchRequest{Ref: "abcd", Moment: query.Moment{WaitMS: -1}}), "wait_ms", "want"},
		"diff without b":    {diff(query.DiffRequest{A: "abcd"}), "b", "want"},
		"diff without a":    {diff(query.DiffRequest{B: "abcd"}), "a", "want"},
		"diff, nodes":       {diff(query.DiffRequest{A: "abcd", B: "abcd", Walk: query.Walk{Nodes: -1}}), "nodes", "want"},
		"diff, a wait":      {diff(query.DiffRequest{A: "abcd", B: "abcd", Moment: query.Moment{WaitMS: -1}}), "wait_ms", "want"},
	} {
		var re *query.RequestError
		if err := tc.normal(); !errors.As(err, &re) || re.Field != tc.field || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v, want of field %s: %s", name, err, tc.field, tc.says)
		}
	}
}

func why(r query.WhyRequest) func() error {
	return func() error { _, err := r.Normal(); return err }
}

func stitch(r query.StitchRequest) func() error {
	return func() error { _, err := r.Normal(); return err }
}

func diff(r query.DiffRequest) func() error {
	return func() error { _, err := r.Normal(); return err }
}

func TestNarrativeDefaults(t *testing.T) {
	r, err := query.WhyRequest{Ref: " abcd ", Walk: query.Walk{Kinds: []string{"causal", "retry", "causal"}}}.Normal()
	if err != nil || r.Ref != "abcd" || r.Limit != query.DefaultCauses || r.Depth != query.DefaultDepth || r.Nodes != query.DefaultNodes || r.WaitMS != 5000 {
		t.Errorf("got %+v, %v", r, err)
	}
	if want := []string{"retry", "causal"}; !slices.Equal(r.Kinds, want) {
		t.Errorf("kinds: got %v, want %v", r.Kinds, want)
	}
}
