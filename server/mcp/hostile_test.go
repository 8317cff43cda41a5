package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/mcp"
)

// TestBadArgumentsSayWhatToDo checks that an error names the thing and what to call instead.
func TestBadArgumentsSayWhatToDo(t *testing.T) {
	c := connectTo(t, mcp.New(newWorld(t).options()), nil)
	for _, x := range []struct {
		tool string
		in   map[string]any
		want string
	}{
		{"symbols", map[string]any{}, "text is missing"},
		{"symbols", map[string]any{"text": "x", "limit": 2.5}, "limit: got a JSON number 2.5, want an integer"},
		{"symbols", map[string]any{"text": 5}, "text: got a JSON number, want a string"},
		{"symbols", map[string]any{"txt": "a"}, "symbols takes text, repo, at"},
		{"symbols", map[string]any{"text": "a", "limit": 100000}, "limit: want 1 to 500"},
		{"context", map[string]any{"task": "a", "budget": 50}, "budget: 50 tokens: want 256 to 200000"},
		{"context", map[string]any{"task": "a", "budget": 200001}, "budget: 200001 tokens: want 256 to 200000"},
		{"symbols", map[string]any{"text": "a", "cursor": "AAAA"}, "cursor: not one of this call"},
		{"symbols", map[string]any{"text": strings.Repeat("a", 2<<20)}, "the maximum is"},
		{"calls", map[string]any{"symbol": "no.such.thing"}, "call symbols with a part of the name"},
		{"calls", map[string]any{"symbol": "Total", "direction": "up"}, "want one of callers, callees"},
		{"impact", map[string]any{}, "want symbols, files, or diff"},
		{"impact", map[string]any{"symbols": []string{"Total"}, "repo": "nowhere"}, "call import"},
		{"diff", map[string]any{"base": "no-such-revision"}, "call repository with view=log"},
		{"why", map[string]any{"about": "ffffffffffff"}, "call commands"},
		{"commands", map[string]any{"since": "soon"}, "want an age (90m, 2d, 1w), a day"},
		{"remember", map[string]any{"kind": "handover", "text": "x"}, "handover wants to"},
		{"remember", map[string]any{"kind": "decision"}, "text is missing"},
		{"remember", map[string]any{"kind": "task_done", "id": "SHOP-8"}, `no open task here has the id "SHOP-8": call evidence with view=open`},
		{"remember", map[string]any{}, "kind is missing: one of decision, fact, note"},
		{"repository", map[string]any{"view": "graph", "symbol": "no.such.thing"}, "call symbols with a part of the name"},
		{"import", map[string]any{"path": "/etc"}, "not below your directories"},
		{"import", map[string]any{"history": -3}, "import: history: -3: want 1 or more"},
		{"import", map[string]any{"path": "../.."}, "not below your directories"},
	} {
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: x.tool, Arguments: x.in})
		if err != nil {
			t.Errorf("%s %.80v: %v", x.tool, x.in, err)
			continue
		}
		if !r.IsError || !strings.Contains(textOf(r), x.want) {
			t.Errorf("%s %.80v: error %v: %q does not say %q", x.tool, x.in, r.IsError, textOf(r), x.want)
		}
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "no_such_tool"}); err == nil {
		t.Error("an unknown tool: no error")
	}
	c.says("symbols", map[string]any{"text": "Total", "limit": json.RawMessage("5.0")}, "cart.Cart.Total") // it still answers
}

