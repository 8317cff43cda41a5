package recording

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/spool"
)

// one records a command in a process with its own environment, and returns what is in the spool.
func one(t *testing.T, text string, env map[string]string, args ...string) (c map[string]any, raw string) {
	t.Helper()
	for _, name := range []string{"RECOUNT_CONFIG", "RECOUNT_IGNORE", "RECOUNT_SERVER", "RECOUNT_SESSION", "RECOUNT_AUTHOR", "XDG_CONFIG_HOME"} {
		t.Setenv(name, env[name])
	}
	for name, v := range env {
		t.Setenv(name, v)
	}
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("RECOUNT_DATA_DIR", data)
	var said bytes.Buffer
	if err := Record(args, strings.NewReader(text), &said); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(spool.Dir(data), "new"))
	if err != nil {
		return nil, said.String()
	}
	_, err = spool.NewDrainer(spool.Dir(data)).Drain(func(es []spool.Entry) error {
		return json.Unmarshal(es[0].Data, &c)
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, string(b) + said.String()
}

func TestRecord(t *testing.T) {
	c, raw := one(t, "make test --password hunter2\n", map[string]string{"RECOUNT_SESSION": "s", "SOURCE_DATE_EPOCH": "1700000000", "OTHER": "x", "CFLAGS": "-DKEY=ghp_012345678901234567890123456789abcdef"},
		"--shell", "bash", "--cwd", "/src", "--exit", "2", "--at", "1700000000.25", "--duration", "1500ms")
	for name, want := range map[string]any{
		"command": "make test --password [redacted:password]", "cwd": "/src", "shell": "bash", "session": "s",
		"exit_code": 2.0, "started_at": "2023-11-14T22:13:20.25Z", "duration": "1.500000000s",
	} {
		if c[name] != want {
			t.Errorf("%s: got %v, want %v", name, c[name], want)
		}
	}
	if strings.Contains(raw, "hunter2") || strings.Contains(raw, "ghp_0123") {
		t.Errorf("a secret is on disk: %s", raw)
	}
	env, _ := c["env"].(map[string]any)
	if env["SOURCE_DATE_EPOCH"] != "1700000000" || env["OTHER"] != nil {
		t.Errorf("variables %v", env)
	}

	long := strings.Repeat("é", 600<<10) + " --password hunter2"
	c, raw = one(t, long, nil)
	if got := c["command"].(string); len(got) > maxText || len(got) < maxText-4 || c["exit_code"] != nil || strings.Contains(raw, "hunter2") {
		t.Errorf("%d bytes", len(got))
	}
	for _, left := range []string{"", " \n", "recount forget --pattern hunter2", "echo ignored"} {
		if c, raw := one(t, left, map[string]string{"RECOUNT_IGNORE": "ls:echo *"}); c != nil {
			t.Errorf("%q: %s", left, raw)
		}
	}
	c, raw = one(t, "\xffmake\x00 x", nil)
	if c["command"] != "\uFFFDmake x" {
		t.Errorf("got %q: %s", c["command"], raw)
	}
}

// TestRecordByConfig checks that a config sets the data directory and the rules, and that a wrong
// config loses no command.
func TestRecordByConfig(t *testing.T) {
	dir := t.TempDir()
	config, rules := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "rules.yaml")
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(config, "data_dir: /elsewhere\nredact_rules: "+rules+"\nroles: [log]\n")
	write(rules, "rules: [{name: acme, pattern: 'acme_[a-z]+'}]\n")
	env := map[string]string{"RECOUNT_CONFIG": config}
	if c, _ := one(t, "x acme_abc", env); c["command"] != "x [redacted:acme]" {
		t.Errorf("got %v", c)
	}
	write(rules, "rules: [{name: acme, pattern: '('}]\n")
	if c, raw := one(t, "x --password y", env); c["command"] != "x --password [redacted:password]" || !strings.Contains(raw, "acme") {
		t.Errorf("got %v: %s", c, raw)
	}
	write(config, "data_dir: [\n")
	if c, raw := one(t, "x", env); c["command"] != "x" || !strings.Contains(raw, "config") {
		t.Errorf("got %v: %s", c, raw)
	}
	t.Setenv("RECOUNT_CONFIG", config)
	t.Setenv("RECOUNT_DATA_DIR", "")
	write(config, "data_dir: "+dir+"\n")
	if s, err := Load(os.Getenv); err != nil || s.DataDir != dir {
		t.Errorf("%+v %v", s, err)
	}
}

func TestSinceUptime(t *testing.T) {
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Skip("no /proc/uptime: fish's hook then says no start")
	}
	now, _, _ := strings.Cut(string(b), " ")
	if d, ok := SinceUptime(now); !ok || d < 0 || d > time.Minute {
		t.Errorf("%v %v", d, ok)
	}
	for _, bad := range []string{"", "x", "99999999999"} {
		if _, ok := SinceUptime(bad); ok {
			t.Errorf("%q", bad)
		}
	}
}

// TestUptimeIsInHundredths has a command whose hook tells when it began in hundredths of a second, and which took no time.
func TestUptimeIsInHundredths(t *testing.T) {
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Skip("no /proc/uptime")
	}
	up, _, _ := strings.Cut(string(b), " ")
	dir := t.TempDir()
	for _, name := range []string{"RECOUNT_CONFIG", "RECOUNT_IGNORE", "RECOUNT_SERVER", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	data := t.TempDir()
	t.Setenv("RECOUNT_DATA_DIR", data)
	t.Setenv("HOME", t.TempDir())
	began := time.Now()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Both uptimes were rounded down: it seems to have begun 10 ms later, and the clock of file times lags by 4.
	r := report{shell: "fish", cwd: dir, uptime: up}
	if _, err := r.record("touch f", "", began.Add(14*time.Millisecond), &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(spool.Dir(data), "new"))
	if err != nil || !strings.Contains(string(text), file) {
		t.Errorf("the file was not seen: %v %s", err, text)
	}
}

// TestEditorsThatEditNothing has commands in which git opens an editor.
func TestEditorsThatEditNothing(t *testing.T) {
	for _, c := range []struct{ text, editor, list, want string }{
		{"git rebase -i main", "true", "", "GIT_SEQUENCE_EDITOR=true"},
		{"git rebase -i main", "vim", "", ""},
		{"git rebase -i main", "true", "vim", ""},
		{"git rebase --interactive main", "vim", ":", "GIT_SEQUENCE_EDITOR=:"},
		{"git rebase main", "true", "", ""},
		{"git commit --amend", "true", "vim", "GIT_EDITOR=true"},
		{"git commit -am x", "true", "", ""},
		{"git commit", "./message", "", ""},
	} {
		got, _ := one(t, c.text, map[string]string{"GIT_EDITOR": c.editor, "GIT_SEQUENCE_EDITOR": c.list})
		env, _ := got["env"].(map[string]any)
		all := ""
		for _, name := range []string{"GIT_SEQUENCE_EDITOR", "GIT_EDITOR"} {
			if v, ok := env[name].(string); ok {
				all += name + "=" + v
			}
		}
		if all != c.want {
			t.Errorf("%+v: %q", c, all)
		}
	}
}
