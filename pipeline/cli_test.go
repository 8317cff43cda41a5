package pipeline_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/processors/adapter"
	"github.com/recountdb/recount/schemas"
)

// TestCLIRun runs the default config as `recount pipeline run` does, and stops it
// as ctrl-c does. Not parallel: CLI registers in Benthos' global environment.
func TestCLIRun(t *testing.T) {
	ctx, l, m := testContext(t), embedded(t), newMemory()
	appendCommands(ctx, t, l, 0, 100)
	file := filepath.Join(t.TempDir(), "commands.yaml")
	// Benthos exits the process shutdown_timeout after a run, however it ended. With the default of
	// 20 s, later tests would be cut off.
	yaml := strings.ReplaceAll(oneStream, "${BATCH:7}", "10") + "\nhttp: { enabled: false }\nshutdown_timeout: 24h\n"
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := streams.CLIOptions{
		Log:        func(context.Context) (*pipeline.Log, error) { return l, nil },
		Target:     func(context.Context) (pipeline.Target, error) { return m, nil },
		Processors: adapter.Register, Logger: testLog(t),
	}
	type result struct {
		code int
		err  error
	}
	run := func(ctx context.Context) chan result {
		done := make(chan result, 1)
		go func() {
			code, err := streams.CLI(ctx, []string{"run", file}, opts)
			done <- result{code, err}
		}()
		return done
	}

	running, stop := context.WithCancel(ctx)
	done := run(running)
	m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
	stop()
	if r := <-done; r.code != 0 || r.err != nil {
		t.Errorf("stopped: exit %d, %v", r.code, r.err)
	}
	if diff := cmp.Diff(inLog(ctx, t, l), m.commands); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}

	broken := errors.New("the checksum is wrong")
	m.refuse = func(schemas.Batch) error { return schemas.Fatalf("%w", broken) }
	appendCommands(ctx, t, l, 100, 1)
	if r := <-run(ctx); r.code == 0 || !errors.Is(r.err, broken) {
		t.Errorf("a fatal error: exit %d, %v", r.code, r.err)
	}
}

// TestCLIBind checks that Benthos' HTTP API listens on loopback by default.
func TestCLIBind(t *testing.T) {
	host, _, err := net.SplitHostPort(streams.CLIBind)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		t.Errorf("%s is not on loopback", streams.CLIBind)
	}
	file := filepath.Join(t.TempDir(), "echo.yaml")
	if err := os.WriteFile(file, []byte("input: { generate: { count: 1, mapping: 'root = 1' } }\noutput: { drop: {} }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := captureStdout(t, func() {
		if code, err := streams.CLI(t.Context(), []string{"--config", file, "echo"}, streams.CLIOptions{}); code != 0 || err != nil {
			t.Errorf("exit %d, %v", code, err)
		}
	})
	if !strings.Contains(out, "address: "+streams.CLIBind) || strings.Contains(out, "0.0.0.0") {
		t.Errorf("the effective config:\n%s", out)
	}
}

// captureStdout returns what f prints to the process's standard output, which Benthos uses.
func captureStdout(t *testing.T, f func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = old }()
	f()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
