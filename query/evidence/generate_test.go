package evidence_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var (
	someTenants    = []string{"", "acme", "globex"}
	someWorkspaces = []string{"shop", "web"}
	someAgents     = []string{"claude", "codex", "ann"}
	someSessions   = []string{"s1", "s2", "s3", "s4"}
	someWords      = []string{"checkout", "timeout", "payment", "deploy", "cart", "database", "cache", "login", "token", "retry", "gateway", "latency"}
	someTypes      = []string{
		schemas.TypeUserMessage, schemas.TypeAssistantMessage, schemas.TypeToolCall, schemas.TypeToolResult, schemas.TypePlanUpdated, schemas.TypeCritique,
		schemas.TypeMemoryStated, schemas.TypeMemoryStated, schemas.TypeStateChanged, schemas.TypeArtifact, schemas.TypeTaskStarted, "build_watched",
	}
	someRelations = []string{"supports", "contradicts", "supersedes", "derived_from", "caused_by", "blocks"}
)

// generate returns events of several tenants, agents and sessions that name each other: causes that
// came before, that come later, and that never come.
func generate(rng *rand.Rand, n int) []said {
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	words := func() string {
		s := ""
		for range 2 + rng.IntN(6) {
			s += pick(someWords) + " "
		}
		return s
	}
	var all []said
	// If one agent uses an id twice, it is one event, the first; the same id from another agent is
	// another event.
	used := map[[4]string]bool{}
	for i := range n {
		m := &recountv1.AgentEvent{
			Tenant: pick(someTenants), Workspace: pick(someWorkspaces), Agent: pick(someAgents), Session: pick(someSessions),
			Visibility: recountv1.Visibility(rng.IntN(5)), OccurredAt: timestamppb.New(epoch.Add(time.Duration(i+rng.IntN(20)) * time.Minute)),
			Text: words(),
		}
		other := func() string { return fmt.Sprint("e", max(0, i-8+rng.IntN(12))) } // some come later
		if rng.IntN(4) > 0 {
			m.ParentEventId = other()
		}
		for range rng.IntN(2) {
			m.CausedBy = append(m.CausedBy, other())
		}
		if rng.IntN(3) == 0 {
			m.Relations = append(m.Relations, &recountv1.Relation{Kind: pick(someRelations), EventId: other()})
		}
		if rng.IntN(4) == 0 {
			m.Relations = append(m.Relations, &recountv1.Relation{Kind: "refers_to", Ref: "file:" + pick(someWords) + ".go"})
		}
		typ := pick(someTypes)
		switch typ {
		case schemas.TypeToolCall, schemas.TypeToolResult:
			m.Tool = &recountv1.Tool{Name: "bash", CallId: fmt.Sprint("c", i/4), Command: "grep " + pick(someWords) + " app.log", Result: words()}
		case schemas.TypePlanUpdated:
			m.Plan = &recountv1.Plan{Id: "p", Steps: []*recountv1.PlanStep{{Text: words(), Status: "pending"}}}
		case schemas.TypeMemoryStated:
			m.Text = ""
			m.Memory = &recountv1.Statement{Subject: pick(someWords), Predicate: "value", Value: pick(someWords[:3])}
			if rng.IntN(4) == 0 {
				m.ValidUntil = timestamppb.New(m.OccurredAt.AsTime().Add(time.Hour))
			}
		case schemas.TypeStateChanged:
			m.State = &recountv1.StateChange{Key: pick(someWords[:4]), Value: words(), Removed: rng.IntN(8) == 0}
		case schemas.TypeArtifact:
			m.Artifact = &recountv1.ArtifactProduced{Uri: pick(someWords) + ".go", Content: words()}
		case schemas.TypeTaskStarted:
			m.Task = &recountv1.Task{Id: pick(someWords[:3]), Title: words()}
		}
		if rng.IntN(10) == 0 && i > 0 { // repeat the same words
			m.Text = all[i-1].Text
		}
		id := fmt.Sprint("e", i)
		if rng.IntN(12) == 0 {
			if taken := fmt.Sprint("e", rng.IntN(i+1)); !used[[4]string{m.Tenant, m.Workspace, m.Agent, taken}] {
				id = taken // others use it as well
			}
		}
		used[[4]string{m.Tenant, m.Workspace, m.Agent, id}] = true
		all = append(all, said{id: id, typ: typ, AgentEvent: m})
	}
	return all
}

