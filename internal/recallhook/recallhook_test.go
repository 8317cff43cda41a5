package recallhook

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/hookinput"
)

// world is a home directory and a server that answers with a fixed text.
type world struct {
	t       *testing.T
	env     map[string]string
	asked   []map[string]any
	paths   []string
	auth    string
	handler http.HandlerFunc
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, env: map[string]string{"HOME": t.TempDir()}}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.handler != nil {
			w.handler(rw, r)
			return
		}
		var q map[string]any
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		w.asked, w.paths, w.auth = append(w.asked, q), append(w.paths, r.URL.Path), r.Header.Get("Authorization")
		_, _ = io.WriteString(rw, `{"text":"Recount: …\n> said","items":[{"id":"recount.agents/0/7"}]}`)
	}))
	t.Cleanup(s.Close)
	w.env["RECOUNT_SERVER"], w.env["RECOUNT_TOKEN"] = s.URL, "secret"
	return w
}

func (w *world) getenv(name string) string { return w.env[name] }

// hook returns a hook whose clock stands, and whose recorder does nothing.
func (w *world) hook(agent string, out io.Writer) *hook {
	return &hook{
		agent: agent, out: out, getenv: w.getenv,
		at:      func(time.Time) <-chan time.Time { return nil },
		dial:    func(address string, _ time.Time) (net.Conn, error) { return net.Dial("tcp", address) },
		record:  func(string, []byte) (<-chan struct{}, error) { return nil, nil },
		release: func() {},
	}
}

// ask runs the half of the hook that recalls.
func (w *world) ask(agent, message string) string {
	w.t.Helper()
	m, err := hookinput.Parse([]byte(message))
	if err != nil {
		w.t.Fatal(err)
	}
	var out bytes.Buffer
	if err := w.hook(agent, &out).remind(&m, time.Now().Add(long)); err != nil {
		out.WriteString("error: " + err.Error())
	}
	return out.String()
}

// long is a deadline that no test reaches.
const long = time.Minute

// TestFormats gives the hook each agent's documented input of each event at which something may be
// recalled, and checks what is asked and the documented output.
func TestFormats(t *testing.T) {
	for _, x := range []struct{ name, agent, message, path, event, on, has string }{
		{"Claude Code, session", "claude-code", `{"session_id":"abc123","transcript_path":"/t.jsonl","cwd":"/src","hook_event_name":"SessionStart","source":"startup","model":"claude-sonnet-4-6"}`, "/v1/brief", "SessionStart", "", ""},
		{"Claude Code, prompt", "claude-code", `{"session_id":"abc123","transcript_path":"/t.jsonl","cwd":"/src","permission_mode":"default","hook_event_name":"UserPromptSubmit","prompt":"Write a function to calculate the factorial of a number"}`, "/v1/recall", "UserPromptSubmit", "prompt", "factorial"},
		{"Claude Code, failure", "claude-code", `{"session_id":"abc123","cwd":"/src","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"npm test","description":"Run test suite"},"tool_use_id":"toolu_01ABC123","error":"Command exited with non-zero status code 1","is_interrupt":false}`, "/v1/recall", "PostToolUseFailure", "failure", "non-zero"},
		{"Codex, session", "codex", `{"session_id":"019","transcript_path":null,"cwd":"/src","hook_event_name":"SessionStart","source":"startup","model":"gpt-5","permission_mode":"default"}`, "/v1/brief", "SessionStart", "", ""},
		{"Codex, prompt", "codex", `{"session_id":"019","turn_id":"t","transcript_path":null,"cwd":"/src","hook_event_name":"UserPromptSubmit","prompt":"fix the build","model":"gpt-5","permission_mode":"default"}`, "/v1/recall", "UserPromptSubmit", "prompt", "build"},
		{"Codex, failure", "codex", `{"session_id":"019","turn_id":"t","cwd":"/src","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"c","tool_input":{"command":"cargo build"},"tool_response":"Exit code: 101\nerror[E0425]: cannot find value"}`, "/v1/recall", "PostToolUse", "failure", "E0425"},
		{"Gemini, session", "gemini", `{"session_id":"g","transcript_path":"","cwd":"/src","hook_event_name":"SessionStart","timestamp":"2026-11-20T12:00:00Z","source":"startup"}`, "/v1/brief", "SessionStart", "", ""},
		{"Gemini, prompt", "gemini", `{"session_id":"g","transcript_path":"","cwd":"/src","hook_event_name":"BeforeAgent","timestamp":"2026-11-20T12:00:00Z","prompt":"fix the linter"}`, "/v1/recall", "BeforeAgent", "prompt", "linter"},
		{"Gemini, failure", "gemini", `{"session_id":"g","cwd":"/src","hook_event_name":"AfterTool","timestamp":"2026-11-20T12:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"make lint"},"tool_response":{"llmContent":"Output: unused variable\nExit Code: 2","returnDisplay":"x"}}`, "/v1/recall", "AfterTool", "failure", "unused"},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld(t)
			got := w.ask(x.agent, x.message)
			want := `{"hookSpecificOutput":{"hookEventName":"` + x.event + `","additionalContext":"Recount: …\n\u003e said"}}` + "\n"
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if len(w.paths) != 1 || w.paths[0] != x.path || w.auth != "Bearer secret" {
				t.Fatalf("asked %v with %q", w.paths, w.auth)
			}
			q := w.asked[0]
			text, _ := q["text"].(string)
			output, _ := q["output"].(string)
			if on, _ := q["on"].(string); on != x.on || q["agent"] != x.agent || q["workspace"] != "/src" || !strings.Contains(text+output, x.has) {
				t.Errorf("asked %v", q)
			}
		})
	}
}

