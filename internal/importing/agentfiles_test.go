package importing_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/internal/importing"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// kept is a backend that keeps what is appended.
type kept struct {
	api.Backend
	events []schemas.Event
}

func (k *kept) Append(_ context.Context, events []schemas.Event) ([]api.Appended, error) {
	k.events = append(k.events, events...)
	return make([]api.Appended, len(events)), nil
}

// imported imports the agents' files in a directory and returns the texts of their messages.
func imported(t *testing.T, dir string) (said []string, report *importing.Report, err error) {
	t.Helper()
	files, err := importing.AgentFiles([]string{dir})
	if err != nil {
		return nil, nil, err
	}
	k := &kept{}
	report, err = importing.Into(&render.Terminal{Err: io.Discard}, k, func(im *importing.Importer) error {
		return im.Agents(t.Context(), files, agentlog.Options{})
	})
	for _, e := range k.events {
		m, err := e.DecodePayload()
		if err != nil {
			t.Fatal(err)
		}
		if a := m.(*recountv1.AgentEvent); a.Text != "" {
			said = append(said, a.Session+" "+a.Workspace+" "+a.Text)
		}
	}
	return said, report, err
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAgentFiles imports directories as agents keep them: sessions of many files, and files of other
// kinds between those of sessions.
func TestAgentFiles(t *testing.T) {
	for name, x := range map[string]struct {
		files map[string]string
		said  string
		err   string
	}{
		"OpenCode's storage": {files: map[string]string{
			"storage/session/p/ses_1.json":    "{\n \"id\": \"ses_1\",\n \"directory\": \"/src/shop\", \"projectID\": \"p\"}",
			"storage/message/ses_1/m_1.json":  `{"id":"m_1","role":"user","sessionID":"ses_1"}`,
			"storage/message/ses_1/m_2.json":  `{"id":"m_2","role":"assistant","sessionID":"ses_1"}`,
			"storage/part/m_1/p_1.json":       `{"id":"p_1","type":"text","text":"one"}`,
			"storage/part/m_2/p_2.json":       `{"id":"p_2","type":"step-start"}`,
			"storage/part/m_2/p_3.json":       `{"id":"p_3","type":"text","text":"two"}`,
			"storage/session_diff/ses_1.json": `[]`,
		}, said: "ses_1 /src/shop one; ses_1 /src/shop two"},
		"OpenHands' conversations": {files: map[string]string{
			"conversations/c1/base_state.json":           `{"id":"c1"}`,
			"conversations/c1/events/event-00000-a.json": `{"id":"a","source":"user","kind":"MessageEvent","llm_message":{"role":"user","content":[{"type":"text","text":"one"}]}}`,
			"conversations/c1/events/event-00001-b.json": `{"id":"b","source":"agent","kind":"MessageEvent","llm_message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}`,
		}, said: "c1  one; c1  two"},
		"Gemini CLI's directory": {files: map[string]string{
			"tmp/shop/.project_root":          "/src/shop\n",
			"tmp/shop/logs.json":              `[{"sessionId":"s","messageId":0,"message":"hi"}]`,
			"tmp/shop/chats/session-1-2.json": `{"sessionId":"s","projectHash":"h","messages":[{"id":"1","type":"user","content":"one"}]}`,
		}, said: "s /src/shop one"},
		"nothing of an agent": {files: map[string]string{"a.json": `{"a":1}`, "b.json": `[1]`}, err: "2 files found, none of them of an agent"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, x.files)
			said, report, err := imported(t, dir)
			if err != nil && (x.err == "" || !strings.Contains(err.Error(), x.err)) || err == nil && x.err != "" {
				t.Fatalf("error %v, want %q", err, x.err)
			}
			if got := strings.Join(said, "; "); got != x.said {
				t.Errorf("%q, want %q", got, x.said)
			}
			for _, r := range report.Imports {
				if r.Skipped > 0 {
					t.Errorf("%s: skipped %v", r.From, r.Problems)
				}
			}
		})
	}
}

// strict is a backend that refuses what the log refuses.
type strict struct{ kept }

func (s *strict) Append(ctx context.Context, events []schemas.Event) ([]api.Appended, error) {
	for i, e := range events {
		if _, err := schemas.DecodeEvent("", e.Headers(), e.Key, e.Payload, e.Time); err != nil {
			return nil, &api.EventError{Index: i, Of: len(events), Err: err}
		}
	}
	return s.kept.Append(ctx, events)
}

// TestRefusedEvents imports events of which the log refuses some: the others are imported.
func TestRefusedEvents(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i, at := range []string{"2026-11-20T10:00:00Z", "9999-12-31T23:59:59Z", "2026-11-20T10:00:02Z", "1066-10-14T09:00:00Z"} {
		fmt.Fprintf(&lines, `{"type":"user_message","id":"m-%d","agent":"ada","session":"s-1","occurred_at":%q,"text":"message %d"}`+"\n", i, at, i)
	}
	write(t, dir, map[string]string{"events.jsonl": lines.String()})
	s := &strict{}
	report, err := importing.Into(&render.Terminal{Err: io.Discard}, s, func(im *importing.Importer) error {
		return im.Agents(t.Context(), []importing.AgentFile{{Path: filepath.Join(dir, "events.jsonl")}}, agentlog.Options{})
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := report.Imports[0]; len(s.events) != 2 || r.Appended != 2 || r.Skipped != 2 || len(r.Problems) != 2 || !strings.Contains(r.Problems[1], "1066-10-14T09:00:00Z: outside 1900 to 2250") {
		t.Errorf("%d events, %+v", len(s.events), r)
	}
}