// randomRequest returns a request with any combination of parameters.
func randomRequest(rng *rand.Rand) evidence.Request {
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	r := evidence.Request{Limit: 1 + rng.IntN(12)}
	for range rng.IntN(4) {
		r.Text += pick(someWords) + " "
	}
	switch rng.IntN(8) {
	case 0:
		r.Text += schemas.ProducerID("test", fmt.Sprint("e", rng.IntN(200))).String()
	case 1:
		r.Text += pick(someWords) + ".go"
	case 2:
		r.Text += " latest"
	case 3:
		r.Text += " since yesterday"
	}
	switch rng.IntN(8) {
	case 0:
		r.Scope.Session = pick(someSessions)
	case 1:
		r.Scope.Agent = pick(someAgents)
	case 2:
		r.Scope.Workspace = pick(someWorkspaces)
	case 3:
		r.Types = []string{pick([]string{"memory", "state", "tool_call", "task"})}
	case 4:
		r.Memory = []string{"factual"}
	case 5:
		r.Scope.Task = pick(someWords[:3])
	case 6:
		r.Since = epoch.Add(time.Duration(rng.IntN(300)) * time.Minute)
	}
	r.Mode = pick([]string{evidence.ModeObjects, evidence.ModeEvidence, evidence.ModeSubgraph, evidence.ModeContext})
	if rng.IntN(3) == 0 {
		hops := rng.IntN(5)
		r.Expand = evidence.Expand{Hops: &hops, Nodes: 1 + rng.IntN(40), MinConfidence: float64(rng.IntN(2)) * 0.9}
	}
	if rng.IntN(4) == 0 {
		r.Expand.Kinds = []string{pick([]string{"caused_by", "refers_to", "tool_produces", "belongs_to_session", "supersedes"})}
	}
	if rng.IntN(3) == 0 {
		r.Include = []string{"proof", "versions", "provenance", "text"}
	}
	return r
}

func randomPrincipal(rng *rand.Rand) schemas.Principal {
	p := schemas.Principal{Tenant: someTenants[rng.IntN(len(someTenants))]}
	switch rng.IntN(4) {
	case 0:
		p.Workspaces = []string{"*"}
	default:
		p.Workspaces = []string{someWorkspaces[rng.IntN(len(someWorkspaces))]}
	}
	switch rng.IntN(3) {
	case 0:
		p.Sessions = []string{"*"}
	case 1:
		p.Sessions = []string{someSessions[rng.IntN(len(someSessions))]}
	}
	if rng.IntN(2) == 0 {
		p.Agent = someAgents[rng.IntN(len(someAgents))]
	}
	return p
}

// spread distributes events to two partitions as their keys would, some at a time.
func (w *world) spread(events []said) {
	w.t.Helper()
	parts := [2][]said{}
	for _, s := range events {
		n := len(s.Workspace+s.Agent+s.Tenant) % 2
		parts[n] = append(parts[n], s)
	}
	for n, part := range parts {
		if len(part) > 0 {
			w.add(int32(n), part...)
		}
	}
}

func firstDifference(t testing.TB, got, want string) string {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("at byte %d: got …%s…, want …%s…", i, got[max(0, i-300):min(len(got), i+200)], want[max(0, i-300):min(len(want), i+200)])
		}
	}
	return fmt.Sprintf("%d bytes and %d", len(got), len(want))
}

// TestAnswersAsOf checks at every 100th position that an answer equals, byte for byte, that of
// projections built only up to there.
func TestAnswersAsOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := generate(rng, 600)
	whole, part := newWorld(t), newWorld(t)
	whole.spread(all)
	for at := 0; at < len(all); at += 100 {
		part.spread(all[at : at+100])
		for range 25 {
			r, p := randomRequest(rng), randomPrincipal(rng)
			if rng.IntN(4) == 0 {
				p = operator
			}
			r.AsOf = query.AsOf{Offsets: schemas.Watermark{}}
			for tp, next := range part.next {
				r.AsOf.Offsets[tp] = next
			}
			got, want := told(t, whole.ask(p, r)), told(t, part.ask(p, r))
			if got != want {
				t.Fatalf("as of %s, %+v for %+v: %s", r.AsOf.Offsets, r, p, firstDifference(t, got, want))
			}
		}
	}
}

// TestAnswersAreApart checks that what a principal may not see changes no byte of its answers, nor
// does its existence.
func TestAnswersAreApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	all := generate(rng, 500)
	whole := newWorld(t)
	whole.spread(all)
	found := 0
	for range 8 {
		p := randomPrincipal(rng)
		alone := newWorld(t)
		// The events of others keep their positions, but are empty.
		alone.sees = &p
		alone.spread(all)
		for range 40 {
			r := randomRequest(rng)
			got := whole.ask(p, r)
			found += len(got.Objects)
			if got, want := told(t, got), told(t, alone.ask(p, r)); got != want {
				t.Fatalf("%+v for %+v: with the others there %s", r, p, firstDifference(t, got, want))
			}
		}
	}
	if found < 300 {
		t.Errorf("%d objects in all answers: too few to compare", found)
	}
}

// TestAnswersAreTheSame checks that the same request at the same state gives the same answer,
// however the partitions were interleaved.
func TestAnswersAreTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	all := generate(rng, 400)
	x, y := newWorld(t), newWorld(t)
	x.spread(all)
	for i := 0; i < len(all); i += 7 {
		y.spread(all[i:min(len(all), i+7)])
	}
	for range 200 {
		r, p := randomRequest(rng), randomPrincipal(rng)
		want := told(t, x.ask(p, r))
		for _, w := range []*world{x, y} {
			if got := told(t, w.ask(p, r)); got != want {
				t.Fatalf("%+v for %+v: %s", r, p, firstDifference(t, got, want))
			}
		}
	}
}
