package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var at = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// event returns an event as it is stored in the log.
func event(typ, id, payload string) schemas.Event {
	return schemas.Event{
		ID: schemas.ProducerID("test", id), Type: typ, Source: "test", Time: at,
		ContentType: schemas.ContentJSON, Payload: []byte(payload), Topic: schemas.TopicAgents,
	}
}

func objects(t testing.TB, e schemas.Event) (*recountv1.ObjectBatch, error) {
	t.Helper()
	m, err := e.DecodePayload()
	if err != nil {
		return nil, err
	}
	rec := &recountv1.Record{}
	err = Objects(e, m, rec)
	return rec.GetObjects(), err
}

// made returns the object of a valid event.
func made(t testing.TB, typ, payload string) (*recountv1.Object, []*recountv1.ObjectEdge) {
	t.Helper()
	b, err := objects(t, event(typ, "e-1", payload))
	if err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	return b.Objects[0], b.Edges
}

// line formats an edge as one line: "refers_to file:a.go 0.8 text_path".
func line(e *recountv1.ObjectEdge) string {
	kind := strings.ToLower(strings.TrimPrefix(e.Kind.String(), "OBJECT_EDGE_KIND_"))
	to := e.Entity
	switch {
	case len(e.EventId) > 0:
		to = "event " + schemas.EventID(e.EventId).String()[:8]
	case len(e.ObjectId) > 0:
		to = "object " + schemas.ObjectID(e.ObjectId).String()[:8]
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %v %s", kind, e.Name, to, e.Confidence, e.Rule))
}

func lines(edges []*recountv1.ObjectEdge) string {
	var s strings.Builder
	for _, e := range edges {
		s.WriteString(line(e) + "\n")
	}
	return s.String()
}

func TestObjectOfEachType(t *testing.T) {
	const envelope = `"workspace":"/src/shop","agent":"claude","session":"s-1"`
	id := func(typ recountv1.ObjectType, owner, name string) schemas.ObjectID {
		return schemas.NamedObjectID("", "/src/shop", typ, owner, name)
	}
	for _, c := range []struct {
		typ, payload string
		kind         string // object type and memory kind
		title, text  string
		version      schemas.ObjectID // zero: the event's own
	}{
		{schemas.TypeUserMessage, `"text":"Why does it fail?\nSince when?"`, "MEMORY EPISODIC", "Why does it fail?", "Why does it fail?\nSince when?", schemas.ObjectID{}},
		{schemas.TypeAssistantMessage, `"text":"I will look.","thought":"Logs first."`, "MEMORY EPISODIC", "I will look.", "I will look.\n\nLogs first.", schemas.ObjectID{}},
		{schemas.TypeAssistantMessage, `"text":"I will look.","thought":"I will look."`, "MEMORY EPISODIC", "I will look.", "I will look.", schemas.ObjectID{}},
		{schemas.TypeToolCall, `"thought":"Run it.","tool":{"name":"bash","command":"make test","arguments":"{\"command\":\"make test\"}"}`, "TOOL_CALL UNSPECIFIED", "make test", "make test\n\nRun it.", schemas.ObjectID{}},
		{schemas.TypeToolCall, `"tool":{"name":"edit","arguments":"{\"path\":\"a.go\"}"}`, "TOOL_CALL UNSPECIFIED", `edit a.go`, `edit a.go`, schemas.ObjectID{}},
		{schemas.TypeToolResult, `"tool":{"name":"bash","command":"make test","result":"FAIL\tcart","exit_code":2}`, "MEMORY FACTUAL", "make test: FAIL cart", "FAIL\tcart", schemas.ObjectID{}},
		{schemas.TypePlanUpdated, `"plan":{"id":"p","steps":[{"text":"read","status":"done"},{"text":"fix"}]}`, "MEMORY PROCEDURAL", "- [done] read", "- [done] read\n- fix", id(typeMemory, "s-1", "p")},
		{schemas.TypePlanUpdated, `"text":"Read, then fix."`, "MEMORY PROCEDURAL", "Read, then fix.", "Read, then fix.", id(typeMemory, "s-1", "")},
		{schemas.TypeCritique, `"text":"The fix hides the cause."`, "MEMORY REFLECTIVE", "The fix hides the cause.", "The fix hides the cause.", schemas.ObjectID{}},
		{schemas.TypeMemoryStated, `"memory":{"subject":"database","predicate":"port","value":"5433"}`, "MEMORY FACTUAL", "database port 5433", "database port 5433", schemas.ObjectID{}},
		{schemas.TypeMemoryStated, `"text":"Use make.","memory":{"kind":"MEMORY_KIND_PROCEDURAL"}`, "MEMORY PROCEDURAL", "Use make.", "Use make.", schemas.ObjectID{}},
		{schemas.TypeStateChanged, `"state":{"key":"branch","value":"main"}`, "STATE UNSPECIFIED", "branch", "branch = main", id(recountv1.ObjectType_OBJECT_TYPE_STATE, "claude", "branch")},
		{schemas.TypeArtifact, `"artifact":{"uri":"fix.patch","content":"--- a"}`, "ARTIFACT UNSPECIFIED", "fix.patch", "fix.patch\n\n--- a", id(recountv1.ObjectType_OBJECT_TYPE_ARTIFACT, "", "fix.patch")},
		{schemas.TypeTaskStarted, `"task":{"id":"t","title":"Mend checkout"}`, "TASK UNSPECIFIED", "Mend checkout started", "Mend checkout started", id(recountv1.ObjectType_OBJECT_TYPE_TASK, "", "t")},
		{schemas.TypeTaskFinished, `"task":{"id":"t","outcome":"failed"}`, "TASK UNSPECIFIED", "t finished: failed", "t finished: failed", id(recountv1.ObjectType_OBJECT_TYPE_TASK, "", "t")},
		{schemas.TypeHandoff, `"handoff":{"to_agent":"reviewer","reason":"A second look."}`, "HANDOFF UNSPECIFIED", "handed to reviewer: A second look.", "handed to reviewer\n\nA second look.", schemas.ObjectID{}},
		{"dream_had", `"text":"Sheep.","state":{"key":"a","value":"b"}`, "EVENT UNSPECIFIED", "Sheep.", "Sheep.\n\na = b", schemas.ObjectID{}},
		{"dream_had", `"attributes":{}`, "EVENT UNSPECIFIED", "dream_had", "", schemas.ObjectID{}},
	} {
		e := event(c.typ, "e-1", "{"+envelope+","+c.payload+"}")
		b, err := objects(t, e)
		if err != nil {
			t.Errorf("%s %s: %v", c.typ, c.payload, err)
			continue
		}
		o := b.Objects[0]
		kind := strings.TrimPrefix(o.Type.String(), "OBJECT_TYPE_") + " " + strings.TrimPrefix(o.Memory.String(), "MEMORY_KIND_")
		if kind != c.kind || o.Title != c.title || o.Text != c.text {
			t.Errorf("%s %s: got %s %q %q, want %s %q %q", c.typ, c.payload, kind, o.Title, o.Text, c.kind, c.title, c.text)
		}
		want := c.version
		if want.IsZero() {
			want = schemas.EventObjectID("", "/src/shop", "claude", e.ID)
		}
		if schemas.ObjectID(o.Id) != want || o.Versioned != !c.version.IsZero() {
			t.Errorf("%s %s: id %x, versioned %v", c.typ, c.payload, o.Id, o.Versioned)
		}
		if o.Visibility != recountv1.Visibility_VISIBILITY_WORKSPACE || o.TimeUnixNano != at.UnixNano() || o.ValidFromUnixNano != at.UnixNano() || o.ValidUntilUnixNano != 0 {
			t.Errorf("%s: visibility %v, times %d %d %d", c.typ, o.Visibility, o.TimeUnixNano, o.ValidFromUnixNano, o.ValidUntilUnixNano)
		}
		if o.Importance <= 0 || o.Importance > 1 {
			t.Errorf("%s: importance %v", c.typ, o.Importance)
		}
		if got := lines(b.Edges); !strings.HasPrefix(got, "belongs_to_session  session:s-1 1 stated\nowned_by_agent  agent:claude 1 stated\n") {
			t.Errorf("%s: edges\n%s", c.typ, got)
		}
	}
}

func TestWhatTheEnvelopeSays(t *testing.T) {
	o, edges := made(t, schemas.TypeMemoryStated, `{"tenant":"acme","agent":"a","visibility":"VISIBILITY_PRIVATE","importance":0,
		"occurred_at":"2026-11-19T10:00:00Z","valid_from":"2026-11-01T00:00:00Z","valid_until":"2026-12-01T00:00:00Z",
		"parent_event_id":"p","caused_by":["c","p","e-1"],"text":"T",
		"attributes":{"b":"2","a":"1","model":"theirs"},"model":"ours",
		"relations":[{"kind":"Contradicts","event_id":"x","confidence":0.5},{"kind":"derived-from","ref":"commit:9FCEB02"},
			{"kind":"blocks","ref":"issue:acme/shop#12"},{"kind":"refers_to","ref":"src/./a.go"}]}`)
	if o.Tenant != "acme" || o.Visibility != recountv1.Visibility_VISIBILITY_PRIVATE || o.Importance != 0 {
		t.Errorf("got %v", o)
	}
	day := int64(24 * time.Hour)
	if o.TimeUnixNano != at.UnixNano()-day || o.ValidFromUnixNano != 1793491200e9 || o.ValidUntilUnixNano != 1796083200e9 {
		t.Errorf("times %d %d %d", o.TimeUnixNano, o.ValidFromUnixNano, o.ValidUntilUnixNano)
	}
	var attributes []string
	for _, a := range o.Attributes {
		attributes = append(attributes, a.Key+"="+a.Value)
	}
	if got := strings.Join(attributes, " "); got != "a=1 b=2 model=ours model=theirs" {
		t.Errorf("attributes %s", got)
	}
	id := func(s string) string { return schemas.ProducerID("test", s).String()[:8] }
	want := strings.Join([]string{
		"owned_by_agent  agent:a 1 stated",
		"caused_by  event " + id("p") + " 1 stated",
		"caused_by  event " + id("c") + " 1 stated", // without itself, and with p only once
		"derived_from  event " + id("p") + " 0.8 type",
		"contradicts  event " + id("x") + " 0.5 stated",
		"derived_from  commit:9fceb02 1 stated",
		"other blocks issue:acme/shop#12 1 stated",
		"refers_to  file:src/a.go 1 stated",
	}, "\n") + "\n"
	if diff := cmp.Diff(want, lines(edges)); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}

// TestCallAndResultMeet checks that a call and its result name the same call, in either order, and
// that the command has the hash by which its command.executed event is found.
func TestCallAndResultMeet(t *testing.T) {
	call, callEdges := made(t, schemas.TypeToolCall, `{"session":"s","tool":{"name":"bash","call_id":"c1","command":"cat  src/a.go > /tmp/x","cwd":"/src/shop","files":["README.md"]}}`)
	result, resultEdges := made(t, schemas.TypeToolResult, `{"session":"s","tool":{"name":"bash","call_id":"c1","result":"no such file","exit_code":1,"duration":"1.5s"}}`)
	want := `belongs_to_session  session:s 1 stated
uses_tool  tool:bash 1 stated
tool_produces  call:s/c1 1 stated
refers_to  file:README.md 1 stated
refers_to  file:/src/shop/src/a.go 0.9 command
refers_to  file:/tmp/x 0.9 command
`
	if diff := cmp.Diff(want, lines(callEdges)); diff != "" {
		t.Errorf("call (-want +got):\n%s", diff)
	}
	want = "belongs_to_session  session:s 1 stated\ntool_produces  call:s/c1 1 stated\n"
	if diff := cmp.Diff(want, lines(resultEdges)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if got := call.Tool; got.CommandHash != command.ContentHash("cat src/a.go > /tmp/x") || got.Template == "" || got.DurationNano != -1 {
		t.Errorf("call's tool %v", got)
	}
	if got := result.Tool; got.GetExitCode() != 1 || got.ExitCode == nil || got.DurationNano != 1.5e9 {
		t.Errorf("result's tool %v", got)
	}
	if result.Importance <= call.Importance {
		t.Errorf("a failure matters %v, a call %v", result.Importance, call.Importance)
	}
}

func TestTasks(t *testing.T) {
	task, edges := made(t, schemas.TypeTaskStarted, `{"workspace":"w","task":{"id":"t1","title":"T"},"attributes":{"task":"t0"}}`)
	part := func(id string) string {
		return "part_of_task  object " + schemas.NamedObjectID("", "w", recountv1.ObjectType_OBJECT_TYPE_TASK, "", id).String()[:8] + " 1 stated\n"
	}
	if lines(edges) != part("t0") {
		t.Errorf("a task within a task: %s", lines(edges))
	}
	for _, payload := range []string{`{"workspace":"w","text":"x","task":{"id":"t1"}}`, `{"workspace":"w","text":"x","attributes":{"task":"t1"}}`} {
		_, edges := made(t, schemas.TypeUserMessage, payload)
		if lines(edges) != part("t1") || string(edges[0].ObjectId) != string(task.Id) {
			t.Errorf("%s: %s", payload, lines(edges))
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct{ payload, reason string }{
		{`{"state":{"value":"x"}}`, "state.key: empty"},
		{`{"session":"a\u0000b"}`, "session: holds a NUL byte"},
		{`{"caused_by":["a","b\u0000"]}`, "caused_by[1]: holds a NUL byte"},
		{`{"relations":[{"kind":"supports"}]}`, "relations[0]: has no target"},
		{`{"relations":[{"kind":"x","ref":"a\u0000"}]}`, "relations[0]: holds a NUL byte"},
		{`{"occurred_at":"9999-01-01T00:00:00Z"}`, "occurred_at: 9999-01-01T00:00:00Z is outside"},
		{`{"valid_from":"2026-02-01T00:00:00Z","valid_until":"2026-01-01T00:00:00Z"}`, "valid_until: 2026-01-01T00:00:00Z is before valid_from"},
	} {
		_, err := objects(t, event(schemas.TypeStateChanged, "e", c.payload))
		if err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: got %v, want %q", c.payload, err, c.reason)
		}
	}
	if err := Check(&recountv1.CommandExecuted{}); err == nil {
		t.Error("another payload passed")
	}
}

func TestContentHashFolds(t *testing.T) {
	hash := func(typ, text string) uint64 {
		b, _ := json.Marshal(text)
		o, _ := made(t, typ, `{"text":`+string(b)+`}`)
		return o.ContentHash
	}
	same := hash(schemas.TypeCritique, "Ünder  the\n\tHood ")
	for _, other := range []string{"ünder the hood", " ünder the hood\u00a0"} {
		if hash(schemas.TypeCritique, other) != same {
			t.Errorf("%q says something else", other)
		}
	}
	if hash(schemas.TypeUserMessage, "ünder the hood") == same || hash(schemas.TypeCritique, "ünder the hoods") == same {
		t.Error("others say the same")
	}
}

// TestGolden shows the output for real events: the first line of a block is the event, the others
// are its object and edges. Run with -rewrite and read the diff. An event of which something else is
// made than before needs a new Name.
func TestGolden(t *testing.T) {
	var all []golden.Versioned
	files, _ := filepath.Glob("testdata/*.jsonl")
	if len(files) != 2 {
		t.Fatalf("found %q", files)
	}
	for _, file := range files {
		var out strings.Builder
		for _, e := range readEvents(t, file) {
			b, err := objects(t, e)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, golden.Versioned{Name: e.Type, Versions: Name, Input: e.Payload, Result: golden.Proto(t, b)})
			Embed(b, embed.NewHash())
			describe(&out, e, b)
		}
		golden.Check(t, strings.TrimSuffix(file, ".jsonl")+".golden", out.String())
	}
	golden.Versions(t, "testdata/versions/events.txt", all)
}

func describe(out *strings.Builder, e schemas.Event, b *recountv1.ObjectBatch) {
	o := b.Objects[0]
	fmt.Fprintf(out, "%s %s\n", e.Type, e.ID)
	fmt.Fprintf(out, "  %s %s %q, hash %016x, importance %v\n", o.Type, o.Memory, o.Title, o.ContentHash, o.Importance)
	if o.Tool != nil {
		fmt.Fprintf(out, "  tool %s %s: %q, hash %016x\n", o.Tool.Name, o.Tool.CallId, o.Tool.Template, o.Tool.CommandHash)
	}
	if o.Claim != nil {
		fmt.Fprintf(out, "  claim %v\n", o.Claim)
	}
	for _, p := range o.Parts {
		fmt.Fprintf(out, "  part %d-%d hash %016x, %d dimensions\n", p.Start, p.End, p.ContentHash, len(p.Embedding))
	}
	for _, edge := range b.Edges {
		fmt.Fprintf(out, "  %s\n", line(edge))
	}
}

func readEvents(t testing.TB, file string) (all []schemas.Event) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var e struct {
			ID, Type string
			Data     json.RawMessage
		}
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, event(e.Type, e.ID, string(e.Data)))
	}
	return all
}

