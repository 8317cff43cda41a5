package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/git/gittest"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// serving runs a node in the test and returns a client of it.
func serving(t *testing.T, kafka node.KafkaConfig, roles ...string) (*node.Node, *httpapi.Client) {
	t.Helper()
	cfg := node.Config{
		DataDir: t.TempDir(), Version: "test", Roles: roles, Kafka: kafka, HTTP: node.HTTPConfig{Listen: "127.0.0.1:0"},
		OTLP: node.OTLPConfig{GRPC: "127.0.0.1:0", HTTP: "127.0.0.1:0"},
	}
	n, err := node.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := httpapi.NewClient(n.Endpoints().HTTP, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return n, c
}

// TestImportsInSplitRoles checks that every import works against a process that only ingests, and
// that its events are visible in the process that serves.
func TestImportsInSplitRoles(t *testing.T) {
	ingest, _ := serving(t, node.KafkaConfig{Listen: "127.0.0.1:0"}, node.RoleLog, node.RoleIngest)
	_, back := serving(t, node.KafkaConfig{Brokers: []string{ingest.KafkaAddr()}}, node.RoleProcess, node.RoleProject, node.RoleServe)
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	g := gittest.Init(t)
	g.Commit("one", "a.go", "package a\n")
	env := map[string]string{"HOME": dir, "RECOUNT_DATA_DIR": filepath.Join(dir, "data")}
	for name, args := range map[string][]string{
		"jsonl":      {"import", "jsonl", file("e.jsonl", `{"command":"make jsonl","cwd":"/src","exit_code":0,"started_at":"2026-11-20T10:00:00Z"}`+"\n")},
		"history":    {"import", "history", "--shell", "bash", file("history", "#1700000000\nmake history\n")},
		"git":        {"import", "git", g.Dir, "--repo", "shop"},
		"agents":     {"import", "agents", "../../internal/agentlog/testdata/claude-code.jsonl"},
		"otlp":       {"import", "otlp", file("t.json", `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"GET /","kind":2,"startTimeUnixNano":"1763640000000000000","endTimeUnixNano":"1763640000001000000"}]}]}]}`)},
		"access-log": {"import", "access-log", "--service", "shop", file("access.log", `127.0.0.1 - - [20/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 12`+"\n")},
	} {
		for range 2 { // repeating is safe
			var out bytes.Buffer
			a := &app{&connect.Connector{Terminal: &render.Terminal{In: strings.NewReader(""), Out: &out, Err: &out, Silence: time.Hour}, Getenv: func(name string) string { return env[name] }}}
			if code := a.run(t.Context(), append([]string{"--server", ingest.Endpoints().HTTP}, args...)); code != 0 {
				t.Errorf("%s: exit %d: %s", name, code, out.String())
			}
		}
	}
	ends, err := ingest.Log().Ends(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]int64{}
	for tp, end := range ends {
		held[strings.TrimPrefix(tp.Topic, "recount.")] += end
	}
	for _, topic := range []string{schemas.TopicCommands, schemas.TopicCommits, schemas.TopicSpans, schemas.TopicAgents} {
		if held[topic] == 0 {
			t.Errorf("nothing in topic %s: %v", topic, held)
		}
	}
	for tp := range ends {
		if !strings.HasSuffix(tp.Topic, schemas.TopicCommands) {
			delete(ends, tp)
		}
	}
	r, err := commands.FindQuestion.Ask(t.Context(), back, commands.FindRequest{Text: "make", AtLeast: ends, WaitMS: 50_000})
	if err != nil || len(r.Hits) != 2 {
		t.Errorf("found %d, want what was imported, each once: %v", len(r.Hits), err)
	}
}
