package browser

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestCommands(t *testing.T) {
	for name, c := range map[string]struct {
		system string
		env    map[string]string
		want   []string
	}{
		"a server":    {"linux", nil, nil},
		"a desktop":   {"linux", map[string]string{"DISPLAY": ":0"}, []string{"xdg-open"}},
		"of a person": {"linux", map[string]string{"BROWSER": "firefox --new-tab %s:w3m", "WAYLAND_DISPLAY": "w"}, []string{"firefox --new-tab %s", "w3m", "xdg-open"}},
		"a mac":       {"darwin", nil, []string{"open"}},
		"WSL":         {"linux", map[string]string{"WSL_DISTRO_NAME": "Debian"}, []string{"wslview"}},
	} {
		if got := commands(func(k string) string { return c.env[k] }, c.system); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestOpen runs a browser that writes down what it is given, after one that is not there.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	got := filepath.Join(dir, "got")
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" > "+got+".new && mv "+got+".new "+got+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"BROWSER": filepath.Join(dir, "none") + ":" + program + " --to=%s"}
	if !Open(func(k string) string { return env[k] }, "http://127.0.0.1:1/ask?q=a&b") {
		t.Fatal("nothing was started")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // another process writes it
		if b, err := os.ReadFile(got); err == nil {
			if string(b) != "--to=http://127.0.0.1:1/ask?q=a&b\n" {
				t.Errorf("got %q", b)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the browser was not started")
		}
	}
}
