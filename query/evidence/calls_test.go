package evidence_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestOneNameForManyCalls checks that a result belongs to the last call of its name before it, seen
// from the result and from the call, and that an effect is not shown as a cause.
func TestOneNameForManyCalls(t *testing.T) {
	w := newWorld(t)
	tool := func(id string, minute int, typ, parent, text string) said {
		return of(id, typ, minute, parent, &recountv1.AgentEvent{Text: text, Tool: &recountv1.Tool{Name: "bash", CallId: "always"}})
	}
	w.add(0,
		tool("early", 0, schemas.TypeToolResult, "", "a result that came before its call"),
		tool("call1", 1, schemas.TypeToolCall, "", "run the tests"),
		tool("result1", 2, schemas.TypeToolResult, "", "red: the tests fail"),
		tool("call2", 3, schemas.TypeToolCall, "result1", "run them again"),
		tool("result2", 4, schemas.TypeToolResult, "", "green: the tests pass"),
	)
	r := w.ask(operator, evidence.Request{Text: "tests", Mode: evidence.ModeSubgraph})
	names, at := map[string]string{}, map[string]string{}
	// The results are shown with their calls, and are joined to them by edges.
	for i, id := range []string{"early", "call1", "result1", "call2", "result2"} {
		names[schemas.EventObjectID("", "shop", "claude", schemas.ProducerID("test", id)).String()] = id
		at[fmt.Sprint(topic, "/0/", i)] = id
	}
	shown := map[string][]string{}
	for _, call := range []string{"call1", "call2"} {
		for _, o := range find(t, r, call).Results {
			shown[call] = append(shown[call], at[o.Position])
		}
	}
	if want := map[string][]string{"call1": {"early", "result1"}, "call2": {"result2"}}; fmt.Sprint(shown) != fmt.Sprint(want) {
		t.Errorf("shown with their calls: %v, want %v", shown, want)
	}
	got := map[string]bool{}
	for _, e := range r.Edges {
		if e.Rule == "call_id" {
			got[names[e.From]+" "+names[e.To]] = true
		}
	}
	if want := map[string]bool{"call1 early": true, "call1 result1": true, "call2 result2": true}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("calls and results: %v, want %v", got, want)
	}
	// If calls are not asked for, results are hits of their own.
	r = w.ask(operator, evidence.Request{Text: "tests", Types: []string{"memory"}})
	for id, length := range map[string]int{"result1": 1, "result2": 3} {
		if c := find(t, r, id).Chain; c.Cyclic || c.Length != length {
			t.Errorf("the chain of %s: %+v, want %d long and not cyclic", id, c, length)
		}
	}
}

// TestListOfTasksIsShownOnce has a session in which a list of tasks is written five times, with the words
// of the question, and a message that answers it.
func TestListOfTasksIsShownOnce(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		id := fmt.Sprint("todo", i)
		w.add(0, of(id, schemas.TypeToolCall, i, "", &recountv1.AgentEvent{
			Tool: &recountv1.Tool{Name: "TodoWrite", CallId: id, Arguments: fmt.Sprintf(`{"todos":[{"content":"measure the gateway timeout","done":%d}]}`, i)},
		}))
	}
	w.add(0, of("said", schemas.TypeAssistantMessage, 9, "", &recountv1.AgentEvent{Text: "Measured: the timeout of the gateway is 10 ms, too short by far for what it has to do."}))
	w.add(0, of("run", schemas.TypeToolCall, 10, "", &recountv1.AgentEvent{Tool: &recountv1.Tool{Name: "bash", CallId: "c", Command: "measure gateway timeout"}}))
	r := w.ask(operator, evidence.Request{Text: "measure the gateway timeout", Limit: 3})
	var got []string
	for _, o := range r.Objects {
		if o.Role == "" {
			got = append(got, o.EventID)
		}
	}
	lists := 0
	for i := range 5 {
		if slices.Contains(got, eventID(fmt.Sprint("todo", i))) {
			lists++
		}
	}
	if lists != 1 || !slices.Contains(got, eventID("said")) || !slices.Contains(got, eventID("run")) {
		t.Errorf("%d lists of tasks among %d hits, want 1 with the message and the command: %s", lists, len(got), told(t, r))
	}
}
