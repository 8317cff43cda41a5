package runs_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/node"
)

func TestMain(m *testing.M) {
	sandbox.Init()                  // does not return in the helper of a sandbox
	os.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	os.Exit(m.Run())
}

// server is a node that executes replays for its operator, and a directory that commands ran in.
type server struct {
	t          testing.TB
	url, token string
	agent      string // a token with all grants that is not the operator's
	dir        string
}

// patience stops a test that hangs; it measures nothing.
const patience = time.Minute

func start(t *testing.T, execute bool) *server {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	shim := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", self)
	if err := os.WriteFile(filepath.Join(bin, "recount-record"), []byte(shim), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("HOME", t.TempDir())
	s := &server{t: t, token: access.NewToken(), agent: access.NewToken(), dir: t.TempDir()}
	entry, err := access.Format(access.Entry{SHA256: access.Hash(s.agent), Workspaces: []string{"*"}, Agent: "claude", Grants: []string{"commands", "code", "runtime"}})
	if err != nil {
		t.Fatal(err)
	}
	tokens := filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(tokens, []byte("tokens:\n"+entry), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := node.Config{DataDir: filepath.Join(t.TempDir(), "data"), Version: "test"}
	cfg.HTTP.Listen, cfg.HTTP.Token, cfg.HTTP.TokensFile = "127.0.0.1:0", s.token, tokens
	cfg.Kafka.Listen, cfg.OTLP.GRPC, cfg.OTLP.HTTP = "none", "none", "none"
	cfg.Replay.Execute, cfg.Replay.State = execute, t.TempDir()
	n, err := node.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	s.url = n.Endpoints().HTTP
	return s
}

// ran records commands of session s1, in the directory, and waits until they are visible.
func (s *server) ran(commands ...string) {
	s.t.Helper()
	events := []any{}
	for i, c := range commands {
		events = append(events, map[string]any{
			"command": c, "cwd": s.dir, "workspace": s.dir, "session": "s1", "shell": "bash", "exit_code": 0,
			"started_at": time.Date(2026, 11, 20, 9, i, 0, 0, time.UTC).Format(time.RFC3339), "duration": "0.1s",
		})
	}
	var out struct {
		Events []struct {
			Position schemas.Position `json:"position"`
		} `json:"events"`
	}
	s.answers("events", events, &out)
	at := out.Events[len(out.Events)-1].Position
	var found any
	s.answers("find", map[string]any{"at_least": fmt.Sprintf("%s:%d", at.TP(), at.Offset+1), "wait_ms": patience.Milliseconds()}, &found)
}

func (s *server) post(ctx context.Context, token, path string, body any) *http.Response {
	s.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/"+path, bytes.NewReader(b))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp
}

// answers calls an operation as the operator and decodes its answer.
func (s *server) answers(path string, body, out any) {
	s.t.Helper()
	resp := s.post(s.t.Context(), s.token, path, body)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s %s", path, resp.Status, b)
	}
	if err := json.Unmarshal(b, out); err != nil {
		s.t.Fatalf("%s: %v: %s", path, err, b)
	}
}

// event is what the tests look at.
type event struct {
	Event, Run, Command, Output string
	Outcome                     *struct{ Status, Reason, Command string }
	Report                      *struct{ Status string }
	Question                    *struct{ ID, Kind, Hash, Text string }
	Applied                     *bool
	Detail                      string
}

// runs calls an operation that streams, and each with every event.
func (s *server) runs(ctx context.Context, path string, body any, each func(event)) {
	s.t.Helper()
	resp := s.post(ctx, s.token, path, body)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		b, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("%s: %s %s", path, resp.Status, b)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	name := ""
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = v
		}
		if v, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			e := event{}
			if err := json.Unmarshal([]byte(v), &e); err != nil {
				s.t.Fatalf("%s: %v", v, err)
			}
			if e.Event == "" {
				e.Event = name
			} else if e.Event != name {
				s.t.Errorf("event %s has the data of %s", name, e.Event)
			}
			each(e)
		}
	}
	if ctx.Err() == nil && lines.Err() != nil {
		s.t.Fatal(lines.Err())
	}
}

// agreed returns the hash of the only dangerous step of a plan.
func (s *server) agreed(plan any) string {
	s.t.Helper()
	var p struct{ Agree []struct{ Hash string } }
	s.answers("replay/plan", plan, &p)
	if len(p.Agree) != 1 {
		s.t.Fatalf("%d dangerous steps: want 1", len(p.Agree))
	}
	return p.Agree[0].Hash
}

// sends is dangerous, and succeeds without a network.
const sends = "curl -s -d x http://recount.invalid || true"

