package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRequestsFromAPipe checks that requests of a pipe that ends are answered, and that recount mcp ends
// when nobody can read its answers.
func TestRequestsFromAPipe(t *testing.T) {
	w := newWorld(t)
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	const ask = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"commands","arguments":{"text":"made"}}}`
	start := func(in io.Reader) *exec.Cmd {
		c := exec.Command(filepath.Join(w.dir, "bin", "recount"), "mcp")
		c.Dir, c.Env, c.Stdin = filepath.Join(w.dir, "work"), w.env(), in
		return c
	}
	if out, code := w.sh("recount exec -- mkdir made"); code != 0 {
		t.Fatal(out)
	}
	out, err := start(strings.NewReader(begin + "\n" + ask + "\n")).Output()
	if err != nil || !strings.Contains(string(out), "mkdir made") {
		t.Errorf("a pipe that ends: %v: %s", err, out)
	}

	in, client, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() // it stays open
	gone := start(in)
	answers, err := gone.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	_ = answers.Close()
	late := time.AfterFunc(patience, func() { _ = gone.Process.Kill() })
	defer late.Stop()
	if err := gone.Wait(); err != nil {
		t.Errorf("nobody reads: %v", err)
	}
}
