package evidence_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// writes returns a statement of a form.
func writes(id string, minute int, form, text string, about ...string) said {
	m := &recountv1.AgentEvent{Text: text, Memory: &recountv1.Statement{Form: form}}
	for _, ref := range about {
		m.Relations = append(m.Relations, &recountv1.Relation{Kind: "refers_to", Ref: ref})
	}
	return of(id, schemas.TypeMemoryStated, minute, "", m)
}

func supersedes(s said, id string) said {
	s.Relations = append(s.Relations, &recountv1.Relation{Kind: "supersedes", EventId: id})
	return s
}

func (w *world) remembered(p schemas.Principal, r evidence.RememberedRequest) evidence.RememberedResponse {
	w.t.Helper()
	resp, err := evidence.ListRemembered(context.Background(), w.src, p, r)
	if err != nil {
		w.t.Fatalf("remembered %+v: %v", r, err)
	}
	return resp
}

// items returns "kind status text" of each item.
func items(r evidence.RememberedResponse) []string {
	all := []string{}
	for _, x := range r.Items {
		all = append(all, x.Kind+" "+x.Status+" "+strings.ReplaceAll(x.Text, "\n", "|"))
	}
	return all
}

func written() []said {
	return []said{
		writes("d1", 1, "decision", "The cart lives in Redis", "symbol:shop.Cart"),
		writes("n1", 2, "note", "The staging key expires in May", "file:deploy/staging.yaml"),
		of("f1", schemas.TypeMemoryStated, 3, "", &recountv1.AgentEvent{Text: "Staging has two replicas"}),
		supersedes(writes("d2", 4, "Decision", "The cart lives in Postgres", "symbol:shop.Cart"), "d1"),
		of("p1", schemas.TypePlanUpdated, 5, "", &recountv1.AgentEvent{Plan: &recountv1.Plan{Id: "move", Steps: []*recountv1.PlanStep{{Text: "copy", Status: "pending"}, {Text: "switch", Status: "pending"}}}}),
		of("p2", schemas.TypePlanUpdated, 6, "", &recountv1.AgentEvent{Plan: &recountv1.Plan{Id: "move", Steps: []*recountv1.PlanStep{{Text: "copy", Status: "done"}, {Text: "switch", Status: "pending"}}}}),
		of("t1", schemas.TypeTaskStarted, 7, "", &recountv1.AgentEvent{Task: &recountv1.Task{Id: "T-1", Title: "Move the cart"}}),
		of("t2", schemas.TypeTaskStarted, 8, "", &recountv1.AgentEvent{Task: &recountv1.Task{Id: "T-2", Title: "Rotate the key"}}),
		of("t3", schemas.TypeTaskFinished, 9, "", &recountv1.AgentEvent{Task: &recountv1.Task{Id: "T-1", Title: "Move the cart", Outcome: "succeeded"}}),
		of("h1", schemas.TypeHandoff, 10, "", &recountv1.AgentEvent{Handoff: &recountv1.Handoff{ToAgent: "reviewer", Reason: "Look at the migration"}}),
		of("h2", schemas.TypeHandoff, 11, "", &recountv1.AgentEvent{Handoff: &recountv1.Handoff{ToAgent: "ops", Reason: "Roll it out"}}),
		of("take", schemas.TypeAssistantMessage, 12, "h1", &recountv1.AgentEvent{Agent: "reviewer", Text: "I am on it."}),
		of("own", schemas.TypeAssistantMessage, 13, "h2", &recountv1.AgentEvent{Text: "Waiting."}),
	}
}