// TestRunsOverHTTP runs a plan, with a dangerous step that is agreed to by its hash, by an answer, or
// not at all, and applies the changes.
func TestRunsOverHTTP(t *testing.T) {
	s := start(t, true)
	s.ran("mkdir -p out", "echo hello > out/a", sends)
	plan := map[string]any{"session": "s1", "all": true}
	hash := s.agreed(plan)

	outcomes := map[string]string{}
	var last event
	note := func(e event) {
		if e.Outcome != nil {
			outcomes[e.Outcome.Command] = e.Outcome.Status
		}
		last = e
	}
	s.runs(t.Context(), "replay/run", map[string]any{"plan": plan, "yes": true, "agree": []string{strings.Repeat("0", 64)}}, note)
	if outcomes[sends] != "refused" || outcomes["mkdir -p out"] != "done" || last.Event != "done" || last.Report.Status != "incomplete" {
		t.Errorf("without a yes: %v, %+v", outcomes, last)
	}
	first := last.Run
	s.runs(t.Context(), "replay/resume", map[string]any{"run": first, "agree": []string{hash}}, note)
	if outcomes[sends] != "done" || last.Report.Status != "complete" || *last.Applied {
		t.Errorf("with the hash: %v, %+v", outcomes, last)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "out")); err == nil {
		t.Error("the real directory was changed before apply")
	}
	s.runs(t.Context(), "replay/apply", map[string]any{"run": first}, note)
	if b, err := os.ReadFile(filepath.Join(s.dir, "out", "a")); string(b) != "hello\n" {
		t.Errorf("after apply: %q, %v, %+v", b, err, last)
	}

	// Another run: its question is answered by another request.
	asked := false
	s.runs(t.Context(), "replay/run", map[string]any{"plan": plan, "yes": true, "ask": true}, func(e event) {
		note(e)
		if e.Question != nil {
			asked = true
			if e.Question.Kind != "danger" || e.Question.Hash != hash {
				t.Errorf("question %+v", e.Question)
			}
			var ok any
			s.answers("replay/answer", map[string]any{"run": e.Run, "question": e.Question.ID, "yes": true}, &ok)
		}
	})
	if !asked || outcomes[sends] != "done" {
		t.Errorf("asked %t: %v", asked, outcomes)
	}
	var ok any
	s.answers("replay/discard", map[string]any{"run": last.Run}, &ok)
}

// TestUnknownProgramsOverHTTP runs steps of a program about which nothing is known with the network open: it
// is agreed to by its name, by one answer, or not at all.
func TestUnknownProgramsOverHTTP(t *testing.T) {
	s := start(t, true)
	const first, second = "sometool a || true", "sometool b || true"
	s.ran(first, second)
	plan := map[string]any{"session": "s1", "all": true}
	var planned struct {
		Plan struct{ Steps []struct{ Unknown []string } }
	}
	if s.answers("replay/plan", plan, &planned); len(planned.Plan.Steps) != 2 || fmt.Sprint(planned.Plan.Steps[1].Unknown) != "[sometool]" {
		t.Errorf("planned: %+v", planned)
	}
	for _, c := range []struct {
		name  string
		how   map[string]any
		want  string
		asked int
	}{
		{"the network is closed", map[string]any{}, "done done", 0},
		{"yes does not agree to it", map[string]any{"network": true, "yes": true, "on_failure": "skip"}, "refused blocked", 0},
		{"its name does", map[string]any{"network": true, "unknown": []string{"sometool"}}, "done done", 0},
		{"one answer does", map[string]any{"network": true, "ask": true}, "done done", 1},
	} {
		statuses, asked, run := map[string]string{}, 0, ""
		c.how["plan"] = plan
		s.runs(t.Context(), "replay/run", c.how, func(e event) {
			if run = e.Run; e.Outcome != nil {
				statuses[e.Outcome.Command] = e.Outcome.Status
			}
			if e.Question != nil {
				asked++
				if e.Question.Kind != "program" {
					t.Errorf("%s: question %+v", c.name, e.Question)
				}
				var ok any
				s.answers("replay/answer", map[string]any{"run": e.Run, "question": e.Question.ID, "yes": true}, &ok)
			}
		})
		if got := statuses[first] + " " + statuses[second]; got != c.want || asked != c.asked {
			t.Errorf("%s: %s, asked %d times; want %s, %d", c.name, got, asked, c.want, c.asked)
		}
		var ok any
		s.answers("replay/discard", map[string]any{"run": run}, &ok)
	}
}

// TestRunsAreCancelled ends runs by their name and by the end of their request.
func TestRunsAreCancelled(t *testing.T) {
	s := start(t, true)
	s.ran("echo begun > a", "sleep 3600", "echo never > b")
	plan := map[string]any{"session": "s1", "all": true}
	for _, byName := range []bool{true, false} {
		ctx, leave := context.WithTimeout(t.Context(), patience)
		name, status := "", ""
		s.runs(ctx, "replay/run", map[string]any{"plan": plan, "yes": true}, func(e event) {
			name = e.Run
			if e.Event == "start" && strings.HasPrefix(e.Command, "sleep") {
				if byName {
					var ok any
					s.answers("replay/cancel", map[string]any{"run": e.Run}, &ok)
				} else {
					leave()
				}
			}
			if e.Report != nil {
				status = e.Report.Status
			}
		})
		leave()
		if byName && status != "stopped" {
			t.Errorf("cancelled: %q", status)
		}
		state := ""
		for deadline := time.Now().Add(patience); state != "stopped" && time.Now().Before(deadline); {
			var r struct{ Runs []struct{ State string } }
			s.answers("replay/runs", map[string]any{"run": name}, &r)
			state = r.Runs[0].State
		}
		if state != "stopped" {
			t.Errorf("by name %t: the log says %q", byName, state)
		}
	}
}

