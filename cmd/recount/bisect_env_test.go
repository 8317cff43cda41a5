package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay/bisect"
)

// TestBisectEnv records a command that fails by one of four variables, and searches by the verb.
func TestBisectEnv(t *testing.T) {
	t.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	w := newWorld(t)
	dir := filepath.Join(w.dir, "work", "app")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	script := "echo ran >> ran.txt\nif [ \"$LEVEL\" = 9 ] && [ \"$MODE\" = debug ]; then exit 3; fi\n"
	if err := os.WriteFile(filepath.Join(dir, "build.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(env string, args ...string) (string, int) {
		c := exec.Command(filepath.Join(w.dir, "bin", "recount"), args...)
		c.Dir, c.Env = dir, append(w.env(), strings.Fields(env)...)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		_ = c.Run() // the exit code tells
		return out.String(), c.ProcessState.ExitCode()
	}
	latest := func() string {
		out, _ := call("", "find", "--json", "--limit", "1")
		id := regexp.MustCompile(`"id": "([0-9a-f-]+)"`).FindStringSubmatch(out)
		if id == nil {
			t.Fatalf("no command is recorded: %s", out)
		}
		return id[1]
	}
	const names = "--env=MODE,LEVEL,COLOR,NOISE,DB_PASSWORD"
	call("MODE=debug LEVEL=1 COLOR=red DB_PASSWORD=hunter2hunter2", "exec", names, "--", "sh", "build.sh")
	good := latest()
	if out, code := call("MODE=debug LEVEL=9 COLOR=blue NOISE=1 DB_PASSWORD=otherotherother", "exec", names, "--", "sh", "build.sh"); code != 3 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	bad := latest()
	before, err := os.ReadFile(filepath.Join(dir, "ran.txt"))
	if err != nil {
		t.Fatal(err)
	}

	out, code := call("", "bisect-env", bad)
	if strings.Contains(out, "no sandbox on this machine") {
		t.Skip(out)
	}
	if code != 0 || !strings.Contains(out, "  LEVEL\n    fails with  9\n    works with  1\n") || !strings.Contains(out, "redacted: DB_PASSWORD") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	out, code = call("", "bisect-env", bad, good, "--json")
	var last bisectEvent
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		last = bisectEvent{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	if code != 0 || last.Result == nil || last.Result.State != bisect.Found || len(last.Result.Cause) != 1 || last.Result.Trials > 20 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{bad, "--trials", "3"}, 2, "stopped"},
		{[]string{good}, 2, "it worked"},
		{[]string{bad, bad}, 2, "same run"},
		{[]string{bad, "r-nope"}, 1, "not found"},
		{[]string{"r-nope"}, 1, "not found"},
	} {
		if out, code := call("", append([]string{"bisect-env"}, c.args...)...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit code %d, want %d and %q:\n%s", c.args, code, c.code, c.want, out)
		}
	}
	after, err := os.ReadFile(filepath.Join(dir, "ran.txt"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("trials left something in the directory: %q, %v", after, err)
	}
	if left, err := filepath.Glob(filepath.Join(w.dir, "home", ".local", "state", "recount-replays", "*")); err != nil || len(left) > 0 {
		t.Errorf("trials left %v, %v", left, err)
	}
	if out, _ := call("", "replayed"); strings.Contains(out, "r-") {
		t.Errorf("trials are in the log: %s", out)
	}

	// A dangerous command is refused, and one without recorded variables has no answer.
	call("A=1", "exec", "--env=A", "--", "git", "push", "--force", "nowhere", "main")
	if out, code := call("", "bisect-env", latest(), good); code != 2 || !strings.Contains(out, "dangerous") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	call("", "exec", "--", "false")
	failed := latest()
	call("", "exec", "--", "true")
	if out, code := call("", "bisect-env", failed, latest()); code != 1 || !strings.Contains(out, "no variable was recorded") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}