func TestWhatIsOpenIsListed(t *testing.T) {
	w := newWorld(t)
	w.add(0, written()...)
	for _, c := range []struct {
		name string
		r    evidence.RememberedRequest
		want []string
	}{
		{"what is open, the newest first", evidence.RememberedRequest{}, []string{
			"handover open handed to ops||Roll it out",
			"task open Rotate the key started",
			"plan open - [done] copy|- [pending] switch",
			"decision open The cart lives in Postgres",
			"fact open Staging has two replicas",
			"note open The staging key expires in May",
		}},
		{"also what is not", evidence.RememberedRequest{All: true, Kinds: []string{"decision", "task", "handover", "plan"}}, []string{
			"handover open handed to ops||Roll it out",
			"handover done handed to reviewer||Look at the migration",
			"task done Move the cart finished: succeeded",
			"task open Rotate the key started",
			"plan open - [done] copy|- [pending] switch",
			"decision open The cart lives in Postgres",
			"decision superseded The cart lives in Redis",
		}},
		{"of some kinds", evidence.RememberedRequest{Kinds: []string{"note", "decision"}}, []string{
			"decision open The cart lives in Postgres", "note open The staging key expires in May",
		}},
		{"about a method of the type", evidence.RememberedRequest{About: []string{"example.org/acme/shop.Cart.Add"}}, []string{"decision open The cart lives in Postgres"}},
		{"about a file by its end", evidence.RememberedRequest{About: []string{"staging.yaml"}}, []string{"note open The staging key expires in May"}},
		{"handed to somebody", evidence.RememberedRequest{To: "ops"}, []string{"handover open handed to ops||Roll it out"}},
		{"of another workspace", evidence.RememberedRequest{Workspace: "other"}, []string{}},
		{"before the decision was replaced", evidence.RememberedRequest{Kinds: []string{"decision"}, AsOf: query.AsOf{Time: epoch.Add(3 * time.Minute)}}, []string{"decision open The cart lives in Redis"}},
		{"the newest", evidence.RememberedRequest{Limit: 1}, []string{"handover open handed to ops||Roll it out"}},
	} {
		r := w.remembered(operator, c.r)
		if got := items(r); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
		if empty := len(c.want) == 0; (r.Status == query.StatusEmpty) != empty || empty && r.Hint == "" {
			t.Errorf("%s: status %q, hint %q", c.name, r.Status, r.Hint)
		}
	}
	if r := w.remembered(operator, evidence.RememberedRequest{Limit: 1}); !r.Truncated {
		t.Error("one of six is not called truncated")
	}
}

// TestWhatExpiresIsMeasuredAgainstTheTimeAsked checks that validity follows the request and the
// events and never a clock.
func TestWhatExpiresIsMeasuredAgainstTheTimeAsked(t *testing.T) {
	w := newWorld(t)
	n := writes("n", 0, "note", "Staging is frozen")
	n.ValidUntil = timestamppb.New(epoch.Add(time.Hour))
	w.add(0, n)
	for at, want := range map[time.Duration]string{0: "open", 59 * time.Minute: "open", time.Hour: "expired", 1000 * time.Hour: "expired"} {
		r := w.remembered(operator, evidence.RememberedRequest{All: true, At: epoch.Add(at)})
		if got := items(r); !slices.Equal(got, []string{"note " + want + " Staging is frozen"}) {
			t.Errorf("after %s: %q, want %s", at, got, want)
		}
	}
	if r := w.remembered(operator, evidence.RememberedRequest{}); len(r.Items) != 1 {
		t.Errorf("as of the newest event: %q", items(r))
	}
}

// TestTheUnseenIsNotListed checks that what a principal may not see changes nothing: neither
// listed, nor counted, nor replacing what it sees.
func TestTheUnseenIsNotListed(t *testing.T) {
	theirs := func(id string, minute int, text string, m *recountv1.AgentEvent) said {
		s := writes(id, minute, "decision", text)
		s.Tenant, s.Agent, s.Visibility = m.Tenant, m.Agent, m.Visibility
		return s
	}
	all := append(written(),
		supersedes(theirs("x1", 20, "Their cart lives in MySQL", &recountv1.AgentEvent{Tenant: "beta", Agent: "claude"}), "d2"),
		supersedes(theirs("x2", 21, "Bob wants MySQL", &recountv1.AgentEvent{Agent: "bob", Visibility: recountv1.Visibility_VISIBILITY_PRIVATE}), "d2"),
	)
	p := schemas.Principal{Workspaces: []string{"shop"}, Agent: "claude"}
	var got [2]string
	for i := range got {
		w := newWorld(t)
		if i == 1 {
			w.sees = &p
		}
		w.add(0, all...)
		r := w.remembered(p, evidence.RememberedRequest{All: true})
		r.Timing = query.Timing{}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		got[i] = string(b)
		if strings.Contains(got[i], "MySQL") {
			t.Errorf("lists what may not be seen: %s", got[i])
		}
	}
	if got[0] != got[1] {
		t.Errorf("another answer without the unseen:\n%s\n%s", got[0], got[1])
	}
}

func TestBadRequestsForWhatIsRemembered(t *testing.T) {
	w := newWorld(t)
	for field, r := range map[string]evidence.RememberedRequest{
		"kinds":   {Kinds: []string{"opinion"}},
		"about":   {About: []string{" "}},
		"limit":   {Limit: -1},
		"to":      {To: strings.Repeat("x", query.MaxName+1)},
		"at":      {At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
		"wait_ms": {WaitMS: -1},
	} {
		_, err := evidence.ListRemembered(context.Background(), w.src, operator, r)
		var wrong *query.RequestError
		if !asRequestError(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if r := w.remembered(operator, evidence.RememberedRequest{}); r.Status != query.StatusEmpty || r.Hint == "" || r.Items == nil {
		t.Errorf("an empty log: %+v", r)
	}
}
