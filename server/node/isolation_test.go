package node_test

import (
	stdcmp "cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
)

// told is an event of the isolation test with the principals who may see it.
type told struct {
	schemas.Event
	object   schemas.ObjectID
	audience schemas.Audience
}

// The names of the isolation test. Tenants share all others, and their events share ids, words and
// claims, so that any lack of separation shows.
var (
	isoTenants    = []string{"", "acme", "beta"}
	isoWorkspaces = []string{"/a", "/b"}
	isoSessions   = []string{"s-one", "s-two"}
	isoAgents     = []string{"ada", "bob"}
	isoWords      = strings.Fields("checkout fails staging database port deploy cart tests flaky password rotates green")
	isoEntities   = []string{"file:src/cart.go", "issue:acme/shop#12", "tool:bash", "commit:9fceb02", "session:s-one", "agent:ada"}
)

func pick[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

func isoText(rng *rand.Rand) string {
	var words []string
	for range 1 + rng.IntN(4) {
		words = append(words, pick(rng, isoWords))
	}
	return strings.Join(words, " ")
}

// isoID returns the nth event id, which several events of several tenants and agents use.
func isoID(n int) schemas.EventID { return schemas.NewCanon("isolation").Int(int64(n)).ID() }

// isoEvents returns events of all tenants, mixed.
func isoEvents(rng *rand.Rand, n int) []told {
	var all []told
	used := map[string]int{}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	visibilities := []recountv1.Visibility{
		recountv1.Visibility_VISIBILITY_UNSPECIFIED, recountv1.Visibility_VISIBILITY_PRIVATE,
		recountv1.Visibility_VISIBILITY_SESSION, recountv1.Visibility_VISIBILITY_TENANT,
	}
	types := []string{
		schemas.TypeUserMessage, schemas.TypeAssistantMessage, schemas.TypeToolCall, schemas.TypeToolResult,
		schemas.TypeMemoryStated, schemas.TypeMemoryStated, schemas.TypePlanUpdated, schemas.TypeStateChanged, schemas.TypeArtifact, schemas.TypeTaskStarted, schemas.TypeRecallUsed, schemas.TypeWorkAnnounced, schemas.TypeWorkEnded,
	}
	for len(all) < n {
		m := &recountv1.AgentEvent{
			Tenant: pick(rng, isoTenants), Workspace: pick(rng, isoWorkspaces), Session: pick(rng, isoSessions), Agent: pick(rng, isoAgents),
			Text: isoText(rng), Visibility: pick(rng, visibilities),
		}
		if rng.IntN(2) == 0 {
			m.ParentEventId = isoID(rng.IntN(n / 8)).String()
		}
		if rng.IntN(3) == 0 {
			m.Relations = append(m.Relations, &recountv1.Relation{
				Kind: pick(rng, []string{"supports", "contradicts", "supersedes", "derived_from", "used", "used"}), EventId: isoID(rng.IntN(n / 8)).String(),
			})
		}
		if rng.IntN(4) == 0 {
			m.Relations = append(m.Relations, &recountv1.Relation{Kind: "refers_to", Ref: pick(rng, isoEntities)})
		}
		typ := pick(rng, types)
		switch typ {
		case schemas.TypeToolCall:
			m.Tool = &recountv1.Tool{Name: "bash", CallId: pick(rng, isoWords), Command: "make " + pick(rng, isoWords)}
		case schemas.TypeToolResult:
			m.Tool = &recountv1.Tool{Name: "bash", CallId: pick(rng, isoWords), Result: isoText(rng)}
		case schemas.TypeMemoryStated:
			m.Memory = &recountv1.Statement{Kind: recountv1.MemoryKind_MEMORY_KIND_FACTUAL, Subject: pick(rng, isoWords[:2]), Predicate: "port", Value: pick(rng, isoWords)}
		case schemas.TypeWorkAnnounced, schemas.TypeWorkEnded:
			m.Announcement = &recountv1.Announcement{Subject: "symbol:" + pick(rng, isoWords[:3])}
		case schemas.TypePlanUpdated:
			m.Plan = &recountv1.Plan{Id: pick(rng, isoWords[:2]), Steps: []*recountv1.PlanStep{{Text: isoText(rng)}}}
		case schemas.TypeStateChanged:
			m.State = &recountv1.StateChange{Key: pick(rng, isoWords[:2]), Value: isoText(rng)}
		case schemas.TypeArtifact:
			m.Artifact = &recountv1.ArtifactProduced{Uri: "src/cart.go", Content: isoText(rng)}
		case schemas.TypeTaskStarted:
			m.Task = &recountv1.Task{Id: pick(rng, isoWords[:3]), Title: isoText(rng)}
		}
		payload, err := schemas.EncodePayload(m)
		if err != nil {
			panic(err)
		}
		of := m.Tenant + "|" + m.Workspace + "|" + m.Agent
		id := isoID(used[of])
		used[of]++
		at = at.Add(time.Duration(rng.IntN(90)) * time.Second)
		all = append(all, told{
			Event:    schemas.Event{ID: id, Type: typ, Time: at, Payload: payload},
			object:   schemas.EventObjectID(m.Tenant, m.Workspace, m.Agent, id),
			audience: schemas.AudienceOf(m.Tenant, m.Workspace, m.Session, m.Agent, m.Visibility),
		})
	}
	return all
}

// isoPrincipals returns the principals on whose behalf the test asks.
func isoPrincipals(n int) []schemas.Principal {
	all := []schemas.Principal{
		{Tenant: "acme", Workspaces: []string{"/a"}, Sessions: []string{"s-one"}, Agent: "ada"},
		{Tenant: "beta", Workspaces: []string{"*"}, Sessions: []string{"*"}, Agent: "bob"},
		{Tenant: "acme", Agent: "bob"},
		{Workspaces: []string{"/b"}, Sessions: []string{"*"}},
		{Tenant: "beta", Workspaces: []string{"/a", "/b"}, Agent: "ada"},
		{Tenant: "nobody", Workspaces: []string{"*"}, Sessions: []string{"*"}, Agent: "ada"},
		{Tenant: "acme", Workspaces: []string{"*"}, Sessions: []string{"s-two"}},
		{},
	}
	return all[:n]
}

// isoNode is a node with some of the events, and their positions in it.
type isoNode struct {
	*running
	at   map[int]schemas.Position // of the nth event
	name map[string]string        // the event at a position
}

func isoStart(t *testing.T, events []told, has func(told) bool) *isoNode {
	t.Helper()
	cfg := config(t.TempDir())
	cfg.Kafka.Listen, cfg.OTLP.GRPC, cfg.OTLP.HTTP = "none", "none", "none"
	n := &isoNode{running: start(t, cfg), at: map[int]schemas.Position{}, name: map[string]string{}}
	var which []int
	var batch []schemas.Event
	for i, e := range events {
		if has(e) {
			which, batch = append(which, i), append(batch, e.Event)
		}
	}
	if len(batch) == 0 {
		return n
	}
	appended, err := n.Node.Append(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	for j, i := range which {
		if appended[j].Duplicate {
			t.Fatalf("event %d is taken for another one", i)
		}
		n.at[i] = appended[j].Position
		n.name[appended[j].Position.String()] = fmt.Sprintf("event %d", i)
	}
	if _, err := n.ask(t.Context(), schemas.Principal{}, evidence.Request{AtLeast: n.below(len(events)), WaitMS: int(patience.Milliseconds())}); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *isoNode) ask(ctx context.Context, p schemas.Principal, r evidence.Request) (evidence.Response, error) {
	var resp evidence.Response
	err := n.Node.Answer(access.NewContext(ctx, p), evidence.Question.Path, r, &resp)
	return resp, err
}

// below returns the watermark that includes the first events and no others.
func (n *isoNode) below(first int) schemas.Watermark {
	w := schemas.Watermark{}
	for i, at := range n.at {
		if i < first {
			w[at.TP()] = max(w[at.TP()], at.Offset+1)
		}
	}
	return w
}

var isoPosition = regexp.MustCompile(`recount\.agents/[0-9]+/[0-9]+`)

// told returns an answer in a form that can be compared with another node's: without durations, and
// with events' names in place of their positions.
func (n *isoNode) told(t *testing.T, resp evidence.Response) string {
	t.Helper()
	resp.Timing.TotalUS = 0
	for i := range resp.Timing.Steps {
		resp.Timing.Steps[i].US = 0
	}
	resp.Watermark = nil
	resp.Tokens = 0 // depends on the length of positions
	for i, f := range resp.AppliedFilters {
		if strings.Contains(f.Value, "recount.agents/") {
			resp.AppliedFilters[i].Value = "a watermark"
		}
	}
	for i, s := range resp.Proof {
		for j, h := range s.Hits {
			resp.Proof[i].Hits[j].Position = schemas.Position{Topic: stdcmp.Or(n.name[h.Position.String()], "unknown "+h.Position.String())}
		}
		for name, value := range s.Inputs {
			if name == "below" || strings.Contains(value, ":") && strings.HasPrefix(value, "recount.agents/") {
				resp.Proof[i].Inputs = maps.Clone(resp.Proof[i].Inputs)
				resp.Proof[i].Inputs[name] = "a watermark"
			}
		}
	}
	b, err := json.MarshalIndent(resp, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return isoPosition.ReplaceAllStringFunc(string(b), func(at string) string {
		if name, known := n.name[at]; known {
			return name
		}
		return "unknown " + at
	})
}

// isoRequest returns a random question, as asked of node a and of node b.
func isoRequest(rng *rand.Rand, events []told, a, b *isoNode) (ra, rb evidence.Request) {
	r := evidence.Request{Text: isoText(rng), Limit: 1 + rng.IntN(20)}
	switch rng.IntN(8) {
	case 0:
		r.Text = ""
	case 1:
		r.Text += " " + pick(rng, events).ID.String()
	case 2:
		r.Text = pick(rng, events).object.String()
	case 3:
		r.Text += " " + pick(rng, isoEntities)
	}
	for _, s := range []struct {
		into *string
		of   []string
	}{{&r.Scope.Agent, isoAgents}, {&r.Scope.Session, isoSessions}, {&r.Scope.Workspace, isoWorkspaces}, {&r.Scope.Task, isoWords[:3]}} {
		if rng.IntN(8) == 0 {
			*s.into = pick(rng, s.of)
		}
	}
	if rng.IntN(6) == 0 {
		r.Since = pick(rng, events).Time
	}
	if rng.IntN(6) == 0 {
		r.Until = pick(rng, events).Time
	}
	if rng.IntN(6) == 0 {
		r.Types = []string{pick(rng, []string{"memory", "state", "artifact", "tool_call", "task"})}
	}
	if rng.IntN(8) == 0 {
		r.Memory = []string{pick(rng, []string{"episodic", "factual", "procedural"})}
	}
	r.Mode = pick(rng, []string{evidence.ModeObjects, evidence.ModeEvidence, evidence.ModeSubgraph, evidence.ModeContext})
	if rng.IntN(2) == 0 {
		hops := rng.IntN(evidence.MaxHops + 1)
		r.Expand.Hops, r.Expand.Nodes = &hops, 1+rng.IntN(80)
	}
	if rng.IntN(2) == 0 {
		r.Include = []string{evidence.IncludeProof, evidence.IncludeVersions, evidence.IncludeProvenance, evidence.IncludeText}
	}
	ra, rb = r, r
	switch rng.IntN(6) {
	case 0:
		ra.AsOf.Time = pick(rng, events).Time
		rb.AsOf.Time = ra.AsOf.Time
	case 1:
		first := 1 + rng.IntN(len(events))
		ra.AsOf.Offsets, rb.AsOf.Offsets = a.below(first), b.below(first)
		if len(rb.AsOf.Offsets) == 0 { // empty would mean no limit
			ra.AsOf.Offsets, rb.AsOf.Offsets = nil, nil
		}
	}
	return ra, rb
}

// TestSoakIsolation asks random questions on behalf of principals of several tenants. Each answer
// must equal, except for durations, that of a node that never had the events that the principal may
// not see: no id, count, score or step of the proof reveals them. RECOUNT_SOAK=1 asks 10,000
// questions.
func TestSoakIsolation(t *testing.T) {
	pairs, size, principals := 240, 160, 3
	switch {
	case os.Getenv("RECOUNT_SOAK") != "":
		pairs, size, principals = 10_000, 800, 8
	case racing.On:
		pairs, size, principals = 60, 80, 2
	}
	rng := rand.New(rand.NewPCG(6, 2026))
	events := isoEvents(rng, size)
	whole := isoStart(t, events, func(told) bool { return true })
	hits := 0
	for who, p := range isoPrincipals(principals) {
		sees := func(e told) bool { return p.Sees(e.audience) }
		alone := isoStart(t, events, sees)
		for n := range pairs / principals {
			ra, rb := isoRequest(rng, events, whole, alone)
			got, err := whole.ask(t.Context(), p, ra)
			if err != nil {
				t.Fatal(err)
			}
			want, err := alone.ask(t.Context(), p, rb)
			if err != nil {
				t.Fatal(err)
			}
			hits += len(got.Objects)
			if diff := cmp.Diff(alone.told(t, want), whole.told(t, got)); diff != "" {
				asked, _ := json.Marshal(ra)
				// Ask again with the proof, which may show where the difference begins.
				ra.Include = []string{evidence.IncludeProof}
				rb.Include = ra.Include
				got, _ := whole.ask(t.Context(), p, ra)
				want, _ := alone.ask(t.Context(), p, rb)
				diff += "\nwith the proof:\n" + cmp.Diff(alone.told(t, want), whole.told(t, got))
				t.Fatalf("principal %d, question %d, %s: others' events show (- without them, + with them):\n%s", who, n, asked, diff)
			}
		}
		isoPositions(t, whole, events, p)
		alone.stop()
	}
	if hits < pairs {
		t.Errorf("%d hits in %d answers: the questions find too little to tell", hits, pairs)
	}
}

// isoPositions asks for the position of each event: an event that the principal may not see must
// appear not to exist.
func isoPositions(t *testing.T, n *isoNode, events []told, p schemas.Principal) {
	t.Helper()
	for i, at := range n.at {
		resp, err := n.ask(t.Context(), p, evidence.Request{Text: at.String(), Limit: 1, Mode: evidence.ModeObjects})
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(resp.Objects, func(o evidence.Object) bool { return o.Position == at.String() })
		if sees := p.Sees(events[i].audience); found != sees {
			t.Fatalf("event %d at %s: found %t, may be seen %t", i, at, found, sees)
		}
		for _, s := range resp.Proof {
			if s.Path == "id" && s.Operator == "lookup" && (s.Counts["candidates"] > 0) != found {
				t.Fatalf("event %d at %s: the proof counts %d", i, at, s.Counts["candidates"])
			}
		}
	}
}

// TestTenantsOverHTTP checks that two tenants' agents, which append under one id and ask with their
// tokens, learn nothing of each other.
func TestTenantsOverHTTP(t *testing.T) {
	dir := t.TempDir()
	text := "tokens:\n"
	tokens := map[string]string{}
	for _, tenant := range []string{"acme", "beta"} {
		tokens[tenant] = access.NewToken()
		entry, err := access.Format(access.Entry{SHA256: access.Hash(tokens[tenant]), Tenant: tenant, Workspaces: []string{"/a"}, Agent: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		text += entry
	}
	cfg := config(filepath.Join(dir, "data"))
	cfg.HTTP.Token, cfg.HTTP.TokensFile = operatorToken, filepath.Join(dir, "tokens.yaml")
	cfg.Kafka.Listen, cfg.OTLP.GRPC, cfg.OTLP.HTTP = "none", "none", "none"
	if err := os.WriteFile(cfg.HTTP.TokensFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n := start(t, cfg)
	clients := map[string]*httpapi.Client{}
	for tenant, token := range tokens {
		c, err := httpapi.NewClient(n.Endpoints().HTTP, token, nil)
		if err != nil {
			t.Fatal(err)
		}
		clients[tenant] = c
	}
	for _, tenant := range []string{"acme", "beta"} {
		out, err := clients[tenant].Append(t.Context(), []schemas.Event{{
			ID: isoID(1), Type: schemas.TypeUserMessage, Time: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
			Payload: fmt.Appendf(nil, `{"text":"the word of %s"}`, tenant),
		}})
		if err != nil || out[0].Duplicate {
			t.Fatalf("%s: %+v %v", tenant, out, err)
		}
		r, err := evidence.Question.Ask(t.Context(), clients[tenant], evidence.Request{
			Text: "word", AtLeast: schemas.Watermark{out[0].Position.TP(): out[0].Position.Offset + 1}, WaitMS: int(patience.Milliseconds()),
		})
		if err != nil || len(r.Objects) != 1 || r.Objects[0].Tenant != tenant || r.Objects[0].Snippet != "the word of "+tenant {
			t.Errorf("%s: %+v %v", tenant, r.Objects, err)
		}
	}
	operator, err := httpapi.NewClient(n.Endpoints().HTTP, operatorToken, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := evidence.Question.Ask(t.Context(), operator, evidence.Request{Text: "word"}); err != nil || len(r.Objects) != 2 {
		t.Errorf("the operator: %+v %v", r.Objects, err)
	}
	if _, err := clients["acme"].Status(t.Context(), api.StatusRequest{}); err == nil || !strings.Contains(err.Error(), "the token may not") {
		t.Errorf("status by an agent's token: %v", err)
	}
}
