package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestAgentReplays runs a plan and applies it, as an agent does that is connected by standard input and
// output. Without the flag there is no such tool.
func TestAgentReplays(t *testing.T) {
	t.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	w := newWorld(t)
	if out, code := w.sh("recount exec -- mkdir made && rmdir made"); code != 0 {
		t.Fatal(out)
	}
	out, _ := w.sh("recount find --json --limit 1")
	id := regexp.MustCompile(`"id": "([0-9a-f-]+)"`).FindStringSubmatch(out)
	if id == nil {
		t.Fatalf("no command is recorded: %s", out)
	}
	connect := func(flags ...string) *mcp.ClientSession {
		c := exec.Command(filepath.Join(w.dir, "bin", "recount"), append([]string{"mcp"}, flags...)...)
		c.Dir, c.Env = filepath.Join(w.dir, "work"), w.env()
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	has := func(s *mcp.ClientSession, name string) bool {
		r, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range r.Tools {
			if tool.Name == name {
				return true
			}
		}
		return false
	}
	if s := connect(); has(s, "replay") || !has(s, "import") {
		t.Error("without the flag: replay, or no import")
	}
	s := connect("--replay-execute")
	if !has(s, "replay") || has(s, "import") {
		t.Error("with the flag: no replay, or import")
	}
	call := func(args map[string]any) string {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "replay", Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(r.Content)
		if strings.Contains(string(text), "no sandbox on this machine") {
			t.Skip(string(text))
		}
		if r.IsError {
			t.Fatalf("%v: %s", args, text)
		}
		return string(text)
	}
	if text := call(map[string]any{"id": id[1], "skip": "1"}); !strings.Contains(text, "omitted") {
		t.Errorf("without its step: %s", text)
	}
	text := call(map[string]any{"id": id[1]})
	run := regexp.MustCompile(`r-[0-9a-f]{8}`).FindString(text)
	if run == "" || !strings.Contains(text, "complete") {
		t.Fatalf("run: %s", text)
	}
	made := filepath.Join(w.dir, "work", "made")
	if _, err := os.Stat(made); err == nil {
		t.Error("it is there before it was applied")
	}
	if text = call(map[string]any{"id": run, "do": "apply"}); !strings.Contains(text, "applied") {
		t.Errorf("apply: %s", text)
	}
	if _, err := os.Stat(made); err != nil {
		t.Error(err)
	}
}
