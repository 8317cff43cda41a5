package evidence_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestAnswersFollowQuestions checks that what answers a question is found by the question's words,
// whether or not it names the question as its cause, and that it is shown with the question. The
// speaker's name is a word of what is said.
func TestAnswersFollowQuestions(t *testing.T) {
	for _, linked := range []bool{false, true} {
		w := newWorld(t)
		say := func(i int, agent, text string) {
			parent := ""
			if linked && i > 0 {
				parent = fmt.Sprint("turn", i-1)
			}
			// Each speaker has a partition of its own.
			w.add(int32(len(agent)%2), of(fmt.Sprint("turn", i), schemas.TypeUserMessage, i, parent, &recountv1.AgentEvent{Agent: agent, Text: text}))
		}
		say(0, "Mira", "The harbour was cold this morning.")
		say(1, "Tomas", "And which instrument does your sister play these days?")
		say(2, "Mira", "The cello, since last winter.")
		say(3, "Tomas", "Lovely. We went hiking.")
		say(4, "Mira", "Where to?")
		say(5, "Tomas", "Up to the ridge.")
		r := w.ask(operator, evidence.Request{Text: "which instrument does the sister play", Limit: 2})
		if len(r.Objects) != 2 || r.Objects[0].EventID != eventID("turn1") || r.Objects[1].EventID != eventID("turn2") {
			t.Errorf("linked %v: want the question and its answer: %s", linked, told(t, r))
		} else if x := r.Objects[0].Results; len(x) != 1 || x[0].Snippet != "The cello, since last winter." {
			t.Errorf("linked %v: what came of the question: %+v", linked, x)
		}
		if r = w.ask(operator, evidence.Request{Text: "Tomas hiking", Limit: 1}); len(r.Objects) != 1 || r.Objects[0].EventID != eventID("turn3") {
			t.Errorf("linked %v: what Tomas says: %s", linked, told(t, r))
		}
	}
}

// TestQuestionsNameTimes checks that a time that the text names is a filter, relative to the now of
// the request, and none without it.
func TestQuestionsNameTimes(t *testing.T) {
	w := newWorld(t)
	for day, text := range []string{"deployed the shop on the old host", "deployed the shop on the new host", "deployed the shop again"} {
		w.add(0, of(fmt.Sprint("day", day), schemas.TypeUserMessage, day*24*60, "", &recountv1.AgentEvent{Text: text}))
	}
	now := epoch.Add(50 * time.Hour) // of the third day
	r := w.ask(operator, evidence.Request{Text: "who deployed the shop yesterday", At: now})
	if len(r.Objects) != 1 || r.Objects[0].EventID != eventID("day1") {
		t.Errorf("yesterday: %s", told(t, r))
	}
	if r = w.ask(operator, evidence.Request{Text: "who deployed the shop yesterday", At: now, Since: epoch}); len(r.Objects) != 3 {
		t.Errorf("the request's own limits count: %s", told(t, r))
	}
	if r = w.ask(operator, evidence.Request{Text: "who deployed the shop yesterday"}); len(r.Objects) != 3 {
		t.Errorf("without a now the time filters nothing: %s", told(t, r))
	}
}

// TestStatementsAnswerQuestions checks that what states the property that is asked for comes before
// the output of a program that has more of the question's words.
func TestStatementsAnswerQuestions(t *testing.T) {
	w := newWorld(t)
	call := &recountv1.Tool{Name: "bash", CallId: "1", Command: "psql -h staging -p 5432"}
	w.add(0,
		of("call", schemas.TypeToolCall, 0, "", &recountv1.AgentEvent{Tool: call}),
		of("failed", schemas.TypeToolResult, 1, "call", &recountv1.AgentEvent{Tool: &recountv1.Tool{CallId: "1", Result: "psql: error: connection to server at staging, port 5432 failed: which port does staging use", Failed: true}}),
		of("stated", schemas.TypeMemoryStated, 2, "", &recountv1.AgentEvent{Text: "Reach it there since the move.", Memory: &recountv1.Statement{Subject: "staging database", Predicate: "port", Value: "5433"}}),
	)
	for _, memory := range [][]string{nil, {"factual"}} {
		r := w.ask(operator, evidence.Request{Text: "which port does staging use", Memory: memory})
		if len(r.Objects) < 2 || r.Objects[0].EventID != eventID("stated") {
			t.Errorf("memory %v: %s", memory, told(t, r))
		}
	}
	// A statement about something else that is near in words is none.
	if r := w.ask(operator, evidence.Request{Text: "which error did staging print"}); r.Objects[0].EventID == eventID("stated") {
		t.Errorf("another property: %s", told(t, r))
	}
}
