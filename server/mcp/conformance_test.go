package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/mcp"
)

// conformanceModules names the folder node_modules with the suite and Node, which scripts/mcp.sh
// installs.
const conformanceModules = "RECOUNT_CONFORMANCE_MODULES"

// behindGuard serves MCP behind the guard of the API: host, origin, token, deadlines.
func behindGuard(t *testing.T, w *world, s *mcp.Server) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(httpapi.New(w.Node, httpapi.Options{MCP: s.Handler()}))
	t.Cleanup(srv.Close)
	return srv
}

// warned has what the suite prints for scenarios that pass with warnings. server-sse-polling begins a
// session of 2025-11-25 and then calls with the header of 2025-03-26; to that version the SDK sends
// neither ids nor retry, which came with 2025-11-25. TestBrokenStreamReadsOn does the same with the
// header of the session's version.
var warned = map[string]string{"server-sse-polling": "0 failed, 2 warnings"}

// TestConformance runs every server scenario of the official suite against the real server's
// middleware, sessions, guard and HTTP with the suite's fixtures. Other warnings fail.
func TestConformance(t *testing.T) {
	modules := os.Getenv(conformanceModules)
	if modules == "" {
		t.Skip(conformanceModules + " is not set: scripts/mcp.sh sets it")
	}
	suite := func(ctx context.Context, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(modules, "node", "bin", "node"), append([]string{filepath.Join(modules, ".bin", "conformance")}, args...)...)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	list, err := suite(t.Context(), "list", "--server")
	if err != nil {
		t.Fatalf("list: %v\n%s", err, list)
	}
	scenarios := regexp.MustCompile(`(?m)^\s*- (\S+)`).FindAllStringSubmatch(list, -1)
	if len(scenarios) < 32 {
		t.Fatalf("the suite has %d scenarios, want at least 32:\n%s", len(scenarios), list)
	}
	w := newWorld(t)
	o := w.options()
	o.Locate, o.Import, o.Dir = nil, nil, ""
	srv := behindGuard(t, w, withFixtures(o))
	for _, s := range scenarios {
		t.Run(s[1], func(t *testing.T) {
			out, err := suite(t.Context(), "server", "--url", srv.URL+mcp.Path, "--scenario", s[1])
			if err != nil || !strings.Contains(out, cmp.Or(warned[s[1]], "0 failed, 0 warnings")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestFixturesOverStream does over a stream, by lines, what the suite does over HTTP: the server asks
// the client in the midst of a call, tells it progress, logs, and answers with every kind of content.
func TestFixturesOverStream(t *testing.T) {
	progress, logged := make(chan float64, 8), make(chan string, 8)
	c := connectAs(t, "2025-11-25", withFixtures(newWorld(t).options()), &sdk.ClientOptions{
		//lint:ignore SA1019 what clients of the versions before 2026-07-28 do
		CreateMessageHandler: func(_ context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
			//lint:ignore SA1019 what clients of the versions before 2026-07-28 do
			return &sdk.CreateMessageResult{Role: "assistant", Model: "m", Content: text("said " + r.Params.Messages[0].Content.(*sdk.TextContent).Text)}, nil
		},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"username": "ada", "email": "ada@example.org"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
		//lint:ignore SA1019 what clients of the versions before 2026-07-28 do
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) { logged <- fmt.Sprint(r.Params.Data) },
	})
	c.says("test_sampling", map[string]any{"prompt": "x"}, "LLM response: said x")
	c.says("test_elicitation", map[string]any{"message": "who?"}, "action=accept", "ada@example.org")
	if r := c.call("test_multiple_content_types", map[string]any{}); len(r.Content) != 3 {
		t.Errorf("%d contents, want 3", len(r.Content))
	}
	//lint:ignore SA1019 what clients of the versions before 2026-07-28 do
	if err := c.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: "debug"}); err != nil {
		t.Fatal(err)
	}
	c.says("test_tool_with_logging", map[string]any{}, "executed")
	for _, want := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if got := <-logged; got != want {
			t.Errorf("logged %q, want %q", got, want)
		}
	}
	params := &sdk.CallToolParams{Name: "test_tool_with_progress", Arguments: map[string]any{}}
	params.SetProgressToken("p")
	if _, err := c.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{0, 50, 100} {
		if got := <-progress; got != want {
			t.Errorf("progress %v, want %v", got, want)
		}
	}
	if _, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "test_prompt_with_image"}); err != nil {
		t.Error(err)
	}
	c.says("symbols", map[string]any{"text": "Total"}, "cart.Cart.Total")
}