// TestSilence checks that nothing is asked where there is nothing to ask.
func TestSilence(t *testing.T) {
	for name, message := range map[string]string{
		"success":      `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"a","stderr":"","interrupted":false}}`,
		"interrupted":  `{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"ls"},"error":"x","is_interrupt":true}`,
		"another tool": `{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Edit","tool_input":{"file_path":"x"},"error":"String to replace not found"}`,
		"before":       `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
		"an answer":    `{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"done"}`,
		"no prompt":    `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":" "}`,
		"wrong types":  `{"session_id":7,"hook_event_name":"UserPromptSubmit","prompt":["x"]}`,
		"rubbish":      `{}`,
	} {
		w := newWorld(t)
		if got := w.ask("claude-code", message); got != "" || len(w.paths) > 0 {
			t.Errorf("%s: got %q, asked %v", name, got, w.paths)
		}
	}
}

// TestNothingTwice checks that what a session was told is sent with its next question, that another
// session is told again, and that a cleared context may be.
func TestNothingTwice(t *testing.T) {
	w := newWorld(t)
	prompt := func(session string) []any {
		w.ask("claude-code", `{"session_id":"`+session+`","cwd":"/src","hook_event_name":"UserPromptSubmit","prompt":"x"}`)
		return w.asked[len(w.asked)-1]["without"].([]any)
	}
	if got := prompt("a"); len(got) != 0 {
		t.Errorf("at first: %v", got)
	}
	if got := prompt("a"); len(got) != 1 || got[0] != "recount.agents/0/7" {
		t.Errorf("then: %v", got)
	}
	if got := prompt("b"); len(got) != 0 {
		t.Errorf("another session: %v", got)
	}
	w.ask("claude-code", `{"session_id":"a","cwd":"/src","hook_event_name":"SessionStart","source":"compact"}`)
	if got := w.asked[len(w.asked)-1]["without"].([]any); len(got) != 0 {
		t.Errorf("after compaction: %v", got)
	}
}

