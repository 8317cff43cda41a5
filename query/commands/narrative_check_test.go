package commands_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/commands/ask"
)

func TestNarrativeRequestsRefuse(t *testing.T) {
	ok := func(w commands.Walk) commands.WhyRequest { return commands.WhyRequest{Ref: "abcd", Walk: w} }
	for name, tc := range map[string]struct {
		normal func() error
		field  string
		says   string
	}{
		"no id":             {why(commands.WhyRequest{Ref: "  "}), "id", "want a command's id"},
		"a long id":         {why(commands.WhyRequest{Ref: strings.Repeat("a", ask.MaxRef+1)}), "id", "at most 300"},
		"limit below":       {why(commands.WhyRequest{Ref: "abcd", Limit: -1}), "limit", "1 to 1000"},
		"limit above":       {why(commands.WhyRequest{Ref: "abcd", Limit: commands.MaxLimit + 1}), "limit", "1 to 1000"},
		"depth below":       {why(ok(commands.Walk{Depth: -1})), "depth", "1 to 32"},
		"depth above":       {why(ok(commands.Walk{Depth: commands.MaxDepth + 1})), "depth", "1 to 32"},
		"nodes below":       {why(ok(commands.Walk{Nodes: math.MinInt})), "nodes", "1 to 1000"},
		"nodes above":       {why(ok(commands.Walk{Nodes: math.MaxInt})), "nodes", "1 to 1000"},
		"no number":         {why(ok(commands.Walk{MinWeight: math.NaN()})), "min_weight", "NaN: want 0 to 1"},
		"weight below":      {why(ok(commands.Walk{MinWeight: -0.1})), "min_weight", "0 to 1"},
		"weight above":      {why(ok(commands.Walk{MinWeight: math.Inf(1)})), "min_weight", "0 to 1"},
		"an unknown kind":   {why(ok(commands.Walk{Kinds: []string{"causal", "cause"}})), "kinds", "temporal, retry, fixes, dependency, branch, causal, similar"},
		"a kind in capital": {why(ok(commands.Walk{Kinds: []string{"Causal"}})), "kinds", `"Causal"`},
		"a long wait":       {why(commands.WhyRequest{Ref: "abcd", Moment: query.Moment{WaitMS: 60_001}}), "wait_ms", "1 to 60000"},
		"stitch, no id":     {stitch(commands.StitchRequest{}), "id", "want"},
		"stitch, depth":     {stitch(commands.StitchRequest{Ref: "abcd", Walk: commands.Walk{Depth: -1}}), "depth", "want"},
		"stitch, a wait":    {stitch(commands.StitchRequest{Ref: "abcd", Moment: query.Moment{WaitMS: -1}}), "wait_ms", "want"},
		"diff without b":    {diff(commands.DiffRequest{A: "abcd"}), "b", "want"},
		"diff without a":    {diff(commands.DiffRequest{B: "abcd"}), "a", "want"},
		"diff, nodes":       {diff(commands.DiffRequest{A: "abcd", B: "abcd", Walk: commands.Walk{Nodes: -1}}), "nodes", "want"},
		"diff, a wait":      {diff(commands.DiffRequest{A: "abcd", B: "abcd", Moment: query.Moment{WaitMS: -1}}), "wait_ms", "want"},
	} {
		var re *query.RequestError
		if err := tc.normal(); !errors.As(err, &re) || re.Field != tc.field || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v, want one of field %s: %s", name, err, tc.field, tc.says)
		}
	}
}

func why(r commands.WhyRequest) func() error {
	return func() error { _, err := r.Normal(); return err }
}

func stitch(r commands.StitchRequest) func() error {
	return func() error { _, err := r.Normal(); return err }
}

func diff(r commands.DiffRequest) func() error {
	return func() error { _, err := r.Normal(); return err }
}

func TestNarrativeDefaults(t *testing.T) {
	r, err := commands.WhyRequest{Ref: " abcd ", Walk: commands.Walk{Kinds: []string{"causal", "retry", "causal"}}}.Normal()
	if err != nil || r.Ref != "abcd" || r.Limit != ask.DefaultCauses || r.Depth != commands.DefaultDepth || r.Nodes != ask.DefaultNodes || r.WaitMS != 5000 {
		t.Errorf("got %+v, %v", r, err)
	}
	if want := []string{"retry", "causal"}; !slices.Equal(r.Kinds, want) {
		t.Errorf("kinds: got %v, want %v", r.Kinds, want)
	}
}
