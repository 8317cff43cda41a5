package evidence_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestWhyItFailed checks that a question for a reason finds the failures and conclusions long after
// the lexical matches, and nothing that passed or that was merely said.
func TestWhyItFailed(t *testing.T) {
	w := newWorld(t)
	w.add(0, of("told", schemas.TypeUserMessage, 0, "", &recountv1.AgentEvent{Text: "The checkout gives up under load."}))
	last, n := "told", 1
	then := func(id, typ string, m *recountv1.AgentEvent) {
		w.add(0, of(id, typ, n, last, m))
		last, n = id, n+1
	}
	run := func(id string, exit int32) {
		then(id, schemas.TypeToolResult, &recountv1.AgentEvent{Tool: &recountv1.Tool{Name: "bash", Command: "make " + id, Result: "output of " + id, ExitCode: &exit, Failed: exit != 0}})
	}
	for i := range 8 {
		then(fmt.Sprint("thought", i), schemas.TypeAssistantMessage, &recountv1.AgentEvent{Text: fmt.Sprintf("Let me look at part %d.", i)})
	}
	run("green", 0)
	run("red", 1)
	then("more", schemas.TypeAssistantMessage, &recountv1.AgentEvent{Text: "Let me read on."})
	then("understood", schemas.TypeCritique, &recountv1.AgentEvent{Text: "The pool hands out eight connections, and the ninth waits."})

	ask := evidence.Request{Text: "Why does the checkout give up?", Limit: 3, Include: []string{"proof"}}
	found := func() (ids []string) {
		for _, o := range w.ask(operator, ask).Objects {
			if slices.ContainsFunc(o.Scores, func(s query.PathScore) bool { return s.Path == "reason" }) {
				ids = append(ids, o.EventID)
			}
		}
		slices.Sort(ids)
		return ids
	}
	want := []string{eventID("red"), eventID("understood")}
	slices.Sort(want)
	if got := found(); !slices.Equal(got, want) {
		t.Errorf("found as a reason: %q, want red and understood", got)
	}
	ask.Text = "checkout gives up"
	if got := found(); len(got) > 0 {
		t.Errorf("found as a reason without being asked for one: %q", got)
	}
}