// TestFailsOpen checks that nothing is printed if the server is missing, wrong or hostile. TestDeadline
// is about slow ones.
func TestFailsOpen(t *testing.T) {
	message := `{"session_id":"s","cwd":"/src","hook_event_name":"UserPromptSubmit","prompt":"fix it"}`
	quiet := func(name string, w *world) {
		t.Helper()
		if got := w.ask("claude-code", message); strings.Contains(got, "hookSpecificOutput") {
			t.Errorf("%s: got %q", name, got)
		}
	}
	w := newWorld(t)
	w.env["RECOUNT_SERVER"] = ""
	quiet("no server", w)

	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	closed.Close()
	w.env["RECOUNT_SERVER"] = "http://" + address
	quiet("nobody listens", w)

	for _, server := range []string{"https://127.0.0.1:1", "http://example.org", "http://192.0.2.1:80", "::", "ftp://127.0.0.1"} {
		w.env["RECOUNT_SERVER"] = server
		start := time.Now()
		quiet(server, w)
		if time.Since(start) > long/2 {
			t.Errorf("%s: asked", server)
		}
	}

	for name, answer := range map[string]string{
		"not json": "<html>", "another type": `{"text":7}`, "no text": `{"text":"","items":[]}`, "nothing": "",
	} {
		x := newWorld(t)
		x.handler = func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, answer) }
		quiet(name, x)
	}
	x := newWorld(t)
	x.handler = func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, `{"text":"x"}`, http.StatusForbidden) }
	quiet("refused", x)
}

// TestRead reads responses in all forms that servers use, and refuses others.
func TestRead(t *testing.T) {
	w := newWorld(t)
	big := strings.Repeat("x", 100<<10)
	w.handler = func(rw http.ResponseWriter, _ *http.Request) { // in chunks
		b, _ := json.Marshal(map[string]any{"text": big})
		_, _ = rw.Write(b[:1000])
		rw.(http.Flusher).Flush()
		_, _ = rw.Write(b[1000:])
	}
	if got := w.ask("codex", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x"}`); !strings.Contains(got, big) {
		t.Errorf("chunks: got %d bytes", len(got))
	}
	for _, answer := range []string{"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", "\x00\x01"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if conn, err := l.Accept(); err == nil {
				_, _ = io.WriteString(conn, answer)
				conn.Close()
			}
		}()
		if _, err := (endpoint{host: "x", addresses: []string{l.Addr().String()}}).ask(w.hook("codex", nil).dial, question{path: "recall", request: map[string]any{}}, time.Now().Add(long)); err == nil {
			t.Errorf("%q is taken for an answer", answer)
		}
		l.Close()
	}
}

// TestBounds sends a prompt and an output of 1 MB, with bytes that are not UTF-8.
func TestBounds(t *testing.T) {
	w := newWorld(t)
	long1 := strings.Repeat("é", 1<<19)
	w.ask("claude-code", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"`+long1+`"}`)
	w.ask("claude-code", `{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"x"},"error":"`+long1+"\xff"+` last"}`)
	if len(w.asked) != 2 {
		t.Fatalf("asked %d times", len(w.asked))
	}
	text, output := w.asked[0]["text"].(string), w.asked[1]["output"].(string)
	if len(text) > maxPrompt || len(output) > maxOutput || !strings.HasSuffix(output, " last") {
		t.Errorf("a text of %d, an output of %d bytes", len(text), len(output))
	}
}

// TestServerOfTheDirectory finds the server by the lock and endpoints.json of the data directory,
// and does not trust a file whose server is gone.
func TestServerOfTheDirectory(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	url := w.env["RECOUNT_SERVER"]
	w.env["RECOUNT_SERVER"], w.env["RECOUNT_TOKEN"], w.env["RECOUNT_DATA_DIR"] = "", "", dir
	token := filepath.Join(dir, "token")
	for file, content := range map[string]string{"LOCK": "", "token": "secret\n", "endpoints.json": `{"http":"` + url + `","token_file":"` + token + `"}`} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := find(w.getenv); err == nil {
		t.Error("a server that is gone was found")
	}
	unlock := lockOf(t, dir)
	e, err := find(w.getenv)
	if err != nil || "http://"+e.host != url || e.token != "secret" {
		t.Errorf("got %+v, %v", e, err)
	}
	if err := os.Chmod(token, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := find(w.getenv); err == nil {
		t.Error("a token that others can read was used")
	}
	unlock()
}
