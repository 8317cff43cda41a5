package hookrun_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/agenthook"
	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/hookrun"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/intake"
)

// world is a data directory of its own, without a server.
type world struct {
	t   *testing.T
	con *connect.Connector
	dir string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir()}
	w.con = &connect.Connector{
		Terminal: &render.Terminal{Out: io.Discard, Err: io.Discard, In: strings.NewReader("")},
		DataDir:  filepath.Join(w.dir, "data"),
		Getenv:   func(name string) string { return map[string]string{"HOME": w.dir}[name] },
	}
	return w
}

// run calls the hook as an agent does.
func (w *world) run(agent, input string) {
	w.t.Helper()
	w.con.In = strings.NewReader(input)
	if err := hookrun.Run(w.con, []string{agent}); err != nil {
		w.t.Fatalf("%s: %v", input, err)
	}
}

// spooled returns the events in the spool, by their ids.
func (w *world) spooled() map[schemas.EventID]schemas.Event {
	w.t.Helper()
	all := map[schemas.EventID]schemas.Event{}
	_, err := spool.NewDrainer(spool.Dir(w.con.DataDir)).Drain(func(entries []spool.Entry) error {
		for _, x := range entries {
			e, err := intake.Spooled(x)
			if err != nil {
				return err
			}
			if _, twice := all[e.ID]; twice {
				w.t.Errorf("%s is spooled twice", e)
			}
			all[e.ID] = e
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func content(t *testing.T, e schemas.Event) string {
	t.Helper()
	m, err := e.DecodePayload()
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return e.Type + "\x00" + string(b)
}

// TestFollowedIsImported follows files of sessions as they grow: each event is spooled once, secrets
// are removed, and what is recorded equals what an import of the whole file reads.
func TestFollowedIsImported(t *testing.T) {
	for agent, sample := range map[string]string{"claude-code": "claude-code.jsonl", "codex": "codex.jsonl", "gemini": "gemini.jsonl"} {
		t.Run(agent, func(t *testing.T) {
			w := newWorld(t)
			text, err := os.ReadFile(filepath.Join("..", "agentlog", "testdata", sample))
			if err != nil {
				t.Fatal(err)
			}
			text = bytes.ReplaceAll(text, []byte("go test ./cart"), []byte("go test ./cart --password hunter2"))
			file := filepath.Join(w.dir, "session.jsonl")
			call := agenthook.Call{Agent: agent, Session: "s", Cwd: "/src/shop", Transcript: file, At: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
			lines := bytes.SplitAfter(text, []byte("\n"))
			for n := 1; n <= len(lines); n += 4 {
				grown := bytes.Join(lines[:min(n, len(lines))], nil)
				if n+4 > len(lines) {
					grown = text
				}
				half := grown[:len(grown)-min(3, len(grown))] // the agent is writing
				for _, part := range [][]byte{half, grown, grown} {
					if err := os.WriteFile(file, part, 0o600); err != nil {
						t.Fatal(err)
					}
					if err := hookrun.Follow(context.Background(), w.con, call, 0); err != nil {
						t.Fatal(err)
					}
				}
			}
			got := map[schemas.EventID]string{}
			for id, e := range w.spooled() {
				got[id] = content(t, e)
				if strings.Contains(got[id], "hunter2") {
					t.Errorf("a secret: %q", got[id])
				}
			}
			r := redact.Default()
			o := agentlog.Options{Cwd: "/src/shop", Growing: true, Time: time.Unix(0, 0), Commands: agent == "gemini", WorkspaceOf: recording.Cached(recording.Workspace), Redact: func(m proto.Message) { r.Event(m) }}
			want := map[schemas.EventID]string{}
			for e, err := range agentlog.Read(bytes.NewReader(text), o) {
				if err == nil {
					want[e.ID] = content(t, e)
				}
			}
			o.Growing = false
			for e, err := range agentlog.Read(bytes.NewReader(text), o) {
				if x, ok := got[e.ID]; err == nil && ok && x != content(t, e) {
					t.Errorf("%s is another event when it is imported: %q", e, x)
				}
			}
			if len(want) < 5 || !maps.Equal(got, want) {
				t.Errorf("%d events are spooled, %d imported", len(got), len(want))
				for id, x := range want {
					if got[id] != x {
						t.Errorf("%s: got %q, want %q", id, got[id], x)
					}
				}
			}
		})
	}
}

// TestSessionWithoutFile checks what is recorded if the agent keeps no file of its session: the
// beginning and end, prompts, answers, and the calls of tools with their results.
func TestSessionWithoutFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.jsonl")
	for name, x := range map[string]struct {
		agent string
		calls []string
		want  []string
	}{
		"codex": {"codex", []string{
			`{"session_id":"s","transcript_path":null,"cwd":"/src/app","hook_event_name":"SessionStart","source":"startup","model":"gpt-5"}`,
			`{"session_id":"s","transcript_path":null,"cwd":"/src/app","hook_event_name":"UserPromptSubmit","prompt":"log in with ghp_0123456789abcdefghijABCDEFGHIJ012345"}`,
			`{"session_id":"s","transcript_path":null,"cwd":"/src/app","hook_event_name":"PostToolUse","tool_name":"mcp__docs__search","tool_use_id":"c1","tool_input":{"q":"x"},"tool_response":"found"}`,
			`{"session_id":"s","transcript_path":null,"cwd":"/src/app","hook_event_name":"Stop","last_assistant_message":"Done."}`,
		}, []string{
			`assistant_message "Done."`, `state_changed session="startup"`, `tool_call_issued mcp__docs__search {"q":"x"}`, `tool_result_returned mcp__docs__search ""`,
			`user_message "log in with [redacted:github-token]"`,
		}},
		"claude, not persisted": {"claude-code", []string{
			`{"session_id":"s","transcript_path":"` + missing + `","cwd":"/src/app","hook_event_name":"UserPromptSubmit","prompt":"fix it"}`,
			`{"session_id":"s","transcript_path":"` + missing + `","cwd":"/src/app","hook_event_name":"Stop","last_assistant_message":"Done."}`,
			`{"session_id":"s","transcript_path":"` + missing + `","cwd":"/src/app","hook_event_name":"SessionEnd","reason":"other"}`,
		}, []string{`assistant_message "Done."`, `state_changed session removed "other"`, `user_message "fix it"`}},
		"gemini": {"gemini", []string{
			`{"session_id":"s","transcript_path":"","cwd":"/src/app","hook_event_name":"BeforeAgent","prompt":"fix it"}`,
			`{"session_id":"s","transcript_path":"","cwd":"/src/app","hook_event_name":"AfterAgent","prompt":"fix it","prompt_response":"Done."}`,
		}, []string{`assistant_message "Done."`, `user_message "fix it"`}},
		"of no use": {"claude-code", []string{
			`{"session_id":"s","cwd":"/src/app","hook_event_name":"UserPromptSubmit","prompt":"  "}`, `{"session_id":"s","hook_event_name":"Notification","message":"x"}`,
			`{"session_id":"s","hook_event_name":"Stop","last_assistant_message":7}`,
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, call := range x.calls {
				w.run(x.agent, call)
			}
			var got []string
			for _, e := range w.spooled() {
				m, err := e.DecodePayload()
				if err != nil {
					t.Fatal(err)
				}
				a := m.(*recountv1.AgentEvent)
				if a.Agent != x.agent || a.Session != "s" || a.Workspace != "/src/app" {
					t.Errorf("%s: %v", e, a)
				}
				switch {
				case a.State.GetRemoved():
					got = append(got, fmt.Sprintf("%s session removed %q", e.Type, a.Text))
				case a.State != nil:
					got = append(got, fmt.Sprintf("%s session=%q", e.Type, a.State.Value))
				case e.Type == schemas.TypeToolCall:
					got = append(got, fmt.Sprintf("%s %s %s", e.Type, a.Tool.Name, a.Tool.Arguments))
				case a.Tool != nil:
					got = append(got, fmt.Sprintf("%s %s %q", e.Type, a.Tool.Name, a.Tool.Result))
				default:
					b, _ := json.Marshal(a.Text)
					got = append(got, e.Type+" "+string(b))
				}
			}
			if slices.Sort(got); !slices.Equal(got, x.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(x.want, "\n"))
			}
		})
	}
}
