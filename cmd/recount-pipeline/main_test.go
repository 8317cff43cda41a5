package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/program"
	"github.com/recountdb/recount/configs"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// asProgram makes the test binary run as the program.
const asProgram = "RECOUNT_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		program.Main(cli.Version(""), time.Hour, time.Minute, root)
		return
	}
	os.Exit(m.Run())
}

// TestPipelineVerb runs Benthos' commands in processes of their own.
func TestPipelineVerb(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := func(name, topics string) {
		text := "input:\n  recount_log:\n    " + topics + ": [recount.commands]\noutput:\n  drop: {}\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config("good.yaml", "topics")
	config("bad.yaml", "topicz")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"pipeline lint good.yaml", 0, ""},
		{"--data-dir other pipeline lint good.yaml", 0, ""},
		{"pipeline lint bad.yaml", 1, "bad.yaml(3,1) field topicz not recognised"},
		{"pipeline list processors", 0, "recount_records"},
		{"up --pipeline none.yaml --http 127.0.0.1:0 --kafka none --otlp-grpc none --otlp-http none", 2, "pipelines: open none.yaml: no such file"},
		{"find x", 2, `unknown verb "find": recount has the others`},
	} {
		t.Run(c.args, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), self, strings.Fields(c.args)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), asProgram+"=1", "RECOUNT_DATA_DIR="+filepath.Join(dir, "data"), "GORACE=atexit_sleep_ms=10")
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) {
				t.Errorf("exit %d, want %d with %q; got\n%s", code, c.code, c.says, out)
			}
		})
	}
}

// TestConfigsEqualBuiltIn checks that the shipped configs, run by Benthos, give the same state as
// the built-in streams.
func TestConfigsEqualBuiltIn(t *testing.T) {
	fold := func(pipelines ...string) map[string]string {
		cfg := node.Config{
			DataDir: t.TempDir(), Version: "test", RunPipeline: run,
			HTTP: node.HTTPConfig{Listen: "127.0.0.1:0"}, Kafka: node.KafkaConfig{Listen: "none"},
			OTLP: node.OTLPConfig{GRPC: "none", HTTP: "none"},
		}
		for _, name := range pipelines {
			yaml, err := configs.Read(name)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg.Pipelines = append(cfg.Pipelines, file)
		}
		n, err := node.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- n.Run(ctx) }()
		defer func() {
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		}()
		if _, err := n.Append(t.Context(), events()); err != nil {
			t.Fatal(err)
		}
		// What decode refuses must become the same rejected record on both ways.
		if _, err := n.Log().Produce(t.Context(), schemas.LogRecord{Position: schemas.Position{Topic: "recount.commands"}, Value: []byte("make test")}); err != nil {
			t.Fatal(err)
		}
		ends, err := n.Log().Ends(t.Context(), schemas.TopicCommands, schemas.TopicAgents, schemas.TopicFacts)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Projections().Wait(t.Context(), ends); err != nil {
			t.Fatal(err)
		}
		st, err := n.Status(t.Context(), api.StatusRequest{Roots: true})
		if err != nil {
			t.Fatal(err)
		}
		roots := map[string]string{"watermark": ends.String()}
		for _, p := range st.Projections {
			roots[p.Name] = p.Root.String()
		}
		return roots
	}
	if diff := cmp.Diff(fold(), fold(configs.Commands, configs.Commits, configs.Spans, configs.Agents, configs.Facts)); diff != "" {
		t.Errorf("roots (-built in +configs):\n%s", diff)
	}
}

// events returns commands, what an agent said and what was useful, with fixed ids and times.
func events() []schemas.Event {
	var all []schemas.Event
	add := func(kind, payload string) {
		all = append(all, schemas.Event{
			ID: schemas.NewCanon("test").String(payload).ID(), Type: kind,
			Time: time.Date(2026, 3, 1, 12, 0, len(all), 0, time.UTC), Payload: []byte(payload),
		})
	}
	for i := range 60 {
		add(schemas.TypeCommandExecuted, fmt.Sprintf(`{"command":"make target%d","cwd":"/src/app","session":"s%d","exit_code":%d}`, i, i%5, i%2))
		add("assistant_message", fmt.Sprintf(`{"workspace":"/src/app","agent":"claude","session":"s%d","occurred_at":"2026-03-01T12:00:00Z","text":"target %d fails"}`, i%5, i))
		add(schemas.TypeFeedbackGiven, fmt.Sprintf(`{"workspace":"/src/app","agent":"claude","session":"s%d","occurred_at":"2026-03-01T12:00:00Z","task":"mend target %d","useful":true,"subjects":[{"kind":"FEEDBACK_SUBJECT_KIND_FILE","repository":"app","name":"f%d.go"}]}`, i%5, i, i))
	}
	return all
}