// TestRunsNeedTheOperator checks who may execute, and what a server without the setting answers.
func TestRunsNeedTheOperator(t *testing.T) {
	for _, execute := range []bool{true, false} {
		s := start(t, execute)
		s.ran("echo a > a")
		for _, op := range []string{"run", "resume", "apply", "discard", "cancel", "answer"} {
			body := map[string]any{"run": "r-00000000"}
			switch op {
			case "run":
				body = map[string]any{"plan": map[string]any{"session": "s1"}}
			case "answer":
				body["question"], body["yes"] = "q-1", true
			}
			for token, want := range map[string]int{s.agent: 403, s.token: 404} {
				if token == s.token && !execute {
					want = 403
				}
				if token == s.token && execute && op == "run" {
					want = 200
				}
				resp := s.post(t.Context(), token, "replay/"+op, body)
				b, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != want {
					t.Errorf("execute %t, %s: %s %s: want %d", execute, op, resp.Status, b, want)
				}
			}
		}
		resp := s.post(t.Context(), s.agent, "replay/plan", map[string]any{"session": "s1"})
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("a plan for a token with the grant commands: %s", resp.Status)
		}
	}
}

// TestRunsRefuse checks requests that are refused before anything runs.
func TestRunsRefuse(t *testing.T) {
	s := start(t, true)
	s.ran("echo a > a")
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte("#!/bin/sh\necho no daemon >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	plan := map[string]any{"session": "s1"}
	for _, x := range []struct {
		body   map[string]any
		status int
		want   string
	}{
		{map[string]any{"plan": plan, "isolation": "none"}, 422, "only from a terminal"},
		{map[string]any{"plan": plan, "dir": "relative"}, 422, "absolute path"},
		{map[string]any{"plan": plan, "plan_id": "0123"}, 422, "look at it again"},
		{map[string]any{"plan": map[string]any{"session": "none"}}, 422, "no command was found"},
		{map[string]any{"plan": plan, "dir": filepath.Join(s.dir, "missing")}, 422, "it is not there"},
		{map[string]any{"plan": plan, "values": map[string]string{"RECOUNT_TOKN": "x"}}, 422, "asks for no such value"},
		{map[string]any{"plan": plan, "isolation": "docker:any"}, 409, "docker does not work here: no daemon"},
	} {
		resp := s.post(t.Context(), s.token, "replay/run", x.body)
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != x.status || !strings.Contains(string(b), x.want) {
			t.Errorf("%v: %s %s: want %d and %q", x.body, resp.Status, b, x.status, x.want)
		}
	}
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// calls calls an MCP tool of the server with a token.
func (s *server) calls(token, tool string, in map[string]any) (text string, failed bool) {
	s.t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(s.t.Context(),
		&sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	r, err := c.CallTool(s.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		return err.Error(), true
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

// TestRunsOverMCP plans with a tool of everybody and executes with one of the operator's.
func TestRunsOverMCP(t *testing.T) {
	s := start(t, true)
	s.ran("mkdir -p out", "echo hello > out/a")
	var find struct{ Hits []struct{ ID string } }
	s.answers("find", map[string]any{"text": "echo hello"}, &find)
	id := find.Hits[0].ID
	if text, failed := s.calls(s.agent, "commands", map[string]any{"id": id, "view": "plan"}); failed || !strings.Contains(text, "mkdir -p out") {
		t.Errorf("plan: %s", text)
	}
	if text, failed := s.calls(s.agent, "replay", map[string]any{"id": id}); !failed || !strings.Contains(text, "executes commands") {
		t.Errorf("a token that is not the operator's: %s", text)
	}
	text, failed := s.calls(s.token, "replay", map[string]any{"id": id})
	run := regexp.MustCompile(`r-[0-9a-f]{8}`).FindString(text)
	if failed || run == "" || !strings.Contains(text, "complete") || !strings.Contains(text, "do=apply") {
		t.Fatalf("run: %s", text)
	}
	if text, failed = s.calls(s.token, "replay", map[string]any{"id": run, "do": "apply"}); failed || !strings.Contains(text, "applied") {
		t.Errorf("apply: %s", text)
	}
	if b, err := os.ReadFile(filepath.Join(s.dir, "out", "a")); string(b) != "hello\n" {
		t.Errorf("after apply: %q, %v", b, err)
	}
	if text, failed = s.calls(s.token, "replay", map[string]any{}); !failed || !strings.Contains(text, "id is missing") {
		t.Errorf("without an id: %s", text)
	}
}
