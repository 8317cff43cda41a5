package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/settingsfile"
	"github.com/recountdb/recount/server/node"
)

// TestAgentHook calls the hook as agents do, with and without a server, in and out of order, twice,
// and with invalid input. The hook prints nothing, exits with 0, and what the agent ran becomes one
// command with its outcome.
func TestAgentHook(t *testing.T) {
	w := newWorld(t)
	samples, err := filepath.Abs("../../internal/agenthook/testdata")
	if err != nil {
		t.Fatal(err)
	}
	call := func(agent, sample, use string) {
		t.Helper()
		line := "sed 's/toolu_01Tests/" + use + "/' '" + filepath.Join(samples, sample+".json") + "' | recount hook run " + agent
		if out, code := w.sh(line); out != "" || code != 0 {
			t.Fatalf("%s: exit %d: %q", sample, code, out)
		}
	}
	log := func() string {
		b, _ := os.ReadFile(filepath.Join(w.dir, "home", ".local", "state", "recount-hook.log"))
		return string(b)
	}
	// until waits for the output of find; opening the data directory waits for the processes that
	// use it.
	until := func(find string, ok func(out string) bool) {
		t.Helper()
		out := ""
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
			if out, _ = w.sh("recount find " + find); ok(out) {
				return
			}
		}
		t.Fatalf("find %s: got\n%s\nhook log: %s", find, out, log())
	}
	has := func(text string) func(string) bool {
		return func(out string) bool { return strings.Contains(out, text) && strings.Count(out, text) == 1 }
	}

	call("claude-code", "claude-before", "one")
	until("go test", func(out string) bool { return strings.Contains(out, "go test ./...") })
	call("claude-code", "claude-failed", "one")
	call("claude-code", "claude-failed", "one")
	until("--author claude-code --exit 2 go test", has("✗2 go test ./... --password [redacted:password]"))
	call("claude-code", "claude-edit", "")
	until("--author claude-code edit", has("✓ edit '/src/app/sum it.go'"))
	call("codex", "codex-after", "")
	until("--author codex cargo", has("✗101 cargo build"))
	if out, code := w.sh("printf '{\"half' | recount hook run claude-code; recount hook run nobody </dev/null"); out != "" || code != 0 {
		t.Errorf("rubbish: exit %d: %q", code, out)
	}
	// Exit code 2 would forbid the agent its tool.
	if out, code := w.sh("recount hook run claude-code --unknown </dev/null"); out != "" || code != 0 || !strings.Contains(log(), "--unknown") {
		t.Errorf("an unknown flag: exit %d: %q; hook log: %q", code, out, log())
	}
	if said := log(); !strings.Contains(said, "cannot parse") || !strings.Contains(said, "nobody") {
		t.Errorf("hook log: %q", said)
	}

	w.start()
	call("claude-code", "claude-after", "two")
	call("claude-code", "claude-before", "two")
	until("--author claude-code --exit 0 go test", has("✓ go test ./... --password [redacted:password]"))
	call("gemini", "gemini-after", "")
	until("--author gemini lint", has("✗2 make lint"))
	// The session's file is recorded by a process of its own, and an import adds nothing to it.
	session := filepath.Join(w.dir, "session.jsonl")
	sample, err := os.ReadFile(filepath.Join(samples, "..", "..", "agentlog", "testdata", "claude-code.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(session, sample[:bytes.Index(sample, []byte("\nnot a line"))+1], 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := w.sh(`echo '{"session_id":"5d4f0b7a-1c1e-4d2e-9a51-0f3a5c1b2d3e","transcript_path":"` + session + `","cwd":"/src/shop","hook_event_name":"Stop","last_assistant_message":"x"}' | recount hook run claude-code`); out != "" || code != 0 {
		t.Errorf("Stop: exit %d: %q", code, out)
	}
	tick, answer := time.NewTicker(50*time.Millisecond), ""
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !strings.Contains(answer, "Does the wishlist forget") && time.Now().Before(deadline); <-tick.C {
		answer, _ = w.sh("recount ask 'does the wishlist forget items' --agent claude-code")
	}
	if out, code := w.sh("recount import agents " + session); code != 0 || !strings.Contains(out, " 0 events appended") {
		t.Errorf("import after the hook: exit %d: %s\nask: %s\nhook log: %s", code, out, answer, log())
	}
	w.stop(syscall.SIGTERM)
}