// TestStreamsOfNonsense sends lines that are no calls, and checks that the server answers the next.
func TestStreamsOfNonsense(t *testing.T) {
	s := mcp.New(newWorld(t).options())
	for _, nonsense := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"no/such/method","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/nothing"}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"symbols","arguments":{"text":"` + strings.Repeat("x", 10<<20) + `"}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"symbols","arguments":[1,2]}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"symbols","arguments":"` + strings.Repeat(`\u0000`, 100) + `"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"recount://event/%zz"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"recount://answer/000000000000"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"start_task"}}`,
		strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"symbols","arguments":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`,
		strings.Repeat("[", 20000),
		`not JSON`, `null`, `[]`, `{}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "\xff\xfe",
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", 17<<20) + `"}}`,
		`[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"ping"}]`,
	} {
		in, client := io.Pipe()
		answers, out := io.Pipe()
		done := make(chan error, 1)
		go func() {
			err := s.Serve(context.Background(), in, out)
			_ = out.Close()
			done <- err
		}()
		lines := bufio.NewReader(answers)
		go func() {
			for _, line := range []string{
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
				nonsense,
				`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"symbols","arguments":{"text":"Total"}}}`,
			} {
				_, _ = io.WriteString(client, line+"\n")
			}
		}()
		answered := false
		for !answered {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("after %.120s: %v", nonsense, err)
			}
			if answered = strings.Contains(line, `"id":9`); answered && !strings.Contains(line, "cart.Cart.Total") {
				t.Fatalf("after %.120s: %s", nonsense, line)
			}
		}
		// It says no more, and reads what is left.
		_ = client.Close()
		_, _ = io.Copy(io.Discard, lines)
		if err := <-done; err != nil {
			t.Errorf("after %.120s: serve: %v", nonsense, err)
		}
		_ = answers.Close()
	}
}

// TestCancelledCallEnds checks that a cancelled call ends the work, and the session goes on.
func TestCancelledCallEnds(t *testing.T) {
	w := newWorld(t)
	o := w.options()
	began, ended := make(chan struct{}), make(chan struct{})
	o.Import = func(ctx context.Context, _ string, _ int, _ bool, progress func(api.Progress)) (any, error) {
		progress(api.Progress{Phase: "import", Done: 1, Total: 3})
		close(began)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}
	told := make(chan string, 1)
	c := connectTo(t, mcp.New(o), &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		select {
		case told <- r.Params.Message:
		default:
		}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	params := &sdk.CallToolParams{Name: "import", Arguments: map[string]any{}}
	params.SetProgressToken("p")
	failed := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, params)
		failed <- err
	}()
	<-began
	if got := <-told; got != "import" {
		t.Errorf("progress %q", got)
	}
	cancel()
	<-ended
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call: %v", err)
	}
	c.says("symbols", map[string]any{"text": "Total"}, "cart.Cart.Total")
}

// TestPanicEndsOneCall checks that a bug in a question ends the call and not the server.
func TestPanicEndsOneCall(t *testing.T) {
	w := newWorld(t)
	o := w.options()
	first := true
	open := o.Open
	o.Open = func(ctx context.Context, writes bool) (api.Backend, func(), error) {
		if first {
			first = false
			panic("a bug")
		}
		return open(ctx, writes)
	}
	c := connectTo(t, mcp.New(o), nil)
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "symbols", Arguments: map[string]any{"text": "Total"}}); err == nil || !strings.Contains(err.Error(), "a bug in the handler") {
		t.Errorf("the call that panics: %v", err)
	}
	c.says("symbols", map[string]any{"text": "Total"}, "cart.Cart.Total")
}

// over serves a server over HTTP as the API does: each request has the principal of its token.
func over(t *testing.T, s *mcp.Server, principals map[string]schemas.Principal) *httptest.Server {
	t.Helper()
	h := s.Handler()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, known := principals[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		if !known {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r.WithContext(access.NewContext(r.Context(), p)))
	}))
	t.Cleanup(srv.Close)
	return srv
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func connectHTTP(t *testing.T, url, token string) *client {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &client{c, t}
}

