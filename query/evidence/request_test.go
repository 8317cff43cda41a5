package evidence

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/query"
)

func TestRequestsThatCannotBeUnderstood(t *testing.T) {
	five, nothing := 5, -1
	for name, c := range map[string]struct {
		r    Request
		want string
	}{
		"a question of 100 KB":     {Request{Text: strings.Repeat("why ", 25_600)}, "text: 102400 bytes: want at most 4096: keep only the important words"},
		"not UTF-8":                {Request{Text: "a\xff"}, `text: "a\xff": not UTF-8`},
		"a limit that is too high": {Request{Limit: 1001}, "limit: 1001: want 1 to 1000"},
		"a limit below zero":       {Request{Limit: -1}, "limit: -1: want 1 to 1000"},
		"too many hops":            {Request{Expand: Expand{Hops: &five}}, "expand.hops: 5: want 0 to 4"},
		"hops below zero":          {Request{Expand: Expand{Hops: &nothing}}, "expand.hops: -1: want 0 to 4"},
		"a confidence of nothing":  {Request{Expand: Expand{MinConfidence: math.NaN()}}, "expand.min_confidence: NaN: want 0 to 1"},
		"too many nodes":           {Request{Expand: Expand{Nodes: 2001}}, "expand.nodes: 2001: want 1 to 2000"},
		"a mode that is none":      {Request{Mode: "summary"}, `mode: "summary": want one of objects, evidence, subgraph, context`},
		"too few tokens":           {Request{Tokens: 49}, "tokens: 49: want 50 to 200000"},
		"an event that is none":    {Request{Events: []string{"command.executed"}}, `events: "command.executed": no event of an agent: of these only commands, commits and spans have answers of their own (recount find, log, runtime)`},
		"an event without a name":  {Request{Events: []string{""}}, `events: "": want types of events, such as user_message`},
		"a type that is none":      {Request{Types: []string{"memory", "plan"}}, `types: "plan": want one of event, memory, state, artifact, tool_call, task, handoff, recall, announcement`},
		"a memory that is none":    {Request{Memory: []string{"semantic"}}, `memory: "semantic": want one of episodic, factual, procedural, reflective`},
		"a kind that is none":      {Request{Kinds: []string{"issues"}}, `kinds: "issues": want one of objects, commands, commits, symbols, runtime`},
		"an edge that is none":     {Request{Expand: Expand{Kinds: []string{"causes"}}}, `expand.kinds: "causes": want one of other, belongs_to_session, owned_by_agent, derived_from, caused_by, uses_tool, tool_produces, supports, contradicts, supersedes, refers_to, part_of_task, handed_to, used`},
		"an include that is none":  {Request{Include: []string{"all"}}, `include: "all": want one of proof, versions, provenance, text`},
		"waiting for too long":     {Request{WaitMS: 60_001}, "wait_ms: 60001: want 1 to 60000"},
		"a name that is too long":  {Request{Scope: Scope{Task: strings.Repeat("x", 4097)}}, "scope.task: 4097 bytes: want at most 4096"},
		"a time out of range":      {Request{At: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)}, "at: 1500-01-01T00:00:00Z: want a year from 1678 to 2261"},
	} {
		_, err := c.r.Normal()
		var re *query.RequestError
		if !errors.As(err, &re) || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func TestDefaultsOfARequest(t *testing.T) {
	for mode, hops := range map[string]int{"": 1, ModeObjects: 0, ModeSubgraph: 2, ModeContext: 1} {
		r, err := Request{Mode: mode, Text: "  a b ", Types: []string{"state", "memory", "state"}}.Normal()
		if err != nil {
			t.Fatal(err)
		}
		if r.Limit != 10 || r.Tokens != 2000 || r.Expand.Nodes != 64 || *r.Expand.Hops != hops || r.WaitMS != 5000 {
			t.Errorf("mode %q: %+v", mode, r)
		}
		if r.Text != "a b" || strings.Join(r.Types, " ") != "memory state" {
			t.Errorf("mode %q: text %q, types %q", mode, r.Text, r.Types)
		}
	}
}

func TestFiltersThatNothingCanPassAreNoError(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	for want, r := range map[string]Request{
		"":                    {Since: day(1), Until: day(2), Types: []string{"memory"}, Memory: []string{"factual"}},
		"is not before until": {Since: day(2), Until: day(2)},
		"is after as_of":      {Since: day(3), AsOf: query.AsOf{Time: day(2)}},
		"types excludes them": {Types: []string{"state"}, Memory: []string{"factual"}},
	} {
		n, err := r.Normal()
		if err != nil {
			t.Fatal(err)
		}
		got := n.impossible()
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%+v: got %q, want %q", r, got, want)
		}
	}
}