// TestHookSettings installs hooks in settings files and removes them again.
func TestHookSettings(t *testing.T) {
	w := newWorld(t)
	settings := filepath.Join(w.dir, "home", ".claude", "settings.json")
	if err := os.Mkdir(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	before := "{\n  \"model\": \"some\"\n}\n"
	if err := os.WriteFile(settings, []byte(before), 0o640); err != nil {
		t.Fatal(err)
	}
	read := func(file string) string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	run := func(line, want string, code int) {
		t.Helper()
		if out, got := w.sh(line); got != code || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d:\n%s\nwant exit %d and %q", line, got, out, code, want)
		}
	}
	run("recount hook claude-code", settings, 0)
	run("recount hook claude-code --install --dry-run", "+  \"hooks\": {", 0)
	if read(settings) != before {
		t.Error("--dry-run changed the file")
	}
	run("recount hook claude-code --install --bin /opt/recount", "installed", 0)
	if got := read(settings); !strings.Contains(got, "'/opt/recount' hook run claude-code") || !strings.Contains(got, `"model": "some"`) {
		t.Errorf("installed:\n%s", got)
	}
	if read(settings+".recount-backup") != before {
		t.Error("the copy is not what was")
	}
	if st, err := os.Stat(settings); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	run("recount hook claude-code --install --bin /opt/recount", "nothing to change", 0)
	run("recount hook claude-code --uninstall", ": removed", 0)
	if got := read(settings); got != before {
		t.Errorf("taken out:\n%s", got)
	}
	run("recount hook codex --install --project --no-edits", "trusted", 0)
	if got := read(filepath.Join(w.dir, "work", ".codex", "hooks.json")); strings.Contains(got, "apply_patch") {
		t.Errorf("--no-edits:\n%s", got)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(settings, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	write("// mine\n{}\n")
	run("recount hook claude-code --install", "installed", 0)
	if got := read(settings); !strings.HasPrefix(got, "// mine\n{") {
		t.Errorf("the comment is gone:\n%s", got)
	}
	write(`{"model": }`)
	run("recount hook claude-code --install", "nothing was changed", 2)
	run("recount hook bash --install", "are only for agents", 2)
	run("recount hook claude-code --dry-run", "--install or --uninstall", 2)
}

// TestHookLinks checks links in place of the settings and their backup, which a repository may
// contain: their targets are not overwritten, and no link is lost.
func TestHookLinks(t *testing.T) {
	dir := t.TempDir()
	settings, other := filepath.Join(dir, "settings.json"), filepath.Join(dir, "other")
	for file, text := range map[string]string{settings: "{}\n", other: "precious\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(other, settings+".recount-backup"); err != nil {
		t.Fatal(err)
	}
	if err := settingsfile.Replace(settings, []byte("{}\n"), []byte("{1}\n")); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{settings: "{1}\n", settings + ".recount-backup": "{}\n", other: "precious\n"} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s: got %q (%v), want %q", filepath.Base(file), got, err, want)
		}
	}

	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(filepath.Join(dir, "away", "settings.json"), link); err != nil {
		t.Fatal(err)
	}
	if err := settingsfile.Replace(link, nil, []byte("{}\n")); err == nil {
		t.Error("a link that leads nowhere was written")
	}
	if _, err := os.Readlink(link); err != nil {
		t.Errorf("the link is gone: %v", err)
	}
}

// brokenInput is a standard input that panics.
type brokenInput struct{}

func (brokenInput) Read([]byte) (int, error) { panic("broken input") }

// TestHookPanics checks that a panic does not exit with 2, as the Go runtime does by default, which
// forbids the agent its tool.
func TestHookPanics(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	var out strings.Builder
	a := &app{&connect.Connector{Terminal: &render.Terminal{In: brokenInput{}, Out: &out, Err: &out, Silence: time.Hour}, Getenv: func(name string) string {
		if name == "RECOUNT_HOOK_LOG" {
			return log
		}
		return ""
	}}}
	if code := a.run(context.Background(), []string{"hook", "run", "claude-code"}); code != 0 || out.Len() > 0 {
		t.Errorf("exit %d: %q", code, out.String())
	}
	if b, err := os.ReadFile(log); err != nil || !strings.Contains(string(b), "broken input") {
		t.Errorf("hook log: %q, %v", b, err)
	}
}

// TestSpooledForAServer checks that what is recorded for a remote server while that is away is
// there, once, when a verb next asks it; that recording neither waits nor loses anything while
// another process uses the data directory; and that the status reports what waits.
func TestSpooledForAServer(t *testing.T) {
	w := newWorld(t)
	w.start()
	e, err := node.ReadEndpoints(w.data())
	if err != nil {
		t.Fatal(err)
	}
	away := "RECOUNT_DATA_DIR=$DIR/mine RECOUNT_SERVER="
	run := func(line, want string) {
		t.Helper()
		if out, code := w.sh(line); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d:\n%s\nwant %q", line, code, out, want)
		}
	}
	// Nothing listens on port 1 of this machine.
	run(away+"http://127.0.0.1:1 recount record --exit 3 -- make elsewhere", "in the spool")
	run("RECOUNT_DATA_DIR=$DIR/mine recount status", "1 to be sent to http://127.0.0.1:1")
	run("printf 'make hooked' | "+away+e.HTTP+" recount-record --shell sh --exit 2", "")
	run(away+e.HTTP+" recount find --exit 2 hooked", "✗2 make hooked")

	// The server hangs: recording by hand reports it, hooks do not, and nothing is lost.
	_ = w.server.Process.Signal(syscall.SIGSTOP)
	run("recount-hasty record --exit 4 -- make stopped", "in the spool")
	run("recount-hasty record --hook --exit 5 -- make hooked again", "")
	run("recount-hasty exec -- true executed", "")
	if out, code := w.sh("timeout 1 recount status"); code == 0 {
		t.Errorf("a stopped server answered: %s", out)
	}
	_ = w.server.Process.Signal(syscall.SIGCONT)
	run("recount find --exit 4 stopped", "✗4 make stopped")
	run("recount find --exit 5 again", "✗5 make hooked again")
	run("recount find --exit 0 executed", "✓ true executed")
	w.stop(syscall.SIGTERM)
}

// TestInstallAgainKeepsRecall checks that installing hooks again, as after an update, keeps recall and says so.
func TestInstallAgainKeepsRecall(t *testing.T) {
	w := newWorld(t)
	for i, c := range []struct{ flags, want string }{
		{"", "installed; recall: off"},
		{"--recall", "installed; recall: on. "},
		{"--yes", "nothing to change; recall: on, as before"},
		{"--recall=false", "installed; recall: off (it was on)"},
		{"", "nothing to change; recall: off"},
	} {
		out, code := w.sh("mkdir -p prog; touch prog/recount prog/recount-record; chmod +x prog/*; recount hook claude-code --install --bin \"$PWD/prog/recount\" " + c.flags)
		if code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%d: exit %d: %q, want %q", i, code, out, c.want)
		}
	}
}