// TestDeterministic checks that one event gives the same bytes with and without a cache of
// commands.
func TestDeterministic(t *testing.T) {
	memory := command.Remember()
	for _, file := range []string{"testdata/openhands.jsonl", "testdata/swe-agent.jsonl"} {
		for _, e := range readEvents(t, file) {
			m, err := e.DecodePayload()
			if err != nil {
				t.Fatal(err)
			}
			var first []byte
			for i := range 3 {
				rec := &recountv1.Record{}
				if i == 0 {
					err = Objects(e, m, rec)
				} else {
					err = Remembering(memory)(e, m, rec)
				}
				if err != nil {
					t.Fatal(err)
				}
				Embed(rec.GetObjects(), embed.NewHash())
				b, err := proto.MarshalOptions{Deterministic: true}.Marshal(rec)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = b
				}
				if string(b) != string(first) {
					t.Errorf("%s: another record the second time", e)
				}
			}
		}
	}
}

func TestTheTextOfACallSaysItsCommandOnce(t *testing.T) {
	for _, tt := range []struct{ name, arguments, want string }{
		{"no arguments", "", "cd a && make <x"},
		{"the line itself", "cd a && make <x", "cd a && make <x"},
		{"as Python writes it", `{"command": "cd a && make <x"}`, "cd a && make <x"},
		{"as Go writes it", `{"command":"cd a \u0026\u0026 make \u003cx"}`, "cd a && make <x"},
		{"something small beside", `{"is_input": "false", "command": "cd a && make <x"}`, "cd a && make <x"},
		{"something long beside", `{"command": "cd a && make <x", "because": "the tests are red"}`, "cd a && make <x\n\nbecause: the tests are red"},
		{"another command", `{"command": "ls"}`, "cd a && make <x\n\ncommand: ls"},
		{"no JSON", `{"command": "cd a`, "cd a && make <x\n\n" + `{"command": "cd a`},
	} {
		if got := callText(&recountv1.Tool{Name: "bash", Command: "cd a && make <x", Arguments: tt.arguments}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