// TestTokensBindWhatIsSeen checks over HTTP that a token without grants gets no code, that nobody
// reads another's answers, and that a session belongs to its token.
func TestTokensBindWhatIsSeen(t *testing.T) {
	w := newWorld(t)
	o := w.options()
	o.Locate, o.Import, o.Dir = nil, nil, ""
	srv := over(t, mcp.New(o), map[string]schemas.Principal{
		"operator": {Operator: true},
		"coder":    {Tenant: "", Workspaces: []string{"*"}, Agent: "a", Grants: []string{schemas.GrantCode}},
		"agent":    {Tenant: "acme", Workspaces: []string{"/a"}, Agent: "b"},
	})
	operator, coder, agent := connectHTTP(t, srv.URL, "operator"), connectHTTP(t, srv.URL, "coder"), connectHTTP(t, srv.URL, "agent")
	r := operator.call("symbols", map[string]any{"text": "Total"})
	coder.says("symbols", map[string]any{"text": "Total"}, "cart.Cart.Total")
	refused := func(c *client, tool string, in map[string]any) {
		t.Helper()
		got, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
		if err != nil || !got.IsError || !strings.Contains(textOf(got), "the token may not do this") {
			t.Errorf("%s: %v %s", tool, err, textOf(got))
		}
	}
	refused(agent, "symbols", map[string]any{"text": "Total"})
	refused(agent, "repository", map[string]any{"view": "communities"})
	refused(agent, "runtime", map[string]any{})
	refused(agent, "why", map[string]any{})
	refused(coder, "commands", map[string]any{"text": "go"})
	refused(coder, "commands", map[string]any{"id": "2d13f68b"})
	uri := uriOf(t, r)
	if _, err := operator.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil {
		t.Errorf("its own answer: %v", err)
	}
	for _, c := range []*client{coder, agent} {
		if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Error("another's answer was read")
		}
	}
	if _, err := agent.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "recount://symbol/shop/Total"}); err == nil {
		t.Error("a symbol was read without the grant")
	}

	// A session is begun by one token and used by another.
	post := func(token, session, body string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := (&http.Client{Transport: bearer(token)}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp
	}
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	session := post("operator", "", begin).Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatal("no session")
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if got := post("operator", session, list); got.StatusCode != 200 {
		t.Errorf("its own session: %d", got.StatusCode)
	}
	if got := post("agent", session, list); got.StatusCode != http.StatusForbidden {
		t.Errorf("another's session: %d", got.StatusCode)
	}
	if got := post("agent", "", strings.Repeat(" ", 5<<20)+list); got.StatusCode != http.StatusRequestEntityTooLarge && got.StatusCode != http.StatusBadRequest {
		t.Errorf("a body that is too large: %d", got.StatusCode)
	}
}

func uriOf(t *testing.T, r *sdk.CallToolResult) string {
	t.Helper()
	_, uri, ok := strings.Cut(textOf(r), "proof: ")
	if !ok {
		t.Fatalf("no proof in %s", textOf(r))
	}
	return uri
}

// TestHundredSessions has 100 clients call at the same time, and half of them go away half-way.
func TestHundredSessions(t *testing.T) {
	o := newWorld(t).options()
	o.Locate, o.Import, o.Dir = nil, nil, ""
	srv := over(t, mcp.New(o), map[string]schemas.Principal{"": {Operator: true}})
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			c, err := sdk.NewClient(&sdk.Implementation{Name: fmt.Sprint("c", i), Version: "1"}, nil).Connect(ctx, &sdk.StreamableClientTransport{Endpoint: srv.URL, DisableStandaloneSSE: true}, nil)
			if err != nil {
				t.Errorf("client %d: %v", i, err)
				return
			}
			call, stop := context.WithCancel(ctx)
			if i%2 == 0 {
				stop()
			}
			r, err := c.CallTool(call, &sdk.CallToolParams{Name: "impact", Arguments: map[string]any{"symbols": []string{"taxed"}}})
			if i%2 == 1 && (err != nil || r.IsError) {
				t.Errorf("client %d: %v", i, err)
			}
			stop()
			_ = c.Close()
		})
	}
	all.Wait()
	c := connectHTTP(t, srv.URL, "")
	c.says("symbols", map[string]any{"text": "Total"}, "cart.Cart.Total")
}

func TestAPromptWithoutItsArgumentIsRefused(t *testing.T) {
	c := connectTo(t, mcp.New(newWorld(t).options()), nil)
	_, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "start_task"})
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, "task is missing") {
		t.Errorf("got %v, want invalid params: task is missing", err)
	}
}