// TestBrokenStreamReadsOn closes the stream of a call before its answer, and reads the answer by
// Last-Event-ID, with the real server's handler.
func TestBrokenStreamReadsOn(t *testing.T) {
	w := newWorld(t)
	o := w.options()
	o.Locate, o.Import, o.Dir = nil, nil, ""
	srv := behindGuard(t, w, withFixtures(o))
	send := func(method, body string, headers ...string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, srv.URL+mcp.Path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(all)
	}
	began, _ := send("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	session := began.Header.Get("Mcp-Session-Id")
	const version, current = "Mcp-Protocol-Version", "2025-11-25"
	send("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, version, current, "Mcp-Session-Id", session)
	_, stream := send("POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"test_reconnection","arguments":{}}}`, version, current, "Mcp-Session-Id", session)
	if strings.Contains(stream, "completed successfully") {
		t.Fatalf("the stream was not closed before the answer: %s", stream)
	}
	_, id, found := strings.Cut(stream, "id: ")
	if id, _, _ = strings.Cut(id, "\n"); !found || id == "" {
		t.Fatalf("no id to read on from: %q", stream)
	}
	if _, rest := send("GET", "", version, current, "Mcp-Session-Id", session, "Last-Event-Id", strings.TrimSpace(id)); !strings.Contains(rest, "completed successfully") {
		t.Errorf("after reading on: %q", rest)
	}
	if resp, _ := send("GET", "", version, current, "Mcp-Session-Id", "another", "Last-Event-Id", strings.TrimSpace(id)); resp.StatusCode != http.StatusNotFound {
		t.Errorf("another session: %d", resp.StatusCode)
	}
}

// TestStreamsAreBounded fills what is kept for broken connections, and checks that the oldest goes,
// that a stream whose beginning went is refused, and that nothing of a session that ended is left.
func TestStreamsAreBounded(t *testing.T) {
	s := mcp.NewStreams()
	ctx := t.Context()
	after := func(session, id string, index int) (all []string, err error) {
		for m, e := range s.After(ctx, session, id, index) {
			if e != nil {
				return all, e
			}
			all = append(all, string(m))
		}
		return all, nil
	}
	for i := range mcp.MaxStreams + 10 {
		id := fmt.Sprint(i)
		if err := s.Open(ctx, "a", id); err != nil {
			t.Fatal(err)
		}
		for _, m := range []string{"0", "1", "2"} {
			if err := s.Append(ctx, "a", id, []byte(m)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if all, _, bytes := s.Len(); all != mcp.MaxStreams || bytes != 3*mcp.MaxStreams {
		t.Errorf("%d streams, %d bytes", all, bytes)
	}
	if _, err := after("a", "9", 0); err == nil {
		t.Error("a dropped stream was read")
	}
	for index, want := range map[int]string{-1: `["0","1","2"]`, 0: `["1","2"]`, 2: `null`, 7: `null`} {
		got, err := after("a", "11", index)
		if b, _ := json.Marshal(got); err != nil || string(b) != want {
			t.Errorf("after %d: %s %v, want %s", index, b, err, want)
		}
	}
	if err := s.Append(ctx, "a", "9", []byte("late")); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(ctx, "b", "0", []byte("never opened")); err != nil {
		t.Fatal(err)
	}
	if err := s.Open(ctx, "b", "large"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Append(ctx, "b", "large", make([]byte, mcp.MaxStreamBytes/2+1)); err != nil {
			t.Fatal(err)
		}
	}
	if all, sessions, bytes := s.Len(); all != 0 || sessions != 0 || bytes != 0 {
		t.Errorf("after one that is larger than all: %d streams of %d sessions, %d bytes", all, sessions, bytes)
	}
	if err := s.Open(ctx, "c", "1"); err != nil {
		t.Fatal(err)
	}
	if err := s.SessionClosed(ctx, "c"); err != nil {
		t.Fatal(err)
	}
	if all, sessions, _ := s.Len(); all+sessions != 0 {
		t.Errorf("after the session's end: %d streams of %d sessions", all, sessions)
	}
}
